"""Commands that lead to another session: a stored one, a copy of this one, a new one.

Where the front end cannot go over, they say the command line that does it.
"""

from __future__ import annotations

import asyncio
import shlex
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from gatewright.agent.commands.outcome import Choice, Outcome, Page, Pick, Problem, Say, Switch
from gatewright.agent.commands.registry import Command, CommandContext, InUse, Modes
from gatewright.agent.errors import SessionError
from gatewright.agent.session.history_actions import Past
from gatewright.agent.session.start.resume import choice_of, choices_of, matching
from gatewright.agent.transcript.index import Listed
from gatewright.tools.blocks import Table, Text
from gatewright.tools.system.locks import busy

SHOWN = 20  # rows of a list that is only printed
WIDTH = 60
COPY = "copy"
BUSY = "Interrupt the running turn first (Esc)."


class Left(msgspec.Struct, frozen=True):
    """What of a session goes along to another one."""

    modes: Modes
    in_use: InUse
    restrictions: Callable[[], Sequence[tuple[str, str]]]  # rules of this session that permit less


def switch_commands(past: Past, left: Left) -> tuple[Command, ...]:
    return (
        Command(
            name="resume",
            summary="Go on with another session of this directory",
            args="[ID or words of its title]",
            aliases=("continue",),
            run=partial(resume, past, left),
        ),
        Command(
            name="fork",
            summary="Go on in a copy of this session; this one stays as it is",
            args="[title]",
            aliases=("branch",),
            run=partial(fork, past, left),
        ),
    )


async def resume(past: Past, left: Left, context: CommandContext) -> Outcome:
    args = context.args
    if context.front.switches and context.busy:
        return Problem.of(BUSY)
    sessions = await past.sessions()
    found = matching(sessions, args) if args else sessions
    if len(found) == 1 and args:
        return await _goto(found[0], left, context)
    if found:
        open_ = await asyncio.to_thread(_held, found)
        return _list(found, sessions, open_, Leaving(left, context))
    if not args:
        return Page.text("Sessions", "There is no other session in this directory.")
    try:
        return Problem.of(_place(await past.elsewhere(args), past))
    except SessionError:
        return Problem.of(f"No session here matches {args!r}. /resume lists them.")


class Leaving(NamedTuple):
    """What goes along, and what the front end can do."""

    left: Left
    context: CommandContext


def _held(sessions: Sequence[Listed]) -> frozenset[str]:
    """The ids of those that another process works on now."""
    return frozenset(listed.id for listed in sessions if busy(listed.path))


async def _goto(found: Listed, left: Left, context: CommandContext) -> Outcome:
    if not context.front.switches:
        return Say.text(f"agent --resume {found.id} goes on with: {found.title}")
    mode = left.modes.current()
    if not await asyncio.to_thread(busy, found.path):
        return Switch(path=str(found.path), mode=mode)
    title = found.title[:WIDTH]
    copy = Switch(
        path=str(found.path),
        copy=True,
        other=True,
        title=f"{title} (copy)",
        said=f"This is a copy of: {title}, which is open elsewhere.",
        mode=mode,
    )

    async def choose(id: str) -> Outcome:
        return copy if id else Say(())

    return Pick(
        fallback=Problem.of(f"{title}: it is open elsewhere. Close it there to go on with it."),
        title="That session is open elsewhere",
        about=("Close it there to go on with it, or go on in a copy, which leaves it as it is.",),
        choices=(Choice(COPY, "Go on in a copy"), Choice("", "Stay here")),
        choose=choose,
    )


def _list(
    found: list[Listed], every: list[Listed], open_: frozenset[str], leaving: Leaving
) -> Outcome:
    left, context = leaving
    table = choice_of(found, time.time(), open_)
    numbers = {listed.id: number for number, listed in enumerate(every, 1)}
    rows = tuple(
        (str(numbers[id]), id, age, size, branch, title[:WIDTH])
        for id, title, age, size, branch in table.rows[:SHOWN]
    )
    how = "/resume with a number" if context.front.switches else "agent --resume SESSION"
    shown = Table(("", "Session", "Age", "Size", "Branch", "Title"), rows)
    fallback = Say((shown, Text(f"{how} goes on with one.", "dim")))

    async def choose(id: str) -> Outcome:
        return await _goto(next(one for one in found if one.id == id), left, context)

    return Pick(
        fallback=fallback,
        title="Go on with which session? Esc stays here",
        choices=choices_of(table),
        choose=choose,
    )


def _place(found: Listed | None, past: Past) -> str:
    """Where a session is that is not to be reached from here."""
    if found is None:
        return "This session is not kept with others."
    if found.id == past.id:
        return "You are in this session already."
    way = f"cd {shlex.quote(found.cwd)} && agent --resume {found.id}"
    return f"That session worked in {found.cwd}: `{way}` goes on with it."


async def fork(past: Past, left: Left, context: CommandContext) -> Outcome:
    if context.busy:
        return Problem.of(BUSY)
    stored = await past.stored()
    if stored is None:
        return Problem.of("There is nothing to copy yet: this session is not stored.")
    if not context.front.switches:
        return Say.text(f"agent --resume {stored.id} --fork-session goes on in a copy.")
    return Switch(
        path=str(stored.path),
        copy=True,
        title=" ".join(context.args.split()) or f"{stored.title[:WIDTH]} (copy)",
        said=f"This is a copy of: {stored.title[:WIDTH]}. {_way_back(stored)}",
        mode=left.modes.current(),
        model=left.in_use.name,
        effort=left.in_use.effort,
        rules=tuple(left.restrictions()),
    )


async def anew(context: CommandContext, past: Past, left: Left) -> Outcome:
    """A new conversation is a new session, so that the old one stays to be resumed."""
    if context.busy:
        return Problem.of(BUSY)
    stored = await past.stored()
    return Switch(
        said=f"A new conversation. {_way_back(stored)}" if stored is not None else "",
        mode=left.modes.current(),
        model=left.in_use.name,
        effort=left.in_use.effort,
        rules=tuple(left.restrictions()),
    )


def _way_back(stored: Listed) -> str:
    return f"/resume {stored.id[:13]} goes back."
