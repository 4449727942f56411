"""Runs as a script between the launcher and the command: confines itself, then becomes it.

Imports nothing of ours and needs no site-packages; a step that fails ends it before the command.
"""

from __future__ import annotations

import json
import os
import struct
import sys
from collections.abc import Callable

TYPE_CHECKING = False  # typing itself would cost a tenth of the start
if TYPE_CHECKING:
    from typing import Any

LISTEN = ("127.0.0.1", "127.0.0.1")  # the HTTP and the SOCKS side of the proxy
PORTS = (3128, 1080)
FREE = ("/dev", "/proc", "/run", "/tmp", "/var/tmp")  # made anew inside, nobody else's

_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}  # how many bits each version knows
_READ = 0b1101  # execute, read a file, list a directory
_FILE_ONLY = 0b1 | 0b10 | 0b100 | 1 << 14 | 1 << 15
_CONNECT, _BIND = 2, 1

Call = Callable[..., int]
Must = Callable[[int, str], int]


def main() -> None:
    said = sys.argv[1]
    if said.isdigit():
        with open(int(said), encoding="utf-8") as told:
            said = told.read()
    spec = json.loads(said)
    command = sys.argv[2:]
    if spec["mounts"]:
        _verify(spec["mounts"])
    if spec["bridge_fd"] >= 0:
        _bridge(spec["bridge_fd"])
    if spec["confine"] or spec["drop"]:
        _confine(spec)
    os.chdir(spec["cwd"])
    os.execvp(command[0], command)


def _verify(wanted: dict[str, str]) -> None:
    """Every mount is where it must be, and nothing else can be written."""
    found: dict[str, tuple[str, str]] = {}
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as table:
        for line in table:
            words = line.split(" ")
            found[_plain(words[4])] = (f"{words[2]} {_plain(words[3])}", words[5])
    for point, origin in wanted.items():
        if point not in found or found[point][0] != origin:
            sys.exit(f"sandbox: {point} was changed while the sandbox was made; try again")
    for point, (_, options) in found.items():
        free = any(point == place or point.startswith(place + "/") for place in FREE)
        if "rw" in options.split(",") and point not in wanted and not free:
            sys.exit(f"sandbox: {point} can be written and must not be; try again")


def _plain(text: str) -> str:
    for code in ("040", "011", "012", "134"):
        text = text.replace(f"\\{code}", chr(int(code, 8)))
    return text


def _bridge(fd: int) -> None:
    """Listen inside, let the proxy outside accept: nothing of us has to stay."""
    import array  # noqa: PLC0415  only with a proxy
    import socket  # noqa: PLC0415

    listeners: list[socket.socket] = []
    for host, port in zip(LISTEN, PORTS, strict=True):
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(128)
        listeners.append(listener)
    channel = socket.socket(fileno=fd)
    numbers = array.array("i", [listener.fileno() for listener in listeners])
    channel.sendmsg([b"L"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)])
    if not channel.recv(1):
        sys.exit("sandbox: the proxy did not answer")
    channel.close()
    for listener in listeners:
        listener.close()


def _confine(spec: dict[str, Any]) -> None:
    import ctypes  # noqa: PLC0415  only where bubblewrap does not do it

    libc = ctypes.CDLL(None, use_errno=True)

    def must(result: int, what: str) -> int:
        if result < 0:
            number = ctypes.get_errno()
            sys.exit(f"sandbox: {what}: {os.strerror(number)}")
        return result

    def prctl(*words: int) -> int:
        return int(libc.prctl(*(ctypes.c_ulong(word) for word in words)))

    must(prctl(1, 9), "parent death signal")
    must(prctl(38, 1, 0, 0, 0), "no new privileges")
    if spec["confine"]:
        _landlock(spec, libc.syscall, must)
    if spec["drop"]:
        prctl(28, 0x2F)  # root gets no capabilities by being root, for good
        for capability in range(64):
            if prctl(24, capability) < 0:
                break
        prctl(47, 4, 0, 0, 0)
        header = struct.pack("=Ii", 0x20080522, 0)
        must(libc.capset(header, bytes(24)), "capabilities")
    fd: int = spec["filter_fd"]
    if fd >= 0:
        program = os.read(fd, 1 << 16)
        os.close(fd)
        data = ctypes.create_string_buffer(program, len(program))
        head = struct.pack("@HxxxxxxQ", len(program) // 8, ctypes.addressof(data))
        holder = ctypes.create_string_buffer(head, len(head))
        must(prctl(22, 2, ctypes.addressof(holder), 0, 0), "system-call filter")


def _landlock(spec: dict[str, Any], call: Call, must: Must) -> None:
    """Rights not granted below are gone for this process and all its children."""
    abi = must(call(444, None, 0, 1), "Landlock")
    handled = (1 << _FILE_RIGHTS.get(min(abi, 5), 13)) - 1
    tcp = 0 if spec["network"] == "open" or abi < 4 else _CONNECT | _BIND
    scopes = 3 if abi >= 6 else 0
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    attributes = struct.pack("=QQQ", handled, tcp, scopes)[:size]
    rules = must(call(444, attributes, len(attributes), 0), "Landlock rules")
    for path in spec["read"]:
        _allow(call, must, (rules, path, _READ & handled))
    for path in spec["write"]:
        _allow(call, must, (rules, path, handled))
    must(call(446, rules, 0), "Landlock")
    os.close(rules)


def _allow(call: Call, must: Must, grant: tuple[int, str, int]) -> None:
    rules, path, rights = grant
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not os.path.isdir(path):
        rights &= _FILE_ONLY
    must(call(445, rules, 1, struct.pack("=Qi", rights, fd), 0), f"Landlock for {path}")
    os.close(fd)


if __name__ == "__main__":
    main()
