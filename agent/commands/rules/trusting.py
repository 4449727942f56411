"""/trust: let the project's own configuration act, with the question that a start asks."""

from __future__ import annotations

from functools import partial

from gatewright.agent.commands.outcome import Outcome, Problem, Say
from gatewright.agent.commands.registry import Command, CommandContext
from gatewright.agent.settings.live_settings import LiveSettings
from gatewright.agent.settings.trust_question import (
    TRUSTED,
    can_ask,
    later_question,
    says_yes,
    trusted,
)
from gatewright.tools.protocol import Asker

ALREADY = "This project is trusted. agent trust remove takes it back."
ELSEWHERE = "Nobody can be asked here: agent trust add, in a shell of yours, trusts this project."


def trust_commands(live: LiveSettings, ask: Asker) -> tuple[Command, ...]:
    return (
        Command(
            name="trust",
            summary="Let this project's own settings, hooks and servers act",
            run=partial(trust, live, ask),
        ),
    )


async def trust(live: LiveSettings, ask: Asker, context: CommandContext) -> Outcome:
    around = live.around
    if around.trusted:
        return Say.text(ALREADY)
    if not (can_ask(around) and context.front.typed):
        return Problem.of(ELSEWHERE)
    if not await says_yes(live, ask, later_question):
        return Say.text("Nothing has changed.")
    problem = await trusted(live, around.env)
    return Problem.of(problem) if problem else Say.text(TRUSTED)
