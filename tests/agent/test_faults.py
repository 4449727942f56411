"""Servers that misbehave in every way we know, through the real loop, adapters and transport.

Each case ends in bounded time with the right reason, no text twice, no call twice, a valid next
request and a message a person understands.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from gatewright.agent.models.model import OpenModel
from gatewright.agent.providers.registry import open_provider
from gatewright.agent.record.events import (
    AssistantMessage,
    MessageDropped,
    TextDelta,
    ToolFinished,
    TurnEnded,
)
from gatewright.agent.record.messages import TextPart
from gatewright.agent.turn.limits import Limits
from gatewright.agent.turn.request import RequestFrame
from gatewright.agent.turn.stop import Stop
from gatewright.tools.protocol import ToolSpec
from tests.fakes.house import House, house
from tests.fakes.model_server import ModelServer
from tests.fakes.recorder import Recorder
from tests.fakes.rules import anthropic, chat, responses

OK = "say: All is well."
FINE = "All is well."
CHANGE = ToolSpec("Change", "Change something.", {"type": "object", "properties": {}})
APIS = {
    "anthropic": "anthropic/fake",
    "chat": "openai-chat/fake",
    "responses": "openai-responses/fake",
}


CHECKERS: dict[str, Callable[[dict[str, Any]], list[str]]] = {
    "anthropic": anthropic.check,
    "chat": chat.check,
    "responses": responses.check,
}


@dataclass(frozen=True)
class Case:
    """`answers` are played in order; `text` is all the person ends up with."""

    name: str
    answers: tuple[str, ...]
    stop: Stop = Stop.COMPLETED
    says: str = ""  # part of the message of a turn that failed
    text: str = FINE
    calls: int = 0
    requests: int = 0  # 0: one for each answer
    silence: float = 5.0


def recovers(name: str, *first: str, text: str = FINE, calls: int = 0) -> Case:
    return Case(name, (*first, OK), text=text, calls=calls)


def fails(name: str, answer: str, stop: Stop, says: str, *, times: int = 1) -> Case:
    return Case(name, (answer,) * times + (OK,), stop, says, text="", requests=times)


def whole(name: str, answer: str, text: str = FINE) -> Case:
    return Case(name, (answer,), text=text)


CALL = 'call: Change {"n": 1}'
CASES = (
    # what a healthy server may do
    whole("one byte at a time", f"chunks: 1\n{OK}"),
    whole("seven bytes at a time", "chunks: 7\nsay: Größe ≤ 3 🎉", "Größe ≤ 3 🎉"),
    whole("characters cut in the middle", "chunks: 1\nsay: 日本語 ok", "日本語 ok"),
    whole("the connection's end is the body's", f"framing: close\n{OK}"),
    whole("pings in between", f"ping:\n{OK}\nping:"),
    whole("slow but alive", f"delay: 0.05\n{OK}\ndelay: 0.05"),
    whole("very long text", "words: 500\nsay: " + "x" * 20000, "x" * 20000),
    whole("a comment line", f"raw: : nothing\\n\\n\n{OK}"),
    whole("an unknown event", 'raw: event: news\\ndata: {"type":"news"}\\n\\n\n' + OK),
    whole("text also in the block's start", f"double:\n{OK}"),
    whole("without the last event", f"{OK}\nnostop:"),
    whole("thinking before text", f"think: Hm.\n{OK}"),
    whole("one document instead of a stream", f"json:\n{OK}"),
    # calls
    recovers("a call in one piece", f"atonce:\n{CALL}", calls=1),
    recovers("a call without its index", f"noindex:\n{CALL}", calls=1),
    recovers("a call without an id", 'call[]: Change {"n": 1}', calls=1),
    recovers(
        "two calls with one id", 'call[x]: Change {"n": 1}\ncall[x]: Change {"n": 2}', calls=2
    ),
    recovers("an id again", "call[x]: Change", 'call[x]: Change {"n": 2}', calls=2),
    recovers("a call without arguments", "call: Change", calls=1),
    recovers("a call to a tool nobody has", "call: Nothing {}", calls=1),
    recovers("arguments that are no JSON", 'badcall: Change {"n": ', calls=0),
    recovers("arguments that are a list", "badcall: Change [1]", calls=0),
    recovers("a call but a stop reason of `end`", f"{CALL}\nstop: end", calls=1),
    recovers("text and a call", f"say: First.\n{CALL}", text=f"First.{FINE}", calls=1),
    # streams that break
    recovers("cut before anything", "cut:"),
    recovers("cut in the text", "say: Hal\ncut:"),
    recovers("cut in a call", 'badcall: Change {"n"\ncut:'),
    recovers("cut behind a call", f"{CALL}\ncut:"),
    recovers("reset before anything", "drop:"),
    recovers("reset in the text", "say: Hal\ndrop:"),
    recovers("half-closed in the text", "say: Hal\nhalf:"),
    recovers("data that is no JSON", "say: Hal\nraw: data: {oops\\n\\n\ncut:"),
    recovers("an overload in the stream", "say: Hal\nerror: overloaded message=Overloaded."),
    Case("silent before anything", ("hang:", OK), silence=0.2),
    Case("silent in the text", ("say: Hal\nhang:", OK), silence=0.2),
    Case(
        "signs of life are enough",
        ("\n".join(["raw: : alive\\n\\n", "delay: 0.2"] * 4) + f"\n{OK}",),
        silence=0.5,
    ),
    Case("silent for good", ("hang:",) * 3, Stop.MODEL_ERROR, "sent nothing", "", silence=0.1),
    recovers("an empty answer", "usage: in=1"),
    fails("nothing but empty answers", "usage: in=1", Stop.MODEL_ERROR, "empty answer", times=3),
    # refusals of the server
    recovers("429, then fine", "status: 429 retry_after=0"),
    recovers("429 with a date", "status: 429 retry_after=Wed, 21 Oct 2015 07:28:00 GMT"),
    recovers("408, then fine", "status: 408"),
    recovers("409, then fine", "status: 409"),
    recovers("500, then fine", "status: 500 body=oops"),
    recovers("502 with a page", "status: 502 body=<html>Bad gateway</html>"),
    recovers("503, then fine", "status: 503"),
    recovers("529 twice, then fine", "status: 529", "status: 529"),
    fails("429 for good", "status: 429", Stop.MODEL_ERROR, "", times=3),
    fails("529 for good", "status: 529", Stop.MODEL_ERROR, "", times=3),
    fails("400", "status: 400 body={}", Stop.MODEL_ERROR, "400"),
    fails("401", "status: 401 body={}", Stop.PROVIDER_AUTH, "key"),
    fails("403", "status: 403 body={}", Stop.PROVIDER_AUTH, ""),
    fails("404", "status: 404 body={}", Stop.MODEL_ERROR, ""),
    fails("413", "status: 413 body={}", Stop.PROMPT_TOO_LONG, ""),
    fails("a redirect", "status: 302", Stop.MODEL_ERROR, ""),
    fails("too long", "error: too_long message=prompt is too long", Stop.PROMPT_TOO_LONG, "long"),
    fails("no credit", "error: quota message=No credit left.", Stop.PROVIDER_AUTH, "credit"),
    # endings
    Case("a refusal", ("say: No.\nstop: refusal",), Stop.MODEL_ERROR, "", "No."),
    recovers("the output limit, then whole", "say: Hal\nstop: length"),
)


@asynccontextmanager
async def talking(case: Case, api: str) -> AsyncGenerator[tuple[House, ModelServer]]:
    async with ModelServer("\n---\n".join((*case.answers, OK))) as server:
        env = {
            "ANTHROPIC_API_KEY": "k",
            "ANTHROPIC_BASE_URL": server.url,
            "OPENAI_API_KEY": "k",
            "OPENAI_BASE_URL": server.openai_url,
        }

        def open_model(name: str, effort: str) -> OpenModel:
            opened = open_provider(APIS[api], settings={}, env=env)
            frame = RequestFrame(
                model=opened.model,
                system=("system",),
                tools=(CHANGE,),
                max_output=1000,
                raised_output=2000,
            )
            return OpenModel(
                name=name, provider=opened.provider, frame=frame, window=1000, price=lambda _: 0.0
            )

        limits = Limits(silence=case.silence)
        async with house("", limits=limits, open_model=open_model) as built:
            yield built, server


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_fault(case: Case, api: str) -> None:
    async with talking(case, api) as (built, server), Recorder(built.session) as seen:
        built.session.submit("go")
        ended = await seen.until(TurnEnded)
        assert (ended.stop, ended.message) == (case.stop, ended.message)
        assert case.says in ended.message
        assert "Traceback" not in ended.message
        if case.stop not in (Stop.COMPLETED,):
            assert ended.message.endswith((".", ")"))
        parts = [part for message in seen.of(AssistantMessage) for part in message.parts]
        assert "".join(part.text for part in parts if isinstance(part, TextPart)) == case.text
        assert shown(seen) == case.text
        assert len(built.executor.started) == len(set(built.executor.started)) == case.calls
        assert len(server.bodies) == (case.requests or len(case.answers))
        assert len(seen.of(ToolFinished)) >= case.calls
        built.session.submit("again")
        await seen.until(TurnEnded, count=2)
        assert [defect for body in server.bodies for defect in CHECKERS[api](body)] == []


def shown(seen: Recorder) -> str:
    """What is on the screen: deltas of a dropped message are taken back."""
    kept, current = "", ""
    for event in seen.events:
        match event:
            case TextDelta(text=text):
                current += text
            case MessageDropped():
                current = ""
            case AssistantMessage():
                kept, current = kept + current, ""
            case _:
                pass
    return kept + current
