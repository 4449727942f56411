"""A profile as bubblewrap's argument list. Later mounts win, so shallow paths come first.

Nothing is decided here: every argument follows from the profile and the machine.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from gatewright.permissions.paths import below, inside
from gatewright.permissions.sandbox.limits import Limits, resource_flags
from gatewright.permissions.sandbox.machine import Machine
from gatewright.permissions.sandbox.profile import SandboxProfile

HIDDEN = ("/run", "/tmp", "/var/tmp")


class Supplies(msgspec.Struct, frozen=True):
    """What the caller prepared: descriptors by number, and an unreadable file to cover others."""

    filter_fd: int = -1
    status_fd: int = -1
    blank: str = ""


def arguments(profile: SandboxProfile, machine: Machine, supplies: Supplies) -> list[str]:
    """Bubblewrap's options; the command follows after `limited`."""
    out = list(_base(profile, machine))
    out.extend(_tree(profile, machine, supplies))
    out.extend(_isolation(profile))
    if supplies.status_fd >= 0:
        out.extend(("--json-status-fd", str(supplies.status_fd)))
    if supplies.filter_fd >= 0:
        out.extend(("--seccomp", str(supplies.filter_fd)))
    out.extend(("--chdir", profile.cwd))
    return out


def _base(profile: SandboxProfile, machine: Machine) -> Iterator[str]:
    yield from ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
    # Root owns the files below /proc/sys: without capabilities they would still open for writing.
    yield from ("--ro-bind-try", "/proc/sys", "/proc/sys")
    for place in (*hidden(machine), "/dev/shm"):
        if profile.limits.tmp:
            yield from ("--size", str(profile.limits.tmp))
        yield from ("--perms", "0755" if place == "/run" else "1777", "--tmpfs", place)
    for path in machine.kept:
        yield from ("--ro-bind-try", path, path)
    if machine.resolver and profile.network.reach == "open":
        yield from ("--ro-bind-try", machine.resolver, machine.resolver)
    for path in profile.network.unix_sockets:
        if path != "*" and any(inside(path, place) for place in HIDDEN):
            yield from ("--bind-try", path, path)


def hidden(machine: Machine) -> tuple[str, ...]:
    return HIDDEN if machine.var_tmp else HIDDEN[:2]


class _Step(msgspec.Struct, frozen=True, order=True):
    """Shallow paths come first, then what is more special: `order`."""

    depth: int
    order: int
    path: str
    words: tuple[str, ...]


_MASK, _WINDOW = 5, 6


def _step(order: int, path: str, *words: str) -> _Step:
    return _Step(path.count("/"), order, path, words)


def _tree(profile: SandboxProfile, machine: Machine, supplies: Supplies) -> Iterator[str]:
    """Writable directories, what stays as it is in them, and what cannot be read."""
    masked: list[str] = []
    for step in sorted((*_opened(profile, machine), *_closed(profile, machine, supplies))):
        above = [place for place in masked if below(step.path, place)]
        reopened = any(
            inside(step.path, root) and any(inside(root, place) for place in above)
            for root in profile.writable
        )
        if above and not reopened and step.order != _WINDOW:
            continue
        yield from step.words
        if "--tmpfs" in step.words and step.order == _MASK:
            masked.append(step.path)
    for path in masked:
        yield from ("--remount-ro", path)


def _opened(profile: SandboxProfile, machine: Machine) -> Iterator[_Step]:
    shown = [path for path in profile.seen if any(below(path, h) for h in hidden(machine))]
    for path in (*shown, *profile.writable, *profile.windows):
        for above in _steps_to(path, machine):
            yield _step(0, above, "--perms", "0555", "--dir", above)
    for path in shown:
        yield _step(1, path, "--ro-bind", path, path)
    for path in profile.writable:
        yield _step(2, path, "--bind", path, path)


def _closed(profile: SandboxProfile, machine: Machine, supplies: Supplies) -> Iterator[_Step]:
    for path in profile.anchors:
        yield _step(3, path, "--bind", path, path)
    for path in profile.protected:
        yield _step(4, path, "--ro-bind", path, path)
    for mask in profile.masked:
        path = mask.path
        if _unseen(path, profile, machine):
            continue
        if mask.kind == "file":
            yield _step(_MASK, path, "--ro-bind", supplies.blank, path)
        else:
            through = (*profile.writable, *profile.windows, profile.cwd)
            passage = any(inside(place, path) for place in through)
            yield _step(_MASK, path, "--perms", "0111" if passage else "0000", "--tmpfs", path)
    for path in profile.windows:
        yield _step(_WINDOW, path, "--ro-bind", path, path)


def _unseen(path: str, profile: SandboxProfile, machine: Machine) -> bool:
    """Already hidden with the directory it lies in: covering it would only create its name."""
    if not any(inside(path, place) for place in ("/dev", "/proc", *hidden(machine))):
        return False
    return not any(inside(path, root) for root in (*profile.writable, *profile.seen))


def _steps_to(path: str, machine: Machine) -> Iterator[str]:
    """The directories down to `path` that must be made in a hidden directory."""
    for place in (*hidden(machine), "/dev"):
        if inside(path, place) and path != place:
            parts = path[len(place) + 1 :].split("/")[:-1]
            for count in range(len(parts)):
                yield "/".join((place, *parts[: count + 1]))


def _isolation(profile: SandboxProfile) -> Iterator[str]:
    yield from ("--unshare-user", "--disable-userns", "--unshare-pid", "--unshare-ipc")
    yield from ("--unshare-uts", "--unshare-cgroup-try")
    if profile.network.reach != "open":
        yield "--unshare-net"
    yield from ("--cap-drop", "ALL", "--new-session", "--die-with-parent")


def limited(limits: Limits, machine: Machine) -> Iterator[str]:
    """Limits are set inside, where processes are counted for this sandbox alone."""
    if machine.prlimit:
        yield from (machine.prlimit, *resource_flags(limits))
        return
    words = ["ulimit -c 0"]
    if limits.fsize:
        words.append(f"ulimit -f {max(limits.fsize // 512, 1)}")
    if limits.memory:
        words.append(f"ulimit -d {max(limits.memory // 1024, 1)}")
    if limits.nproc:
        words.append(f"ulimit -u {limits.nproc} 2>/dev/null || ulimit -p {limits.nproc}")
    yield from (machine.shell, "-c", f'{"; ".join(words)}; exec "$@"', "sh")
