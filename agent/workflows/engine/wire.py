"""What goes between us and the worker that runs a script: one JSON line each way.

The worker is hostile: its lines are decoded into these Structs, whose strings and lists have
limits, and whatever does not fit ends the run.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

MOST_LINE = 4 * 1024 * 1024  # bytes of a line, either way
MOST_UNSETTLED = 4096  # calls that wait for their answer
MOST_LIST = 4096  # entries of a list given to parallel or pipeline
MOST_LOG = 2000  # characters of a line of the log

Title = Annotated[str, Meta(max_length=200)]
Name = Annotated[str, Meta(max_length=400)]
Text = Annotated[str, Meta(max_length=MOST_LINE)]
Names = Annotated[tuple[Name, ...], Meta(max_length=400)]
CallId = Annotated[int, Meta(ge=1, le=1 << 31)]
Place = Annotated[int, Meta(ge=0, le=1 << 31)]


class CallOptions(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """What a script wrote behind the prompt of `agent()`; None is what it did not write."""

    label: Title = ""
    phase: Title = ""
    schema: dict[str, Any] | None = None
    model: Name = ""
    effort: Title = ""
    agent_type: Name = ""
    tools: Names | None = None
    disallowed_tools: Names | None = None
    max_turns: Annotated[int, Meta(ge=1, le=100_000)] | None = None
    isolation: Literal["", "worktree"] = ""
    mode: Title = ""
    timeout_minutes: Annotated[float, Meta(gt=0, le=100_000)] = 60.0
    retries: Annotated[int, Meta(ge=0, le=3)] = 0
    on_error: Literal["null", "throw"] = "null"
    detail: bool = False
    fresh: bool = False


class Called(msgspec.Struct, frozen=True, tag="call", tag_field="t"):
    """One `agent()`. `phase` is the one it belongs to, whoever named it; `within` a nested script.

    `line` is where the script called, as far as the engine knew.
    """

    id: CallId
    prompt: Text
    options: CallOptions = CallOptions()
    phase: Title = ""
    within: Title = ""
    line: Place = 0


class Nested(msgspec.Struct, frozen=True, rename="camel", tag="nested", tag_field="t"):
    """`workflow()`: a saved one by its name, or a file by its path, inline in this run."""

    id: CallId
    name: Name = ""
    script_path: Annotated[str, Meta(max_length=4096)] = ""
    args: Any = UNSET


class Logged(msgspec.Struct, frozen=True, tag="log", tag_field="t"):
    text: Annotated[str, Meta(max_length=MOST_LOG)]


class PhaseBegan(msgspec.Struct, frozen=True, tag="phase", tag_field="t"):
    title: Title


class Compiled(msgspec.Struct, frozen=True, tag="compiled", tag_field="t"):
    """The engine understood the script, and nothing of it has run."""


End = Literal[
    "", "error", "syntax", "deadlock", "memory", "stack", "cpu", "calls", "line", "wire", "died"
]


class Ended(msgspec.Struct, frozen=True, tag="end", tag_field="t"):
    """The run is over, said exactly once: `kind` is empty when the script returned `value`."""

    kind: End = ""
    value: Any = None
    message: Annotated[str, Meta(max_length=8000)] = ""
    line: Place = 0
    column: Place = 0
    stack: Annotated[str, Meta(max_length=8000)] = ""

    @property
    def ok(self) -> bool:
        return not self.kind


Message = Called | Nested | Logged | PhaseBegan | Ended
FromWorker = Message | Compiled


class Sent(msgspec.Struct, frozen=True):
    """A line: what the script did until nothing was left to do; `idle` in the last of several."""

    out: tuple[FromWorker, ...] = ()
    idle: bool = True


class BudgetNow(msgspec.Struct, frozen=True, rename="camel"):
    """What `budget` says in the script; None is no limit."""

    total_usd: float | None = None
    total_tokens: int | None = None
    spent_usd: float = 0.0
    spent_tokens: int = 0
    agents_used: int = 0
    agents_left: int = 1000


class Failure(msgspec.Struct, frozen=True):
    """`kind`: model, limit, refused, stopped, schema, timeout, budget, agents, workflow."""

    kind: str
    message: str


class Usage(msgspec.Struct, frozen=True, rename="camel"):
    """What one call used, all its attempts together, for `detail: true`."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0


class Settled(
    msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, tag="settled", tag_field="t"
):
    """How a call ended. `throws`: it is no end of an agent but a call that could not be made, so it
    rejects whatever `onError` and `detail` say (budget, agent 1,001, wrong options).
    """

    id: int
    ok: bool
    value: Any = None
    error: Failure | None = None
    throws: bool = False
    agent_id: str = ""
    usage: Usage = Usage()
    cost_usd: float = 0.0
    worktree: str = ""
    budget: BudgetNow | None = None


class Inlined(msgspec.Struct, frozen=True, tag="inlined", tag_field="t"):
    """The script that a `Nested` asked for, checked; its failure is a `Settled` that throws."""

    id: int
    body: str
    meta: dict[str, Any]
    args: Any = UNSET


class Compile(msgspec.Struct, frozen=True, tag="compile", tag_field="t"):
    body: str


class Begin(msgspec.Struct, frozen=True, tag="begin", tag_field="t"):
    meta: dict[str, Any]
    budget: BudgetNow = BudgetNow()
    args: Any | UnsetType = UNSET


ToWorker = Compile | Begin | Settled | Inlined
