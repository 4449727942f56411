"""Workflow: launch a script that has many agents work, and go on without waiting for it."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from gatewright.agent.extensions.workflows.launching import Asked, Plan
from gatewright.agent.workflows.runs.run import Run
from gatewright.agent.workflows.tool_spec import WORKFLOW
from gatewright.tools.access import MAIN, Access, Where
from gatewright.tools.blocks import Block, Text
from gatewright.tools.plain import StructTool
from gatewright.tools.protocol import JsonObject, ToolContext, ToolFailure, ToolResult
from gatewright.tools.protocol import Run as Running

UNNAMED = "a script"  # no saved workflow is called so
KEPT = 32  # launches that were shown and not made yet
TOLD = (
    "It runs in the background. Its end and result will come to you by itself: do not wait or ask "
    "for it. To change the script, edit scriptPath and call Workflow with resumeFromRunId."
)


class Launching(Protocol):
    """What the session knows of launching workflows."""

    def plan(self, asked: Asked, where: Where) -> Plan:
        """Raises ToolFailure."""
        ...

    def shown(self, plan: Plan) -> Sequence[Block]: ...
    def own_path(self, path: str, where: Where) -> bool:
        """Whether a script there is ours to read: of a run of this session, or a saved one."""
        ...

    def called(self, name: str) -> str:
        """By which name rules know a saved one, however it is asked for."""
        ...

    async def launch(self, plan: Plan, call_id: str) -> Run:
        """Raises ToolFailure."""
        ...


class WorkflowTool(StructTool[Asked]):
    name, input = WORKFLOW, Asked

    def __init__(self, launching: Launching) -> None:
        self._launching = launching
        self._shown: OrderedDict[tuple[str, str], Plan] = OrderedDict()
        self._lost: set[tuple[str, str]] = set()  # were shown, and are not known any more

    def read(self, raw: JsonObject) -> Asked:
        """Null is nothing said."""
        return super().read({key: value for key, value in raw.items() if value is not None})

    def access(self, input: Asked, where: Where) -> Access:
        """A rule that allows a saved one means nothing that only calls itself so; whether one that
        forbids it does is seen once the script is read: in `plan`."""
        reads: tuple[Path, ...] = ()
        if input.script_path and not self._launching.own_path(input.script_path, where):
            reads = (where.resolve(input.script_path),)
        subject = self._launching.called(input.name) if input.name else UNNAMED
        return Access(reads=reads, kind="workflow", subject=subject)

    def title(self, input: Asked, where: Where) -> tuple[str, str]:
        del where
        again = f"resume {input.resume_from_run_id}" if input.resume_from_run_id else ""
        return "Workflow", input.title or input.name or again or input.script_path or "a script"

    def foresee(self, input: Asked, ctx: ToolContext) -> Sequence[Block]:
        """What a person is asked about; exactly that is launched then."""
        plan = self._launching.plan(input, ctx.where)
        self._shown[ctx.agent, ctx.call_id] = plan
        self._lost.discard((ctx.agent, ctx.call_id))
        while len(self._shown) > KEPT:
            self._lost.add(self._shown.popitem(last=False)[0])
        return self._launching.shown(plan)

    def view(self, input: Asked, result: ToolResult | None) -> Sequence[Block]:
        del input
        if result is None:
            return ()
        data = result.data
        return (Text(f"{data.get('workflowName', '')} · {data.get('runId', '')}", "dim"),)

    async def run(self, input: Asked, ctx: ToolContext) -> Running:
        if ctx.agent != MAIN:
            raise ToolFailure("Only the main agent launches workflows.")
        if (ctx.agent, ctx.call_id) in self._lost:
            raise ToolFailure("Too many launches waited for an answer at once. Call it again.")
        plan = self._shown.pop((ctx.agent, ctx.call_id), None)
        if plan is None or plan.asked != input:
            plan = await asyncio.to_thread(self._launching.plan, input, ctx.where)
        run = await self._launching.launch(plan, ctx.call_id)
        data: JsonObject = {
            "status": "async_launched",
            "runId": run.id,
            "taskId": run.id,
            "taskType": "local_workflow",
            "workflowName": run.name,
            "scriptPath": str(run.order.script),
            "transcriptDir": str(run.order.folder / "agents"),
        }
        text = msgspec.json.encode({**data, "note": TOLD}).decode()
        yield ToolResult.text(text, summary="launched", data=data)
