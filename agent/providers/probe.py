"""What a configured model really can do: small requests, one thing each, told one by one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing

import msgspec

from gatewright.agent.errors import GatewrightError
from gatewright.agent.providers.listing import list_models
from gatewright.agent.providers.presets import endpoint
from gatewright.agent.providers.protocol import (
    CallStarted,
    Finished,
    InputPiece,
    Piece,
    Request,
    StopReason,
    TextPiece,
    UsageReported,
)
from gatewright.agent.providers.registry import Opened, choose, open_provider
from gatewright.agent.providers.settings import ProviderSettings
from gatewright.agent.record.messages import UserTurn
from gatewright.tools.protocol import Content, ImageContent, TextContent, ToolSpec

_LIMIT = 512
_NAMES = 5
_PIXEL = (  # a red square of eight by eight
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGP8z4AdMOEQH6QSAM1BAQ/o"
    "QeJvAAAAAElFTkSuQmCC"
)
_TOOL = ToolSpec(
    "echo",
    "Repeats a word.",
    {
        "type": "object",
        "properties": {"word": {"type": "string"}},
        "required": ["word"],
        "additionalProperties": False,
    },
)


class Finding(msgspec.Struct, frozen=True):
    """`ok` is None where the question does not arise."""

    what: str
    ok: bool | None
    detail: str
    ms: int = 0


class Heard(msgspec.Struct, frozen=True):
    pieces: tuple[Piece, ...]
    first_ms: int
    ms: int

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces if isinstance(piece, TextPiece)).strip()


async def probe(
    model: str,
    *,
    settings: Mapping[str, ProviderSettings],
    env: Mapping[str, str],
    clock: Callable[[], float],
) -> AsyncIterator[Finding]:
    """Findings in the order in which they matter. Raises GatewrightError when nothing answers."""
    opened = open_provider(model, settings=settings, env=env)
    try:
        async for finding in _models(model, settings, env, clock):
            yield finding
        async for finding in _talk(opened, clock):
            yield finding
        yield await _tool(opened, clock)
        yield await _image(opened, clock)
    finally:
        await opened.provider.close()


async def _models(
    model: str,
    settings: Mapping[str, ProviderSettings],
    env: Mapping[str, str],
    clock: Callable[[], float],
) -> AsyncIterator[Finding]:
    started = clock()
    try:
        chosen = choose(model, settings=settings, env=env)
        server = endpoint(chosen.provider, settings, env)
        if server.transport != "http":
            return
        names = await list_models(server, env)
    except GatewrightError as error:
        yield Finding("models", False, str(error), _ms(clock, started))
        return
    there = chosen.model in names
    shown = ", ".join(names[:_NAMES]) + (
        f" and {len(names) - _NAMES} more" if names[_NAMES:] else ""
    )
    detail = f"{len(names)} offered, {chosen.model} among them" if there else f"offers {shown}"
    yield Finding("models", there or None, detail, _ms(clock, started))


async def _talk(opened: Opened, clock: Callable[[], float]) -> AsyncIterator[Finding]:
    heard = await _ask(opened, clock, TextContent("Reply with the one word: ready"))
    yield Finding("text", bool(heard.text), heard.text[:80] or "an empty answer", heard.ms)
    pieces = sum(isinstance(piece, TextPiece) for piece in heard.pieces)
    detail = f"{pieces} pieces, the first after {heard.first_ms} ms"
    yield Finding("stream", True if pieces > 1 else None, detail)
    usage = [piece.usage for piece in heard.pieces if isinstance(piece, UsageReported)]
    last = usage[-1] if usage else None
    counted = last is not None and last.context > 0 and last.output > 0
    detail = f"{last.input} in, {last.output} out" if last and counted else "not reported"
    yield Finding("usage", counted, detail)


async def _tool(opened: Opened, clock: Callable[[], float]) -> Finding:
    question = TextContent('Call the tool echo with the word "ready". Do not answer in text.')
    try:
        heard = await _ask(opened, clock, question, tools=(_TOOL,))
    except GatewrightError as error:
        return Finding("tool call", False, str(error))
    calls = [piece for piece in heard.pieces if isinstance(piece, CallStarted)]
    json = "".join(piece.json for piece in heard.pieces if isinstance(piece, InputPiece))
    stops = [piece.reason for piece in heard.pieces if isinstance(piece, Finished)]
    if not calls:
        return Finding("tool call", False, f"it answered in text: {heard.text[:60]}", heard.ms)
    fine = "ready" in json and stops == [StopReason.CALLS]
    return Finding("tool call", fine, f"{calls[0].name} {json[:60]}", heard.ms)


async def _image(opened: Opened, clock: Callable[[], float]) -> Finding:
    if not opened.facts.images:
        return Finding("image", None, "this model is not known to take images")
    question = TextContent("What colour is this image? Answer with one word.")
    try:
        heard = await _ask(opened, clock, ImageContent("image/png", _PIXEL), question)
    except GatewrightError as error:
        return Finding("image", False, str(error))
    return Finding("image", "red" in heard.text.lower(), heard.text[:60], heard.ms)


async def _ask(
    opened: Opened,
    clock: Callable[[], float],
    *content: Content,
    tools: tuple[ToolSpec, ...] = (),
) -> Heard:
    request = Request(
        model=opened.model,
        system=(),
        tools=tools,
        turns=(UserTurn(content),),
        max_output=_LIMIT,
        effort="low",
    )
    started = clock()
    first = 0
    pieces: list[Piece] = []
    async with aclosing(opened.provider.stream(request)) as stream:
        async for piece in stream:
            if not first and isinstance(piece, TextPiece | CallStarted):
                first = _ms(clock, started)
            pieces.append(piece)
    return Heard(tuple(pieces), first, _ms(clock, started))


def _ms(clock: Callable[[], float], started: float) -> int:
    return round((clock() - started) * 1000)
