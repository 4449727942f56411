"""A change that is asked about, within all of its file."""

from __future__ import annotations

from pathlib import Path

from gatewright.tools.blocks import Code, Diff, Hunk
from gatewright.tools.files.diff import diff
from gatewright.tools.interact import Ask
from gatewright.tui.ask.guard import HOLD, QUIET
from gatewright.tui.ask.whole import whole
from gatewright.tui.screens.reader import Reader
from tests.fakes.fake_session import FakeSession
from tests.tui.asked import OPTIONS, ask, permission
from tests.tui.stage import stage

OLD = "".join(f"line {n}\n" for n in range(1, 61))
NEW = OLD.replace("line 9\n", "").replace("line 40\n", "line forty\nand one\n")


def edit(change: Diff) -> Ask:
    return Ask(
        kind="permission",
        title="Edit a.txt",
        body=(change,),
        options=OPTIONS,
        reason="Edits ask in default mode.",
        free_text=True,
    )


def sides(change: Diff) -> tuple[str, str]:
    (hunk,) = change.hunks
    old = [line[1:] for line in hunk.lines if line[:1] in " -"]
    new = [line[1:] for line in hunk.lines if line[:1] in " +"]
    return "\n".join(old) + "\n", "\n".join(new) + "\n"


def test_the_file_is_filled_in_around_each_change(tmp_path: Path) -> None:
    tmp_path.joinpath("a.txt").write_text(OLD, encoding="utf-8")
    change = diff("a.txt", OLD, NEW)
    assert len(change.hunks) == 2
    shown = whole(change, tmp_path, tmp_path / "home")
    assert sides(shown) == (OLD, NEW)
    assert (shown.added, shown.removed) == (change.added, change.removed)


def test_a_file_of_the_home_is_found_there(tmp_path: Path) -> None:
    tmp_path.joinpath("a.txt").write_text(OLD, encoding="utf-8")
    change = diff("~/a.txt", OLD, NEW)
    assert sides(whole(change, tmp_path / "else", tmp_path)) == (OLD, NEW)


def test_another_text_than_it_was_made_for_is_not_shown_beside_it(tmp_path: Path) -> None:
    change = diff("a.txt", OLD, NEW)
    assert whole(change, tmp_path, tmp_path) == change  # there is no such file here
    file = tmp_path / "a.txt"
    for text in ("", OLD.replace("line 38", "other"), "\n" + OLD, "line 1\n"):
        file.write_text(text, encoding="utf-8")
        assert whole(change, tmp_path, tmp_path) == change
    file.write_bytes(b"\xff\xfe\x00")
    assert whole(change, tmp_path, tmp_path) == change


def test_a_new_file_is_whole_by_itself(tmp_path: Path) -> None:
    change = Diff("new.txt", (Hunk(0, 1, ("+one",)),), 1, 0)
    assert whole(change, tmp_path, tmp_path) == change


async def test_v_opens_it_at_the_first_change_and_leaves_the_question(tmp_path: Path) -> None:
    tmp_path.joinpath("a.txt").write_text(OLD, encoding="utf-8")
    async with stage(FakeSession(cwd=str(tmp_path))) as s:
        await ask(s, edit(diff("a.txt", OLD, NEW)))
        await s.see("v whole file")
        await s.press("v")
        await s.wait(2 * HOLD)
        await s.until(lambda: isinstance(s.app.screen, Reader))
        shown = await s.see("line 20", "9 - line 9", "line 6")
        assert "Yes, once" not in shown
        await s.press("end")
        await s.see("line 60")
        await s.press("q")
        await s.see("Yes, once")
        assert s.session.answers == []
        s.clock.now += 2 * QUIET
        await s.press("y")
        await s.until(lambda: len(s.session.answers) == 1)


async def test_a_new_file_is_read_whole(tmp_path: Path) -> None:
    new = Code(NEW, path="b.txt")
    asked = Ask(kind="permission", title="Write b.txt", body=(new,), options=OPTIONS)
    async with stage(FakeSession(cwd=str(tmp_path))) as s:
        await ask(s, asked)
        await s.see("Write b.txt   v whole file")
        await s.press("v")
        await s.wait(2 * HOLD)
        await s.until(lambda: isinstance(s.app.screen, Reader))
        assert "Yes, once" not in await s.see("line 8", "line 10")
        await s.press("end")
        await s.see("line 60")
        await s.press("q")
        await s.see("Yes, once")
        assert s.session.answers == []


async def test_a_word_that_begins_with_it_is_a_word() -> None:
    async with stage() as s:
        await ask(s, edit(diff("a.txt", OLD, NEW)))
        await s.press("v", "e")
        await s.until(lambda: s.app.repl.box.text == "ve")
        assert "v whole file" not in s.text()
        await s.wait(2 * HOLD)
        assert s.app.screen is s.app.repl


async def test_what_changes_no_file_has_nothing_to_open() -> None:
    async with stage() as s:
        await ask(s, permission())
        assert "whole file" not in s.text()
        await s.press("v")
        await s.until(lambda: s.app.repl.box.text == "v")
