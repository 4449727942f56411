"""The executor with the gate built in: the only module that may hold a raw one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gatewright.permissions.context import Call, Context
from gatewright.permissions.policy import Policy
from gatewright.permissions.request import GatePorts, Hopeless, Passed, Refused, Request
from gatewright.permissions.rulebook.grants import plainly
from gatewright.permissions.sandbox.port import Opening
from gatewright.tools.access import Access, Effect, Where
from gatewright.tools.blocks import Block, Text
from gatewright.tools.calls import Prepared
from gatewright.tools.executor import RawExecutor
from gatewright.tools.protocol import (
    NOT_BEGUN,
    NOT_RUN,
    Executor,
    ToolCall,
    ToolContext,
    ToolResult,
    ToolSource,
)

if TYPE_CHECKING:
    from gatewright.permissions.gate import Gate

PUT_OFF = ToolResult(ok=False, summary=NOT_RUN, waits=True)

__all__ = ["GatePorts", "gated"]

PERMIT = "What would permit it: /permissions, recent."


class GatedExecutor:
    """Runs nothing that was not authorised, and exactly the input that was."""

    def __init__(self, raw: RawExecutor, policy: Policy, ports: GatePorts) -> None:
        self._raw = raw
        self._policy = policy
        self._ports = ports

    @cached_property
    def _gate(self) -> Gate:
        """Loaded with the first call: an answer in words needs nobody to judge it."""
        from gatewright.permissions.gate import Gate  # noqa: PLC0415  lazy: 6 ms

        return Gate(self._policy, self._ports)

    async def prepare(self, call: ToolCall, where: Where) -> Prepared:
        """The facts as they count with what the sandbox can do here."""
        prepared = await self._raw.prepare(call, where)
        facts, sandbox = prepared.facts, self._ports.sandbox
        if facts.row is not None:
            self._policy.know(prepared.call.name, facts.row)
        if sandbox is None or facts.error:
            return prepared
        access = await sandbox.ready(facts.access)
        refusal = sandbox.refusal(access)
        if not refusal and access is facts.access:
            return prepared
        return prepared.judged_as(access, refusal)

    async def run(self, prepared: Prepared, ctx: ToolContext) -> ToolResult:
        ctx.leave(ToolResult.not_run(NOT_BEGUN))  # true for as long as it is only judged
        if prepared.facts.error:
            return ToolResult.failed(prepared.facts.error)
        request, ctx = self._request(prepared, ctx)
        if request.moments is not None:
            hooked = await self._hooked(request, ctx)
            if isinstance(hooked, ToolResult):
                return hooked
            request, ctx = hooked
        outcome = await self._gate.authorize(request)
        # Until what runs is what was judged last: a changed input may be asked about once more.
        while isinstance(outcome, Passed) and outcome.call.input != request.call.input:
            prepared = await self.prepare(outcome.call, ctx.where)
            if prepared.facts.error:
                why = prepared.facts.error
                return ToolResult.failed(f"The input was changed by who allowed it: {why}")
            changed, ctx = self._request(prepared, ctx)
            request = replace(
                changed,
                heard=request.heard,
                stood_in=outcome.stood_in,
                rewritten=request.was("A hook") if outcome.stood_in else request.rewritten,
                narrowed=outcome.narrowed,
            )
            outcome = await self._gate.changed(request)
        if not isinstance(outcome, Passed):
            return _besides(_not_run(outcome), request)
        if request.answered and request.heard is not None:
            from gatewright.permissions.standing_in import in_their_place  # noqa: PLC0415  with the gate

            ctx = ctx.asking(in_their_place(request.heard.input or {}, ctx.ask))
        result = await self._passed(request, outcome.opening, ctx)
        return _besides(result, request)

    async def _passed(self, request: Request, opening: Opening, ctx: ToolContext) -> ToolResult:
        access = request.facts.access
        await self._ports.saving(access, any(self._policy.resolver.trees.values()))
        await self._ports.barrier(request.agent)
        try:
            return await self._run(request.prepared, opening, ctx)
        finally:
            if access.writes:
                self._ports.wrote(request.agent, access.writes)
            if access.runs is not None or access.writes:
                self._policy.touched()

    async def _hooked(
        self, request: Request, ctx: ToolContext
    ) -> tuple[Request, ToolContext] | ToolResult:
        """The request with what the hooks said; they are not asked about what cannot succeed."""
        if (failed := await self._gate.hopeless(request)) is not None:
            return failed
        heard = await self._gate.prepared(request)
        if heard is not None and heard.word == "defer":
            return PUT_OFF
        rewritten = ""
        if heard is not None and heard.input is not None:
            rewritten = request.was("A hook")
            call = request.call.with_input(heard.input)
            prepared = await self.prepare(call, ctx.where)
            if prepared.facts.error:
                return ToolResult.failed(f"A hook rewrote the input: {prepared.facts.error}")
            request, ctx = self._request(prepared, ctx)
        return replace(request, heard=heard, rewritten=rewritten), ctx

    def _request(self, prepared: Prepared, ctx: ToolContext) -> tuple[Request, ToolContext]:
        """With where the paths lead now and what a search may show; the tool looks again.

        Before the decision: what moves later is refused.
        """
        access = prepared.facts.access
        resolve = self._policy.resolver.real
        real = {str(path): resolve(str(path)) for path in (*access.reads, *access.writes)}
        leads = {Path(path): Path(there) for path, there in real.items()}
        # What reads nothing that was said hardly searches: it looks for the rules if it does.
        now = searchable(self._policy, ctx.where)
        ctx = ctx.judged(leads, now() if access.reads else lambda path: now()(path))
        foreseen = partial(self._raw.foresee, prepared, ctx)
        request = Request(
            prepared,
            ctx.where,
            ctx.ask,
            ctx.agent,
            ctx.moments,
            stood=ctx.stood,
            foreseen=foreseen,
            real=real,
        )
        return request, ctx

    async def _run(self, prepared: Prepared, opening: Opening, ctx: ToolContext) -> ToolResult:
        """Run it, in the sandbox if it is a command that belongs there."""
        sandbox, access = self._ports.sandbox, prepared.facts.access
        ctx.leave(ToolResult.interrupted())
        if sandbox is None:
            return await self._raw.run(prepared, ctx)
        confined = sandbox.enter(access, ctx.ask, opening, ctx.where.root)
        try:
            result = await self._raw.run(prepared, ctx.confined(confined))
        finally:
            sandbox.left(access, confined)
        return sandbox.explained(confined, result)


def _besides(result: ToolResult, request: Request) -> ToolResult:
    if request.heard is None:
        return result
    from gatewright.tools.moments import told_besides  # noqa: PLC0415  lazy: somebody listens

    return told_besides(result, request.heard)


def _not_run(outcome: Refused | Hopeless) -> ToolResult:
    if isinstance(outcome, Hopeless):
        return outcome.result
    if outcome.told:
        return ToolResult.failed(outcome.message, summary="answered instead")
    ends = outcome.ends_turn or bool(outcome.barred)
    refused = ToolResult.refused(outcome.message, ends_turn=ends, stopped=outcome.stopped)
    told = f"{outcome.shown} {PERMIT}" if outcome.shown else plainly(outcome.message)
    view: tuple[Block, ...] = (Text(told, "dim"),)
    if outcome.plain:
        view = ()  # who said it knows, and the turn's end says what next
    return replace(refused, barred=outcome.barred, view=view)


def gated(sources: Sequence[ToolSource], policy: Policy, ports: GatePorts) -> Executor:
    """The session's executor over these tool sources."""
    return GatedExecutor(RawExecutor(sources), policy, ports)


