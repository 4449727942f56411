"""Questions of the session put to the person at a client, whole or not at all.

A client never keeps a rule: what it may answer is about this one call.
"""

from __future__ import annotations

from gatewright.agent.text.printable import visible
from gatewright.mcp.served import Put, Question
from gatewright.tools.blocks import plain
from gatewright.tools.interact import Answer, Ask

MOST_WORDS = 50_000  # a yes is to what was seen
TOO_LONG = "Not run: what would have to be shown for a yes is too long."
NOBODY = Answer(cancelled=True)
KEEPS = frozenset({"always"})


async def answered(ask: Ask, put: Put | None) -> Answer:
    """What the person at the client says; nobody, where there is none to ask."""
    labels = {
        option.label: option.id
        for option in ask.options
        if option.id not in KEEPS and not option.leaves
    }
    if put is None or ask.fields or ask.multiple or not labels:
        return NOBODY
    message = _message(ask)
    if len(message) > MOST_WORDS:
        return Answer(text=TOO_LONG) if ask.free_text else NOBODY
    said = await put(Question(message, tuple(labels)))
    if said is None:
        return NOBODY
    return Answer.of(labels[said]) if said in labels else _declined(ask)


def _message(ask: Ask) -> str:
    told = (ask.reason, ask.title) if ask.danger else (ask.title, ask.reason)
    lacking = " · ".join(ask.lacking)
    words = (told[0], *map(plain, ask.body), lacking and f"Not covered: {lacking}", told[1])
    return visible("\n".join(filter(None, words)), strict=True)


def _declined(ask: Ask) -> Answer:
    """The option that says no, where there is one."""
    return next((Answer.of(each.id) for each in ask.options if each.id == "no"), NOBODY)
