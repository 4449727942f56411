"""A profile as a Seatbelt policy for macOS's sandbox-exec: text only, the last matching rule wins.

Written from Apple's own profiles and never run by us on a Mac; what it says is tested as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal

from gatewright.permissions.sandbox.disk.guarded import GIT_KEPT, NAMES
from gatewright.permissions.sandbox.profile import SandboxProfile

PROGRAM = "/usr/bin/sandbox-exec"
# Where the system says one thing and the kernel compares another.
_ALIASES = (("/tmp", "/private/tmp"), ("/var", "/private/var"), ("/etc", "/private/etc"))

_HEAD = """(version 1)
(deny default)
(import "system.sb")
(allow process-exec process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read)
(allow pseudo-tty)
(allow ipc-posix-sem ipc-posix-shm)
(allow file-ioctl (literal "/dev/null") (literal "/dev/tty") (regex #"^/dev/ttys[0-9]+$"))
(allow file-write-data (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty"))
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo")
                   (global-name "com.apple.system.logger")
                   (global-name "com.apple.SystemConfiguration.configd")
                   (global-name "com.apple.bsd.dirhelper"))
(allow file-read*)"""


def command(profile: SandboxProfile, *, proxy_port: int = 0) -> list[str]:
    """Everything up to the command itself."""
    return [PROGRAM, "-p", policy(profile, proxy_port=proxy_port), "--"]


def policy(profile: SandboxProfile, *, proxy_port: int = 0) -> str:
    """The whole policy. Denials come after what they take away from."""
    parts = [_HEAD]
    writable = [*profile.writable, *([profile.temp] if profile.temp else [])]
    parts.append(_rule("allow", "file-write*", _filters("subpath", writable)))
    parts.append(_rule("deny", "file-write*", _filters("subpath", profile.protected)))
    parts.append(_rule("deny", "file-write*", _names(writable)))
    parts.append(_rule("deny", "file-write-unlink", _filters("literal", profile.anchors)))
    masked = [mask.path for mask in profile.masked]
    parts.append(_rule("deny", "file-read*", _filters("subpath", masked)))
    parts.append(_rule("deny", "file-write*", _filters("subpath", masked)))
    parts.append(_rule("allow", "file-read*", _filters("subpath", profile.windows)))
    parts.append("(deny file-write-setugid)")
    parts.extend(_network(profile, proxy_port))
    return "\n".join(part for part in parts if part) + "\n"


def _network(profile: SandboxProfile, proxy_port: int) -> Iterator[str]:
    network = profile.network
    if network.reach == "open":
        yield "(allow network*)"
        return
    if network.reach == "proxy" and proxy_port:
        yield f'(allow network-outbound (remote ip "localhost:{proxy_port}"))'
    if network.local_binding:
        yield '(allow network-bind network-inbound (local ip "localhost:*"))'
        yield '(allow network-outbound (remote ip "localhost:*"))'
    for path in network.unix_sockets:
        if path == "*":
            yield "(allow network-outbound (remote unix-socket))"
        else:
            yield f"(allow network-outbound (remote unix-socket (path-literal {_text(path)})))"


def _rule(verb: str, what: str, filters: Iterable[str]) -> str:
    found = list(dict.fromkeys(filters))
    return f"({verb} {what}\n  " + "\n  ".join(found) + ")" if found else ""


def _filters(kind: Literal["subpath", "literal"], paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        for spelling in _spellings(path):
            yield f"({kind} {_text(spelling)})"


def _names(writable: Iterable[str]) -> Iterator[str]:
    """Protected names at any depth: the file system there does not tell cases apart."""
    names = "|".join(_cased(name) for name in sorted(NAMES))
    git = "|".join(_cased(name) for name in GIT_KEPT)
    for path in writable:
        for spelling in _spellings(path):
            head = re.escape(spelling)
            yield f'(regex #"^{_quoted(head)}/(.*/)?({names})(/|$)")'
            yield f'(regex #"^{_quoted(head)}/(.*/)?{_cased(".git")}/(.*/)?({git})(/|$)")'


def _cased(name: str) -> str:
    return "".join(
        f"[{char.lower()}{char.upper()}]" if char.isalpha() else re.escape(char) for char in name
    )


def _spellings(path: str) -> tuple[str, ...]:
    for short, real in _ALIASES:
        if path == short or path.startswith(short + "/"):
            return (path, real + path[len(short) :])
        if path == real or path.startswith(real + "/"):
            return (path, short + path[len(real) :])
    return (path,)


def _text(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _quoted(pattern: str) -> str:
    return pattern.replace('"', '\\"')
