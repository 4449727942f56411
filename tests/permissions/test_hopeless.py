"""Nobody, person or hook, is asked about a change that cannot be made; what is denied stays so.

With the real built-in tools on a real directory.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from gatewright.tools.access import Where
from gatewright.tools.blocks import Command, Diff, plain
from gatewright.tools.protocol import JsonObject
from tests.fakes.executor import text_of
from tests.permissions.asking import Desk

EDIT = {"old_string": "beta", "new_string": "gamma"}


@pytest.mark.parametrize(
    ("name", "input", "said"),
    [
        ("Edit", {"file_path": "a.txt", **EDIT, "old_string": "delta"}, "is not in the file"),
        ("Edit", {"file_path": "none.txt", **EDIT}, "does not exist"),
        ("MultiEdit", {"file_path": "a.txt", "edits": [EDIT, EDIT]}, "Edit 2 of 2"),
        ("Write", {"file_path": ".", "content": "x"}, "is a directory"),
        ("Write", {"file_path": "unread.txt", "content": "x"}, "was not read yet"),
    ],
)
@pytest.mark.parametrize("mode", ["default", "acceptEdits"])
async def test_a_change_that_cannot_be_made_fails_before_anybody_is_asked(
    tmp_path: Path, name: str, input: JsonObject, said: str, mode: str
) -> None:
    desk = Desk(tmp_path, mode=mode)
    desk.file("a.txt", "alpha\nbeta\n")
    (tmp_path / "unread.txt").write_text("x", encoding="utf-8")
    result = await desk.call(name, **input)
    assert not result.ok
    assert said in text_of(result)
    assert (desk.asked, desk.hooked, desk.records) == ([], [], [])


@pytest.mark.parametrize("rule", ["Edit(/.env)", "Read(/.env)"])
async def test_of_a_denied_file_nothing_is_told(tmp_path: Path, rule: str) -> None:
    """Neither whether it is there, nor whether a text stands in it."""
    desk = Desk(tmp_path, deny=(rule,))
    absent = text_of(await desk.call("Edit", file_path=".env", **EDIT))
    desk.file(".env", "beta=1\n")
    there = text_of(await desk.call("Edit", file_path=".env", **EDIT))
    other = {"old_string": "x", "new_string": "y"}
    assert absent == there
    assert text_of(await desk.call("Edit", file_path=".env", **other)).startswith(absent)
    assert f"deny rule forbids it: {rule}" in absent
    assert desk.asked == []


async def test_what_is_asked_is_what_is_written(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    path = desk.file("a.txt", "".join(f"line {n}\n" for n in range(1, 31)))
    edit = {"file_path": "a.txt", "old_string": "line 20\n", "new_string": "twenty\n"}
    result = await desk.call("Edit", **edit)
    (ask,) = desk.asked
    assert ask.body == result.view
    (shown,) = ask.body
    assert isinstance(shown, Diff)
    assert shown.hunks[0].old_start == 17, "the line of the file"
    assert "twenty" in path.read_text(encoding="utf-8")


async def test_a_file_that_changes_during_the_question_is_left_alone(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    path = desk.file("a.txt", "alpha\nbeta\n")
    desk.meanwhile = lambda: path.write_text("beta, mine\n", encoding="utf-8")
    result = await desk.call("Edit", file_path="a.txt", **EDIT)
    assert "changed since it was read" in text_of(result)
    assert path.read_text(encoding="utf-8") == "beta, mine\n"


async def test_a_file_that_appears_during_the_question_is_left_alone(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    path = tmp_path / "new.txt"
    desk.meanwhile = lambda: path.write_text("mine\n", encoding="utf-8")
    assert not (await desk.call("Write", file_path="new.txt", content="its\n")).ok
    assert path.read_text(encoding="utf-8") == "mine\n"


async def test_a_question_names_the_place_a_call_is_made_from(tmp_path: Path) -> None:
    """Files by the project, whatever the model wrote; commands with the directory they run in."""
    (tmp_path / "src").mkdir()
    desk = Desk(tmp_path)
    where = Where(tmp_path / "src", tmp_path, tmp_path.parent)
    desk.context = msgspec.structs.replace(desk.context, where=where)
    await desk.call("Write", file_path="src/x.txt", content="x")
    await desk.call("Bash", command="touch y", description="")
    written, ran = desk.asked
    assert written.title == "Write src/src/x.txt"
    assert (tmp_path / "src" / "src" / "x.txt").read_text("utf-8") == "x"
    assert desk.records[0].target == "src/src/x.txt"
    assert ran.body[0] == Command("touch y", "src/")
    assert plain(ran.body[0]) == "$ touch y\n  in src/"
