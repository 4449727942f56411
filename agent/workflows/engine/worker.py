"""Runs as a script in a process of its own: one script of a workflow in an engine behind two pipes.

Imports nothing of ours. Memory and descriptors are limited first; once the engine is loaded the
process shuts itself off from everything but its pipes. It only carries texts: what they mean is
known to the prelude in the engine and to whoever started us.
"""

from __future__ import annotations

import os
import resource
import struct
import sys
from contextlib import suppress
from time import process_time

TYPE_CHECKING = False  # typing itself would cost a tenth of the start
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

PADDING = 600_000  # lines before the prelude: a smaller number is a line of the script
MOST_LINE = 4 * 1024 * 1024
CHUNK = 1024 * 1024
SILENT = 1.0  # seconds in which the engine says what it still has to say
_COMPILED = b'{"out":[{"t":"compiled"}],"idle":true}\n'


class Spent(Exception):
    """The script has used the processor for as long as it may."""


def main() -> None:
    library, prelude, heap, stack, between, whole, space = sys.argv[1:]
    _limit(int(space) * 1024 * 1024, float(whole))
    with open(prelude, encoding="utf-8") as file:  # noqa: PTH123  pathlib: 5 ms of the start
        text = file.read()
    engine = _loaded(library)
    context = engine.Context()
    context.set_memory_limit(int(heap) * 1024 * 1024)
    context.set_max_stack_size(int(stack) * 1024)
    host = context.eval("\n" * (PADDING - 1) + text)
    _shut_off()
    Worker(engine, context, host, float(between), float(whole)).serve()
    os._exit(0)


def _limit(space: int, seconds: float) -> None:
    for what, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_NOFILE, 8),
        (resource.RLIMIT_CPU, int(seconds) + 3),
        (resource.RLIMIT_AS, space),
    ):
        with suppress(OSError, ValueError):  # macOS knows no limit of the address space
            resource.setrlimit(what, (most, most))


def _loaded(library: str) -> Any:
    from importlib.machinery import ExtensionFileLoader, ModuleSpec  # noqa: PLC0415  frozen

    loader = ExtensionFileLoader("_quickjs", library)
    spec = ModuleSpec("_quickjs", loader, origin=library)
    module = loader.create_module(spec)
    loader.exec_module(module)
    return module


class Worker:
    """Reads a line, lets the script do all that follows from it, and says what it did."""

    def __init__(self, engine: Any, context: Any, host: Any, between: float, whole: float) -> None:
        self._engine, self._context, self._host = engine, context, host
        self._between, self._whole = between, whole
        self._until = 0.0
        self._make: Any = None
        self._over = False
        self._shift = int(host("shift"))

    def serve(self) -> None:
        for line in _lines():
            what, _, text = line.partition(b" ")
            self._step(what.decode("ascii"), text.decode("utf-8"))
            if self._over:
                return

    def _step(self, what: str, text: str) -> None:
        failures = (self._engine.JSException, self._engine.StackOverflow, UnicodeError, MemoryError)
        self._until = min(process_time() + self._between, self._whole)
        self._kernel()
        try:
            if what == "compile":
                self._make = self._compiled(text)
                _say(_COMPILED)
                return
            self._take(what, text)
            self._jobs()
            self._drain()
        except Spent:
            self._fail("cpu", "", "")
        except failures as error:
            words = str(error)
            self._fail(_kind(words, what), *_parted(words))

    def _take(self, what: str, text: str) -> None:
        self._clock()
        if what == "begin":
            self._host("begin", text, self._make)
        elif what == "inlined":
            try:
                made = self._compiled(text)
            except self._engine.JSException as error:
                self._host("broken", text, _parted(str(error))[0])
            else:
                self._host("inlined", text, made)
        else:
            self._host(what, text)

    def _compiled(self, text: str) -> Any:
        self._clock()
        return self._context.eval(self._host("source", text))

    def _jobs(self) -> None:
        """The engine counts each job from nothing, so what is left is said before each."""
        run = self._context.execute_pending_job
        self._clock()
        while run():
            self._clock()

    def _drain(self) -> None:
        while True:
            self._clock()
            line = self._host("drain").encode("utf-8")
            if len(line) > MOST_LINE + 1024:
                self._fail("line", "", "")
                return
            _say(line + b"\n")
            if line.endswith(b'"idle":true}'):
                return

    def _clock(self) -> None:
        left = self._until - process_time()
        if left <= 0:
            raise Spent
        self._context.set_time_limit(left)

    def _kernel(self) -> None:
        """It ends us if a built-in function of the engine never looks at its clock."""
        with suppress(OSError, ValueError):
            _, hard = resource.getrlimit(resource.RLIMIT_CPU)
            soft = int(self._until) + 2
            resource.setrlimit(resource.RLIMIT_CPU, (min(soft, hard) if hard > 0 else soft, hard))

    def _fail(self, kind: str, words: str, stack: str) -> None:
        """The script goes no further, and the engine is not asked any more."""
        line, column = _place(stack)
        if line == 1:
            column = max(1, column - self._shift)
            if (
                kind == "cpu" and column == 1
            ):  # the script as a whole: the engine has no better word
                line, column = 0, 0
        _say(
            f'{{"out":[{{"t":"end","kind":"{kind}","message":{_quoted(words[:4000])},"line":{line},'
            f'"column":{column},"stack":{_quoted(stack[:4000])}}}],"idle":true}}\n'.encode("ascii")
        )
        self._over = True


