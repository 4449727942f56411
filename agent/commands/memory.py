"""Commands about what the model reads before it works: instruction files, and what was learnt."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path

from gatewright.agent.autonomy.memory.learnt_book import OFF, LearntBook
from gatewright.agent.commands.outcome import Choice, Form, Outcome, Pick, Problem, Say, Submit
from gatewright.agent.commands.registry import Command, CommandContext
from gatewright.agent.context.instruction_files import MemoryBook
from gatewright.agent.context.prompt.memory import Memory
from gatewright.agent.errors import GatewrightError
from gatewright.tools.blocks import Block, Table, Text

KINDS = ("user", "project", "local")
SHARED = (
    "Whoever has the project shares that file; /memory add local LINE keeps a line to yourself."
)

USAGE = "Usage: /memory [add [user|project|local] LINE | allow | keep [N ...] | drop [N ...]]"
COUNTS = "It counts from the next /clear on."
ORDER = "The last one has the last word."


def memory_commands(
    book: MemoryBook, learnt: Callable[[], LearntBook | None] = lambda: None
) -> tuple[Command, ...]:
    return (
        Command(
            name="memory",
            summary="What the model reads first: instruction files, and what sessions learnt",
            args="[add [user|project|local] LINE | allow | keep [N ...] | drop [N ...]]",
            run=partial(memory, book, learnt),
        ),
        Command(
            name="init",
            summary="Write an AGENTS.md for this project",
            run=partial(init, book),
        ),
    )


async def memory(
    book: MemoryBook, learnt: Callable[[], LearntBook | None], context: CommandContext
) -> Outcome:
    verb, _, rest = context.args.partition(" ")
    match verb:
        case "":
            return await asyncio.to_thread(_listed, book, learnt())
        case "keep" | "drop":
            return await asyncio.to_thread(_settled, learnt(), rest, keep=verb == "keep")
        case "add":
            kind, _, line = rest.strip().partition(" ")
            if kind not in KINDS:
                kind, line = "project", rest
            return await remember(book, line, kind)
        case "allow":
            paths = await asyncio.to_thread(book.approve)
            names = ", ".join(map(str, paths)) or "nothing waits"
            return Say.text(f"May be imported here from now on: {names}.")
        case _:
            return Problem.of(USAGE)


async def remember(book: MemoryBook, line: str, kind: str = "project") -> Outcome:
    """Keep a line in an instruction file."""
    try:
        path = await book.add(line, kind)
    except GatewrightError as error:
        return Problem.of(str(error))
    shared = f" {SHARED}" if kind == "project" else ""
    return Say.text(f"Added to {path}.{shared} {COUNTS}")


def _settled(learnt: LearntBook | None, words: str, *, keep: bool) -> Outcome:
    """What waits to be kept for later sessions."""
    if learnt is None:
        return Problem.of(OFF)
    try:
        done = learnt.settle(words, keep=keep)
    except GatewrightError as error:
        return Problem.of(str(error))
    kept = "Kept for later sessions" if keep else "Forgotten"
    return Say.text("\n".join((f"{kept}:", *(f"- {fact.text}" for fact in done))))


def _listed(book: MemoryBook, learnt: LearntBook | None) -> Pick:
    """To choose the one that is edited, in the order the model reads them."""
    about = tuple(learnt.about()) if learnt is not None else (OFF,)
    found = book.now()
    files = {str(file.path): (file.kind, f"{file.tokens:,} tokens") for file in found.files}
    files |= {str(rule.path): ("rule", f"about {', '.join(rule.globs)}") for rule in found.rules}
    files |= {str(path): (kind, "not there yet") for kind, path in book.missing(found)}
    if learnt is not None:
        files |= {str(p): ("learnt", detail) for p, detail in learnt.files(date.today())}
    return Pick(
        title="Instruction files and what sessions learnt",
        choices=tuple(Choice(path, path, detail, kind) for path, (kind, detail) in files.items()),
        choose=partial(_opened, book, learnt),
        about=(ORDER, *_waiting(found), *about),
        fallback=Say((*_table(found), Text("\n".join(about), "dim"))),
    )


async def _opened(book: MemoryBook, learnt: LearntBook | None, path: str) -> Outcome:
    """In the person's own editor."""
    own = learnt if learnt is not None and learnt.holds(Path(path)) else None
    files = own or book
    try:
        text = await asyncio.to_thread(files.text, Path(path))
    except GatewrightError as error:
        return Problem.of(str(error))

    async def take(changed: str) -> Outcome:
        try:
            await asyncio.to_thread(files.put, Path(path), text, changed)
        except GatewrightError as error:
            return Problem.of(str(error))
        return Say.text(f"{path} is changed. {COUNTS}")

    return Form(fallback=Say.text(f"It is in {path}."), text=text.rstrip("\n"), take=take)


def _waiting(found: Memory) -> tuple[str, ...]:
    if not found.waiting:
        return ()
    names = ", ".join(map(str, found.waiting))
    return (f"Not read, because outside the project: {names}. /memory allow reads them.",)


def _table(found: Memory) -> tuple[Block, ...]:
    """In the order the model reads them, with what each costs."""
    if not found.files and not found.waiting and not found.rules:
        return (Text("There are no instruction files. /init writes an AGENTS.md."),)
    rows = tuple(
        (str(number), file.kind, str(file.path), f"{file.tokens:,}", "cut" if file.cut else "")
        for number, file in enumerate(found.files, start=1)
    )
    total = sum(file.tokens for file in found.files)
    blocks: list[Block] = [
        Table(("", "Kind", "File", "Tokens", ""), rows),
        Text(f"{total:,} tokens in each request. {ORDER}", "dim"),
    ]
    if found.rules:
        about = "\n".join(f"{rule.path}: {', '.join(rule.globs)}" for rule in found.rules)
        blocks.append(Text(f"Read once such a file is touched:\n{about}"))
    return (*blocks, *map(Text, _waiting(found)))


async def init(book: MemoryBook, context: CommandContext) -> Outcome:
    """What follows the name is what the person wants in it."""
    exists = await asyncio.to_thread(book.target("project").exists)
    existing = (
        "One exists already: keep what is true, correct what is not, and say what you changed."
        if exists
        else "There is none yet."
    )
    path = Path(__file__).parent.parent / "context" / "prompt" / "init.md"
    text = path.read_text(encoding="utf-8").replace("{existing}", existing)
    if context.args:
        text += f"\nThe person adds: {context.args}\n"
    return Submit(text)
