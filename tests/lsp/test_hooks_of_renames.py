"""What people's hooks say of edits holds for a rename, which changes files under another name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.hooks.scripts import command, hooks, part
from tests.lsp.test_session import asks, own
from tests.permissions.composed import Desk, desk

RENAME = (
    asks("p", "rename", filePath="a.x", line=2, symbol="word", newName="other"),
    asks("y", "applyRename", plan="p1"),
    "say: done",
)
# As they are written for Claude Code.
EDITS = "Edit|Write|MultiEdit"
NAMED = 'grep -q \'"file_path":"[^"]*/{0}"\''


async def renamed(folder: Path, given: dict[str, Any], mode: str = "bypassPermissions") -> Desk:
    async with desk(folder, RENAME, mode=mode, own={**own(), **given}) as made:
        for name in ("a.x", "b.x"):
            (made.project / name).write_text("first\nword\nlast\n", encoding="utf-8")
        made.session.submit("go")
        await made.ended()
        return made


def texts(made: Desk) -> list[str]:
    names = ("a.x", "b.x")
    return [(made.project / name).read_text(encoding="utf-8").split()[1] for name in names]


@pytest.mark.parametrize(("matcher", "held"), [(EDITS, True), ("Edit", True), ("Write", False)])
async def test_who_forbids_edits_of_one_file_stops_all_of_it(
    tmp_path: Path, matcher: str, held: bool
) -> None:
    deny = command(f"{NAMED.format('b.x')} && {{ echo b.x is mine >&2; exit 2; }}; exit 0")
    made = await renamed(tmp_path, hooks("PreToolUse", deny, matcher=matcher))
    assert texts(made) == (["word", "word"] if held else ["other", "other"])
    assert ("b.x is mine" in await made.finished("y")) is held
    assert (await made.decided("y")).stage == ("hook" if held else "bypass")


async def test_a_formatter_hears_of_each_file_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    made = await renamed(tmp_path, hooks("PostToolUse", command(f"cat >> {log}"), matcher=EDITS))
    assert texts(made) == ["other", "other"]
    told = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert [each["tool_name"] for each in told] == ["Edit", "Edit"]
    path = str(made.project / "a.x")
    assert told[0]["tool_input"] == {
        "file_path": path, "old_string": "word\n", "new_string": "other\n",
    }  # fmt: skip
    assert told[0]["tool_response"]["filePath"] == path and told[0]["tool_use_id"] == "y"


@pytest.mark.parametrize(("named", "runs"), [("a.x", False), ("[ab].x", True)])
async def test_to_allow_it_every_file_has_to_be_allowed(
    tmp_path: Path, named: str, runs: bool
) -> None:
    yes = json.dumps(part("PreToolUse", permissionDecision="allow"))
    allow = command(f"{NAMED.format(named)} && echo '{yes}'; exit 0")
    made = await renamed(tmp_path, hooks("PreToolUse", allow, matcher=EDITS), "dontAsk")
    assert texts(made) == (["other", "other"] if runs else ["word", "word"])
