"""The skills that come with the program: well formed, whole, cheap to list; their script runs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gatewright.agent.compact.estimate import text_tokens
from gatewright.skills.book import SkillBook
from gatewright.skills.model import Skill
from gatewright.skills.places import BUILT_IN
from tests.e2e.program import AGENT, Program
from tests.fakes.model_server import ServerThread
from tests.skills.trees import Tree

NAMES = ("code-review", "git-workflow", "skill-creator", "tdd")
LISTED = 250  # tokens of all together
BODY = 5_000  # tokens of one: what stays of it after a summary
LINK = re.compile(r"\]\(([^)#\s]+)\)")
COMPARE = BUILT_IN / "skill-creator" / "scripts" / "compare.py"


def skills(tmp_path: Path) -> tuple[SkillBook, tuple[Skill, ...]]:
    book = Tree(tmp_path).with_ground(built_in=BUILT_IN).book()
    return book, book.now().every


def test_they_are_there_and_nothing_is_wrong_with_them(tmp_path: Path) -> None:
    book, found = skills(tmp_path)
    assert tuple(sorted(skill.name for skill in found)) == NAMES
    assert book.now().diagnostics == ()
    assert sorted(skill.name for skill in book.listed()) == list(NAMES)
    assert {skill.origin for skill in found} == {"built-in"}


def test_to_list_them_costs_little(tmp_path: Path) -> None:
    book, _ = skills(tmp_path)
    lines = [f"- {skill.name}: {skill.said.description}\n" for skill in book.listed()]
    assert text_tokens("".join(lines)) <= LISTED
    for skill in book.listed():
        assert "Use when" in skill.said.description or "Use for" in skill.said.description


@pytest.mark.parametrize("name", NAMES)
def test_every_file_is_led_to_and_every_link_leads_somewhere(name: str) -> None:
    folder = BUILT_IN / name
    text = (folder / "SKILL.md").read_text(encoding="utf-8")
    targets = {(folder / link).resolve() for link in LINK.findall(text)}
    assert all(target.is_relative_to(folder.resolve()) for target in targets)
    assert [str(target) for target in targets if not target.is_file()] == []
    files = {path.resolve() for path in folder.rglob("*") if path.is_file()}
    unnamed = files - targets - {(folder / "SKILL.md").resolve(), COMPARE.resolve()}
    assert [str(path) for path in unnamed if path.suffix != ".pyc"] == []
    assert text_tokens(text) < BODY
    assert "—" not in text


def compare(program: Program, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(COMPARE), *arguments],
        cwd=program.project,
        env=program.env(**env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=100,
        check=False,
    )


def tasks(program: Program, *entries: dict[str, object]) -> str:
    (program.project / "tasks.json").write_text(
        json.dumps({"folder": "fixture", "tasks": entries}), encoding="utf-8"
    )
    (program.project / "fixture").mkdir()
    (program.project / "fixture" / "notes.txt").write_text("alpha\n", encoding="utf-8")
    skill = program.project / "noting" / "SKILL.md"
    skill.parent.mkdir()
    text = "---\nname: noting\ndescription: Keeps notes. Use when notes are wanted.\n---\n\nDo.\n"
    skill.write_text(text, encoding="utf-8")
    return "tasks.json"


@pytest.mark.e2e
def test_runs_with_and_without_a_skill_are_compared(program: Program) -> None:
    script = (
        'call: Write {"file_path": "made.txt", "content": "alpha"}\n---\nsay: Made it.\n---\n'
        "say: I would not know.\n"
    )
    file = tasks(
        program,
        {
            "name": "make",
            "prompt": "Make it.",
            "check": "grep -q alpha made.txt",
            "expect": ["made"],
        },
    )
    with ServerThread(script) as server:
        flags = ("--", "--model", "llamacpp/tiny.gguf", "--permission-mode", "acceptEdits")
        done = compare(
            program, file, "--skill", "noting", "--agent", AGENT, "--json", "all.json",
            "--keep", "kept", *flags, LLAMACPP_BASE_URL=server.openai_url,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["Task", "right", "used", "requests", "tokens", "seconds", "dollars"]
    assert lines[1].split()[:4] == ["make", "with", "1/1", "0/1"]
    assert lines[2].split()[:3] == ["without", "0/1", "0/1"]
    assert "make, without: the answer does not match 'made'" in done.stdout
    told = json.loads((program.project / "all.json").read_text(encoding="utf-8"))
    assert [each["with_skill"] for each in told] == [True, False]
    assert told[0]["runs"][0]["requests"] == 2 and told[0]["runs"][0]["tokens"] > 0
    having, lacking = sorted((program.project / "kept").iterdir())
    assert (having / ".agents/skills/noting/SKILL.md").is_file()
    assert (having / "made.txt").is_file()
    assert not (lacking / ".agents").exists()
    assert not (program.project / "fixture" / "made.txt").exists()
    assert "noting" not in json.dumps(server.bodies[2]["messages"][0])


@pytest.mark.e2e
def test_what_cannot_be_compared_is_told(program: Program) -> None:
    file = tasks(program, {"prompt": "x"})
    done = compare(program, file, "--skill", "nowhere", "--agent", AGENT)
    assert done.returncode == 2 and "has no SKILL.md" in done.stderr
    (program.project / "bad.json").write_text('{"tasks": [{}]}', encoding="utf-8")
    done = compare(program, "bad.json", "--skill", "noting", "--agent", AGENT)
    assert done.returncode == 1 and "bad.json is no file of tasks" in done.stderr
    done = compare(program, file, "--skill", "noting", "--agent", AGENT, "--dry-run")
    assert done.returncode == 0 and '"skillOverrides": {"noting": "off"}' in done.stdout
