"""No finding of a text that is gone is ever given out, whatever order a server's words come in.

Time is a number here: a server's words are a list of events, and thousands of runs take seconds.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterator

import msgspec
import pytest

from gatewright.agent.lsp.findings.fresh import FORGOTTEN, Freshness
from gatewright.agent.lsp.wire.shapes import Diagnostic

URIS = ("file:///a", "file:///b", "file:///c")
PLACE = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}


def of(uri: str, version: int) -> tuple[Diagnostic, ...]:
    """What is found names the text it was found in."""
    return (msgspec.convert({"range": PLACE, "message": f"{uri} {version}"}, Diagnostic),)


class Server:
    """Late, early, twice, out of order, silent, answering pulls or not, with versions or without.

    One without versions works as one that computes: at one text at a time, then at the newest, and
    it may say what it found twice, but not after it spoke of a newer one.
    """

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self.versioned = chance.random() < 0.7
        self.pulls = chance.random() < 0.4
        self._slow = chance.choice((0.0, 0.02, 0.1, 0.5, 1.2))
        self._silent, self._twice = chance.choice((0, 0, 0.2)), chance.choice((0, 0.3))
        self._at_work: dict[str, int] = {}
        self._spoken: dict[str, int] = {}

    def got(self, uri: str, version: int, now: float) -> Iterator[tuple[float, int]]:
        """When it speaks of a text, and of which."""
        chance = self._chance
        if self.versioned or self.pulls:
            for _ in range(1 + (chance.random() < self._twice)):
                if chance.random() >= self._silent:
                    yield now + chance.random() * (self._slow + 0.001) * 3, version
        elif uri not in self._at_work:
            self._at_work[uri] = version
            yield now + self._slow * (0.5 + chance.random() / 2), version

    def repeats(self, uri: str, text: int) -> bool:
        """Without versions it never goes back to a text before one that it spoke of."""
        ordered = not (self.versioned or self.pulls)
        return ordered and text < self._spoken.get(uri, 0)

    def spoke(self, uri: str, done: int, newest: int, now: float) -> Iterator[tuple[float, int]]:
        """What it says next, now that it spoke of the text it was at work on."""
        chance = self._chance
        if self.versioned or self.pulls or self._at_work.get(uri) != done:
            return
        self._spoken[uri] = done
        del self._at_work[uri]
        if newest > done:
            yield from self.got(uri, newest, now)
        elif chance.random() < self._twice:
            yield now + chance.random() * 0.1, done


def run(seed: int) -> int:  # noqa: C901  one case each
    """One story of changes, words and looks; how much was given out."""
    chance = random.Random(seed)
    server, fresh = Server(chance), Freshness()
    events: list[tuple[float, int, str, str, int, int]] = []
    now, version, given, number = 100.0, 0, 0, 0
    newest: dict[str, int] = {}
    for _ in range(chance.randrange(3, 12)):
        now += chance.choice((0.0, 0.01, 0.06, 0.2, 0.7, FORGOTTEN + 1))
        number += 1
        heapq.heappush(events, (now, number, "sent", chance.choice(URIS), 0, 0))
    for _ in range(60):
        number += 1
        heapq.heappush(events, (100.0 + chance.random() * 8, number, "look", "", 0, 0))
    while events:
        now, _, what, uri, said, edit = heapq.heappop(events)
        match what:
            case "sent":
                version += 1
                newest[uri] = version
                fresh.sent(uri, version, now)
                for at, text in server.got(uri, version, now):
                    number += 1
                    heapq.heappush(events, (at, number, "said", uri, text, fresh.edits))
            case "said" if server.pulls:
                fresh.pulled(uri, said, of(uri, said), now, edit=edit)
            case "said" if server.repeats(uri, said):
                pass
            case "said":
                fresh.published(uri, said if server.versioned else None, of(uri, said), now)
                for at, text in server.spoke(uri, said, newest[uri], now):
                    number += 1
                    heapq.heappush(events, (at, number, "said", uri, text, fresh.edits))
            case _:
                for each in newest:
                    held = fresh.fresh(each, now)
                    if held is not None:
                        given += 1
                        assert held.items == of(each, newest[each]), (seed, each, held, newest)
                        assert held.version == newest[each]
    return given


def test_nothing_of_an_old_text_is_given_out() -> None:
    assert sum(map(run, range(1_000))) > 10_000


@pytest.mark.proof
def test_nothing_of_an_old_text_is_given_out_in_ten_thousand_runs() -> None:
    assert sum(map(run, range(1_000, 11_000))) > 100_000


def test_what_has_another_version_or_no_open_file_is_dropped() -> None:
    fresh = Freshness()
    fresh.sent("file:///a", 2, 1.0)
    assert not fresh.published("file:///a", 1, (), 1.1)
    assert not fresh.published("file:///a", 3, (), 1.1)
    assert not fresh.published("file:///b", None, (), 1.1)
    assert fresh.fresh("file:///a", 9.0) is None
    fresh.closed("file:///a")
    assert not fresh.published("file:///a", 2, (), 1.1)


def test_one_that_says_more_after_it_was_quiet_is_waited_for_longer() -> None:
    fresh = Freshness()
    fresh.sent("file:///a", 1, 1.0)
    fresh.published("file:///a", None, (), 1.1)
    assert fresh.fresh("file:///a", 1.3) is not None
    fresh.published("file:///a", None, of("file:///a", 1), 1.5)
    assert fresh.fresh("file:///a", 1.6) is None
    assert fresh.fresh("file:///a", 3.0) is not None
    fresh.sent("file:///a", 2, 4.0)
    fresh.published("file:///a", None, (), 4.1)
    assert fresh.fresh("file:///a", 4.3) is None  # it once said more after 0.4 s
    assert fresh.fresh("file:///a", 5.0) is not None
