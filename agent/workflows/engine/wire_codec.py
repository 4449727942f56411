"""Lines of the wire from bytes and to bytes, with the limits that no type states.

Whatever a worker sends decodes or raises WireProblem: its text is for people, and holds nothing of
what was sent.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from gatewright.agent.errors import GatewrightError
from gatewright.agent.workflows.engine.wire import (
    MOST_LINE,
    Begin,
    Compile,
    Failure,
    Inlined,
    Sent,
    Settled,
    ToWorker,
)

MOST_MESSAGES = 20_000  # of a line: more take the screen's time to decode
MOST_BYTES = MOST_LINE + 4096  # with what stands around the one message in it
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")  # the engine writes whole characters as they are
_decoder = msgspec.json.Decoder(Sent)


class WireProblem(GatewrightError):
    """The worker said something that no worker of ours says."""


def decoded(line: bytes) -> Sent:
    if line.count(b'{"t":') > MOST_MESSAGES:
        raise WireProblem("the engine sent too much at once")
    try:
        return _decoder.decode(_whole(line))
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise WireProblem("the engine sent what is no message of it") from None


def _whole(line: bytes) -> bytes:
    """Half of a character, where a script cut a text in the middle of it, is a question mark."""
    if _HALF.search(line) is None:
        return line
    return json.dumps(json.loads(line), ensure_ascii=False).encode("utf-8", "replace")


def encoded(message: ToWorker) -> bytes:
    """`what` and JSON; an answer that is longer than a line becomes a failure of its call."""
    what = {Compile: "compile", Begin: "begin", Settled: "settled", Inlined: "inlined"}
    line = _json(message)
    if len(line) > MOST_LINE and isinstance(message, Settled):
        size = f"{len(line) / 1e6:.1f} MB"
        told = Failure("limit", f"the answer has {size}: at most 4 MB go through, so ask for less")
        line = _json(msgspec.structs.replace(message, ok=False, value=None, error=told))
    return what[type(message)].encode() + b" " + line + b"\n"


def _json(message: ToWorker) -> bytes:
    try:
        return msgspec.json.encode(message)
    except (UnicodeEncodeError, ValueError, TypeError, RecursionError):
        # half a character, which a model's own JSON can hold, or a number without an end
        return json.dumps(_plain(msgspec.to_builtins(message)), default=str).encode()


def _plain(value: Any) -> Any:
    """Infinity and its like are nothing in JSON."""
    return json.loads(json.dumps(value, default=str), parse_constant=lambda _: None)
