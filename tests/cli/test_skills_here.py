"""`agent skills`: lists, shows, checks and writes skills, and acts on nothing of them."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewright.skills.model import SkillError
from gatewright.skills.reading import read_data
from gatewright.skills.strict.verdict import checked
from gatewright.skills.writing import new_skill, write_skill
from tests.e2e.program import Program
from tests.skills.trees import write

pytestmark = pytest.mark.e2e
THEIRS = importlib.util.find_spec("skills_ref") is not None
AGNIX = shutil.which("agnix", path=str(Path(sys.executable).parent))


def skill(program: Program, name: str, front: str, body: str = "Do it.\n") -> Path:
    text = f"---\n{front}\n---\n\n{body}"
    return write(program.project / ".claude" / "skills" / name / "SKILL.md", text)


def json_of(program: Program, *arguments: str) -> Any:
    return json.loads(program.run("skills", *arguments, "--json").stdout)


def test_what_there_is(program: Program) -> None:
    path = skill(program, "fix", "description: Fixes it.\nallowed-tools: Read")
    skill(program, "bad", "description: [", "").write_text("---\nnever closed", encoding="utf-8")
    skill(program, "code-review", "description: Mine.")
    write(program.project / ".claude" / "commands" / "git" / "sync.md", "Sync it.\n")
    untrusted = program.run("skills", "list").stdout
    assert "fix  project  untrusted\n" in untrusted
    assert "has the name of code-review: /project:code-review" in untrusted
    program.run("trust", "add")
    found = program.run("skills", "list").stdout
    assert "fix  project\n    Fixes it.\n" in found
    assert "git:sync  project\n    Sync it.\n" in found
    assert "has the name of code-review: /builtin:code-review" in found
    assert "XX  " in found and "--- that ends its front matter is missing." in found
    listed = json_of(program, "list")
    rows = {row["name"]: row for row in listed["skills"]}
    assert rows["fix"]["path"] == str(path) and rows["fix"]["listed"] > 0
    assert rows["git:sync"]["form"] == "command"
    assert [each["fatal"] for each in listed["problems"]] == [True]


def test_doctor_names_what_cannot_be_used(program: Program) -> None:
    skill(program, "fix", "description: Fixes it.\ncolour: red")
    path = write(program.project / ".claude" / "skills" / "bad" / "SKILL.md", "---\nno end")
    found = program.run("doctor").stdout
    assert f"Skills     {path}:1: the line --- that ends its front matter is missing." in found
    assert "Skills     5 skills; 1 note: agent skills list shows them" in found


def test_one_in_full(program: Program) -> None:
    skill(program, "fix", "description: Fixes it.\nallowed-tools: Bash(git add:*)", "Run !`date`.")
    assert "not trusted: allowed-tools" in program.run("skills", "info", "fix").stdout
    program.run("trust", "add")
    shown = program.run("skills", "info", "fix").stdout
    assert shown.startswith("fix: Fixes it.\n") and "allows: Bash(git add:*)" in shown
    assert shown.rstrip().endswith("Run !`date`.")
    assert json_of(program, "info", "project:fix")["text"] == "Run !`date`."
    typo = program.run("skills", "info", "fixx").stderr
    assert "There is no skill 'fixx'. Did you mean fix?" in typo
    missing = program.run("skills", "info", "nobody")
    assert missing.returncode == 1 and "There is no skill 'nobody'." in missing.stderr


def test_validation(program: Program) -> None:
    good = skill(program, "good", "name: good\ndescription: Does it.", "See [a](a.md).\n")
    bad = skill(program, "bad", "name: other\ndescription: Use it: now")
    done = program.run("skills", "validate", str(good.parent))
    assert done.returncode == 0 and "leads to nothing" in done.stdout
    assert "Valid: 1 of 1 (good)." in done.stdout
    assert program.run("skills", "validate", "--strict", str(good.parent)).returncode == 1
    both = program.run("skills", "validate", str(bad.parent.parent))
    assert both.returncode == 1 and "Valid: 1 of 2 (good)." in both.stdout
    assert f"XX  {bad}:3: its front matter is no plain YAML" in both.stdout
    verdicts = {each["name"]: each for each in json_of(program, "validate", ".")}
    assert [verdicts[name]["valid"] for name in ("good", "bad")] == [True, False]
    every = {each["name"]: each["valid"] for each in json_of(program, "validate")}
    assert every["good"] and not every["bad"] and every["code-review"]
    named = program.run("skills", "validate", "good")
    assert named.returncode == 0 and "Valid: 1 of 1 (good)." in named.stdout
    assert "Valid: 1 of 1 (good)." in program.run("skills", "validate", str(good)).stdout
    assert "Did you mean good?" in program.run("skills", "validate", "godo").stderr
    nothing = program.run("skills", "validate", str(program.project / "missing"))
    assert nothing.returncode == 1 and "is no directory" in nothing.stderr


def test_warnings_of_a_text(tmp_path: Path) -> None:
    body = (
        "[out](../../secret) [gone](x.md) [fine](https://a.example) `[no](y.md)`\n"
        "```\n[no](z.md)\n```\n[here](SKILL.md#a)\n\n!`echo $(( $1 ))`\n"
    )
    text = f"---\nname: a\ndescription: b\narguments: x\n---\n\n{body}"
    found = checked(write(tmp_path / "a" / "SKILL.md", text).parent)
    assert found.errors == ()
    told = [(each.line, each.text) for each in found.warnings]
    assert told[:2] == [
        (7, "its link to ../../secret leads out of its directory"),
        (7, "its link to x.md leads to nothing"),
    ]
    assert [line for line, _ in told[2:]] == [13]


def test_a_new_one_is_right(program: Program) -> None:
    about = 'Repairs tests: when "they" fail'
    done = program.run(
        "skills", "new", "fix-tests", "-d", about, "--tools", "Read Bash(npm test:*)"
    )
    path = program.project / ".gatewright" / "skills" / "fix-tests" / "SKILL.md"
    assert done.returncode == 0 and str(path) in done.stdout
    assert program.run("skills", "validate", "--strict", str(path.parent)).returncode == 0
    row, *_ = [each for each in json_of(program, "list")["skills"] if each["name"] == "fix-tests"]
    assert row["description"].startswith(about)
    again = program.run("skills", "new", "fix-tests", "-d", "x")
    assert again.returncode == 1 and "is there already." in again.stderr
    wrong = program.run("skills", "new", "Fix Tests", "-d", "x")
    assert wrong.returncode == 1 and "A name is 1 to 64" in wrong.stderr
    user = json.loads(
        program.run("skills", "new", "mine", "-d", "x", "--scope", "user", "--json").stdout
    )
    assert Path(user["path"]).is_file() and not Path(user["path"]).is_relative_to(program.project)


def test_a_model_writes_no_skill_that_way(program: Program) -> None:
    done = program.run("skills", "new", "a", "-d", "x", env={"GATEWRIGHT": "1"})
    assert done.returncode == 1 and "by the person" in done.stderr


@given(st.text(min_size=1, max_size=200))
def test_any_description_stays_one(text: str) -> None:
    try:
        written = new_skill("demo", text)
    except SkillError:
        assert not any(char.isprintable() and not char.isspace() for char in text)
        return
    read = read_data(written.encode(errors="replace"), Path("/x/SKILL.md"), "demo", "skill")
    assert read.said is not None
    assert not read.diagnostics


@pytest.mark.skipif(not THEIRS, reason="skills-ref is not installed")
@pytest.mark.parametrize(
    "about", ["Does it", "yes", "a: b # c", "- x", "a --- b", "'quoted'", "[x]"]
)
def test_the_formats_own_checker_takes_it(tmp_path: Path, about: str) -> None:
    validator = pytest.importorskip("skills_ref.validator")
    path = write_skill(tmp_path, "demo", new_skill("demo", about))
    assert validator.validate(path.parent) == []


@pytest.mark.skipif(AGNIX is None, reason="agnix is not installed")
@pytest.mark.parametrize("about", ["Use when tests fail: repairs them", "Does it"])
def test_agnix_finds_no_error(tmp_path: Path, about: str) -> None:
    write_skill(tmp_path / ".claude" / "skills", "demo", new_skill("demo", about))
    assert AGNIX is not None
    done = subprocess.run(
        [AGNIX, str(tmp_path)], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout
    assert "Found 0 errors" in done.stdout


def test_a_directory_that_is_half_written_is_none(tmp_path: Path) -> None:
    with pytest.raises(SkillError, match="cannot be written"):
        write_skill(tmp_path, "demo", new_skill("demo", "x"), ("a/b/c",))
    assert list(tmp_path.iterdir()) == []
