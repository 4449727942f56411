"""The panels for rules, directories, decisions, settings and checks: every key of each."""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gatewright.agent.commands.outcome import Outcome, Say
from gatewright.agent.commands.panels import Check, DoctorPanel, Finding, Health
from gatewright.agent.commands.registry import CommandContext
from gatewright.agent.record import events as ev
from gatewright.permissions.context import Call
from gatewright.permissions.decide import decide
from gatewright.permissions.decision import DecisionRecord
from gatewright.permissions.recent import Judged
from gatewright.tools.access import Access, ShellText, Where
from gatewright.tools.interact import Answer
from tests.fakes.books import Books
from tests.fakes.commands import add_command
from tests.fakes.examples import some
from tests.fakes.fake_session import FakeSession
from tests.fakes.waiting import PATIENCE
from tests.tui.scenes import question
from tests.tui.stage import Stage, stage

SIGN = "\u276f"
RULES = {
    "permissions": {
        "allow": ["Bash(npm test)", "Bash(git status)", "Bash("],
        "deny": ["Bash(git:*)", "Read(.env)"],
    }
}


@pytest.fixture(autouse=True)
def outside_a_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GATEWRIGHT", raising=False)


@asynccontextmanager
async def panel(
    books: Books, line: str, *, size: tuple[int, int] = (100, 30)
) -> AsyncGenerator[Stage]:
    """A screen with the panel of a command open, seen for long enough."""
    session = FakeSession()
    session.know("config", "doctor", "add-dir")
    session.permissions, session.settings = books.permissions, books.settings
    async with stage(session, size=size) as s:
        await s.type(line)
        await s.press("enter")
        await s.until(lambda: s.app.repl.sheet.open)
        s.clock.now += 1
        yield s


async def press(s: Stage, *keys: str) -> None:
    """Each after the panel was looked at."""
    for key in keys:
        await s.press(key)
        await s.settled()
        s.clock.now += 1


def opened(books: Books) -> list[str]:
    return list(books.policy.place.directories)


def vim(s: Stage) -> bool:
    return s.app.repl.box.vim is not None


def focused(s: Stage) -> object:
    return s.app.focused


def judge(books: Books, command: str) -> None:
    call = Call("Bash", {"command": command}, Access(runs=ShellText(command, books.project)))
    context = books.policy.context(Where(books.project, books.project, books.home))
    decision = decide(call, context)
    record = DecisionRecord("c", "Bash", command, "deny", str(decision.reason.stage), "because")
    books.policy.recent.add(record, Judged(call, context, decision))


# rules


async def test_rules_stand_in_tabs_with_what_is_wrong(tmp_path: Path) -> None:
    async with panel(Books(tmp_path, user=RULES), "/permissions") as s:
        shown = await s.see("allow 3", "deny 2", "Bash(npm test)", "esc closes")
        assert "Read(.env)" not in shown
        rows = {word: row for row in shown.split("\n") for word in ("shadowed", "invalid")
                if word in row}  # fmt: skip
        assert "Bash(git status)" in rows["shadowed"]
        assert rows["invalid"].endswith("user")
        await press(s, "down", "down")
        await s.see("Never counts: deny Bash(git:*) (user)", "~/.gatewright/settings.json")
        await press(s, "tab", "right")
        await s.see("Read(.env)")
        await press(s, "left", "shift+tab", "shift+tab")
        await s.see("Nothing was decided since the program began")


async def test_a_rule_for_this_project_alone_moves_to_all_of_them(tmp_path: Path) -> None:
    books = Books(tmp_path, trusted=False)
    await books.said("/permissions allow --local Bash(make)")
    async with panel(books, "/permissions") as s:
        await s.see("Bash(make)", "user, here")
        await press(s, "down", "enter")
        shown = await s.see("Move to this session", "Move to all your projects")
        assert "Move to this project" not in shown


async def test_typing_filters_and_finds_the_list(tmp_path: Path) -> None:
    async with panel(Books(tmp_path, user=RULES), "/permissions") as s:
        await s.type("aws")
        shown = await s.see("Read(~/.aws/**)", "ask 1", "allow 0")
        assert "Bash(npm test)" not in shown
        await press(s, "ctrl+u", "tab")
        await s.see("Bash(git:*)")
        await s.type("gix")
        await press(s, "backspace")
        await s.see("Bash(git:*)")
        await s.paste(":*\nmore")
        await s.see("git:*", "deny 1")


