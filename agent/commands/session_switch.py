"""Commands that lead to another session: a stored one, a copy of this one, a new one.

Where the front end cannot go over, they say the command line that does it.
"""

from __future__ import annotations

import shlex
import time

from gatewright.agent.commands.keeping_places import SESSION
from gatewright.agent.commands.outcome import Outcome, Say, Sessions, Switch
from gatewright.agent.commands.registry import Command, CommandContext
from gatewright.agent.errors import SessionError
from gatewright.agent.session.history_actions import Past
from gatewright.agent.session.resume import choice_of, matching
from gatewright.agent.transcript.index import Listed
from gatewright.tools.blocks import Table, Text

SHOWN = 20  # rows of a list that is only printed
WIDTH = 60
NO_PAST = "This session has no past to work with."
BUSY = "Interrupt the running turn first (Esc)."


def commands() -> tuple[Command, ...]:
    return (
        Command(
            name="resume",
            summary="Go on with another session of this directory",
            args="[ID or words of its title]",
            aliases=("continue",),
            run=resume,
        ),
        Command(
            name="fork",
            summary="Go on in a copy of this session; this one stays as it is",
            args="[title]",
            aliases=("branch",),
            run=fork,
        ),
    )


async def resume(args: str, context: CommandContext) -> Outcome:
    past = context.past
    if past is None:
        return Say.text(NO_PAST, "warning")
    if context.switches and context.busy:
        return Say.text(BUSY, "warning")
    sessions = await past.sessions()
    found = matching(sessions, args) if args else sessions
    if len(found) == 1 and args:
        return _goto(found[0], context)
    if found:
        return _list(found, sessions, context)
    if not args:
        return Say.text("There is no other session in this directory.")
    try:
        return Say.text(_place(await past.elsewhere(args), past), "warning")
    except SessionError:
        return Say.text(f"No session here matches {args!r}. /resume lists them.", "warning")


def _goto(found: Listed, context: CommandContext) -> Outcome:
    if not context.switches:
        return Say.text(f"agent --resume {found.id} goes on with: {found.title}")
    return Switch(path=str(found.path), mode=context.modes.current())


def _list(found: list[Listed], every: list[Listed], context: CommandContext) -> Outcome:
    table = choice_of(found, time.time())
    rows = tuple(
        (str(every.index(listed) + 1), id, age, size, branch, title[:WIDTH])
        for listed, (id, title, age, size, branch) in zip(found, table.rows, strict=True)
    )[:SHOWN]
    how = "/resume with a number" if context.switches else "agent --resume SESSION"
    shown = Table(("", "Session", "Age", "Size", "Branch", "Title"), rows)
    fallback = Say((shown, Text(f"{how} goes on with one.", "dim")))
    return Sessions("resume", fallback=fallback, table=table)


def _place(found: Listed | None, past: Past) -> str:
    """Where a session is that is not to be reached from here."""
    if found is None:
        return NO_PAST
    if found.id == past.id:
        return "You are in this session already."
    way = f"cd {shlex.quote(found.cwd)} && agent --resume {found.id}"
    return f"That session worked in {found.cwd}: `{way}` goes on with it."


async def fork(args: str, context: CommandContext) -> Outcome:
    past = context.past
    if past is None:
        return Say.text(NO_PAST, "warning")
    if context.busy:
        return Say.text(BUSY, "warning")
    stored = await past.stored()
    if stored is None:
        return Say.text("There is nothing to copy yet: this session is not stored.", "warning")
    if not context.switches:
        return Say.text(f"agent --resume {stored.id} --fork-session goes on in a copy.")
    return Switch(
        path=str(stored.path),
        copy=True,
        title=" ".join(args.split()) or f"{stored.title[:WIDTH]} (copy)",
        said=f"This is a copy of: {stored.title[:WIDTH]}. {_way_back(stored)}",
        mode=context.modes.current(),
        model=context.model,
        effort=context.effort,
        rules=_restrictions(context),
    )


async def anew(context: CommandContext, past: Past) -> Outcome:
    """A new conversation is a new session, so that the old one stays to be resumed."""
    if context.busy:
        return Say.text(BUSY, "warning")
    stored = await past.stored()
    return Switch(
        said=f"A new conversation. {_way_back(stored)}" if stored is not None else "",
        mode=context.modes.current(),
        model=context.model,
        effort=context.effort,
        rules=_restrictions(context),
    )


def _way_back(stored: Listed) -> str:
    return f"/resume {stored.id[:13]} goes back."


def _restrictions(context: CommandContext) -> tuple[tuple[str, str], ...]:
    """The rules of this session alone that permit less: who goes on elsewhere relies on them."""
    if context.permissions is None:
        return ()
    rows = [row for row in context.permissions.rows() if row.source == SESSION]
    return tuple((row.behavior, row.text) for row in rows if row.behavior != "allow")