def _kind(words: str, what: str) -> str:
    if words.startswith("InternalError: interrupted"):
        return "cpu"
    if "out of memory" in words[:60] or not words:
        return "memory"
    if words.startswith("RangeError: Maximum call stack size exceeded"):
        return "stack"
    return "syntax" if what == "compile" else "error"


def _parted(text: str) -> tuple[str, str]:
    """The words of an error, and where it was."""
    words, found, stack = text.partition("\n    at ")
    return words.strip(), found.lstrip("\n") + stack


def _place(stack: str) -> tuple[int, int]:
    """Line and column of the first frame that is the script's."""
    for piece in stack.split("<input>:")[1:]:
        line, _, rest = piece.partition(":")
        column = rest.split(")")[0].split("\n")[0]
        if line.isdecimal() and column.isdecimal() and int(line) < PADDING:
            return int(line), int(column)
    return 0, 0


def _quoted(text: str) -> str:
    """As JSON in ASCII."""
    plain = (
        c if " " <= c <= "~" and c not in '"\\' else f"\\u{min(ord(c), 0xFFFD):04x}" for c in text
    )
    return '"' + "".join(plain) + '"'


def _lines() -> Iterator[bytes]:
    pieces: list[bytes] = []
    while chunk := os.read(0, CHUNK):
        first, *others = chunk.split(b"\n")
        pieces.append(first)
        for piece in others:
            yield b"".join(pieces)
            pieces = [piece]


def _say(line: bytes) -> None:
    view = memoryview(line)
    while view:
        view = view[os.write(1, view) :]


# --- confinement ------------------------------------------------------------------------------

# What an engine needs that only computes, reads and writes; by machine. All else fails.
_ALLOWED = {
    # read write mmap mprotect munmap brk rt_sigaction rt_sigprocmask rt_sigreturn mremap madvise
    # sched_yield getrusage times exit futex exit_group clock_gettime gettimeofday restart_syscall
    # getrandom getpid gettid, and prlimit64 at the end, which may be about us alone
    "x86_64": (0xC000003E, (0, 1, 9, 10, 11, 12, 13, 14, 15, 25, 28, 24, 98, 100, 60, 202, 231, 228,
                            96, 219, 318, 39, 186, 302)),
    "aarch64": (0xC00000B7, (63, 64, 222, 226, 215, 214, 134, 135, 139, 216, 233, 124, 165, 153, 93,
                             98, 94, 113, 169, 128, 278, 172, 178, 261)),
}  # fmt: skip


def _shut_off() -> None:
    """Best effort: the limits hold without it."""
    if sys.platform != "linux":
        return  # whoever starts us put us into the sandbox of that system
    known = _ALLOWED.get(os.uname().machine)
    import ctypes  # noqa: PLC0415  5 ms

    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(1, 9, 0, 0, 0)  # killed with whoever started us
    if known is None or libc.prctl(38, 1, 0, 0, 0) != 0:  # no new privileges: needed for a filter
        return
    code = _program(*known)
    buffer = ctypes.create_string_buffer(code, len(code))
    filled = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(buffer))
    libc.prctl(22, 2, filled, 0, 0)


def _program(machine: int, numbers: Sequence[int]) -> bytes:
    """Classic BPF: another machine's calls end the process, those not named fail.

    The last number is allowed where its first argument is 0.
    """
    load, equal, answer = 0x20, 0x15, 0x06
    code = [(load, 0, 0, 4), (equal, 1, 0, machine), (answer, 0, 0, 0x80000000), (load, 0, 0, 0)]
    *free, bound = numbers
    left = len(free) + 3
    for number in free:
        left -= 1
        code.append((equal, left, 0, number))
    code += [(equal, 0, 3, bound), (load, 0, 0, 16), (equal, 0, 1, 0)]
    code += [(answer, 0, 0, 0x7FFF0000), (answer, 0, 0, 0x00050001)]
    return b"".join(struct.pack("HBBI", *line) for line in code)


if __name__ == "__main__":
    main()
