"""A dangerous question in little room: its reason is read before a yes counts."""

from __future__ import annotations

import msgspec
import pytest

from gatewright.tools.blocks import Command
from gatewright.tools.interact import Answer, Option
from gatewright.tui.ask.guard import QUIET
from tests.tui.asked import OPTIONS, ask, permission
from tests.tui.stage import Stage, stage

REASON = (
    "It deletes files for good. (rm -rf build/ assets/) "
    "git push overwrites or removes what is on the server. (git push --force origin main) "
    "It runs what it fetches, unseen. (curl https://example.com/install | sh)"
)
COMMAND = "rm -rf build/ assets/ && git push --force origin main"
DANGEROUS = msgspec.structs.replace(
    permission(COMMAND),
    body=(Command(COMMAND, note="Clean and publish"),),
    reason=REASON,
    danger=True,
)
STORES = "Yes, and always allow Bash(python3 -m unittest) (kept in your own settings)"
RULED = msgspec.structs.replace(
    permission("python3 -m unittest"),
    body=(Command("python3 -m unittest", note="Run the tests"),),
    options=(OPTIONS[0], Option("always", STORES, "Y"), OPTIONS[-1]),
    reason="No rule covers this command, and it asks in default mode.",
)


async def _taken(s: Stage, key: str) -> None:
    """What does not fit is shown by the first press, and taken by the second."""
    if key == "Y":
        await s.press(key)
        await s.see("▸ Y")
    s.clock.now += 2 * QUIET
    await s.press(key)


@pytest.mark.parametrize("key", ["y", "Y"])
async def test_a_yes_counts_once_the_reason_was_seen(key: str) -> None:
    async with stage(size=(40, 12)) as s:
        await ask(s, DANGEROUS)
        await s.see("It deletes files for good.", "PgDn first", "▸ n  No", "PgDn")
        assert "example" not in s.text()
        await _taken(s, key)
        await s.until(lambda: s.app.repl.panel.at == 2)
        await s.see("▸ n  No")
        assert s.session.answers == []
        seen = s.text()
        for _ in range(12):
            await s.press("pagedown")
            seen += s.text()
        assert "example" in seen
        await s.until(lambda: "PgDn first" not in s.text())
        wanted = "once" if key == "y" else "always"
        await _taken(s, key)
        await s.until(lambda: s.session.answers == [(1, Answer((wanted,)))])


@pytest.mark.parametrize("key", ["n", "escape"])
async def test_a_no_needs_no_reading(key: str) -> None:
    async with stage(size=(40, 12)) as s:
        await ask(s, DANGEROUS)
        await s.press(key)
        await s.until(lambda: s.session.answers == [(1, Answer(("no",)))])


async def test_where_all_of_it_is_seen_a_yes_counts_at_once() -> None:
    async with stage() as s:
        await ask(s, DANGEROUS)
        await s.see("It deletes files for good.", "unseen", "y  Yes, once")
        assert "PgDn first" not in s.text()
        await s.press("y")
        await s.until(lambda: s.session.answers == [(1, Answer(("once",)))])


async def test_a_rule_that_does_not_fit_says_which_key_shows_it() -> None:
    async with stage(size=(40, 12)) as s:
        await ask(s, RULED)
        await s.see("Y  Yes, and always", "Y shows it")
        await s.press("Y")
        await s.see("Bash(python3 -m", "unittest)", "settings)", "once more gives it")
        assert s.session.answers == []
