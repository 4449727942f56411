"""The only way we start git: nothing of a repository can run in it, and nothing in it hangs.

A repository's objects, refs and index are data to it; its configuration is not read at all. Git
gets a git directory of our own (`git_in`), in which nothing names a program, and cannot find
another git, which a submodule would need. Standard library only.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import selectors
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import IO, Final, NamedTuple, TypeVar

from gatewright.tools.system.gitfiles import (
    Repository,
    own_ignores,
    own_settings,
    repository_of,
    settings_of,
    text_of,
)
from gatewright.tools.system.patterns import later
from gatewright.tools.system.programs import find
from gatewright.tools.system.regular import open_regular

MOST: Final = 64 * 1024 * 1024  # bytes that a command may print
LARGEST_INDEX: Final = 256 * 1024 * 1024
_SAID = 2000  # bytes of what went wrong
_PIECE = 1024 * 1024
_NOWHERE: Final = "/nonexistent"

_NO_PROGRAMS: Final = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--no-color")
# Every command we use, with what it is never run without. There is no other.
COMMANDS: Final[Mapping[str, tuple[str, ...]]] = {
    "cat-file": (),
    "checkout-index": ("--quiet",),
    "diff": _NO_PROGRAMS,
    "diff-tree": _NO_PROGRAMS,
    "fetch": ("--no-tags", "--no-recurse-submodules", "--no-auto-maintenance", "--quiet"),
    "for-each-ref": (),
    "hash-object": ("--no-filters",),
    "init": ("--template=",),
    "log": ("--no-show-signature", "--no-color"),
    "ls-files": (),
    "ls-tree": (),
    "read-tree": ("--no-recurse-submodules",),
    "rev-list": (),
    "rev-parse": (),
    "status": ("--ignore-submodules=all",),
    "symbolic-ref": (),
    "update-index": (),
    "update-ref": ("--no-deref",),
    "write-tree": (),
}  # fmt: skip
# Second walls: none of these is set anywhere git looks.
_SETTINGS: Final = (
    "core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat", "core.sshCommand=false",
    "core.untrackedCache=false", "core.bigFileThreshold=16m", "diff.ignoreSubmodules=all",
    "submodule.recurse=false", "status.submoduleSummary=false", "log.showSignature=false",
    "checkout.workers=1", "core.logAllRefUpdates=true",
    "protocol.allow=never", "gc.auto=0", "maintenance.auto=false", "safe.bareRepository=explicit",
)  # fmt: skip
_ENV: Final[Mapping[str, str]] = {
    "GIT_ALLOC_LIMIT": "512m",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_EXEC_PATH": _NOWHERE,
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "HOME": _NOWHERE,
    "LC_ALL": "C",
    "PATH": _NOWHERE,
    "XDG_CONFIG_HOME": _NOWHERE,
}
_TAKEN: Final[Mapping[str, re.Pattern[str]]] = {  # what of its settings says how to read its data
    name: later(values, re.IGNORECASE)
    for name, values in {
        "core.filemode": "true|false",
        "core.symlinks": "true|false",
        "core.ignorecase": "true|false",
        "core.precomposeunicode": "true|false",
        "core.autocrlf": "true|false|input",
        "core.eol": "lf|crlf|native",
        "extensions.objectformat": "sha1|sha256",
        "extensions.refstorage": "files|reftable",
    }.items()
}
_OURS: Final = ("core.autocrlf", "core.eol")  # and of the person's own
_ATTRIBUTES: Final = "* !filter !diff !merge\n"

Wrap = Callable[[Sequence[str], Sequence[Path]], Sequence[str]]
T = TypeVar("T")


def bare(argv: Sequence[str], writable: Sequence[Path]) -> Sequence[str]:
    """No confinement."""
    del writable
    return argv


class Caller(NamedTuple):
    """For whom git runs: their environment, the directories whose programs are not used, and how
    a command line becomes one that is confined to writing `writable`.
    """

    env: Mapping[str, str]
    avoid: Sequence[Path] = ()
    wrap: Wrap = bare

    def program(self) -> str:
        """Where git is. Raises FileNotFoundError."""
        found = find("git", self.env, self.avoid)
        if not found:
            raise FileNotFoundError("git is not installed")
        return found


class Stop:
    """Ends the git that runs, and every later one; may be called from another thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._stopped = False

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            for process in self._running:
                _kill(process)

    @contextlib.contextmanager
    def watching(self, process: subprocess.Popen[bytes]) -> Generator[None]:
        with self._lock:
            self._running.add(process)
            if self._stopped:
                _kill(process)
        try:
            yield
        finally:
            with self._lock:
                self._running.discard(process)