def searchable(policy: Policy, where: Where) -> Callable[[], Callable[[str], bool]]:
    """What a search may show: no file that a Read rule denies, or asks about and nothing grants.

    The call itself was judged by where it searches; what lies below is known only once it is found.
    Asked for every file found, so paths no rule could be about cost one look at their text. The
    rules are those of now; they are made ready when somebody searches.
    """
    return cache(partial(_shown, policy.context(where)))


def _shown(context: Context) -> Callable[[str], bool]:
    from gatewright.permissions.decide import ask_rule, deny_rule, trusted_allow  # noqa: PLC0415
    from gatewright.permissions.inquiry import inquiries  # noqa: PLC0415  loaded with the gate

    rules = context.rules
    denied = context.patterns.group(rules.deny_reads)
    closed = context.patterns.group(rules.closed_reads)
    asked = context.patterns.group(rules.ask_reads)

    def shown(path: str) -> bool:
        if not (denied.maybe(path) or closed.maybe(path) or asked.maybe(path)):
            return True
        access = Access(reads=(Path(path),), effects=Effect.READ_ONLY)
        for inquiry in inquiries(Call("Read", {"file_path": path}, access), context):
            if deny_rule(inquiry) is not None:
                return False
            if ask_rule(inquiry) is not None and trusted_allow(inquiry) is None:
                return False
        return True

    return shown
