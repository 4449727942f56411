"""The executor with the gate built in: the only module that may hold a raw one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from gatewright.permissions.calls.searchable import searchable
from gatewright.permissions.gate import Gate, GatePorts, Hopeless, Passed, Refused, Request
from gatewright.permissions.policy import Policy
from gatewright.tools.access import Access, Where
from gatewright.tools.executor import RawExecutor
from gatewright.tools.protocol import (
    NOT_BEGUN,
    Executor,
    Facts,
    ToolCall,
    ToolContext,
    ToolResult,
    ToolSource,
)

__all__ = ["GatePorts", "gated"]


class GatedExecutor:
    """Runs nothing that was not authorised, and exactly the input that was."""

    def __init__(self, raw: RawExecutor, policy: Policy, ports: GatePorts) -> None:
        self._raw = raw
        self._policy = policy
        self._ports = ports
        self._gate = Gate(policy, ports)

    async def facts(self, call: ToolCall, where: Where) -> Facts:
        return await self._raw.facts(call, where)

    async def execute(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        ctx.leave(ToolResult.not_run(NOT_BEGUN))  # true for as long as it is only judged
        facts = await self._known(call, ctx.where)
        if facts.error:
            return ToolResult.failed(facts.error)
        ctx = self._looked(facts.access, ctx)  # before the decision: what moves later is refused
        request = self._request(call, facts, ctx)
        if self._ports.before_tool is not None:
            hooked = await self._hooked(request, ctx)
            if isinstance(hooked, ToolResult):
                return hooked
            request, ctx = hooked
        outcome = await self._gate.authorize(request)
        facts = request.facts
        if isinstance(outcome, Passed) and outcome.call.input != request.call.input:
            call = outcome.call
            facts = await self._known(call, ctx.where)
            if facts.error:
                return ToolResult.failed(f"The input was changed by who allowed it: {facts.error}")
            ctx = self._looked(facts.access, ctx)
            outcome = await self._gate.changed(
                replace(request, call=call, facts=facts, real=_texts(ctx))
            )
        if not isinstance(outcome, Passed):
            return _not_run(outcome)
        await self._ports.saving(facts.access, any(self._policy.resolver.trees.values()))
        await self._ports.barrier()
        try:
            return await self._run(outcome, facts.access, ctx)
        finally:
            if facts.access.runs is not None or facts.access.writes:
                self._policy.touched()

    async def _hooked(
        self, request: Request, ctx: ToolContext
    ) -> tuple[Request, ToolContext] | ToolResult:
        """The request with what the hooks said; they are not asked about what cannot succeed."""
        if (failed := await self._gate.hopeless(request)) is not None:
            return failed
        hook = await self._gate.hook(request.call, ctx.where)
        if hook.input is not None:
            call = request.call.with_input(dict(hook.input))
            facts = await self._known(call, ctx.where)
            if facts.error:
                return ToolResult.failed(f"A hook rewrote the input: {facts.error}")
            ctx = self._looked(facts.access, ctx)
            request = self._request(call, facts, ctx)
        return replace(request, hook=hook), ctx

    def _request(self, call: ToolCall, facts: Facts, ctx: ToolContext) -> Request:
        foreseen = partial(self._raw.foreseen, call, ctx)
        request = Request(call, facts, ctx.where, ctx.ask, ctx.agent, foreseen=foreseen)
        return replace(request, real=_texts(ctx))

    def _looked(self, access: Access, ctx: ToolContext) -> ToolContext:
        """With where the paths lead now and what a search may show; the tool looks again."""
        resolve = self._policy.resolver.real
        real = {path: Path(resolve(str(path))) for path in (*access.reads, *access.writes)}
        return ctx.judged(real, searchable(self._policy, ctx.where))

    async def _known(self, call: ToolCall, where: Where) -> Facts:
        """The facts as they count with what the sandbox can do here."""
        facts = await self._raw.facts(call, where)
        sandbox = self._ports.sandbox
        if sandbox is None or facts.error:
            return facts
        access = await sandbox.ready(facts.access)
        return Facts(
            access=access,
            verb=facts.verb,
            target=facts.target,
            view=facts.view,
            error=sandbox.refusal(access),
        )

    async def _run(self, passed: Passed, access: Access, ctx: ToolContext) -> ToolResult:
        """Run it, in the sandbox if it is a command that belongs there."""
        sandbox, call = self._ports.sandbox, passed.call
        ctx.leave(ToolResult.interrupted())
        if sandbox is None:
            return await self._raw.execute(call, ctx)
        confined = sandbox.enter(access, ctx.ask, passed.opening)
        try:
            result = await self._raw.execute(call, ctx.confined(confined))
        finally:
            sandbox.left(access, confined)
        return sandbox.explained(confined, result)


def _not_run(outcome: Refused | Hopeless) -> ToolResult:
    if isinstance(outcome, Hopeless):
        return outcome.result
    if outcome.told:
        return ToolResult.failed(outcome.message, summary="answered instead")
    return ToolResult.refused(outcome.message, ends_turn=outcome.ends_turn)


def _texts(ctx: ToolContext) -> dict[str, str]:
    return {str(path): str(real) for path, real in ctx.real.items()}


def gated(sources: Sequence[ToolSource], policy: Policy, ports: GatePorts) -> Executor:
    """The session's executor over these tool sources."""
    return GatedExecutor(RawExecutor(sources), policy, ports)
