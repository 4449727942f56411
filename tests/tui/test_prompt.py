"""What helps to write a message: chips, menus, history, stash, editor, own commands."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gatewright.agent.context.attachments import Mention, mentions
from gatewright.tools.protocol import ImageContent, TextContent
from gatewright.tui.prompt import files as listing
from gatewright.tui.prompt.complete import NOTHING, Word, word_at
from gatewright.tui.prompt.files import Files, mention, rank
from gatewright.tui.prompt.history import History
from gatewright.tui.prompt.kill import KillRing
from gatewright.tui.prompt.match import best, score
from gatewright.tui.prompt.paste import Chips, dropped_picture, large, normal
from gatewright.tui.shell import Tail
from tests.fakes.fake_session import FakeSession
from tests.tui.stage import stage

PIXEL = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")  # fmt: skip  # noqa: E501


@pytest.mark.parametrize(
    ("line", "column", "word"),
    [
        ("/mo", 3, Word("command", "mo", 0)),
        ("/mode plan", 10, NOTHING),
        ("see @src/a", 10, Word("file", "src/a", 4)),
        ("@", 1, Word("file", "", 0)),
        ("a@b", 3, NOTHING),
        ('see @"read me', 13, Word("file", "read me", 4)),
        ('see @"read me" now', 18, NOTHING),
        ('a@"b c', 6, NOTHING),
        ("text /mo", 8, NOTHING),
    ],
)
def test_the_word_at_the_cursor(line: str, column: int, word: Word) -> None:
    assert word_at(line, column, 0) == word


@pytest.mark.parametrize(
    ("path", "written"),
    [
        ("src/a.py", "@src/a.py"),
        ("read me.txt", '@"read me.txt"'),
        ("it's.txt", '@"it\'s.txt"'),
        ("what?", '@"what?"'),
        ("my docs/", '@"my docs/'),
        ("src/", "@src/"),
    ],
)
def test_a_completed_path_is_what_attaching_finds(path: str, written: str) -> None:
    assert mention(path) == written
    if not path.endswith("/"):
        assert mentions(f"see {written} now") == [Mention(path)]


async def test_a_path_with_blanks_is_completed_in_quotes(tmp_path: Path) -> None:
    (tmp_path / "read me.txt").write_text("", encoding="utf-8")
    async with stage(FakeSession(cwd=str(tmp_path))) as s:
        await s.type("see @rea")
        await s.see("read me.txt")
        await s.press("tab")
        await s.until(lambda: s.app.repl.box.text == 'see @"read me.txt" ')
        s.app.repl.box.put('@"read m')
        await s.see("▸ read me.txt")
        await s.press("tab")
        await s.until(lambda: s.app.repl.box.text == '@"read me.txt" ')


def test_commands_complete_only_in_the_first_line() -> None:
    assert word_at("/mo", 3, 1) == NOTHING


def test_better_matches_come_first() -> None:
    names = ["remove", "mode", "model", "some/mode", "m-o-d"]
    assert best("mod", names, lambda name: (name,))[:2] == ["mode", "model"]
    assert score("xyz", "mode") is None
    assert best("mo", ["amo", "mo"], lambda name: (name,)) == ["mo", "amo"]


def test_files_by_name_beat_files_by_folder() -> None:
    paths = ["tests/state/other.py", "tui/state.py", "docs/estate.md", "x/s_t_a_t_e"]
    assert rank("state", paths, paths)[0] == "tui/state.py"
    assert "x/s_t_a_t_e" in rank("state", paths, paths)
    assert rank("", paths, paths) == paths


async def test_files_are_listed_without_what_git_ignores(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("", encoding="utf-8")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("", encoding="utf-8")
    files = Files(tmp_path)
    await files.refresh()
    labels = [choice.label for choice in files.choices("")]
    assert labels == ["src/", "src/a.py"]
    assert not files.stale


def test_history_keeps_the_draft() -> None:
    history = History()
    assert history.older("draft") is None
    history.add("one")
    history.add("one")
    history.add("two")
    assert len(history) == 2
    assert [history.older("draft"), history.older("x"), history.older("x")] == ["two", "one", None]
    assert [history.newer(), history.newer(), history.newer()] == ["two", "draft", None]


@pytest.mark.parametrize("way", ["enter", "ctrl+c", "ctrl+s"])
async def test_a_key_behind_login_is_not_remembered(way: str) -> None:
    async with stage() as s:
        await s.type("/login anthropic sk-made-up")
        await s.press("escape", way)
        await s.until(lambda: not s.app.repl.box.text)
        await s.type("next")
        await s.press("ctrl+s")
        assert s.app.repl.box.history_.entries() == []


def test_history_outlives_the_program(tmp_path: Path) -> None:
    path = tmp_path / "state" / "history.jsonl"
    first = History(path)
    first.add("one\ntwo")
    first.add("x" * 30_000)
    with path.open("a", encoding="utf-8") as file:
        file.write("{torn\n")
    second = History(path)
    assert second.entries() == ["one\ntwo"]
    assert History(tmp_path / "nowhere").entries() == []


def test_old_and_new_lines_are_read_and_a_large_file_shrinks(tmp_path: Path) -> None:
    path = tmp_path / "-home-sam-lease.jsonl"
    path.write_text('"old"\n{"text": 3}\n[1]\n' + '"' + "x" * 19_000 + '"\n', encoding="utf-8")
    history = History(path, now=lambda: 5.0)
    history.project = "/home/sam/lease"
    history.add("new")
    assert History(path).entries() == ["old", "x" * 19_000, "new"]
    with path.open("a", encoding="utf-8") as file:
        file.writelines(f'"{number}{"y" * 19_000}"\n' for number in range(300))
    kept = History(path).entries()
    assert path.stat().st_size < 2_100_000
    assert History(path).entries()[-100:] == kept[-100:]


def test_history_by_scope(tmp_path: Path) -> None:
    moment = iter(range(100, 200))
    other = History(tmp_path / "other.jsonl", now=lambda: next(moment))
    other.project = "/home/sam/other"
    other.add("from another")
    before = History(tmp_path / "own.jsonl", now=lambda: next(moment))
    before.add("from before")
    now = History(tmp_path / "own.jsonl", now=lambda: next(moment))
    now.seed(["resumed"])
    now.add("said now")
    assert now.of_session() == ["resumed", "said now"]
    assert now.entries() == ["from before", "resumed", "said now"]
    said = list(dict.fromkeys(sent.text for sent in now.of_all()))
    assert said == ["said now", "resumed", "from before", "from another"]


async def test_ctrl_r_cycles_through_the_scopes(tmp_path: Path) -> None:
    other = History(tmp_path / "other.jsonl")
    other.project = "/home/sam/other"
    other.add("far away")
    History(tmp_path / "own.jsonl").add("earlier here")
    async with stage() as s:
        s.app.repl.box.history_ = History(tmp_path / "own.jsonl")
        await s.type("just now")
        await s.press("enter")
        await s.type("draft")
        await s.press("ctrl+r")
        await s.see("project 2", "session 1", "all 3", "earlier here")
        assert "far away" not in s.text()
        await s.press("ctrl+r")
        await s.gone("earlier here")
        await s.press("tab")
        await s.see("far away", "other")
        await s.press(*"far", "enter")
        assert s.app.repl.box.text == "far away"


def test_kills_in_a_row_join() -> None:
    ring = KillRing()
    ring.kill("b")
    ring.kill("c")
    ring.kill("a", before=True)
    assert ring.yank() == "abc"
    ring.other_key()
    ring.kill("new")
    assert (ring.yank(), ring.turn(), ring.turn()) == ("new", "abc", "new")


def test_small_pastes_stay_text() -> None:
    assert Chips().fold("two\nlines") == "two\nlines"
    assert not large("x" * 1000)
    assert large("x\n" * 15)
    assert normal("a\r\nb\rc\x00") == "a\nb\nc"


def test_a_chip_unfolds_in_its_place() -> None:
    chips = Chips()
    first, second = chips.fold("a\n" * 20), chips.fold("b\n" * 30)
    assert (first, second) == ("[Pasted 20 lines #1]", "[Pasted 30 lines #2]")
    whole = "see " + "a\n" * 20 + " and " + "b\n" * 30
    assert chips.unfold(f"see {first} and {second}") == whole
    assert chips.before(f"see {first}") == first
    assert chips.before("see [Pasted 9 lines #9]") == ""


async def test_only_what_was_typed_counts_as_the_persons_own_words() -> None:
    """A file that a folded paste names is not attached; nor once it is back in the prompt."""
    pasted = "see @~/.ssh/id_rsa\n" * 20
    async with stage() as s:
        await s.type("Look at @notes.txt: ")
        await s.paste(pasted)
        await s.see("[Pasted 20 lines #1]")
        await s.press("enter")
        assert s.session.sent == [f"Look at @notes.txt: {pasted}"]
        assert s.session.typed == ["Look at @notes.txt: [Pasted 20 lines #1]"]


def test_a_dropped_picture_is_attached(tmp_path: Path) -> None:
    path = tmp_path / "a plan.png"
    path.write_bytes(PIXEL)
    assert dropped_picture(f"'{path}'") == path
    assert dropped_picture(f"file://{str(path).replace(' ', '%20')}") == path
    assert dropped_picture("notes.png") is None
    chips = Chips()
    chip = chips.fold(str(path))
    assert chip == "[Picture a plan.png #1]"
    (picture,) = chips.pictures(f"look at {chip}")
    assert picture == ImageContent("image/png", base64.b64encode(PIXEL).decode())
    assert chips.pictures("nothing") == ()


async def test_a_large_paste_is_a_chip_until_it_is_sent() -> None:
    async with stage() as s:
        await s.paste("row\n" * 5000)
        await s.see("[Pasted 5000 lines #1]")
        await s.press("enter")
        await s.until(lambda: s.session.sent == ["row\n" * 5000])


async def test_backspace_deletes_a_whole_chip() -> None:
    async with stage() as s:
        await s.type("see ")
        await s.paste("row\n" * 50)
        await s.press("backspace")
        assert s.app.repl.box.text == "see "


async def test_an_enter_within_a_burst_is_a_line() -> None:
    async with stage() as s:
        await s.burst("one\rtwo\r")
        await s.until(lambda: s.session.sent == ["one\ntwo"])


async def test_history_search_picks_and_escape_returns_the_draft() -> None:
    async with stage() as s:
        for text in ("fix the lease", "write a test", "explain"):
            await s.type(text)
            await s.press("enter")
        await s.type("draft")
        await s.press("ctrl+r")
        await s.see("Sent before", "fix the lease")
        await s.type("leas")
        await s.press("enter")
        assert s.app.repl.box.text == "fix the lease"
        assert s.app.focused is s.app.repl.box
        await s.press("ctrl+r", "down", "escape")
        assert s.app.repl.box.text == "fix the lease"


async def test_a_draft_put_aside_comes_back() -> None:
    async with stage() as s:
        await s.type("later")
        await s.press("ctrl+s")
        assert s.app.repl.box.text == ""
        await s.press("ctrl+s")
        assert s.app.repl.box.text == "later"


async def test_the_draft_in_an_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "sed -i s/one/two/")
    async with stage() as s:
        await s.type("one")
        await s.press("ctrl+g")
        await s.until(lambda: s.app.repl.box.text == "two")


async def test_a_missing_editor_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "/nowhere/editor")
    async with stage() as s:
        await s.type("one")
        await s.press("ctrl+g")
        await s.see("set EDITOR")
        assert s.app.repl.box.text == "one"


async def test_own_commands_are_shown_and_told_with_the_next_message(tmp_path: Path) -> None:
    async with stage(FakeSession(cwd=str(tmp_path))) as s:
        await s.type("!echo out; exit 3")
        await s.press("enter")
        await s.see("You ran", "exit 3")
        assert s.session.sent == []
        await s.type("why?")
        await s.press("enter")
        await s.until(lambda: s.session.sent == ["why?"])
        (told,) = s.session.attached[0]
        assert isinstance(told, TextContent)
        assert "$ echo out; exit 3\nout\n\n(exit 3)" in told.text


async def test_escape_twice_empties_the_prompt_and_undo_brings_it_back() -> None:
    async with stage() as s:
        await s.type("a long thought")
        await s.press("escape")
        await s.see("esc again empties the prompt", "a long thought")
        s.clock.now += 1
        await s.press("escape")
        await s.gone("a long thought")
        await s.press("ctrl+underscore")
        await s.see("a long thought")
        await s.press("escape")
        s.clock.now += 3
        await s.press("escape")  # too late to be the second
        assert s.app.repl.box.text == "a long thought"


async def test_cutting_to_the_start_goes_on_in_the_line_above() -> None:
    async with stage() as s:
        await s.type("one")
        await s.press("ctrl+j")
        await s.type("two")
        box = s.app.repl.box
        for left in ("one\n", "one", "", ""):
            await s.press("ctrl+u")
            assert box.text == left
        await s.press("ctrl+y")
        assert box.text == "one\ntwo"  # they are one cut


async def test_escape_stops_an_own_command(tmp_path: Path) -> None:
    async with stage(FakeSession(cwd=str(tmp_path))) as s:
        await s.type("!sleep 60")
        await s.press("enter")
        await s.see("sleep 60")
        await s.until(lambda: s.app.talk.busy_shell)
        await s.press("escape")
        await s.see("stopped")


async def test_an_own_command_that_cannot_start_says_so() -> None:
    async with stage(FakeSession(cwd="/nowhere/at/all")) as s:
        await s.type("!true")
        await s.press("enter")
        await s.see("does not exist any more")


async def test_the_file_menu(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "locks.py").write_text("", encoding="utf-8")
    async with stage(FakeSession(cwd=str(tmp_path))) as s:
        await s.type("see @lo")
        await s.see("src/locks.py")
        await s.press("enter")
        assert s.app.repl.box.text == "see @src/locks.py "


async def test_the_lines_of_an_own_command_that_are_not_shown_are_counted(tmp_path: Path) -> None:
    async with stage(FakeSession(cwd=str(tmp_path))) as s:
        await s.type("!seq 1 100000")
        await s.press("enter")
        screen = await s.see("99996", "100000", "… 99,995 lines above")
        assert "  99995\n" not in screen
        await s.type("go on")
        await s.press("enter")
        await s.until(lambda: bool(s.session.attached))
        (told,) = s.session.attached[-1]
        assert isinstance(told, TextContent)
        head, _, output = told.text.partition(" lines left out)\n")
        hidden = int(head.rpartition("(")[2])
        assert hidden + output.count("\n") - 1 == 100_000


@pytest.mark.parametrize("size", [1, 7, 100])
def test_a_tail_counts_every_line_before_it(size: int) -> None:
    lines = [b"x" * (n % 40) + b"\n" for n in range(200)]
    tail = Tail(size)
    for row in lines:
        tail.feed(row)
    text = tail.text()
    assert tail.hidden + text.count("\n") == 200
    assert len(text) <= size
    assert b"".join(lines).decode().endswith(text)


@pytest.mark.parametrize("size", [(40, 6), (40, 10), (80, 24)])
async def test_a_long_draft_leaves_the_status_line(size: tuple[int, int]) -> None:
    async with stage(size=size) as s:
        await s.paste("\n".join(f"l{n}" for n in range(14)))
        rows = (await s.see("l13")).splitlines()
        assert "default" in rows[-1]
        assert sum(" l" in row for row in rows) == min(10, size[1] - 5)
        s.session.busy = True
        await s.press("enter")
        for number in range(5):
            await s.type(f"more {number}\nand\nlonger")
            await s.press("enter")
        await s.paste("\n" * 12 + "end")
        text = await s.see("end")
        assert "default" in text.splitlines()[-1]


def test_the_menu_of_files_is_quick_in_a_large_tree() -> None:
    paths = [f"pack{n % 97}/part{n % 613}/module_{n}.py" for n in range(50_000)]

    def took(work: Callable[[], object]) -> float:
        began = time.thread_time()  # of the processor alone
        work()
        return time.thread_time() - began

    def times_plain(query: str) -> float:
        """Beside a plain walk of the same moment: what slows the machine slows both."""
        plain = took(lambda: [path for path in paths if "zzz" in path.lower()])  # 10 ms
        return took(lambda: rank(query, paths, paths)) / plain

    for query in ("m", "module", "pckmod49", "p9/m_4", "zzz", "part6/mo"):
        assert min(times_plain(query) for _ in range(5)) < 12, query  # 7 at most
    assert rank("module_4999.py", paths, paths)[0].endswith("module_4999.py")
    assert rank("pck9mod41", paths, paths)


async def test_a_first_listing_is_offered_while_it_grows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gatewright.tools.system.processes.CHUNK", 2000)
    monkeypatch.setattr(listing, "TOLD", 0.0)
    for folder in range(10):
        (tmp_path / f"d{folder}").mkdir()
        for number in range(100):
            (tmp_path / f"d{folder}" / f"file_{number}.py").touch()
    files, seen = Files(tmp_path), list[tuple[int, str]]()

    def grown() -> None:
        seen.append((len(files.choices("d1/file_1")), files.note))

    await files.refresh(grown)
    assert len(seen) > 3 and {note for _, note in seen} == {"indexing files"}
    assert files.note == "" and len(files.choices("d1/file_1")) > 10
    labels = [choice.label for choice in files.choices("")]
    assert labels[:10] == [f"d{n}/" for n in range(10)] and labels[10:] == sorted(labels[10:])
    await files.refresh(lambda: pytest.fail("a later listing is offered when it is whole"))


async def test_a_hundred_thousand_files_are_offered_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The paths come from a program that has them: of a listing, what we do is counted."""
    paths = [f"pack{n % 97}/part{n % 1013}/module_{n}.py" for n in range(listing.MAX_FILES)]
    (tmp_path / "paths").write_text("\n".join(paths) + "\n", encoding="utf-8")
    lister = tmp_path / "rg"
    lister.write_text('#!/bin/sh\nexec cat "${0%/*}/paths"\n', encoding="utf-8")
    lister.chmod(0o700)

    def found(root: Path) -> str:
        return str(lister)

    monkeypatch.setattr(listing, "find_rg", found)
    files, seen = Files(tmp_path), list[tuple[float, int, str]]()
    began = time.process_time()

    def grown() -> None:
        choices, note = files.offer("")
        seen.append((time.process_time() - began, len(choices), note))

    await files.refresh(grown)
    choices, note = files.offer("module_99999")
    whole = time.process_time() - began  # 0.2; it was 3.9
    first, count, told = seen[0]
    assert (count, told) == (listing.SHOWN, "indexing files") and first < 0.25  # 0.002
    assert [choice.label.rpartition("/")[2] for choice in choices] == ["module_99999.py"]
    assert not note and whole < 1.0


