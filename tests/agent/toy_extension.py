"""A system of its own in one file: a tool, a command, a fold, a moment and an announcement."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import msgspec

from gatewright.agent.commands.outcome import Outcome, Say
from gatewright.agent.commands.registry import Command, CommandContext, always
from gatewright.agent.context.announcements import Announcement
from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.record.events import AnyEvent, UserMessage
from gatewright.agent.record.journal import of_main
from gatewright.tools.access import Effect
from gatewright.tools.moments import CallPrepared, InputArrives, Moment, Verdict
from gatewright.tools.plain import StructTool
from gatewright.tools.protocol import Progress, ToolContext, ToolResult, ToolSpec


class Toss(msgspec.Struct, frozen=True):
    sides: int = 2


class Coin(StructTool[Toss]):
    name, input, effects = "Coin", Toss, Effect.FREE

    async def run(self, input: Toss, ctx: ToolContext) -> AsyncIterator[Progress | ToolResult]:
        yield ToolResult.text(f"heads of {input.sides}")


class Toy:
    def __init__(self) -> None:
        self.heard = 0

    def specs(self, *, short: bool = False) -> Sequence[ToolSpec]:
        return (ToolSpec("Coin", "Toss a coin.", {"type": "object"}),)

    def find(self, name: str) -> Coin | None:
        return Coin() if name == "Coin" else None

    def saw(self, event: AnyEvent) -> None:
        self.heard += isinstance(event, UserMessage) and not event.hidden

    async def at(self, moment: Moment) -> Verdict:
        match moment:
            case InputArrives(text=text) if "weather" in text:
                return Verdict(word="deny", text="No small talk.")
            case CallPrepared():
                return Verdict(context=("A call was seen.",))
            case _:
                return Verdict()

    async def count(self, context: CommandContext) -> Outcome:
        return Say.text(f"heard {self.heard}")


async def plug(host: Host) -> Contribution:
    toy = Toy()
    return Contribution(
        sources=(toy,),
        commands=(always(Command(name="heard", summary="How much was said", run=toy.count)),),
        announcements=(lambda: Announcement("coins", "There is a coin."),),
        folds=(of_main(toy.saw),),
        moments=toy,
    )


TOY = Extension(name="toy", plug=plug)
