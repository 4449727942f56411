"""What a run may use and has used: failed and restarted agents count, replayed ones do not.

At four fifths of a budget it is told, and at the end of it, where what runs finishes its request,
and calls throw.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from gatewright.agent.record.messages import Usage
from gatewright.agent.text.money import dollars
from gatewright.agent.workflows.engine.wire import BudgetNow

NEARLY = 0.8
MANY_AGENTS, MANY_TOKENS, MANY_DOLLARS = 25, 1_500_000, 5.0  # worth a word, once a run


class Allowed(msgspec.Struct, frozen=True):
    """None is no limit."""

    usd: float | None = None
    tokens: int | None = None
    agents: int = 1000
    whose: str = ""  # where they come from, and how to go on with others

    @property
    def words(self) -> str:
        said = [dollars(self.usd)] if self.usd is not None else []
        said += [f"{self.tokens:,} tokens"] if self.tokens is not None else []
        return " and ".join(said)

    def with_used(self, tokens: int = 0, cost: float = 0.0, agents: int = 0) -> BudgetNow:
        return BudgetNow(
            total_usd=self.usd,
            total_tokens=self.tokens,
            spent_usd=cost,
            spent_tokens=tokens,
            agents_used=agents,
            agents_left=max(0, self.agents - agents),
        )


class Limit(NamedTuple):
    """What one source allows."""

    whose: str
    usd: float | None = None
    tokens: float | None = None


def allowed(limits: Sequence[Limit], agents: int) -> Allowed:
    """The least of each kind counts."""
    dollars = [(limit.usd, limit.whose) for limit in limits if limit.usd is not None]
    tokens = [(limit.tokens, limit.whose) for limit in limits if limit.tokens is not None]
    usd, by = min(dollars, default=(None, ""))
    whole, besides = min(tokens, default=(None, ""))
    whose = "; ".join(dict.fromkeys(filter(None, (by, besides))))
    return Allowed(usd, None if whole is None else int(whole), agents, whose)


class Money:
    """`live` is what agents that work have used so far; `tell` reaches the person."""

    def __init__(
        self,
        name: str,
        allowed: Allowed,
        live: Callable[[], tuple[int, float]],
        tell: Callable[[str], object],
    ) -> None:
        self.allowed = allowed
        self._name, self._live, self._tell = name, live, tell
        self.usage, self.cost = Usage(), 0.0  # of those that ended
        self.agents = 0  # that began, with those of its agents
        self.below = 0  # the latter alone
        self._nearly = self._spent = self._much = False

    def paid(self, usage: Usage, cost: float) -> None:
        self.usage = self.usage.plus(usage)
        self.cost += cost

    def another_below(self, calls: int) -> bool:
        """One of its agents starts another: whether it may, beside so many calls."""
        if calls + self.below >= self.allowed.agents:
            return False
        self.below += 1
        self.agents += 1
        self.looked()
        return True

    @property
    def spent(self) -> tuple[int, float]:
        tokens, cost = self._live()
        return self.usage.context + tokens, self.cost + cost

    def now(self) -> BudgetNow:
        return self.allowed.with_used(*self.spent, self.agents)

    def over(self) -> str:
        """Why nothing more may be spent; empty while something may. As `Budget.over`."""
        share = self._share()
        if share >= 1:
            why = f"The budget of the workflow {self._name} is spent: {self.allowed.words}"
            why += f", {self.allowed.whose}." if self.allowed.whose else "."
            if not self._spent:  # its script may go on without those who could not begin
                self._spent = True
                self._tell(f"{why} No further agent begins.")
            return why
        if share >= NEARLY and not self._nearly:
            self._nearly = True
            self._tell(f"The workflow {self._name} has used {share:.0%} of {self.allowed.words}.")
        return ""

    def looked(self) -> None:
        """Tell once that it became large."""
        if self._much:
            return
        tokens, cost = self.spent
        if self.agents >= MANY_AGENTS or tokens >= MANY_TOKENS or cost >= MANY_DOLLARS:
            self._much = True
            used = f"{self.agents} agents, {tokens:,} tokens, {dollars(cost)} so far"
            self._tell(f"The workflow {self._name} is large: {used}. /workflows shows it.")

    def _share(self) -> float:
        tokens, cost = self.spent
        allowed = self.allowed
        shares = [0.0]
        if allowed.usd is not None:
            shares.append((cost + 1e-9) / allowed.usd if allowed.usd > 0 else 1.0)
        if allowed.tokens is not None:
            shares.append(tokens / allowed.tokens if allowed.tokens > 0 else 1.0)
        return max(shares)