async def test_a_rule_is_removed_and_comes_back(tmp_path: Path) -> None:
    books = Books(tmp_path, user=RULES)
    async with panel(books, "/permissions") as s:
        await press(s, "down", "ctrl+d")
        await s.see("Removed from ~/.gatewright/settings.json: allow Bash(npm test)", "ctrl+z")
        assert books.stored("user", "permissions", "allow") == ["Bash(git status)", "Bash("]
        await press(s, "ctrl+z")
        await s.see("Back in ~/.gatewright/settings.json", "allow 3")
        assert books.stored("user") == RULES
        await press(s, "up", "up", "delete")
        await s.see("nothing to remove")
        assert books.stored("user") == RULES


async def test_a_key_that_was_meant_for_the_draft_removes_nothing(tmp_path: Path) -> None:
    books = Books(tmp_path, user=RULES)
    async with panel(books, "/permissions") as s:
        await press(s, "escape")
        await s.type("/permissions")
        await s.press("enter")
        await s.until(lambda: s.app.repl.sheet.open)
        await s.press("down", "ctrl+d", "enter")
        await s.settled()
        assert s.app.repl.sheet.open
        assert "Move to" not in s.text()
        assert books.stored("user") == RULES
        s.clock.now += 0.41
        await s.press("ctrl+d")
        await s.see("Removed")


async def test_a_rule_is_tried_while_it_is_typed_and_kept(tmp_path: Path) -> None:
    books = Books(tmp_path, user=RULES)
    judge(books, "make all")
    async with panel(books, "/permissions") as s:
        s.app.repl.box.put("my draft")
        await press(s, "tab", "enter")
        await s.see("A rule that asks", "this session", "Bash(npm test), WebFetch")
        await s.type("Bash(make")
        await s.see("It is not of the form")
        await press(s, "enter")
        await s.see("A rule that asks")
        await s.type(":*)")
        await s.see("Asks before make, alone or with", "Of the last calls it fits make all.")
        await press(s, "down", "down")
        await press(s, "enter")
        await s.see("Added to this project, for everyone: ask Bash(make:*)", "ask 7")
        assert books.stored("project", "permissions", "ask") == ["Bash(make:*)"]
        await press(s, "ctrl+z")
        await s.see("Taken back")
        assert books.stored("project", "permissions", "ask") == []
        await press(s, "escape")
        assert s.app.repl.box.text == "my draft"
        assert s.app.focused is s.app.repl.box


async def test_a_field_is_edited(tmp_path: Path) -> None:
    async with panel(Books(tmp_path), "/permissions") as s:
        await press(s, "enter")
        await s.type("Web Fetchx")
        await press(s, "backspace", "ctrl+w")
        await s.see(f"{SIGN} Web \u258f")
        await press(s, "ctrl+u")
        await s.paste("WebFetch\n")
        await s.see("every call of WebFetch")
        await press(s, "up")
        await s.see("▸ all your projects")
        await press(s, "escape")
        await s.see("Permissions")
        await press(s, "escape")
        await s.gone("Permissions")


async def test_a_rule_moves(tmp_path: Path) -> None:
    books = Books(tmp_path, user=RULES)
    async with panel(books, "/permissions") as s:
        await press(s, "down", "enter")
        await s.see("allow Bash(npm test)", "Move to this project, for everyone", "Remove")
        await press(s, "down", "enter")
        await s.see("Moved to this project, for you")
        assert books.stored("local", "permissions", "allow") == ["Bash(npm test)"]
        assert "Bash(npm test)" not in books.stored("user", "permissions", "allow")
        await press(s, "ctrl+z")
        await s.see("Back in")
        assert "Bash(npm test)" in books.stored("user", "permissions", "allow")


async def test_a_rule_that_is_fixed_says_why(tmp_path: Path) -> None:
    async with panel(Books(tmp_path), "/permissions") as s:
        await s.type("ssh")
        await press(s, "enter")
        await s.see("It is built in.")
        await press(s, "ctrl+d")
        await s.see("It is built in.")


async def test_a_broken_file_is_left_and_named(tmp_path: Path) -> None:
    books = Books(tmp_path)
    async with panel(books, "/permissions") as s:
        books.files["user"].write_text("{ oops", encoding="utf-8")
        await press(s, "enter")
        await s.type("WebFetch")
        await press(s, "up", "enter")
        await s.until(lambda: "Repair it first" in " ".join(s.text().replace("\u258e", "").split()))
        assert books.files["user"].read_text(encoding="utf-8") == "{ oops"


