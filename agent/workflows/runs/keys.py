"""By what a call of a script is known again in a later run: what shapes its answer, as written.

Which model the session has or how a definition reads changes no key: that makes a result stale.
"""

from __future__ import annotations

import hashlib
from collections import Counter

import msgspec

from gatewright.agent.workflows.engine.wire import CallOptions

VERSION = "1"  # another one, and nothing that was recorded before is found


class Shaping(msgspec.Struct, frozen=True, omit_defaults=True):
    """The options that count; how often and how long a call is tried are not among them."""

    schema: dict[str, object] | None = None
    model: str = ""
    effort: str = ""
    agent_type: str = ""
    tools: tuple[str, ...] | None = None
    disallowed_tools: tuple[str, ...] | None = None
    max_turns: int | None = None
    isolation: str = ""
    mode: str = ""


_ENCODER = msgspec.json.Encoder(order="deterministic")


def key_of(prompt: str, options: CallOptions) -> str:
    shaping = Shaping(
        schema=options.schema,
        model=options.model,
        effort=options.effort,
        agent_type=options.agent_type,
        tools=options.tools,
        disallowed_tools=options.disallowed_tools,
        max_turns=options.max_turns,
        isolation=options.isolation,
        mode=options.mode,
    )
    text = _ENCODER.encode((VERSION, prompt, shaping))
    return hashlib.blake2b(text, digest_size=16).hexdigest()


class Nths:
    """Numbers calls with equal keys, in the order in which they are made."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def next(self, key: str) -> int:
        self._seen[key] += 1
        return self._seen[key]
