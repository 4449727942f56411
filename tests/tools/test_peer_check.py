"""The edits and commands of docs/peer-check.md do what the page says."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.toolbox import Toolbox, text
from tests.pages.peer_check import cases

EDITS, COMMANDS = cases("edit"), cases("command")


def test_the_page_is_as_long_as_it_says() -> None:
    assert (len(EDITS), len(COMMANDS)) == (30, 20)


def arranged(box: Toolbox, case: dict[str, Any]) -> Path:
    """The file as the case has it, read by the model unless it says otherwise."""
    path = box.root / "file.txt"
    data = case["file"].encode(case.get("encoding", "utf-8"))
    path.write_bytes(data)
    match case.get("before"):
        case "unread":
            return path
        case "changed":
            box.ledger.note(path, b"something else")
            return path
        case "touched":
            os.utime(path, (1, 1))
        case "read-only":
            path.chmod(0o444)
        case "executable":
            path.chmod(0o755)
        case "link":
            path.rename(box.root / "real.txt")
            path.symlink_to("real.txt")
        case _:
            pass
    box.ledger.note(path, data)
    return path


@pytest.mark.parametrize("case", EDITS, ids=lambda case: case["case"])
async def test_edit(box: Toolbox, case: dict[str, Any]) -> None:
    path = arranged(box, case)
    before, mode, link = path.read_bytes(), path.stat().st_mode, path.is_symlink()
    name = "fil.txt" if case.get("before") == "misspelt" else "file.txt"
    result = await box.call(
        "Edit",
        file_path=name,
        old_string=case["old"],
        new_string=case["new"],
        replace_all=case.get("all", False),
    )
    if "refused" in case:
        assert not result.ok and case["refused"] in text(result)
        assert path.read_bytes() == before
    else:
        assert result.ok, text(result)
        assert path.read_bytes() == case["result"].encode(case.get("encoding", "utf-8"))
    assert (stat.S_IMODE(path.stat().st_mode), path.is_symlink()) == (stat.S_IMODE(mode), link)


@pytest.mark.parametrize("case", COMMANDS, ids=lambda case: case["case"])
async def test_command(box: Toolbox, case: dict[str, Any]) -> None:
    (box.root / "file.txt").write_text("words\n", encoding="utf-8")
    (box.root / "sub").mkdir()
    box.set(env={**box.ctx.env, "PEER_API_TOKEN": "hidden-value"})
    more = {"timeout": case["timeout"]} if "timeout" in case else {}
    result = await box.call("Bash", command=case["command"], **more)
    if "then" in case:
        result = await box.call("Bash", command=case["then"])
    assert result.ok is not case.get("fails", False), text(result)
    assert case["says"] in text(result)
    assert case.get("never", "\ufffe") not in text(result)


async def test_cat_counts_as_reading(box: Toolbox) -> None:
    (box.root / "file.txt").write_text("words\n", encoding="utf-8")
    await box.said("Bash", command="cat file.txt")
    await box.said("Edit", file_path="file.txt", old_string="words", new_string="work")
