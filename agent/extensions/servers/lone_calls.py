"""Calls of servers' tools that nobody is asked about: for hooks, and for who answers in print mode.

The gate judges each as one that its source allows; what would still have to be asked is not made.
"""

from __future__ import annotations

import itertools

import msgspec

from gatewright.agent.extensions.host import Alone, Host
from gatewright.permissions.context import Call
from gatewright.permissions.decide import decide
from gatewright.permissions.decision import Ask as Asks
from gatewright.tools.access import MAIN
from gatewright.tools.interact import Answer, Ask
from gatewright.tools.moments import CallPrepared, Moment, Moments, Verdict
from gatewright.tools.protocol import JsonObject, ToolCall, ToolFailure, ToolResult

PUT_OFF = "A hook put it off, and nobody comes back to it."
ASKS = "it would have to be asked about, and nobody is asked about it"


class LoneCalls:
    def __init__(self, host: Host) -> None:
        self._host = host
        self._numbers = itertools.count(1)

    async def call(
        self, name: str, input: JsonObject, *, allows: bool, agent: str = MAIN
    ) -> ToolResult | str:
        """The result, or why there is none. Where the source `allows`, no rule has to."""
        host = self._host
        tool = host.tools.find(name)
        if tool is None:
            return f"there is no tool {name}"
        where = host.around.where
        try:
            access = tool.access(tool.read(input), where)
        except ToolFailure as failure:
            return str(failure).partition("\n")[0]
        context = host.policy.context(where, agent=agent, hook="allow" if allows else "")
        if isinstance(decide(Call(name, input, access), context), Asks):
            return ASKS  # before it waits for a question that waits for it
        alone = Alone(_Source(host.moments, allows=allows), nobody)
        call = ToolCall(f"alone-{next(self._numbers)}", name, input)
        return await host.session.call(call, agent, alone=alone)


class _Source:
    """Who is heard about such a call: those who listen to any, and then whose it is."""

    def __init__(self, moments: Moments | None, *, allows: bool) -> None:
        self._moments, self._allows = moments, allows

    async def at(self, moment: Moment) -> Verdict:
        if not isinstance(moment, CallPrepared):
            return Verdict()
        said = Verdict()
        if self._moments is not None:
            said = await self._moments.at(msgspec.structs.replace(moment, lone=True))
        if said.word == "defer":
            return Verdict(word="deny", text=PUT_OFF)
        if said.word == "" and self._allows:
            return msgspec.structs.replace(said, word="allow")
        return said


async def nobody(ask: Ask) -> Answer:
    """Such a call puts no question to the person."""
    del ask
    return Answer(cancelled=True)