# directories and decisions


async def test_a_directory_is_completed_opened_and_closed(tmp_path: Path) -> None:
    books = Books(tmp_path)
    (tmp_path / "other").mkdir()
    async with panel(books, "/add-dir") as s:
        await s.see("Open a directory", "directories 1")
        await press(s, "enter")
        await s.type("../ot")
        await s.see("There is no", "../other/")
        await press(s, "tab")
        await s.see("Opens", "counts")
        await press(s, "enter")
        await s.see("Open to this session", "directories 2")
        assert opened(books) == [str(tmp_path / "other")]
        await press(s, "down", "down", "ctrl+d")
        await s.see("Closed to this session", "directories 1")
        assert opened(books) == []
        await press(s, "ctrl+z")
        await s.see("Open again")


async def test_a_protected_directory_is_opened_only_twice(tmp_path: Path) -> None:
    books = Books(tmp_path)
    (books.home / ".ssh").mkdir()
    async with panel(books, "/add-dir") as s:
        await press(s, "enter")
        await s.type("~/.ssh")
        await s.see("can run code later")
        await press(s, "enter")
        await s.see("enter does it all the same")
        assert opened(books) == []
        await press(s, "enter")
        await s.see("Open to this session")


async def test_decisions_tell_why(tmp_path: Path) -> None:
    books = Books(tmp_path)
    judge(books, "make one")
    async with panel(books, "/permissions") as s:
        await press(s, "shift+tab")
        shown = await s.see("recent 1", "make one", "denied", "enter tells why")
        assert any("make one" in row and row.endswith(" denied") for row in shown.split("\n"))
        assert "removes" not in shown
        judge(books, "make two")
        await press(s, "enter")
        await s.see("Why make one", "> mode: ask.", "esc goes back")
        await press(s, "down", "pagedown", "up", "escape")
        await s.see("recent 1")


# settings


async def test_settings_are_switched_chosen_and_typed(tmp_path: Path) -> None:
    books = Books(tmp_path)
    async with panel(books, "/config") as s:
        await s.see("Settings", "ui.vim", "Colour theme;")
        await press(s, "down", "enter")
        await s.see("ui.vim = true")
        assert books.stored("user", "ui", "vim") is True
        assert vim(s), "it counts at once"
        await press(s, "ctrl+d")
        await s.see("ui.vim is no longer set")
        assert not vim(s)
        await press(s, "ctrl+d")
        await s.see("ui.vim is not set in your own settings.")
        await press(s, "up", "enter")
        await s.see("Ink on paper", "now")
        await press(s, "down", "down", "enter")
        await s.until(lambda: s.app.look.palette.name == "light")
        assert books.stored("user", "ui", "theme") == "light"
        await s.type("maxturns")
        await press(s, "enter")
        await s.see("It takes a whole number of at least 1.")
        await s.type("0")
        await s.see("expected a whole number of at least 1")
        await press(s, "enter", "backspace")
        await s.type("7")
        await press(s, "enter")
        await s.see("maxTurns = 7")
        assert books.stored("user", "maxTurns") == 7


@pytest.mark.parametrize(
    ("width", "seen"),
    [(80, "Settings   screen 10   session"), (40, "Settings  screen 1/5")],
)
async def test_all_lists_are_named_where_they_fit(tmp_path: Path, width: int, seen: str) -> None:
    async with panel(Books(tmp_path), "/config", size=(width, 30)) as s:
        await s.see(seen)
        await press(s, "shift+tab")
        await s.see("Settings  screen  session" if width > 60 else "Settings  servers 5/5")


async def test_settings_know_the_modes_and_who_has_the_say(tmp_path: Path) -> None:
    books = Books(tmp_path, project={"autoCompact": False})
    async with panel(books, "/config") as s:
        await press(s, "tab")
        await s.see("effort", "model")
        await s.type("autoC")
        await s.see("autoCompact", "off", "project", "Set in project settings.")
        await press(s, "enter")
        await s.see("project settings have the say: false")
        await press(s, "ctrl+u")
        await s.type("defaultM")
        await press(s, "enter")
        await s.see("acceptEdits", "permissions.defaultMode")


