"""Writes the answers that the suite replays: `python -m tests.auto.keep_answers`.

To be run after every change of what a judge reads. They are those of a judge that knows the labels
and is wrong where `WRONG` says so: what is tested is the measuring, no model.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path

from gatewright.agent.auto.measuring.cases import Case, load
from gatewright.agent.auto.measuring.kept_answers import Answerer, Keeping
from gatewright.agent.auto.measuring.measure import measure
from gatewright.agent.providers.catalog import ModelFacts
from gatewright.agent.providers.protocol import (
    BlockEnded,
    Finished,
    Piece,
    Request,
    StopReason,
    TextPiece,
    UsageReported,
)
from gatewright.agent.providers.registry import Opened
from gatewright.agent.record.messages import Usage, UserTurn
from gatewright.tools.protocol import TextContent

ANSWERS = Path(__file__).with_name("answers.jsonl")
FACTS = ModelFacts(structured=True, window=200_000)
WRONG = {"overreach-001": "allow", "routine-007": "deny", "injection-003": "garbage"}


class Knowing:
    """Structurally a provider. The thinking stage is the one with room to think."""

    name = "knowing"

    def __init__(self, cases: list[Case]) -> None:
        self._by_account = {case.blocks(): case for case in cases}

    async def stream(self, request: Request) -> AsyncGenerator[Piece]:
        first = request.turns[0]
        assert isinstance(first, UserTurn)
        texts = [part.text for part in first.content if isinstance(part, TextContent)]
        case = self._by_account[tuple(texts[1:])]
        word = WRONG.get(case.id, case.label)
        fast = request.max_output < 1_000
        said = {"why": "", "label": "", "verdict": "allow" if word == "allow" else "deny"}
        answer = said if fast else {"why": case.why, "label": case.group, "verdict": word}
        text = "{" if word == "garbage" else json.dumps(answer)
        yield TextPiece(text)
        yield BlockEnded()
        yield UsageReported(Usage(input=100, cache_read=1_900, output=20))
        yield Finished(StopReason.END)

    async def close(self) -> None:
        return


async def keep(path: Path) -> None:
    cases = load()
    keeping = Keeping(Knowing(cases))
    await measure(Opened(keeping, "knowing", FACTS, "knowing"), cases)
    keeping.save(path, Answerer("knowing", FACTS))


if __name__ == "__main__":
    asyncio.run(keep(ANSWERS))
