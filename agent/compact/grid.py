"""Where the tokens of the window are: the data of /context."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from gatewright.agent.compact.budget import Budget
from gatewright.agent.compact.estimate import text_tokens, tool_tokens, turns_tokens
from gatewright.agent.context.prompt.memory import INSTRUCTIONS
from gatewright.agent.models.model import OpenModel
from gatewright.agent.record.messages import AssistantTurn, ResultTurn, Turn, UserTurn
from gatewright.tools.blocks import Block, Shares, Table, Text, percent
from gatewright.tools.blocks import Share as Part

SPARE = ("Free", "Kept for the answer")


class Share(msgspec.Struct, frozen=True):
    name: str
    tokens: int


class Usage(msgspec.Struct, frozen=True):
    """`total` is what the model counted, the shares are guesses that add up to it.

    `sections` are the parts of the system prompt.
    """

    window: int
    total: int
    budget: Budget
    shares: tuple[Share, ...]
    sections: tuple[Share, ...] = ()


def window_use(model: OpenModel, turns: Sequence[Turn], total: int, budget: Budget) -> Usage:
    system = model.frame.system
    guesses = {
        "System prompt": sum(map(text_tokens, system[:1])),
        "Instructions": sum(map(text_tokens, system[1:])),
        "Tools": tool_tokens(model.frame.tools),
        "Your messages": _of(turns, UserTurn),
        "Answers": _of(turns, AssistantTurn),
        "Tool results": _of(turns, ResultTurn),
    }
    guessed = max(1, sum(guesses.values()))
    if total < guessed // 2:  # a model that does not count, or nothing was asked yet
        total = guessed
    shares = [Share(name, round(tokens * total / guessed)) for name, tokens in guesses.items()]
    shares.append(Share("Free", max(0, budget.effective - total)))
    shares.append(Share("Kept for the answer", budget.window - budget.effective))
    return Usage(model.window, total, budget, tuple(shares), prompt_sections(system))


def blocks(usage: Usage, model: str) -> tuple[Block, ...]:
    used = percent(usage.total, usage.window)
    head = f"{model}: {usage.total:,} of {usage.window:,} tokens ({used})"
    shares = tuple(Part(share.name, share.tokens, share.name in SPARE) for share in usage.shares)
    foot = f"A summary is made at {usage.budget.auto:,} tokens."
    parts = tuple((share.name, f"{share.tokens:,}") for share in usage.sections)
    return (
        Text(head),
        Shares(shares, usage.window),
        Table(("System prompt", "Tokens"), parts),
        Text(foot, "dim"),
    )


def prompt_sections(system: Sequence[str]) -> tuple[Share, ...]:
    """The prompt by its headings; what instruction files say counts as one part."""
    found: list[Share] = []
    for block in system:
        head, files, rest = block.partition(f"\n{INSTRUCTIONS}\n")
        for part in re.split(r"^(?=# )", head, flags=re.MULTILINE):
            if part.strip():
                name = part.partition("\n")[0].removeprefix("# ") if part[0] == "#" else "Beginning"
                found.append(Share(name, text_tokens(part)))
        if files:
            found.append(Share(INSTRUCTIONS.removeprefix("# "), text_tokens(files + rest)))
    return tuple(found)


def _of(turns: Sequence[Turn], kind: type[Turn]) -> int:
    return turns_tokens(turn for turn in turns if isinstance(turn, kind))
