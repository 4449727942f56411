"""TodoWrite: the model's list of steps, replaced as a whole each time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from gatewright.tools.access import Effect, Where
from gatewright.tools.blocks import Block, Todo, TodoItem
from gatewright.tools.counted import counted
from gatewright.tools.plain import Input, InputTool
from gatewright.tools.protocol import Run, ToolContext, ToolResult


class TodoEntry(Input, frozen=True):
    content: Annotated[str, Meta(min_length=1, description="Imperative")]
    status: Literal["pending", "in_progress", "completed"]
    activeForm: Annotated[str, Meta(description="'Running tests'")] = ""


class TodoInput(Input, frozen=True):
    todos: Annotated[list[TodoEntry], Meta(max_length=100)]


class TodoWrite(InputTool[TodoInput]):
    name = "TodoWrite"
    input = TodoInput
    prompt = "todo.md"
    effects = Effect.FREE

    def title(self, input: TodoInput, where: Where) -> tuple[str, str]:
        del where
        active = [_label(entry) for entry in input.todos if entry.status == "in_progress"]
        return "Plan", active[0] if active else counted(len(input.todos), "step")

    async def run(self, input: TodoInput, ctx: ToolContext) -> Run:
        del ctx
        active = [entry for entry in input.todos if entry.status == "in_progress"]
        text = "The list is kept."
        if len(active) > 1:
            text += " More than one entry is in progress; work on one at a time."
        rows = [msgspec.to_builtins(entry) for entry in input.todos]
        yield ToolResult.text(text, summary=self._progress(input), data={"newTodos": rows})

    def _progress(self, input: TodoInput) -> str:
        done = sum(entry.status == "completed" for entry in input.todos)
        return f"{done}/{len(input.todos)}"

    def view(self, input: TodoInput, result: ToolResult | None) -> Sequence[Block]:
        if result is None:
            return ()
        return (Todo(tuple(TodoItem(_label(entry), entry.status) for entry in input.todos)),)


def _label(entry: TodoEntry) -> str:
    return entry.activeForm or entry.content if entry.status == "in_progress" else entry.content
