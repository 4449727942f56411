"""A call of Workflow that a line makes, typed or of a schedule: gate, dialog, hooks are as ever."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from gatewright.agent.commands.outcome import Begun
from gatewright.agent.extensions.host import Host
from gatewright.agent.record.ids import new_id
from gatewright.agent.session.session import Session
from gatewright.agent.text.printable import escaped
from gatewright.agent.workflows.tool_spec import WORKFLOW
from gatewright.permissions.rulebook.grants import plainly
from gatewright.tools.access import MAIN
from gatewright.tools.protocol import TextContent, ToolCall, ToolResult

BEGAN = (
    "<workflow-begun>\n{who} {called}, and the program has begun it already:\n{said}\n"
    "Do not begin it again. Say in one line that it runs, and end your turn: its result comes by "
    "itself.\n</workflow-begun>"
)


class _Launched(msgspec.Struct, rename="camel"):
    run_id: str = ""


def by(*, typed: bool) -> str:
    return "The person typed" if typed else "Nobody typed it now, a schedule said"


async def begun(host: Host, input: Mapping[str, Any], line: str, *, typed: bool = True) -> Begun:
    """What the model is told of it; or why the line is not sent."""
    result = await called(host.session, input)
    if declined(result):
        return Begun(refused=f"{line} was not begun.", declined=True)
    if not result.ok:
        return Begun(refused=why_not(result))
    said = BEGAN.format(who=by(typed=typed), called=line, said=said_by(result))
    return Begun(before=((TextContent(said),),))


def declined(result: ToolResult) -> bool:
    """The person's own no: they need no words about it."""
    return result.ends_turn and not (result.stopped or result.barred)


def why_not(result: ToolResult) -> str:
    return escaped(plainly(said_by(result))) or "It was not begun."


async def called(session: Session, input: Mapping[str, Any]) -> ToolResult:
    main = session.agent(MAIN)
    assert main is not None
    call = ToolCall(f"typed_{new_id()}", WORKFLOW, dict(input))
    context = main.context(call.id)
    executor = main.tools.executor
    return await executor.run(await executor.prepare(call, context.where), context)


def said_by(result: ToolResult) -> str:
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


def run_of(result: ToolResult) -> str:
    """The id of the run that a call began; empty where it began none."""
    if not result.ok:
        return ""
    try:
        return msgspec.json.decode(said_by(result), type=_Launched).run_id
    except msgspec.DecodeError:
        return ""
