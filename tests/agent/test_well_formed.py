"""Text with halves of characters: no encoder fails on what a person, a tool or a model gave."""

from __future__ import annotations

import msgspec
import pytest

from gatewright.agent.providers.protocol import TextPiece
from gatewright.agent.record import codec as wire
from gatewright.agent.record.events import (
    AssistantMessage,
    Envelope,
    ToolFinished,
    TurnEnded,
    UserMessage,
)
from gatewright.agent.record.messages import CallPart, TextPart
from gatewright.agent.text.well_formed import well_formed
from gatewright.agent.turn.answer_stream import Assembly, parsed_call
from gatewright.agent.turn.stop import Stop
from gatewright.tools.protocol import TextContent, ToolCall, ToolContext, ToolResult
from tests.fakes.executor import FakeExecutor
from tests.fakes.house import house
from tests.fakes.recorder import Recorder


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ("plain", "plain"),
        ("größe 😀", "größe 😀"),
        ("\ud83d\ude00", "😀"),
        ("a\ud83db", "a\N{REPLACEMENT CHARACTER}b"),
        ("caf\udce9", "caf\\xe9"),
        ("\ude00\ud83d\udcff😀", "\N{REPLACEMENT CHARACTER}\U0001f4ff😀"),
    ],
)
def test_halves_are_joined_or_written_out(given: str, made: str) -> None:
    assert well_formed(given) == made


@pytest.mark.parametrize("text", ["\ud83d", "\udcff", "\ude00x"])
def test_every_event_becomes_a_line_that_reads_back(text: str) -> None:
    event = UserMessage(content=(TextContent(text),))
    line = wire.encode(
        Envelope(seq=1, uuid="u", parent="", timestamp=1.0, agent="main", event=event), "s"
    )
    assert wire.decode(line).event == UserMessage(content=(TextContent(well_formed(text)),))


def test_a_character_cut_between_two_pieces_is_whole_again() -> None:
    assembly = Assembly(frozenset())
    assembly.add(TextPiece("so \ud83d"))
    assembly.add(TextPiece("\ude00"))
    assert assembly.partial() == (TextPart("so 😀"),)


def test_arguments_nested_too_deeply_are_malformed() -> None:
    json = '{"a":' + "[" * 100_000 + "]" * 100_000 + "}"
    assert parsed_call("c", "Read", json) == CallPart("c", "Read", {}, malformed=json)


class Broken(FakeExecutor):
    """Every result holds half a character."""

    async def act(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        return ToolResult.text("file \udcff \ud83d")


async def test_a_result_with_half_a_character_is_sent_and_the_turn_completes() -> None:
    script = "call: Change\n---\nsay: Done."
    async with house(script, executor=Broken()) as built, Recorder(built.session) as seen:
        built.session.submit("go")
        assert (await seen.until(TurnEnded)).stop is Stop.COMPLETED
        assert len(seen.of(AssistantMessage)) == 2
        said = (TextContent("file \\xff \N{REPLACEMENT CHARACTER}"),)
        assert seen.of(ToolFinished)[0].content == said
        msgspec.json.encode(built.talk.view())


async def test_an_argument_that_is_no_text_is_asked_like_any_other() -> None:
    async with house("say: Hi.") as built, Recorder(built.session) as seen:
        built.session.submit("caf\udce9")
        assert (await seen.until(TurnEnded)).stop is Stop.COMPLETED
        assert seen.of(UserMessage)[0].content == (TextContent("caf\\xe9"),)