class Git:
    """Git with a git directory that is ours. What fails, or takes too long, raises OSError."""

    def __init__(
        self,
        caller: Caller,
        places: Mapping[str, str],
        cwd: Path,
        stop: Stop | None = None,
        writes: Sequence[Path] = (),
    ) -> None:
        self._writes = writes  # directories besides its own that it may change
        self._argv = [caller.program(), *(w for s in _SETTINGS for w in ("-c", s))]
        self._wrap = caller.wrap
        self._env = {**_ENV, **places}
        self._cwd = cwd
        self._stop = stop or Stop()

    def run(
        self,
        command: str,
        *arguments: str,
        seconds: float,
        input: bytes = b"",
        most: int = MOST,
    ) -> bytes:
        """What it prints. KeyError for a command that is not in the table."""
        argv = [*self._argv, command, *COMMANDS[command], *arguments]
        if seconds <= 0:
            raise TimeoutError(f"git {command} has no time left")
        argv = [*self._wrap(argv, self._writable())]
        try:
            with _given(input) as stdin, self._started(argv, stdin) as process:
                return _output(process, time.monotonic() + seconds, most)
        except _Late as late:
            raise TimeoutError(f"git {command} took more than {seconds:.0f} s") from late
        except (_Failed, ValueError) as error:
            raise OSError(f"git {command}: {error}") from error

    @property
    def index(self) -> Path:
        """Its own copy of the index."""
        return Path(self._env["GIT_INDEX_FILE"])

    def _writable(self) -> list[Path]:
        """Where it keeps what is its own, as far as that is there already."""
        places = (Path(self._env["GIT_DIR"]), Path(self._env["GIT_INDEX_FILE"]).parent)
        there = (next(p for p in (place, *place.parents) if p.is_dir()) for place in places)
        return list(dict.fromkeys((*there, *self._writes)))

    @contextlib.contextmanager
    def _started(
        self, argv: Sequence[str], stdin: IO[bytes] | int
    ) -> Generator[subprocess.Popen[bytes]]:
        process = subprocess.Popen(
            argv, cwd=self._cwd, env=self._env, stdin=stdin,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        try:
            with self._stop.watching(process):
                yield process
        finally:
            _kill(process)
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    stream.close()
            process.wait()


class _Failed(Exception):
    """It ended badly, or was ended."""


class _Late(Exception):
    """It was not done in time."""


@contextlib.contextmanager
def _given(input: bytes) -> Generator[IO[bytes] | int]:
    """Input lies in a file, so that nobody waits for whoever reads it."""
    if not input:
        yield subprocess.DEVNULL
        return
    with tempfile.TemporaryFile() as file:
        file.write(input)
        file.seek(0)
        yield file


def _output(process: subprocess.Popen[bytes], deadline: float, most: int) -> bytes:
    """All it prints, until it ends."""
    assert process.stdout is not None
    assert process.stderr is not None
    kept, said = bytearray(), bytearray()
    with selectors.DefaultSelector() as waiting:
        waiting.register(process.stdout, selectors.EVENT_READ, kept)
        waiting.register(process.stderr, selectors.EVENT_READ, said)
        while waiting.get_map():
            ready = waiting.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                raise _Late
            for key, _ in ready:
                piece = os.read(key.fd, _PIECE)
                key.data.extend(piece if key.data is kept else piece[: _SAID - len(said)])
                if not piece:
                    waiting.unregister(key.fileobj)
            if len(kept) > most:
                raise _Failed(f"it printed more than {most:,} bytes")
    try:
        code = process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise _Late from None
    if code:
        text = said.decode("utf-8", "replace").strip()
        raise _Failed(text or f"it ended with {code}")
    return bytes(kept)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """It, and whatever it started. Until it was waited for the group's id is no other's."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


@contextlib.contextmanager
def git_in(caller: Caller, folder: Path, stop: Stop | None = None) -> Generator[Git]:
    """Git for the work tree that a directory lies in, whose repository is only looked at.

    Raises OSError where there is no repository that can be read, or no git.
    """
    found = repository_of(folder)
    if found is None:
        raise FileNotFoundError(f"{folder} is in no repository")
    with git_of(caller, found, folder, stop) as git:
        yield git


@contextlib.contextmanager
def git_of(
    caller: Caller,
    found: Repository,
    cwd: Path,
    stop: Stop | None = None,
    writes: Sequence[Path] = (),
) -> Generator[Git]:
    """The same for one that is known, and directories that are to be changed. Index and HEAD are
    copies, which nobody else sees; references are the repository's own."""
    own = Path(tempfile.mkdtemp(prefix="gatewright-git-"))
    try:
        _look_through(own, found, caller.env)
        places = {
            "GIT_DIR": str(own),
            "GIT_WORK_TREE": str(found.root),
            "GIT_INDEX_FILE": str(own / "index"),
            "GIT_OBJECT_DIRECTORY": str(found.common / "objects"),
        }
        yield Git(caller, places, cwd, stop, writes)
    finally:
        shutil.rmtree(own, ignore_errors=True)


def _look_through(own: Path, found: Repository, env: Mapping[str, str]) -> None:
    """Fill a git directory with what a repository holds, and with settings of ours."""
    head = f"ref: {found.ref}" if found.ref else found.commit
    (own / "HEAD").write_text(f"{head}\n", encoding="utf-8")
    (own / "config").write_text(_config(found, env), encoding="utf-8")
    (own / "info").mkdir()
    (own / "info" / "attributes").write_text(_ATTRIBUTES, encoding="utf-8")
    ignored = f"{own_ignores(env)}\n{text_of(found.common / 'info' / 'exclude')}\n"
    (own / "info" / "exclude").write_text(ignored, encoding="utf-8")
    for name in ("refs", "logs", "reftable"):
        if (found.common / name).is_dir():
            (own / name).symlink_to(found.common / name)
    for name in ("packed-refs", "shallow"):
        if (found.common / name).is_file():
            (own / name).symlink_to(found.common / name)
    if not (own / "refs").exists():
        (own / "refs").mkdir()
    named = found.common / found.ref
    if found.ref and named.exists() and not named.is_file():
        raise OSError(f"{named} is no regular file")
    _copy(found.git / "index", own / "index")
    for part in found.git.glob("sharedindex.*"):
        if part.is_file():
            (own / part.name).symlink_to(part)


def _copy(old: Path, new: Path) -> None:
    """The index with its time, by which git knows what may have changed since."""
    try:
        file = open_regular(old)
    except FileNotFoundError:  # nothing was ever added
        return
    with file, new.open("wb") as copy:
        info = os.fstat(file.fileno())
        if info.st_size > LARGEST_INDEX:
            raise OSError("the index is too large")
        copy.write(file.read(info.st_size))  # no more, if it grows meanwhile
    os.utime(new, ns=(info.st_atime_ns, info.st_mtime_ns))


def _config(found: Repository, env: Mapping[str, str]) -> str:
    own, theirs = own_settings(env), settings_of(found.common / "config")
    given = {name: own[name] for name in _OURS if name in own} | theirs
    lines = ["[core]", "\trepositoryformatversion = 1", "\tbare = false"]
    for name, values in _TAKEN.items():
        if values.fullmatch(given.get(name, "")):
            section, _, key = name.partition(".")
            lines += [f"[{section}]", f"\t{key} = {given[name]}"]
    return "\n".join(lines) + "\n"


def of_itself(caller: Caller, seconds: float, asked: str = "--version") -> str:
    """What git says of itself; empty where there is none that runs."""
    env = {name: value for name, value in _ENV.items() if name != "GIT_EXEC_PATH"}
    try:
        argv = (caller.program(), asked)
        done = subprocess.run(
            argv, env=env, stdin=subprocess.DEVNULL,
            capture_output=True, timeout=seconds, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "replace").strip().partition("\n")[0]


async def aside(work: Callable[[Stop], T]) -> T:
    """Work with git in a thread; when nobody waits for it any more, it ends at once."""
    stop = Stop()
    task = asyncio.create_task(asyncio.to_thread(work, stop))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        stop.stop()
        await asyncio.wait([task])
        task.exception()  # nobody wants to know
        raise
