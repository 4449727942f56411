"""A provider that answers from a few lines of text.

    say: I will look first.          a text block; lines indented by two spaces continue it
    think: Hmm.                      a thinking block, signed; `think[redacted]:` hides it
    call: Read {"file_path": "a"}    a tool call; `call[id]:` sets its id, `call[]:` sends none
    badcall: Read {"file_path        a tool call whose arguments are no JSON object
    usage: in=10 out=5 cache_read=0  what the answer reports
    stop: length                     instead of `end` or `calls`
    wait: gate                       hold until `release("gate")`
    cut:                             the stream ends here, without its last piece
    error: overloaded retry_after=2 status=529 message=Busy.
    ---                              the next answer

Each request takes the next answer. Nothing here sleeps or depends on time.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Iterator, Sequence
from typing import TypeAlias

import msgspec

from gatewright.agent.errors import FailureKind, ProviderError
from gatewright.agent.providers.protocol import (
    BlockEnded,
    CallStarted,
    Finished,
    InputPiece,
    MessageStarted,
    Piece,
    Request,
    StopReason,
    TextPiece,
    ThinkingPiece,
    UsageReported,
)
from gatewright.agent.record.messages import Usage

CHUNK = 7
WAIT_LIMIT = 60.0
DEFAULT_USAGE = Usage(input=10, output=5)
_LINE = re.compile(r"(?P<verb>[a-z]+)(\[(?P<tag>[^\]]*)\])?:[ \t]?(?P<text>.*)", re.DOTALL)
_OPTION = re.compile(r"(?:^|\s)([a-z_]+)=")


class Line(msgspec.Struct, frozen=True):
    """One line of a script; `tag` is None where no brackets were written."""

    verb: str
    text: str
    tag: str | None = None

    def options(self) -> dict[str, str]:
        """`a=1 b=two words` as a mapping; what stands before the first option is under ``""``."""
        parts = _OPTION.split(self.text)
        found = {"": parts[0].strip()}
        found.update(
            (name, value.strip()) for name, value in zip(parts[1::2], parts[2::2], strict=True)
        )
        return found

    def call(self) -> tuple[str, str]:
        """The name and the raw arguments of a `call` or `badcall` line."""
        name, _, arguments = self.text.strip().partition(" ")
        arguments = arguments.strip()
        if self.verb == "call" and not isinstance(json.loads(arguments or "{}"), dict):
            raise ValueError(f"call {name}: the arguments are not a JSON object")
        return name, arguments or ("{}" if self.verb == "call" else "")

    def usage(self) -> Usage:
        numbers = {name: int(value) for name, value in self.options().items() if name}
        return Usage(
            input=numbers.get("in", 0),
            output=numbers.get("out", 0),
            cache_read=numbers.get("cache_read", 0),
            cache_write=numbers.get("cache_write", 0),
        )


Answer: TypeAlias = tuple[Line, ...]


def read_script(text: str) -> tuple[Answer, ...]:
    """The answers of a script; raises ValueError on a line that is none."""
    answers: list[list[Line]] = [[]]
    for number, raw in enumerate(text.split("\n"), start=1):
        current = answers[-1]
        if raw.rstrip() == "---":
            answers.append([])
        elif raw.startswith("  ") and current:
            last = current[-1]
            current[-1] = Line(last.verb, f"{last.text}\n{raw[2:]}", last.tag)
        elif raw.strip() and not raw.startswith("#"):
            match = _LINE.match(raw.strip())
            if match is None:
                raise ValueError(f"line {number} of the script is not understood: {raw!r}")
            current.append(Line(match["verb"], match["text"], match["tag"]))
    return tuple(tuple(answer) for answer in answers)


def failure(line: Line) -> ProviderError:
    """The exception an `error:` line stands for."""
    options = line.options()
    after = options.get("retry_after")
    return ProviderError(
        FailureKind(options[""]),
        options.get("message", f"The script failed: {options['']}."),
        status=int(options.get("status", "0")),
        retry_after=None if after is None else float(after),
    )


def ending(answer: Sequence[Line]) -> Finished:
    """What the answer stops with: its `stop:` line, else what its calls say."""
    for line in answer:
        if line.verb == "stop":
            word, _, detail = line.text.strip().partition(" ")
            return Finished(StopReason(word), detail)
    called = any(line.verb in ("call", "badcall") for line in answer)
    return Finished(StopReason.CALLS if called else StopReason.END)


def pieces_of(text: str, size: int = CHUNK) -> Iterator[str]:
    for start in range(0, len(text), size):
        yield text[start : start + size]


class ScriptedProvider:
    """Plays one answer per request and keeps the requests it got."""

    name = "script"

    def __init__(self, answers: Sequence[Answer], *, repeat: bool = False) -> None:
        self.requests: list[Request] = []
        self.closed = False
        self._answers = tuple(answers)
        self._repeat = repeat
        self._calls = 0
        self._gates: dict[tuple[str, str], asyncio.Event] = {}

    @classmethod
    def parse(cls, text: str, *, repeat: bool = False) -> ScriptedProvider:
        """With `repeat` the last answer is given again and again."""
        return cls(read_script(text), repeat=repeat)

    @property
    def left(self) -> int:
        """Answers not yet asked for."""
        return max(0, len(self._answers) - len(self.requests))

    def release(self, name: str) -> None:
        """Let the stream pass `wait: name`, now or when it comes there."""
        self._gate("released", name).set()

    async def reached(self, name: str) -> None:
        """Wait until a stream holds at `wait: name`."""
        await asyncio.wait_for(self._gate("reached", name).wait(), WAIT_LIMIT)

    async def close(self) -> None:
        self.closed = True

    async def stream(self, request: Request) -> AsyncGenerator[Piece]:
        index = len(self.requests)
        self.requests.append(request)
        if index >= len(self._answers) and not (self._repeat and self._answers):
            raise ProviderError(FailureKind.REFUSED, "The script has no answer left.")
        answer = self._answers[min(index, len(self._answers) - 1)]
        yield MessageStarted(f"msg_{index + 1}", request.model)
        for line in answer:
            match line.verb:
                case "wait":
                    await self._hold(line.text.strip())
                case "cut":
                    return
                case "error":
                    raise failure(line)
                case _:
                    for piece in self._block(line):
                        await asyncio.sleep(0)  # as a real stream would, let others run
                        yield piece
        if "usage" not in {line.verb for line in answer}:
            yield UsageReported(DEFAULT_USAGE)
        yield ending(answer)

    def _block(self, line: Line) -> Iterator[Piece]:
        match line.verb:
            case "stop":
                return
            case "usage":
                yield UsageReported(line.usage())
                return
            case "say":
                yield from map(TextPiece, pieces_of(line.text))
            case "think" if line.tag == "redacted":
                yield ThinkingPiece(opaque=line.text, redacted=True)
            case "think":
                yield from map(ThinkingPiece, pieces_of(line.text))
                yield ThinkingPiece(opaque=f"signed-{len(line.text)}")
            case "call" | "badcall":
                self._calls += 1
                name, arguments = line.call()
                yield CallStarted(f"call_{self._calls}" if line.tag is None else line.tag, name)
                yield from map(InputPiece, pieces_of(arguments))
            case _:
                raise ValueError(f"a script has no line {line.verb!r}")
        yield BlockEnded()

    def _gate(self, kind: str, name: str) -> asyncio.Event:
        return self._gates.setdefault((kind, name), asyncio.Event())

    async def _hold(self, name: str) -> None:
        self._gate("reached", name).set()
        try:
            await asyncio.wait_for(self._gate("released", name).wait(), WAIT_LIMIT)
        except TimeoutError:
            raise ProviderError(
                FailureKind.TRANSPORT, f"Nobody released {name!r} of the script."
            ) from None
