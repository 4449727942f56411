"""A borrowed mode is given back, also where the one from before is none any more."""

from __future__ import annotations

import pytest

from gatewright.agent.extensions.project.mode_loan import AUTO, ModeLoan
from gatewright.agent.record.events import AnyEvent, ModeChanged


class Modes:
    """Of a session whose settings forbid some meanwhile."""

    def __init__(self, mode: str) -> None:
        self.mode = mode
        self.forbidden: set[str] = set()

    def current(self) -> str:
        return self.mode

    def set(self, name: str) -> str:
        if name in self.forbidden:
            raise ValueError(f"{name} is disabled by your settings.")
        self.mode = name
        return name


@pytest.mark.parametrize("before", ["default", "acceptEdits", "bypassPermissions", "auto"])
@pytest.mark.parametrize("forbidden", [False, True])
def test_the_borrowed_mode_never_stays(before: str, forbidden: bool) -> None:
    modes, told = Modes(before), list[AnyEvent]()
    loan = ModeLoan(modes, told.append)
    loan.begin()
    assert modes.mode == AUTO
    modes.forbidden |= {before} - {"default"} if forbidden else set()
    loan.end()
    back = "default" if forbidden else before
    assert modes.mode == back
    assert told == [ModeChanged(mode=AUTO, by="project"), ModeChanged(mode=back, by="project")]
    loan.end()
    assert len(told) == 2
