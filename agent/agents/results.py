"""What is said of an agent's end: as the result of the call that started it, and as a notice.

A report is data of another agent. One that was cut off by an error is never called complete.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gatewright.agent.agents.inert_text import in_line, told_as_data
from gatewright.agent.text.money import dollars
from gatewright.tools.blocks import Markdown
from gatewright.tools.protocol import JsonObject, TextContent, ToolResult

if TYPE_CHECKING:
    from gatewright.agent.agents.life import Life

NOTICED = 8_000  # characters of a report in a notice
SHORT = {"completed": "done", "budget_exhausted": "budget spent"}
SEND = "SendMessage to that id goes on with it."


def result(life: Life) -> ToolResult:
    """Of a call that waited for its end."""
    end = life.end
    assert end is not None
    fine = end.status in ("completed", "budget_exhausted")
    parts = [told_as_data(life.said)] if life.said else []
    parts += [f"[{each}]" for each in _besides(life)]
    if end.status != "completed":
        parts.append(f"[{end.status}: {_what(life)}]")
    if not parts:
        parts.append("[It ended without a word.]")
    if not (life.order.kind.omit_id and end.status == "completed"):
        parts.append(f"agentId: {life.id}")
    text = "\n".join(parts)
    summary = SHORT.get(end.status, end.status)
    return ToolResult(
        ok=fine,
        content=(TextContent(text),),
        view=(Markdown(life.said),) if life.said else (),
        data=data(life),
        summary=summary,
    )


def left(life: Life) -> ToolResult:
    """Of a call whose turn was interrupted: what it had found is not lost."""
    parts = [told_as_data(life.said)] if life.said else []
    parts.append("[Interrupted before it finished. What it changed so far stays changed.]")
    parts.append(f"agentId: {life.id}")
    content = (TextContent("\n".join(parts)),)
    return ToolResult(ok=False, content=content, data=data(life), summary="interrupted")


def launched(life: Life, file: Path, *, moved: bool = False) -> ToolResult:
    """Of a call that does not wait, or not any more."""
    how = (
        "The person sent it to the background, where it goes on."
        if moved
        else "It works in the background."
    )
    text = (
        f"{how} Its report will come to you by itself: do not wait or ask for it, go on with "
        "something else, or end your turn. TaskStop ends it, SendMessage reaches it.\n"
        f"agentId: {life.id}"
    )
    order = life.order
    found: JsonObject = {
        "status": "async_launched",
        "agentId": life.id,
        "description": order.description,
        "prompt": order.prompt,
        "outputFile": str(file),
    }
    return ToolResult.text(text, summary="background", data=found)


def data(life: Life) -> JsonObject:
    usage, end = life.usage, life.end
    tokens = usage.input + usage.output + usage.cache_read + usage.cache_write
    found: JsonObject = {
        "status": end.status if end is not None else "running",
        "agentId": life.id,
        "agentType": life.order.kind.name,
        "content": [{"type": "text", "text": life.said}] if life.said else [],
        "totalTokens": tokens,
        "totalToolUseCount": life.tools,
        "totalDurationMs": round(life.seconds * 1000),
        "usage": {
            "input_tokens": usage.input,
            "output_tokens": usage.output,
            "cache_read_input_tokens": usage.cache_read,
            "cache_creation_input_tokens": usage.cache_write,
        },
        "cost": life.cost,
        "resolvedModel": life.model,
    }
    if life.worktree:
        found |= {"worktreePath": life.worktree, "worktreeBranch": life.branch}
    return found


def notice(life: Life) -> str:
    """For whoever started it, when it ended while nobody waited."""
    return f"Agent {life.id} ({in_line(life.title)}) has ended.\n{told_end(life)}"


def told_end(life: Life) -> str:
    """How it ended, what it said, and what it used."""
    end = life.end
    assert end is not None
    lines = [f"Status: {end.status}" + (f" ({what})" if (what := _what(life)) else "")]
    if life.said:
        said = life.said
        more = f"\n[cut here; all of it: {life.report_file}]" if len(said) > NOTICED else ""
        lines += ["Report:", told_as_data(said[:NOTICED]) + more]
    lines += _besides(life)
    found = data(life)
    tokens, calls = f"{found['totalTokens']:,} tokens", _calls(life.tools)
    lines.append(f"Used: {tokens}, {calls}, {life.seconds:.0f} s, {dollars(life.cost)}")
    lines.append(f"agentId: {life.id}. {SEND}")
    return "\n".join(lines)


def _what(life: Life) -> str:
    end = life.end
    assert end is not None
    if end.what:
        return end.what
    by = {"person": "by the person", "agent": "by who started it", "turn": "with the turn"}
    return by.get(life.stopping, "") if end.status == "stopped" else ""


def _besides(life: Life) -> list[str]:
    lines: list[str] = []
    if life.refused:
        each = "; ".join(map(in_line, life.refusals))
        lines.append(f"Refused to it: {_calls(life.refused)}. {each}")
    if life.left:
        lines.append(f"Its own work was stopped with it: {'; '.join(map(in_line, life.left))}")
    if life.worktree:
        changed = f" {in_line(life.diff)}" if life.diff else ""
        lines.append(f"Its changes are in {life.worktree}, branch {life.branch}.{changed}")
    return lines


def _calls(count: int) -> str:
    return "1 call" if count == 1 else f"{count:,} calls"
