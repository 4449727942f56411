"""Commands about instruction files: what the model reads before it works."""

from __future__ import annotations

import asyncio
from pathlib import Path

from gatewright.agent.commands.outcome import Outcome, Panel, Say, Submit
from gatewright.agent.commands.registry import Command, CommandContext
from gatewright.agent.context.instruction_files import MemoryBook
from gatewright.agent.errors import GatewrightError
from gatewright.tools.blocks import Block, Table, Text

NO_MEMORY = "This session reads no instruction files."
KINDS = ("user", "project", "local")


def commands() -> tuple[Command, ...]:
    return (
        Command(
            name="memory",
            summary="Instruction files the model reads, and a line more",
            args="[add [user|project|local] LINE | allow]",
            run=memory,
        ),
        Command(name="init", summary="Write an AGENTS.md for this project", run=init),
    )


async def memory(args: str, context: CommandContext) -> Outcome:
    book = context.memory
    if book is None:
        return Say.text(NO_MEMORY, "warning")
    verb, _, rest = args.partition(" ")
    try:
        match verb:
            case "":
                return Panel("memory", fallback=Say(await asyncio.to_thread(_table, book)))
            case "add":
                kind, _, line = rest.strip().partition(" ")
                if kind not in KINDS:
                    kind, line = "project", rest
                path = await book.add(line, kind)
                return Say.text(f"Added to {path}. It counts from the next /clear on.")
            case "allow":
                paths = await asyncio.to_thread(book.approve)
                names = ", ".join(map(str, paths)) or "nothing waits"
                return Say.text(f"May be imported here from now on: {names}.")
            case _:
                return Say.text("Usage: /memory [add [user|project|local] LINE | allow]", "warning")
    except GatewrightError as error:
        return Say.text(str(error), "warning")


def _table(book: MemoryBook) -> tuple[Block, ...]:
    """In the order the model reads them, with what each costs."""
    found = book.now()
    if not found.files and not found.waiting and not found.rules:
        return (Text("There are no instruction files. /init writes an AGENTS.md."),)
    rows = tuple(
        (str(number), file.kind, str(file.path), f"{file.tokens:,}", "cut" if file.cut else "")
        for number, file in enumerate(found.files, start=1)
    )
    total = sum(file.tokens for file in found.files)
    blocks: list[Block] = [
        Table(("", "Kind", "File", "Tokens", ""), rows),
        Text(f"{total:,} tokens in each request. The last one has the last word.", "dim"),
    ]
    if found.rules:
        about = "\n".join(f"{rule.path}: {', '.join(rule.globs)}" for rule in found.rules)
        blocks.append(Text(f"Read once such a file is touched:\n{about}"))
    if found.waiting:
        names = ", ".join(map(str, found.waiting))
        blocks.append(
            Text(f"Not read, because outside the project: {names}. /memory allow reads them.")
        )
    return tuple(blocks)


async def init(args: str, context: CommandContext) -> Outcome:
    """`args` is what the person wants in it."""
    exists = False
    if context.memory is not None:
        exists = await asyncio.to_thread(context.memory.target("project").exists)
    existing = (
        "One exists already: keep what is true, correct what is not, and say what you changed."
        if exists
        else "There is none yet."
    )
    path = Path(__file__).parent.parent / "context" / "prompt" / "init.md"
    text = path.read_text(encoding="utf-8").replace("{existing}", existing)
    if args:
        text += f"\nThe person adds: {args}\n"
    return Submit(text)
