"""Dollars that an agent, or all of a session, may spend: looked at before each request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

NEARLY = 0.8  # of a budget: then it is told, once


class Limiting(Protocol):
    """What may keep an agent from its next request."""

    def over(self) -> str:
        """Why nothing may be spent any more; empty while something may."""
        ...


class Budget:
    """`whose` names it in a sentence; without dollars nothing is limited."""

    def __init__(
        self,
        dollars: float,
        spent: Callable[[], float],
        whose: str,
        tell: Callable[[str], object],
    ) -> None:
        self._dollars = dollars
        self._spent = spent
        self._whose = whose
        self._tell = tell
        self._told = False

    def over(self) -> str:
        """Why nothing may be spent any more; empty while something may. Tells that it is little."""
        spent = self._spent()
        if not self._dollars or spent < self._dollars * NEARLY:
            return ""
        from gatewright.agent.text.money import dollars  # noqa: PLC0415  rare

        if spent >= self._dollars:
            return f"Stopped at {dollars(spent)}: the budget of {self._whose} is spent."
        if not self._told:
            self._told = True
            self._tell(
                f"{dollars(spent)} of {dollars(self._dollars)}, the budget of {self._whose}, "
                "are spent."
            )
        return ""
