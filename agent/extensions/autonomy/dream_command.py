"""/dream: what sessions learnt here is tidied, after the person saw the change and said yes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from gatewright.agent.autonomy.memory.dream_run import changes, dream_plan
from gatewright.agent.autonomy.memory.dreaming import OUTPUT, SECONDS, Plan
from gatewright.agent.autonomy.memory.learnt_book import LearntBook
from gatewright.agent.autonomy.memory.memory_place import main_tree
from gatewright.agent.commands.outcome import Outcome, Problem, Say
from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.host import Host
from gatewright.agent.models.short_answer import booked, short_answer
from gatewright.agent.settings.workspace import Surroundings
from gatewright.agent.text.printable import escaped
from gatewright.tools.blocks import Block, Text
from gatewright.tools.interact import Ask, Option

YES = "yes"
USAGE = "Usage: /dream [undo]"
TIDY = "Nothing is to be tidied in what sessions learnt here."
DONE = "Done: {} files changed. /dream undo puts them back, until the next dream."
LEFT = "Nothing was changed."
STORED = "agent dream proposed this, and nothing was changed since."


async def dream(host: Host, book: LearntBook, args: str) -> Outcome:
    if not book.on:
        return Problem.of(book.about()[0])
    try:
        match args:
            case "":
                return await _dream(host, book)
            case "undo":
                back = await asyncio.to_thread(book.store.undo)
                return Say.text(f"As before the dream: {', '.join(sorted(back))}.")
            case _:
                return Problem.of(USAGE)
    except GatewrightError as error:
        return Problem.of(str(error))


async def _dream(host: Host, book: LearntBook) -> Outcome:
    """Raises GatewrightError."""
    store, note = book.store, STORED
    stored = await asyncio.to_thread(store.proposal)
    if stored is not None:
        plan = Plan(stored.before, stored.after, ())
    else:
        ask = _Asking(host)
        roots = roots_of(host.around)
        plan, note = await dream_plan(store, roots, ask, host.base.redactor)
    if plan.empty:
        return Say.text(" ".join(filter(None, (note, TIDY))))
    answer = await host.session.ask(_question(plan, note))
    if answer.choice != YES:
        return Say.text(LEFT)
    await asyncio.to_thread(store.dreamt, plan.before, plan.after)
    return Say.text(DONE.format(len(plan.after)))


def roots_of(around: Surroundings) -> Sequence[Path]:
    """Where facts may be about: the work tree here, and the one it belongs to."""
    root = around.where.root
    return tuple(dict.fromkeys((root, main_tree(root))))


def _question(plan: Plan, note: str) -> Ask:
    why: list[Block] = [Text(escaped("\n".join(filter(None, (note, *plan.why)))))]
    return Ask(
        kind="question",
        title="Tidy what sessions learnt here like this?",
        body=(*why, *changes(plan.before, plan.after)),
        options=(Option(YES, "Change it", "y"), Option("no", "Leave it as it is", "n")),
        reason="/dream undo puts it back.",
    )


class _Asking:
    """Whoever titles sessions. What it costs counts for this one."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def __call__(self, system: str, text: str) -> str:
        model = await asyncio.to_thread(self._host.small_model)
        try:
            return await short_answer(
                model,
                system,
                text,
                max_output=OUTPUT,
                seconds=SECONDS,
                paid=booked(self._host.publish, model, "memory"),
            )
        finally:
            await model.provider.close()
