"""The skills that come along, in use: what their texts say to do works, asks where it must."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gatewright.skills.places import BUILT_IN
from tests.e2e.program import Program
from tests.e2e.stage import MODEL, choose, say, screen, served
from tests.fakes.model_server import ServerThread

pytestmark = pytest.mark.e2e

BEFORE = """def add(basket, item):
    return [*basket, item]
"""
PLANTED = {
    "a query made of text": "db.execute(f\"SELECT * FROM orders WHERE name = '{name}'\")",
    "the last one left out": "for at in range(len(basket) - 1):",
    "a default that is shared": "def add(item, basket=[]):",
    "an error that nobody hears of": "except Exception:\n        pass",
    "checked, then used": "if not os.path.exists(path):\n        open(path, 'w').write(text)",
}
AFTER = f"""import os


def find(db, name):
    return {PLANTED["a query made of text"]}


def total(basket):
    sum = 0
    {PLANTED["the last one left out"]}
        sum += basket[at].price
    return sum


{PLANTED["a default that is shared"]}
    basket.append(item)
    return basket


def save(order):
    try:
        order.write()
    {PLANTED["an error that nobody hears of"]}


def first(path, text):
    {PLANTED["checked, then used"]}
"""


def git(program: Program, *arguments: str) -> str:
    identity = ("-c", "user.name=A Person", "-c", "user.email=p@example.org")
    done = subprocess.run(
        ["git", *identity, *arguments],
        cwd=program.project,
        env=program.env(GIT_CONFIG_GLOBAL="/dev/null"),
        check=True,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    return done.stdout


def repository(program: Program) -> None:
    (program.project / "shop.py").write_text(BEFORE, encoding="utf-8")
    git(program, "init", "-q", "-b", "main")
    git(program, "config", "user.name", "A Person")
    git(program, "config", "user.email", "p@example.org")
    git(program, "add", ".")
    git(program, "commit", "-qm", "Begin")


def call(name: str, **input: Any) -> str:
    return f"call: {name} {json.dumps(input)}"


def script(*answers: str) -> str:
    return "\n---\n".join(answers) + "\n"


def results(done: subprocess.CompletedProcess[str]) -> list[Mapping[str, Any]]:
    """What the calls came to, in their order."""
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return [
        block
        for line in lines
        if line["type"] == "user"
        for block in line["message"]["content"]
        if block["type"] == "tool_result"
    ]


def asked(program: Program, prompt: str, answers: str, *flags: str) -> list[Mapping[str, Any]]:
    """In print mode, where nobody can be asked."""
    with ServerThread(answers) as server:
        done = program.run(
            "-p", prompt, "--model", MODEL, "--output-format", "stream-json", "--trust", *flags,
            env=served(server),
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return results(done)


def text(result: Mapping[str, Any]) -> str:
    content = result["content"]
    return content if isinstance(content, str) else json.dumps(content)


def step(name: str, *words: str) -> str:
    """A command that the text of a skill names; one that it does not name fails here."""
    command = " ".join(words)
    texts = (path.read_text(encoding="utf-8") for path in (BUILT_IN / name).rglob("*.md"))
    assert any(" ".join(words[:2]) in each for each in texts), f"{name} does not say {command}"
    return call("Bash", command=command)


def test_a_review_sees_five_planted_defects_and_nobody_is_asked(program: Program) -> None:
    repository(program)
    (program.project / "shop.py").write_text(AFTER, encoding="utf-8")
    own = BUILT_IN / "code-review"
    findings = "\n".join(
        f"  {n}. **major** `shop.py` - {what}" for n, what in enumerate(PLANTED, 1)
    )
    made = asked(
        program,
        "Review what I changed.",
        script(
            call("Skill", skill="code-review", args="what is not committed"),
            step("code-review", "git", "status", "--short"),
            step("code-review", "git", "diff", "--stat", "HEAD"),
            step("code-review", "git", "diff", "HEAD", "--", "shop.py"),
            call("Read", file_path=str(own / "references/defects.md")),
            call("Read", file_path=str(own / "references/security.md")),
            call("Read", file_path=str(own / "templates/report.md")),
            call("Grep", pattern="basket"),
            f"say: **Reviewed:** shop.py\n{findings}",
        ),
    )
    assert [(n, text(result)) for n, result in enumerate(made) if result.get("is_error")] == []
    assert "what is not committed" in text(made[0]) and "$ARGUMENTS" not in text(made[0])
    changed = re.sub(r"(?m)^\+", "", text(made[3]))
    for what, planted in PLANTED.items():
        assert planted in changed, what
    assert "Where input meets power" in text(made[5])
    assert "**Verdict:**" in text(made[6])
    assert git(program, "status", "--short") == " M shop.py\n", "a review changes nothing"


def test_test_first_is_red_then_green(program: Program) -> None:
    test = (
        "import unittest\nfrom shop import total\n\n\nclass Totals(unittest.TestCase):\n"
        "    def test_an_empty_basket_costs_nothing(self) -> None:\n"
        "        self.assertEqual(total([]), 0)\n"
    )
    run = step("tdd", "python", "-m", "unittest", "test_shop").replace("python", "python3", 1)
    made = asked(
        program,
        "/tdd the total of a basket",
        script(
            call("Read", file_path=str(BUILT_IN / "tdd/references/runners.md")),
            call("Write", file_path="test_shop.py", content=test),
            run,
            call("Write", file_path="shop.py", content="def total(basket):\n    return 0\n"),
            run,
            "say: One behaviour, one test.",
        ),
        "--permission-mode", "acceptEdits", "--allowed-tools", "Bash(python3 -m unittest:*)",
    )  # fmt: skip
    assert "unittest" in text(made[0])
    red, green = text(made[2]), text(made[4])
    assert "Error" in red and "OK" in green, (red, green)


def test_a_commit_is_made_of_what_was_named_alone(program: Program) -> None:
    """On the screen: what only looks runs, what changes the repository asks."""
    program.unconfined()
    repository(program)
    (program.project / "shop.py").write_text(AFTER, encoding="utf-8")
    (program.project / "mine.txt").write_text("the person's own\n", encoding="utf-8")
    answers = script(
        step("git-workflow", "git", "status", "--short", "--branch"),
        step("git-workflow", "git", "log", "--format=%s", "-n", "20"),
        step("git-workflow", "git", "add", "shop.py"),
        step("git-workflow", "git", "diff", "--cached"),
        call("Bash", command="git commit -m 'Add up a basket'"),
        "say: Committed shop.py alone.",
    )
    with screen(program, answers, "--trust") as (terminal, server):
        say(terminal, "/git-workflow commit the shop")
        terminal.wait_for("Yes, once", "git add shop.py")
        choose(terminal, "y", until="git commit -m")
        terminal.wait_for("Yes, once", "git commit -m")
        choose(terminal, "y")
        terminal.wait_for("Committed shop.py alone.")
        first = json.dumps(server.bodies[0]["messages"])
    assert "commit the shop" in first and "Stage by name" in first
    assert git(program, "log", "--format=%s").split("\n")[0] == "Add up a basket"
    assert git(program, "status", "--short") == "?? mine.txt\n"


def test_a_skill_is_written_checked_and_used(program: Program) -> None:
    """On the screen, from the first line to the new skill in use."""
    program.unconfined()
    home = program.project / ".agents/skills/noting"
    skill = (
        "---\nname: noting\ndescription: Keeps notes in notes.txt. Use when a note is wanted.\n"
        "---\n\nAdd the note $ARGUMENTS as a line to notes.txt.\n"
    )
    tasks = json.dumps({"folder": ".", "tasks": [{"name": "one", "prompt": "Note: buy milk."}]})
    script_file = BUILT_IN / "skill-creator/scripts/compare.py"
    answers = script(
        call("Read", file_path=str(BUILT_IN / "skill-creator/references/writing.md")),
        call("Write", file_path=str(home / "SKILL.md"), content=skill),
        call("Bash", command=f"agent skills validate --strict {home}"),
        call("Write", file_path="tasks.json", content=tasks),
        call("Bash", command=f"python3 {script_file} tasks.json --skill {home} --dry-run"),
        "say: The skill is there.",
        "say: I keep notes now.",
    )
    with screen(program, answers, "--trust", columns=120) as (terminal, server):
        say(terminal, "/skill-creator keep notes")
        terminal.wait_for("Yes, once", "SKILL.md")
        for after in ("agent skills validate", "tasks.json", "compare.py", "The skill is there."):
            choose(terminal, "y", until=after)
        said = json.dumps(server.bodies[-1]["messages"])
        say(terminal, "/noting buy milk")
        terminal.wait_for("I keep notes now.")
        used = json.dumps(server.bodies[-1]["messages"])
    assert "python3 ${SKILL_DIR}" not in said and str(script_file) in said
    assert "skillOverrides" in said, "the comparison said what it would run"
    assert "Add the note buy milk as a line" in used
    assert Path(home / "SKILL.md").read_text(encoding="utf-8") == skill
