"""What was said since the last boundary, by rounds of the person, some of which may be cut out.

A round begins with an input of the person, and with the notices that came along with it. Calls and
their results are never parted: a result belongs to the round of its call.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from gatewright.agent.record.messages import AssistantTurn, CallPart, ResultTurn, Turn, UserTurn
from gatewright.agent.turn.valid_history import CLEARED_RESULT, Pairing, without_images
from gatewright.tools.protocol import TextContent

CUT = "Notice of this program: the person cut {} of this conversation out of your view here."
MOST = 100  # cuts that can be undone


class Cut(msgspec.Struct, frozen=True):
    """Rounds that the model does not see, and calls whose results it does not."""

    rounds: frozenset[int] = frozenset()
    results: frozenset[str] = frozenset()


class Rounds:
    """As `Pairing`, which is the view; adding costs the same at any length, cutting all of it."""

    def __init__(self) -> None:
        self._all: list[tuple[int, Turn]] = []
        self._view = Pairing()
        self._calls: dict[str, int] = {}  # the round of each
        self._cuts = [Cut()]
        self._told = 0  # where the turns end that have their round for good
        self.count = 0  # of rounds so far; what came before the first is none

    @property
    def cut(self) -> Cut:
        return self._cuts[-1]

    @property
    def before(self) -> Cut | None:
        """What was cut before the last time; None: nothing was."""
        return self._cuts[-2] if len(self._cuts) > 1 else None

    def begin(self) -> None:
        """The person speaks: what came just before, and was not theirs, is of this round."""
        self.count += 1
        place = len(self._all)
        while place > self._told and isinstance(self._all[place - 1][1], UserTurn):
            place -= 1
        self._all[place:] = [(self.count, turn) for _, turn in self._all[place:]]
        self._told = len(self._all) + 1  # behind the input, which comes next

    def settle(self) -> None:
        """What there is by now belongs to no round that comes."""
        self._told = len(self._all)

    def add(self, turn: Turn) -> None:
        number = 0 if self.count in self.cut.rounds else self.count  # said after the cut
        if isinstance(turn, AssistantTurn):
            for part in turn.parts:
                if isinstance(part, CallPart):
                    self._calls.setdefault(part.id, number)
        elif isinstance(turn, ResultTurn):
            number = self._calls.get(turn.call_id, number)
        self._all.append((number, turn))
        self._view.add(turn)

    def of_round(self, number: int) -> tuple[Turn, ...]:
        return tuple(turn for each, turn in self._all if each == number)

    def clear(self, call_ids: Iterable[str]) -> None:
        gone = frozenset(call_ids)
        self._view.clear(gone)
        self._all = [(number, _cleared(turn, gone)) for number, turn in self._all]

    def drop_images(self) -> None:
        self._view.drop_images()
        self._all = [(number, without_images(turn)) for number, turn in self._all]

    def snip(self, cut: Cut, *, undo: bool) -> None:
        """What is cut from now on; `undo`: it was so before the last time."""
        known = Cut(frozenset(n for n in cut.rounds if 0 < n <= self.count), cut.results)
        if undo:
            del self._cuts[max(1, len(self._cuts) - 1) :]
            self._cuts[-1] = known
        else:
            self._cuts = [*self._cuts, known][-MOST:]
        self._view = self._made(known)

    def seen(self, cut: Cut) -> tuple[Turn, ...]:
        """The view with this cut."""
        return self._made(cut).view()

    def view(self) -> tuple[Turn, ...]:
        return self._view.view()

    def _made(self, cut: Cut) -> Pairing:
        made = Pairing()
        gone: set[int] = set()
        for number, turn in (*self._all, (0, None)):
            if number in cut.rounds:
                gone.add(number)
                continue
            if gone:
                count = "a round" if len(gone) == 1 else f"{len(gone)} rounds"
                made.add(UserTurn((TextContent(CUT.format(count)),)))
                gone.clear()
            if turn is not None:
                made.add(_cleared(turn, cut.results))
        return made


def _cleared(turn: Turn, call_ids: frozenset[str]) -> Turn:
    if isinstance(turn, ResultTurn) and turn.call_id in call_ids:
        return msgspec.structs.replace(turn, content=(CLEARED_RESULT,))
    return turn
