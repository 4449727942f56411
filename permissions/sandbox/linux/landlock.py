"""Landlock: the kernel's own access lists, as a second layer and where namespaces are forbidden.

Only file trees, TCP, signals and abstract sockets: what is protected inside a writable directory
stays writable, which is why this alone is a weaker promise.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from gatewright.permissions.paths import ancestors, inside
from gatewright.permissions.sandbox.machine import Machine
from gatewright.permissions.sandbox.profile import SandboxProfile

ENTRY = Path(__file__).resolve().parent / "inside.py"
_WRITABLE_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/shm", "/dev/pts")


def abi() -> int:
    """The version the kernel speaks; 0 for none."""
    import ctypes  # noqa: PLC0415  lazy: 5 ms, only when bubblewrap is missing

    return max(int(ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), 1)), 0)


class Spec(msgspec.Struct, frozen=True):
    """What `inside.py` is told; `confine` False leaves files and network to the layer around."""

    read: tuple[str, ...] = ("/",)
    write: tuple[str, ...] = ()
    confine: bool = True
    network: str = "none"  # or open
    filter_fd: int = -1
    drop: bool = False  # privileges: root has some without a namespace
    bridge_fd: int = -1  # listen for the proxy and hand the sockets over
    mounts: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])  # to be found inside
    cwd: str = "/"

    def text(self) -> str:
        return json.dumps(
            {
                "read": self.read,
                "write": self.write,
                "confine": self.confine,
                "network": self.network,
                "filter_fd": self.filter_fd,
                "drop": self.drop,
                "bridge_fd": self.bridge_fd,
                "mounts": dict(self.mounts),
                "cwd": self.cwd,
            }
        )


def entry(machine: Machine, spec: Spec | int) -> list[str]:
    """The command that applies `spec` to itself and becomes what follows.

    A descriptor to read it from has room for what no command line has.
    """
    said = str(spec) if isinstance(spec, int) else spec.text()
    return [machine.python, "-I", "-S", str(ENTRY), said]


def alone(profile: SandboxProfile, machine: Machine, filter_fd: int) -> Spec:
    """What holds where there is nothing but Landlock."""
    network = profile.network
    return Spec(
        read=readable(profile),
        write=(*profile.writable, *_WRITABLE_DEVICES),
        network="open" if network.reach == "open" else "none",
        filter_fd=filter_fd,
        drop=machine.root,
        cwd=profile.cwd,
    )


def writable(profile: SandboxProfile) -> tuple[str, ...]:
    """As a second layer inside: what bubblewrap made writable, and its private directories."""
    return (*profile.writable, "/tmp", "/var/tmp", "/run", "/dev", "/proc")


def readable(profile: SandboxProfile) -> tuple[str, ...]:
    """Grants that add up to everything but what is masked outside the writable directories."""
    hidden = [
        mask.path
        for mask in profile.masked
        if not any(inside(mask.path, root) for root in profile.writable)
    ]
    if not hidden:
        return ("/",)
    opened = {above for path in hidden for above in ancestors(path) if above != path}
    granted: list[str] = [*profile.writable, *profile.windows]
    for directory in opened:
        granted.extend(
            path for path in _children(directory) if path not in opened and path not in hidden
        )
    return tuple(sorted(granted))


def _children(directory: str) -> Iterable[str]:
    """What lies in a directory; a link would grant what it leads to."""
    try:
        names = os.listdir(directory)
    except OSError:
        return ()
    base = directory.rstrip("/")
    return [path for name in names if not os.path.islink(path := f"{base}/{name}")]


MISSING = (
    "protected files inside writable directories can be changed (.git/hooks, .vscode, ...)",
    "unreadable files inside writable directories can be read (.env)",
    "permissions, owners and times of files outside can be changed where the user may",
    "other processes are seen and /tmp is shared; sockets of services are shut by the filter alone",
)
