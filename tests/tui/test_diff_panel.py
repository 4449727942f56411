"""The list of changed files: views as tabs, Enter reads one, closing that returns to its row."""

from __future__ import annotations

from collections.abc import Sequence

from gatewright.agent.commands.diff import Changes, Entry, listing
from gatewright.agent.commands.outcome import Listing, Say
from gatewright.tools.blocks import Block, Diff, Hunk
from tests.tui.stage import stage


def entry(path: str, kind: str, added: int, removed: int) -> Entry:
    return Entry(path, kind, added, removed, lambda: (None, None))


async def show(file: Entry) -> Sequence[Block]:
    hunk = Hunk(1, 1, (" same", f"-old of {file.path}", f"+new of {file.path}"))
    return (Diff(file.path, (hunk,), file.added, file.removed),)


def diffs() -> Listing:
    uncommitted = (entry("a.py", "changed", 3, 1), entry("b.png", "untracked", -1, -1))
    session = (entry("c.py", "new", 9, 0),)
    views = (
        Changes("uncommitted", "since the last commit", uncommitted, 2),
        Changes("session", "in this session", session, 1),
    )
    return listing(views, show, Say.text("as text"))


async def test_files_by_view() -> None:
    async with stage() as s:
        assert s.app.repl.reach.open_panel(diffs())
        shown = await s.see("Changed", "uncommitted 2", "session 1", "a.py", "+3 -1")
        assert "b.png" in shown and "binary or large" in shown and "c.py" not in shown
        await s.press("tab")
        await s.see("c.py", "+9 -0")
        await s.press("escape")
        await s.gone("Changed")


async def test_enter_reads_a_file_and_returns_to_its_row() -> None:
    async with stage() as s:
        s.app.repl.reach.open_panel(diffs())
        await s.see("▸ a.py")
        await s.press("down", "enter")
        await s.see("b.png  binary or large  since the last commit", "v opens an editor")
        await s.see("- old of b.png", "+ new of b.png")
        await s.gone("more below")
        await s.press("q")
        await s.see("▸ b.png")
        await s.press("tab", "enter")
        await s.see("+ new of c.py")
        await s.press("escape")
        await s.see("▸ c.py", "session 1")


async def test_side_by_side_where_there_is_room() -> None:
    async with stage(size=(120, 24)) as s:
        s.app.repl.reach.open_panel(diffs())
        await s.see("▸ a.py")
        await s.press("enter")
        shown = await s.see("old of a.py", "new of a.py")
        row = next(row for row in shown.splitlines() if "old of a.py" in row)
        assert "new of a.py" in row and "│" in row
