"""StructuredOutput: an agent of a workflow gives its answer, and is done."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from gatewright.agent.extensions.workflows.shaped_answer import Answer
from gatewright.agent.workflows.tool_spec import ANSWER
from gatewright.tools.access import Effect
from gatewright.tools.blocks import Block, Code
from gatewright.tools.plain import PlainTool
from gatewright.tools.protocol import JsonObject, Run, ToolContext, ToolFailure, ToolResult


class AnswerTool(PlainTool[JsonObject]):
    name, effects = ANSWER, Effect.FREE

    def __init__(self, of: Callable[[str], Answer | None]) -> None:
        self._of = of

    def read(self, raw: JsonObject) -> JsonObject:
        return raw

    def view(self, input: JsonObject, result: ToolResult | None) -> Sequence[Block]:
        del result
        return (Code(msgspec.json.format(msgspec.json.encode(input), indent=2).decode(), "json"),)

    async def run(self, input: JsonObject, ctx: ToolContext) -> Run:
        answer = self._of(ctx.agent)
        if answer is None:
            raise ToolFailure("Nobody waits for such an answer here.")
        if problem := answer.take(input):
            if answer.spent:
                told = f"It was not valid {answer.problem}, for the last time."
                yield msgspec.structs.replace(ToolResult.failed(told), completes=True)
                return
            raise ToolFailure(f"The answer is not valid: {problem}. Give it again.")
        yield msgspec.structs.replace(ToolResult.text("Taken."), completes=True, summary="taken")
