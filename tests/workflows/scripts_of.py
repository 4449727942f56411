"""Scripts of the folder `scripts`: each begins with `//// name` and says what is expected of it.

    //// = JSON             the value it returns
    //// ! kind words       how it fails; `@12` before the words is the line
    //// ? words            why it is not run at all; `@12:3` before the words is the place
    //// prompts JSON       what its agents are asked, in order
    //// call JSON          what is in the options of its last call, or of the call itself
    //// logs JSON · //// phases JSON · //// args JSON · //// budget JSON · //// warns words

A prompt `fail KIND` fails, `throw KIND` cannot be made, `give JSON` gives that; others are echoed.
The line numbers are those of the whole script, whose first line is a meta unless it has its own.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gatewright.agent.workflows.engine.wire import BudgetNow, Called, Failure, Settled, Usage

FOLDER = Path(__file__).with_name("scripts")
SPENT = BudgetNow(5.0, 1000, spent_usd=0.5, spent_tokens=700, agents_used=1, agents_left=9)


@dataclass
class Case:
    """One script; `wanted` are its directives."""

    name: str
    source: str
    wanted: dict[str, str] = field(default_factory=dict[str, str])

    def data(self, what: str) -> Any:
        return json.loads(self.wanted[what])

    def place(self) -> tuple[str, list[int]]:
        """The words of the problem, and the numbers before them."""
        return _placed(self.wanted["?"])

    def failure(self) -> tuple[str, str, list[int]]:
        kind, _, rest = self.wanted["!"].partition(" ")
        return (kind, *_placed(rest))


def _placed(text: str) -> tuple[str, list[int]]:
    found = re.match(r"(?:@([\d:]+)\s*)?(.*)", text)
    assert found is not None
    return found[2], [int(number) for number in (found[1] or "").split(":") if number]


def cases(file: str) -> list[Case]:
    found: list[Case] = []
    for block in re.split(r"^//// (?=\w+[:,])", _read(file), flags=re.MULTILINE)[1:]:
        head, _, rest = block.partition("\n")
        lines = rest.split("\n")
        said = [line for line in lines if line.startswith("//// ")]
        body = "\n".join(line for line in lines if not line.startswith("//// ")).rstrip("\n")
        wanted = {word: rest for word, _, rest in (line[5:].partition(" ") for line in said)}
        found.append(Case(f"{Path(file).stem}: {head}", body, wanted))
    return found


def _read(file: str) -> str:
    return (FOLDER / file).read_text(encoding="utf-8")


def answered(call: Called) -> Settled:
    what, _, rest = call.prompt.partition(" ")
    match what:
        case "fail" | "throw":
            failure = Failure(rest, f"the agent ended with {rest}")
            throws = what == "throw"
            return Settled(call.id, ok=False, error=failure, throws=throws, agent_id=f"a{call.id}")
        case "give":
            value = json.loads(rest)
        case _:
            value = f"<{call.prompt}>"
    usage = Usage(input_tokens=10, output_tokens=2)
    return Settled(
        call.id, ok=True, value=value, agent_id=f"a{call.id}", usage=usage, cost_usd=0.25,
        worktree="/w" if call.options.isolation else "", budget=SPENT,
    )  # fmt: skip
