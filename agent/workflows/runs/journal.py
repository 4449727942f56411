"""The journal of a run: one line for each thing that is about to count, and never rewritten.

A torn last line is the trace of a crash. Whoever has the journal open has the run: a second one is
refused by a lock of the system, which ends with its process.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import msgspec

from gatewright.agent.errors import GatewrightError
from gatewright.agent.record.events_of_workflows import RunStatus
from gatewright.agent.record.messages import Usage
from gatewright.tools.system import private
from gatewright.tools.system.regular import read_regular

NAME = "journal.jsonl"
INLINE = 32_000  # bytes of a value in a line; larger ones have a file
MOST_LINE = 8_000_000
MOST_VALUE = 64_000_000
IN_USE = "This run goes on in another process: it can be resumed once it ended."


# It names a file: no line that was tampered with leads out of the folder of the run.
AgentId: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_-]{0,64}$")]


class Line(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="t"):
    pass


class Begun(Line, frozen=True, tag="begun"):
    """A process works on the run from here on: indexes count anew."""

    at: float
    session: str


class CallMade(Line, frozen=True, tag="call"):
    index: int
    key: str
    nth: int
    label: str = ""
    phase: str = ""


class AgentBegan(Line, frozen=True, tag="started"):
    """`model` and `kind` say what it works with: a hash of its definition, not its name."""

    index: int
    agent: AgentId
    model: str = ""
    kind: str = ""


class CallSettled(Line, frozen=True, tag="settled"):
    """`value` is what the call resolved to, or `spill` names the file that has it.

    `repeats`: a later run may use it; not where a person spoke with the agent.
    """

    index: int
    ok: bool
    value: Any = None
    spill: str = ""
    kind: str = ""  # of a failure
    why: str = ""
    agent: AgentId = ""
    usage: Usage = Usage()
    cost: float = 0.0
    ms: int = 0
    files: dict[str, str] = {}  # written, with a hash of what they held then
    worktree: str = ""
    repeats: bool = True


class LineLogged(Line, frozen=True, tag="log"):
    text: str


class RunPaused(Line, frozen=True, tag="paused"):
    on: bool


class RunEnded(Line, frozen=True, tag="ended"):
    status: RunStatus
    at: float = 0.0
    why: str = ""


AnyLine = Begun | CallMade | AgentBegan | CallSettled | LineLogged | RunPaused | RunEnded
_DECODER = msgspec.json.Decoder(AnyLine)
_ENCODER = msgspec.json.Encoder()


class InUse(GatewrightError):
    """The run goes on somewhere."""


class Journal:
    """Open for writing by one process; each line is with the system when `add` returns."""

    def __init__(self, folder: Path) -> None:
        """Raises InUse, OSError."""
        private.folder(folder)
        self._folder = folder
        self._spilled = 0
        self._fd = private.opener(str(folder / NAME), os.O_RDWR | os.O_CREAT | os.O_APPEND)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._mend()
        except BlockingIOError as error:
            os.close(self._fd)
            raise InUse(IN_USE) from error
        except BaseException:
            os.close(self._fd)
            raise

    def add(self, line: AnyLine) -> None:
        data = _ENCODER.encode(line) + b"\n"
        while data and self._fd >= 0:
            data = data[os.write(self._fd, data) :]

    def settle(self, line: CallSettled) -> None:
        """With its value in a file of its own, where that is large."""
        encoded = _ENCODER.encode(line.value)
        if len(encoded) > INLINE:
            name = f"{line.index}-{os.urandom(4).hex()}.json"
            private.write(self._folder / "results" / name, encoded)
            line = msgspec.structs.replace(line, value=None, spill=name)
        self.add(line)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _mend(self) -> None:
        """What a crash tore off gets its own line, and is none."""
        size = os.fstat(self._fd).st_size
        if size and os.pread(self._fd, 1, size - 1) != b"\n":
            os.write(self._fd, b"\n")


def read_lines(folder: Path) -> Iterator[AnyLine]:
    """All lines that can be read, in their order; what is torn or strange is left out."""
    try:
        with open(folder / NAME, "rb", opener=private.opener) as file:
            while line := file.readline(MOST_LINE):
                try:
                    yield _DECODER.decode(line)
                except (msgspec.DecodeError, RecursionError):
                    continue
    except FileNotFoundError:
        return


def value_of(folder: Path, line: CallSettled) -> Any:
    """What the call resolved to. Raises GatewrightError: its file is not there."""
    if not line.spill:
        return line.value
    name = Path(line.spill).name
    try:
        return msgspec.json.decode(read_regular(folder / "results" / name, MOST_VALUE))
    except (OSError, msgspec.DecodeError, RecursionError) as error:
        raise GatewrightError(f"The recorded result {name} cannot be read: {error}.") from error


def lives(folder: Path) -> bool:
    """Whether some process works on it."""
    try:
        fd = private.opener(str(folder / NAME), os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False
