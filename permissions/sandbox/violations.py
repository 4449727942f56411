"""What the sandbox stopped: remembered for people, explained to the model.

A message is only offered where a failure looks like ours; the command's own output is kept whole.
"""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Iterable

import msgspec

from gatewright.permissions.paths import inside
from gatewright.tools.system.patterns import later

KEPT = 200


class Violation(msgspec.Struct, frozen=True):
    when: float
    command: str
    text: str


class Violations(msgspec.Struct):
    """The last ones, oldest first."""

    _kept: deque[Violation] = msgspec.field(default_factory=lambda: deque[Violation](maxlen=KEPT))

    def add(self, command: str, texts: Iterable[str], when: float | None = None) -> None:
        now = time.time() if when is None else when
        self._kept.extend(Violation(now, command, text) for text in texts)

    def recent(self) -> tuple[Violation, ...]:
        return tuple(self._kept)


_SIGNS: tuple[tuple[re.Pattern[str], str], ...] = (
    (later(r"read-only file system|EROFS", re.IGNORECASE),
     "a write outside the writable directories, or to a protected file"),
    (later(r"could not resolve host|temporary failure in name resolution|getaddrinfo|"
                r"name or service not known|network is unreachable|ENETUNREACH|ENOTFOUND|"
                r"EAI_AGAIN|failed to lookup address", re.IGNORECASE),
     "network access"),
    (later(r"response 403|403 .*sandbox|Tunnel connection failed: 403", re.IGNORECASE),
     "a domain that is not allowed"),
    (later(r"device or resource busy|EBUSY", re.IGNORECASE),
     "moving or removing a directory that holds a protected file"),
    (later(r"address family not supported|EAFNOSUPPORT", re.IGNORECASE),
     "a kind of socket"),
    (later(r"(?:fork|clone|thread).*resource temporarily unavailable", re.IGNORECASE),
     "the limit of processes"),
    (later(r"file size limit exceeded|EFBIG|file too large", re.IGNORECASE),
     "the limit of file size"),
    (later(r"operation not permitted|permission denied|EPERM|EACCES", re.IGNORECASE),
     "something that the sandbox may not do or read"),
)  # fmt: skip


def likely(output: str, code: int | None) -> tuple[str, ...]:
    """What of a failed command's output looks like the sandbox's doing."""
    if not code:
        return ()
    tail = output[-20_000:]
    found = [what for sign, what in _SIGNS if sign.search(tail)]
    return tuple(found[:2])


_TMP = later(r"(?<![\w./$}-])/(?:var/)?tmp(?![\w-])[^\s'\"`;|&<>()]*")
_HERE = later(r"(?<![\w.-])(?:localhost|127(?:\.\d+){3}|\[::1\])(?![\w-])")
OWN_TMP = (
    "/tmp and /var/tmp are this command's own, empty at its start and gone with it: what other"
    " commands or tools are to see goes to $TMPDIR or the project"
)
OWN_LOOPBACK = (
    "localhost is this command's own: a server that another command or a person runs is not"
    " reached from here; start it and ask it in one command"
)


def private_places(
    command: str, output: str, code: int | None, seen: Iterable[str]
) -> tuple[str, ...]:
    """What of a command's own it may have taken for everybody's; `seen` directories are shared."""
    failed = bool(code)
    found: list[str] = []
    places = tuple(seen)
    if any(not any(inside(path, each) for each in places) for path in _TMP.findall(command)):
        found.append(OWN_TMP)
    if (failed or not output.strip()) and _HERE.search(command):
        found.append(OWN_LOOPBACK)
    return tuple(found)


def note(causes: tuple[str, ...], *, may_leave: bool) -> str:
    """One sentence or two for the model."""
    text = f"This ran in the sandbox, which may be why it failed: {', or '.join(causes)}."
    if may_leave:
        text += (
            " If the task needs it, repeat the call with dangerouslyDisableSandbox: true; a person"
            " is asked first."
        )
    return text
