"""Slash commands where there is no screen: what they say is the answer."""

from __future__ import annotations

import os
from collections.abc import Callable

from gatewright.agent.commands.outcome import Outcome, Submit, said
from gatewright.agent.commands.registry import Front
from gatewright.agent.session.session import Session
from gatewright.tools.blocks import Block, plain
from gatewright.tools.system.patterns import later

ASKS = Front(asks=True)
NAME = later(r"/[A-Za-z][\w:-]*")


def no_command(session: Session, prompt: str) -> str:
    """What to say of a prompt that begins with the name of no command; empty for every other."""
    word = prompt.strip().partition(" ")[0]
    if not NAME.fullmatch(word) or session.commands.find(word[1:]) or os.path.lexists(word):
        return ""
    near = session.commands.nearest(word[1:])
    hint = f"Did you mean /{near}?" if near else "/help lists them."
    return f"There is no command {word}. {hint} To the model it goes with other words before it."


async def command(
    session: Session,
    prompt: str,
    front: Front = ASKS,
    shown: Callable[[Block], str] = plain,
) -> str | Submit:
    """Run a slash command: what it says, or what to ask the model, most often the prompt itself.

    A path such as /usr/bin is no command, and left to the model.
    """
    word = prompt.strip().partition(" ")[0]
    if not word.startswith("/") or session.commands.find(word[1:]) is None:
        return Submit(prompt)
    outcome: Outcome = await session.run_command(prompt.strip(), front)
    if isinstance(outcome, Submit):
        return outcome
    return "".join(f"{shown(block)}\n" for block in said(outcome))
