"""What can be done in `/permissions` about a call that a judge refused."""

from __future__ import annotations

from pathlib import Path

from gatewright.permissions.context import Call
from gatewright.permissions.decide import decide
from gatewright.permissions.decision import DecisionRecord
from gatewright.permissions.recent import Judged
from gatewright.tools.access import Access, ShellText, Where
from tests.fakes.books import Books
from tests.tui.stage import Stage
from tests.tui.test_sheets import panel, press


def refused(books: Books, command: str) -> None:
    call = Call("Bash", {"command": command}, Access(runs=ShellText(command, books.project)))
    context = books.policy.context(Where(books.project, books.project, books.home))
    record = DecisionRecord("c", "Bash", command, "deny", "classifier", "publishing: Nobody asked.")
    books.policy.recent.add(record, Judged(call, context, decide(call, context)))


async def recent(s: Stage) -> None:
    await press(s, "shift+tab")
    await s.see("make release", "denied", "ctrl+r says it may run")


async def test_an_entry_is_shown_before_it_is_stored_and_taken_back(tmp_path: Path) -> None:
    books = Books(tmp_path)
    refused(books, "make release")
    async with panel(books, "/permissions") as s:
        await recent(s)
        await press(s, "ctrl+a")
        await s.type("Releasing to the test index with make release.")
        await s.see("autoMode.allow, your settings", "A judge reads it as it stands here.")
        assert books.stored("user", "autoMode") is None
        await press(s, "enter")
        await s.see("Added to autoMode.allow in your settings")
        assert books.stored("user", "autoMode", "allow") == [
            "$defaults", "Releasing to the test index with make release."
        ]  # fmt: skip
        await press(s, "ctrl+z")
        await s.see("Taken back from autoMode.allow")
        assert books.stored("user", "autoMode", "allow") == ["$defaults"]


async def test_what_may_run_is_said_in_the_persons_own_words(tmp_path: Path) -> None:
    books = Books(tmp_path)
    heard: list[str] = []
    books.permissions.judged.say = heard.append
    refused(books, "make release")
    async with panel(books, "/permissions") as s:
        await recent(s)
        await press(s, "ctrl+r")
        shown = await s.see("You may run this: make release", "enter says it")
        assert "enter stores" not in shown
        assert heard == []
        await press(s, "enter")
        await s.see("Said. The agent may try it again.")
    assert heard == ["You may run this: make release"]


async def test_each_list_asks_for_what_belongs_into_it(tmp_path: Path) -> None:
    books = Books(tmp_path)
    refused(books, "make release")
    async with panel(books, "/permissions") as s:
        await recent(s)
        await press(s, "ctrl+e")
        await s.see("autoMode.environment", "Say what is trusted, and for what.", "enter stores")
        await press(s, "escape")
        await press(s, "ctrl+a")
        await s.see("autoMode.allow", "Say what may run, and on what.", "enter stores")


async def test_other_decisions_have_no_such_keys(tmp_path: Path) -> None:
    books = Books(tmp_path)
    async with panel(books, "/permissions") as s:
        await press(s, "shift+tab")
        shown = await s.see("recent")
        assert "says it may run" not in shown


async def test_nothing_decided_yet_says_what_became_of_earlier_decisions(tmp_path: Path) -> None:
    async with panel(Books(tmp_path), "/permissions") as s:
        await press(s, "shift+tab")
        await s.see("Nothing was decided since the program began", "before a resume is not kept")


async def test_what_is_typed_over_a_reason_goes_on_in_the_prompt(tmp_path: Path) -> None:
    books = Books(tmp_path)
    refused(books, "make release")
    async with panel(books, "/permissions") as s:
        await recent(s)
        await press(s, "enter")
        await s.see("Why make release", "judge")
        await s.type("go on")
        await s.until(lambda: s.app.repl.box.text == "go on")
        await s.gone("Why make release")
