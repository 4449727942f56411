"""Saved workflows as slash commands: what a line names, what its words mean, and how it begins.

The line is a call of Workflow by whoever wrote it, made in its turn: gate and dialog are as ever.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec

from gatewright.agent.commands.outcome import Begun, Outcome, Problem, Scope, Submit
from gatewright.agent.commands.registry import Command, CommandContext
from gatewright.agent.extensions.host import Host
from gatewright.agent.text.printable import escaped
from gatewright.agent.workflows.saved.saved_book import KIND, Saved, SavedBook
from gatewright.tools.protocol import TextContent

SUMMARY = 300  # characters
STRUCTURE = (
    "<workflow-typed>\n{who} {called}. Make one call of Workflow with name "
    "{name!r} and args that hold what their words say, by this JSON Schema:\n{schema}\nIf "
    "something required cannot be told from their words, ask them for it instead.\n"
    "</workflow-typed>"
)


class SavedCommands:
    def __init__(self, host: Host, book: SavedBook) -> None:
        self._host, self._book = host, book
        self._seen: object = None

    def now(self) -> Sequence[Command]:
        self._seen = shelf = self._book.last()
        return [self._command(saved) for saved in shelf.every]

    async def look_aside(self) -> None:
        """Where a menu opens, which waits for no disk."""
        if await asyncio.to_thread(self._book.shelf) is not self._seen:
            self.changed()

    def again(self) -> None:
        """There are other plugins now: what those bring was agreed to, and is read at once."""
        self._book.shelf()
        self.changed()

    def changed(self) -> None:
        """There may be others now."""
        if self._host.joined.is_set():
            self._host.session.commands.changed()

    def _command(self, saved: Saved) -> Command:
        about = " ".join(saved.description.split())[:SUMMARY]
        hint = "[ARGS]" if saved.meta is None or saved.meta.args is None else "[WORDS | JSON]"
        first = saved.called in (saved.name, saved.qualified)
        return Command(
            name=saved.qualified if saved.plugin else saved.name,
            summary=escaped(about),
            args=hint,
            aliases=() if first else (saved.called,),
            source=KIND if first else f"{KIND}:{saved.source}",
            kind=KIND,
            run=partial(self._run, saved),
        )

    async def _run(self, saved: Saved, context: CommandContext) -> Outcome:
        refusal = await asyncio.to_thread(self._book.refusal, saved.called)
        if refusal:
            return Problem.of(refusal)
        line = context.raw.strip() or f"/{context.name} {context.args}".rstrip()
        begin = partial(self._begun, saved, context.args, typed=context.front.typed)
        return Submit(line, Scope(by=f"/{context.name}", trusted=True, begin=begin, line=True))

    async def _begun(self, saved: Saved, words: str, *, typed: bool) -> Begun:
        """Its call, in the turn of its line; where words have to be put in order, the model's."""
        from gatewright.agent.extensions.workflows.typed_call import begun, by  # noqa: PLC0415  lazy

        schema = saved.meta.args if saved.meta is not None else None
        args, structured = words_to_args(words)
        if schema is not None and words and not structured:
            text = STRUCTURE.format(
                who=by(typed=typed),
                called=f"/{saved.called}",
                name=saved.called,
                schema=msgspec.json.encode(schema).decode(),
            )
            return Begun(before=((TextContent(text),),))
        input: dict[str, Any] = {"name": saved.called}
        if words:
            input["args"] = args
        return await begun(self._host, input, f"/{saved.called}", typed=typed)


def words_to_args(words: str) -> tuple[object, bool]:
    """What stands behind a name, as data: JSON where it is that, else the text itself."""
    try:
        return msgspec.json.decode(words.encode()), True
    except msgspec.DecodeError:
        return words, False
