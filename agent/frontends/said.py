"""Slash commands where there is no screen: what they say is the answer."""

from __future__ import annotations

from gatewright.agent.commands.outcome import Outcome, Panel, Say, Submit
from gatewright.agent.session import Session
from gatewright.tools.blocks import plain


async def command(session: Session, prompt: str) -> str | Submit:
    """Run a slash command: what it says, or what to ask the model, most often the prompt itself.

    A path such as /usr/bin is no command, so an unknown name is left to the model.
    """
    word = prompt.strip().partition(" ")[0]
    if not word.startswith("/") or session.commands.find(word[1:]) is None:
        return Submit(prompt)
    outcome: Outcome = await session.run_command(prompt.strip())
    match outcome:
        case Say(blocks=blocks) | Panel(fallback=Say(blocks=blocks)):
            return "".join(f"{plain(block)}\n" for block in blocks)
        case Submit():
            session.recall()  # whoever waits for the answer asks
            return outcome
        case _:
            return ""