def no_ripgrep(root: Path) -> str:
    return ""


async def test_without_ripgrep_the_menu_says_why_it_is_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.py").touch()
    files = Files(tmp_path)
    with monkeypatch.context() as without:
        without.setattr(listing, "find_rg", no_ripgrep)
        await files.refresh()
        assert files.offer("") == ([], "there is no ripgrep to list the files with")
    await files.refresh()
    labels = [choice.label for choice in files.choices("")]
    assert (labels, files.note) == (["a.py"], "")


async def test_a_word_that_grows_finds_what_it_finds_at_once(tmp_path: Path) -> None:
    for name in ("state.py", "estate.md", "s_t_a_t_e", "other"):
        (tmp_path / name).touch()
    typed, whole = Files(tmp_path), Files(tmp_path)
    await typed.refresh()
    await whole.refresh()
    for word in ("s", "st", "sta", "state", "st", "", "o", "state.p"):
        assert typed.choices(word) == Files.choices(whole, word)
        whole.choices("")


async def test_a_menu_says_that_more_may_come() -> None:
    async with stage() as s:
        s.app.repl.menu.offer((), "indexing files")
        await s.see("indexing files")
        assert not s.app.repl.menu.open  # Enter still sends
        s.app.repl.menu.close()
        await s.gone("indexing files")