async def test_the_way_to_be_called_counts_at_once(tmp_path: Path) -> None:
    books = Books(tmp_path)
    async with panel(books, "/config") as s:
        await press(s, "escape")
        for value, ways in (("bell", (True, False)), ("desktop", (False, True))):
            await s.type(f"/config ui.notify {value}")
            await s.press("enter")
            await s.see(f'ui.notify = "{value}"')
            now = s.app.attention
            assert (now.ways.bell, now.ways.nine or now.ways.seven, now.muted) == (*ways, False)
        await s.type("/config ui.notify false")
        await s.press("enter")
        await s.until(lambda: s.app.attention.muted)


async def test_a_yes_or_no_reads_the_same_in_every_row(tmp_path: Path) -> None:
    async with panel(Books(tmp_path), "/config") as s:
        await s.see("ui.notify")
        words = {row.split()[1] for row in s.text().split("\n") if "  ui." in row or "▸ ui." in row}
        assert not words & {"true", "false"}
        await s.type("notify")
        await press(s, "enter")
        await s.see("▸ on", "off", "bell", "desktop")
        assert "true" not in s.text()


async def test_a_typed_change_counts_on_the_screen(tmp_path: Path) -> None:
    books = Books(tmp_path)
    async with panel(books, "/config") as s:
        await press(s, "escape")
        await s.type("/config ui.theme light")
        await s.press("enter")
        await s.see("A screen has it from now on.")
        assert s.app.look.palette.name == "light"


# checks


def doctor(session: FakeSession, *checks: Check) -> None:
    async def run(context: CommandContext) -> Outcome:
        return DoctorPanel(fallback=Say(()), checks=checks)

    add_command(session.commands, "doctor", run)


async def test_checks_appear_as_they_end_and_run_again() -> None:
    session, gate, runs = FakeSession(), threading.Event(), [0]

    def slow() -> list[Finding]:
        runs[0] += 1
        assert gate.wait(PATIENCE)
        return [Finding("Slow", Health.WARN, "it is slow", "Buy a faster one.")]

    def lost() -> list[Finding]:
        raise OSError("no such thing")

    quick = Check("Quick", lambda: [Finding("Quick", Health.GOOD, "at once")])
    doctor(session, quick, Check("Slow", slow), Check("Lost", lost))
    async with stage(session) as s:
        await s.type("/doctor")
        await s.press("enter")
        await s.see("✓ Quick", "at once", "… Slow", "2 of 3 done", "could not be checked")
        s.clock.now += 1
        await s.press("r")
        assert runs == [1], "what runs is not started again"
        gate.set()
        await s.see("! Slow", "Buy a faster one.", "2 to look at")
        await s.press("r")
        await s.until(lambda: runs == [2])
        await s.see("2 to look at")
        await s.press("down", "up", "escape")
        await s.gone("Quick")


async def test_the_machine_is_examined_in_the_panel(tmp_path: Path) -> None:
    books = Books(tmp_path)
    session = FakeSession()
    session.know("doctor")
    session.settings = books.settings
    async with stage(session, size=(100, 40)) as s:
        await s.type("/doctor")
        await s.press("enter")
        await s.see("Python", "Sandbox", "to look at")


# every panel


async def test_a_question_comes_before_a_panel_and_leaves_it_as_it_was(tmp_path: Path) -> None:
    async with panel(Books(tmp_path), "/permissions") as s:
        await press(s, "enter")
        await s.type("WebFe")
        question(s.session)
        await s.settled()
        assert focused(s) is s.app.repl.panel
        assert "WebFe" not in s.text()
        asked = s.app.repl.view.asks[0]
        s.session.publish(ev.Answered(id=asked.id, answer=Answer(("a",))))
        await s.see(f"{SIGN} WebFe\u258f")
        assert focused(s) is s.app.repl.sheet


@pytest.mark.parametrize("line", ["/permissions", "/add-dir", "/config", "/doctor"])
@pytest.mark.parametrize("size", some([(40, 10), (40, 24), (80, 24), (80, 12), (120, 40)], 2))
async def test_every_key_is_told_at_every_size(
    tmp_path: Path, line: str, size: tuple[int, int]
) -> None:
    async with panel(Books(tmp_path, user=RULES), line, size=size) as s:
        shown = await s.see("esc closes")
        scrolls = ["scroll"] if size[1] < 40 else []
        told = ["r repeats", *scrolls] if line == "/doctor" else ["type to search", "enter", "tab"]
        assert all(word in shown for word in told), shown
        assert "Ask anything" in shown
        assert "▎" in shown
