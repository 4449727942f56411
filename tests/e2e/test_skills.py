"""A skill with all it may have, on the screen and in print mode, over a model that follows it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.e2e.program import Program
from tests.e2e.stage import choose, say, screen, served, texts
from tests.fakes.model_server import ServerThread

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]

BODY = """\
---
name: code-review
description: Reviews what changed. Use when somebody wants a look at a change.
argument-hint: [file] [what for]
allowed-tools: Bash(${CLAUDE_SKILL_DIR}/scripts/count.sh:*), Bash(git log:*)
---
# Review of $0 for $ARGUMENTS[1]

What changed:

!`git diff --stat -- $0`

```!
${CLAUDE_SKILL_DIR}/scripts/count.sh $0
```

Write what you find as templates/report.md says, by the rules of references/rules.md. All that was
said: $ARGUMENTS
"""
REPORT = "## {title}\n\nFound: {count}\n"
RULES = "Every finding names a line."


def review(program: Program) -> Path:
    """The skill of a person, and a change in a repository that it is about."""
    folder = program.home / ".claude" / "skills" / "code-review"
    for name, text in (
        ("SKILL.md", BODY),
        ("scripts/count.sh", '#!/bin/sh\nprintf "%s has %s lines\\n" "$1" "$(wc -l < "$1")"\n'),
        ("templates/report.md", REPORT),
        ("references/rules.md", RULES),
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "scripts" / "count.sh").chmod(0o755)
    file = program.project / "my app.py"
    file.write_text("a = 1\n", encoding="utf-8")
    for words in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one"],
    ):
        subprocess.run(["git", *words], cwd=program.project, check=True)
    file.write_text("a = 1\nb = 2\n", encoding="utf-8")
    return folder


def followed(folder: Path) -> str:
    """What a model does that follows it: looks at template and rules, and reports."""
    read = [
        f"call[{id}]: Read {json.dumps({'file_path': str(folder / name)})}"
        for id, name in (("t", "templates/report.md"), ("r", "references/rules.md"))
    ]
    return "\n".join(read) + "\n---\nsay: ## Review\\n\\nFound: 1\n"


def sent(said: str) -> None:
    """The text as the model has it."""
    assert "# Review of my app.py for bugs" in said
    assert "my app.py | 1 +" in said
    assert "my app.py has 2 lines" in said
    assert "All that was\nsaid: 'my app.py' bugs" in said
    assert "references/rules.md, scripts/count.sh, templates/report.md" in said


def test_in_print_mode_a_person_types_it(program: Program) -> None:
    folder = review(program)
    with ServerThread(followed(folder)) as server:
        done = program.run("-p", "/code-review 'my app.py' bugs", "--trust", env=served(server))
    assert done.returncode == 0, done.stderr
    assert "Found: 1" in done.stdout
    sent("\n".join(texts(server.bodies[0])))
    answered = "\n".join(texts(server.bodies[1]))
    assert "Found: {count}" in answered and RULES in answered, "its files are read unasked"


def test_in_print_mode_the_model_invokes_it(program: Program) -> None:
    folder = review(program)
    asked = {"skill": "code-review", "args": "'my app.py' bugs"}
    script = f"call[s]: Skill {json.dumps(asked)}\n---\n{followed(folder)}"
    with ServerThread(script) as server:
        done = program.run("-p", "Look at my change.", "--trust", env=served(server))
    assert done.returncode == 0, done.stderr
    assert "code-review" in json.dumps(server.bodies[0]["system"]), "it is listed"
    sent("\n".join(texts(server.bodies[1])))
    assert RULES in "\n".join(texts(server.bodies[2]))


def test_in_print_mode_what_is_not_permitted_is_named(program: Program) -> None:
    folder = program.home / ".claude" / "skills" / "deploy"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("Deploys.\n\n!`git push origin $0`\n", encoding="utf-8")
    with ServerThread("say: no") as server:
        done = program.run("-p", "/deploy main", env=served(server))
    assert done.returncode != 0
    assert "`git push origin main` was not run" in done.stderr
    assert "would permit it" in done.stderr
    assert not server.bodies


def test_on_the_screen(program: Program) -> None:
    folder = review(program)
    (folder / "scripts" / "more.sh").write_text("echo more", encoding="utf-8")
    with screen(program, followed(folder), "--trust", rows=40) as (terminal, server):
        terminal.send("/code-rev")
        terminal.wait_for("/code-review", "Reviews what changed")
        terminal.press("escape")
        terminal.press("ctrl+u")
        say(terminal, "/code-review 'my app.py' bugs")
        terminal.wait_for("Skill code-review · user · 4 files", "Found: 1")
        assert "All that was" not in terminal.text(), "the text itself stays folded"
        sent("\n".join(texts(server.bodies[0])).replace(", scripts/more.sh", ""))


def test_on_the_screen_it_asks_for_what_is_not_permitted(program: Program) -> None:
    folder = program.project / ".claude" / "skills" / "note"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("Notes.\n\n!`echo noted > note.txt`\n", encoding="utf-8")
    with screen(program, "say: All noted.", "--trust") as (terminal, _):
        say(terminal, "/note")
        terminal.wait_for("echo noted > note.txt", "For the skill note", "Yes, once")
        choose(terminal, "y")
        terminal.wait_for("All noted.")
    assert (program.project / "note.txt").read_text(encoding="utf-8") == "noted\n"


def test_a_skill_that_is_written_meanwhile_is_in_the_menu_that_opens(program: Program) -> None:
    with program.terminal("--model", "demo", "--trust") as terminal:
        terminal.wait_for("Ask anything")
        path = program.project / ".claude/skills/brandnew/SKILL.md"
        path.parent.mkdir(parents=True)
        path.write_text("---\ndescription: Written just now.\n---\nDo it.\n", encoding="utf-8")
        terminal.send("/bran")
        terminal.wait_for("/brandnew", "Written just now.")
