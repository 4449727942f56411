"""What the journal of a run says of it: which calls have a result, in which order they came, and
which agents were cut off.

Pure but for reading: the same lines give the same past, wherever they end.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from gatewright.agent.errors import GatewrightError
from gatewright.agent.record.events_of_workflows import RunStatus
from gatewright.agent.record.messages import Usage
from gatewright.agent.workflows.runs.journal import (
    AgentBegan,
    AnyLine,
    Begun,
    CallMade,
    CallSettled,
    LineLogged,
    RunEnded,
    RunPaused,
    read_lines,
)
from gatewright.tools.system import private
from gatewright.tools.system.regular import read_regular

RUN = "run.json"
SCRIPT = "script.js"
MOST_RUN = 20_000_000  # bytes: with its args
MOST_HASHED = 20_000_000
RERUNS = ("failed", "stale", "all")


class RunFile(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """`run.json`: what a run was started with."""

    id: str
    name: str
    description: str = ""
    title: str = ""
    script_hash: str = ""
    args: object = None
    has_args: bool = False
    mode: str = ""
    model: str = ""
    budget_usd: float | None = None
    budget_tokens: int | None = None
    session: str = ""
    began: float = 0.0
    source: str = ""  # where its script came from: a path, or empty


class Slot(msgspec.Struct):
    """One call, by key and number among equal ones."""

    key: str
    nth: int
    label: str = ""
    phase: str = ""
    agent: str = ""  # the last that began on it
    model: str = ""
    kind: str = ""
    settled: CallSettled | None = None
    order: int = 0  # of its result among all

    @property
    def open(self) -> bool:
        """An agent began on it after whatever was settled before."""
        return bool(self.agent) and self.settled is None


class Past(msgspec.Struct):
    slots: dict[tuple[str, int], Slot]
    log: list[str]
    status: RunStatus = "interrupted"
    why: str = ""
    ended: float = 0.0
    epochs: int = 0
    cost: float = 0.0
    usage: Usage = Usage()


def fold(lines: Iterable[AnyLine]) -> Past:
    past = Past({}, [])
    now: dict[int, Slot] = {}  # by index, of the process that works on it
    order = 0
    for line in lines:
        match line:
            case Begun():
                now = {}
                past.epochs += 1
                past.status, past.why = "interrupted", ""
            case CallMade(index=index, key=key, nth=nth, label=label, phase=phase):
                slot = past.slots.setdefault((key, nth), Slot(key, nth))
                slot.label, slot.phase = label, phase
                now[index] = slot
            case AgentBegan(index=index) if index in now:
                slot = now[index]
                slot.agent, slot.model, slot.kind = line.agent, line.model, line.kind
                slot.settled = None
            case CallSettled(index=index) if index in now:
                order += 1
                now[index].settled, now[index].order = line, order
                past.cost += line.cost
                past.usage = past.usage.plus(line.usage)
            case LineLogged(text=text):
                past.log.append(text)
            case RunPaused():
                pass
            case RunEnded(status=status, why=why, at=at):
                past.status, past.why, past.ended = status, why, at
            case _:
                pass
    return past


def read_past(folder: Path) -> Past:
    return fold(read_lines(folder))


def read_run(folder: Path) -> RunFile:
    """Raises GatewrightError."""
    try:
        return msgspec.json.decode(read_regular(folder / RUN, MOST_RUN), type=RunFile)
    except (OSError, msgspec.DecodeError, RecursionError) as error:
        raise GatewrightError(f"There is no run in {folder}: {error}.") from error


def write_run(folder: Path, run: RunFile, script: str) -> None:
    private.write(folder / RUN, msgspec.json.encode(run))
    private.write(folder / SCRIPT, script.encode())


class Fate(msgspec.Struct, frozen=True):
    """What becomes of a call in a run that goes on."""

    kind: Literal["replayed", "goes on", "runs again", "new"]
    why: str = ""  # it is not replayed
    settled: CallSettled | None = None  # the recorded end that stands in for it
    order: int = 0  # of that
    agent: str = ""  # that was cut off at the call, and goes on with it
    stale: str = ""  # why what is replayed may not be what it would come to now


class Chosen:
    """What of a past counts in the run that goes on: `rerun` says what is not taken from it.

    `failed`, `stale` or `all`, else the name of a phase or a label.
    """

    def __init__(self, past: Past, rerun: str = "failed") -> None:
        self._past, self._rerun = past, rerun or "failed"

    def fate(self, key: str, nth: int, *, fresh: bool, model: str, kind: str) -> Fate:
        """Of a call, and what its agent would be now."""
        slot, rerun = self._past.slots.get((key, nth)), self._rerun
        if slot is None:
            return Fate("new")
        if fresh or rerun == "all" or self._meant(slot):
            return Fate("runs again", "always anew" if fresh else "asked for")
        settled = slot.settled
        if settled is None:
            if slot.open:
                return Fate("goes on", "it was cut off", agent=slot.agent)
            return Fate("runs again", "nobody began on it")
        if not settled.ok or not settled.repeats:
            spoken = "a person spoke with its agent"
            return Fate("runs again", spoken if settled.ok else f"failed ({settled.kind})")
        if (old := stale(slot, model=model, kind=kind)) and rerun == "stale":
            return Fate("runs again", old)
        return Fate("replayed", settled=settled, order=slot.order, stale=old)

    def _meant(self, slot: Slot) -> bool:
        return self._rerun in (slot.phase, slot.label) and self._rerun not in RERUNS


def known_rerun(past: Past, rerun: str) -> str:
    """Why there is nothing that `rerun` could mean; empty where there is."""
    if rerun in ("", *RERUNS) or any(rerun in (s.phase, s.label) for s in past.slots.values()):
        return ""
    names = ", ".join(dict.fromkeys(slot.phase for slot in past.slots.values() if slot.phase))
    return f"No phase or label of this run is called {rerun}. Phases: {names or 'none'}."


def stale(slot: Slot, *, model: str, kind: str) -> str:
    """Why a recorded result may not be what the call would come to now; empty: nothing is known."""
    settled = slot.settled
    if slot.model and model and slot.model != model:
        return f"it was answered by {slot.model}"
    if slot.kind and kind and slot.kind != kind:
        return "the definition of its agent changed"
    if settled is not None and (changed := _changed(settled.files)):
        return f"{changed} is not as it left it"
    return ""


def _changed(files: Mapping[str, str]) -> str:
    return next((path for path, held in files.items() if hash_of(Path(path)) != held), "")


def hash_of_text(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def hash_of(path: Path) -> str:
    """Of what a file holds; empty where there is none."""
    try:
        if not path.is_file() or path.stat().st_size > MOST_HASHED:
            return ""
        return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
    except OSError:
        return ""
