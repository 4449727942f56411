"""The system-call filter as classic BPF bytes, for bubblewrap or for prctl.

A filter sees numbers and register arguments only; what it cannot judge by those it answers with
"no such call", so that the caller falls back to a call it can judge.
"""

from __future__ import annotations

import platform
import struct
from typing import Final

import msgspec

from gatewright.permissions.sandbox.linux.syscalls import NUMBERS, REFUSED, UNKNOWN

_LD, _JEQ, _JGE, _JSET, _AND, _RET = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW: Final = 0x7FFF0000
EPERM, ENOSYS, EAFNOSUPPORT = 1, 38, 97
_ARCH: Final = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1), "arm64": (0xC00000B7, 1)}
_X32: Final = 0x40000000

_NAMESPACES: Final = 0x7E020000  # every CLONE_NEW* flag
_SET_ID: Final = 0o6000
_CREATES: Final = 0o100 | 0o20000000  # O_CREAT | __O_TMPFILE
_TIOCSTI, _TIOCLINUX, _TIOCSETD = 0x5412, 0x541C, 0x5423
_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_DGRAM, _TYPE_MASK = 2, 0xF
_RAW_TYPES: Final = (3, 10)  # SOCK_RAW, SOCK_PACKET
_NETLINK_ROUTE: Final = 0


class _Op(msgspec.Struct, frozen=True):
    """One instruction; a jump goes to `target` when the test holds, else to the next one."""

    code: int
    value: int
    target: str = ""
    label: str = ""


def supported(machine: str | None = None) -> bool:
    return (machine or platform.machine()) in _ARCH


def filter_bytes(
    machine: str | None = None, *, unix_sockets: bool = False, internet: bool = True
) -> bytes:
    """The filter for this machine. Raises KeyError where `supported` says no."""
    arch, column = _ARCH[machine or platform.machine()]
    ops = [
        _Op(_LD, 4),
        _Op(_JEQ, arch, "number"),
        _Op(_RET, _error(EPERM)),  # another architecture's numbers mean something else
        _Op(_LD, 0, label="number"),
    ]
    if column == 0:
        ops.append(_Op(_JGE, _X32, "unknown"))
    ops.extend(_Op(_JEQ, NUMBERS[name][column], "refuse") for name in _have(REFUSED, column))
    ops.extend(_Op(_JEQ, NUMBERS[name][column], "unknown") for name in _have(UNKNOWN, column))
    tests = _argument_tests(unix_sockets=unix_sockets, internet=internet)
    ops.extend(_Op(_JEQ, NUMBERS[name][column], name) for name in _have(tuple(tests), column))
    ops.append(_Op(_RET, _ALLOW))
    for name in _have(tuple(tests), column):
        first, *rest = tests[name]
        ops.extend((_Op(first.code, first.value, first.target, name), *rest))
        ops.append(_Op(_RET, _ALLOW))
    ops.append(_Op(_RET, _error(EPERM), label="refuse"))
    ops.append(_Op(_RET, _error(ENOSYS), label="unknown"))
    ops.append(_Op(_RET, _error(EAFNOSUPPORT), label="family"))
    return _assemble(ops)


def _error(number: int) -> int:
    return 0x00050000 | number


def _have(names: tuple[str, ...], column: int) -> list[str]:
    return [name for name in names if NUMBERS[name][column] >= 0]


def _load(argument: int) -> _Op:
    return _Op(_LD, 16 + 8 * argument)  # low half: all we look at are 32-bit arguments


def _mode(argument: int) -> list[_Op]:
    return [_load(argument), _Op(_JSET, _SET_ID, "refuse")]


def _creates(flags: int, mode: int, name: str) -> list[_Op]:
    """The mode counts only when the call creates; otherwise the register holds anything."""
    return [
        _load(flags),
        _Op(_JSET, _CREATES, f"{name}-mode"),
        _Op(_RET, _ALLOW),
        _Op(_LD, 16 + 8 * mode, label=f"{name}-mode"),
        _Op(_JSET, _SET_ID, "refuse"),
    ]


def _argument_tests(*, unix_sockets: bool, internet: bool) -> dict[str, list[_Op]]:
    return {
        "clone": [_load(0), _Op(_JSET, _NAMESPACES, "refuse")],
        "ioctl": [
            _load(1),
            *(_Op(_JEQ, value, "refuse") for value in (_TIOCSTI, _TIOCLINUX, _TIOCSETD)),
        ],
        "socket": _socket(unix_sockets=unix_sockets, internet=internet),
        "socketpair": [
            _load(1),
            _Op(_AND, _TYPE_MASK),
            *([] if unix_sockets else [_Op(_JEQ, _DGRAM, "refuse")]),
        ],
        "chmod": _mode(1),
        "fchmod": _mode(1),
        "fchmodat": _mode(2),
        "fchmodat2": _mode(2),
        "mknod": _mode(1),
        "mknodat": _mode(2),
        "creat": _mode(1),
        "open": _creates(1, 2, "open"),
        "openat": _creates(2, 3, "openat"),
    }


def _socket(*, unix_sockets: bool, internet: bool) -> list[_Op]:
    return [
        _load(0),
        *([_Op(_JEQ, _UNIX, "socket-fine")] if unix_sockets else [_Op(_JEQ, _UNIX, "refuse")]),
        _Op(_JEQ, _INET, "socket-type" if internet else "refuse"),
        _Op(_JEQ, _INET6, "socket-type" if internet else "refuse"),
        _Op(_JEQ, _NETLINK, "socket-netlink"),
        _Op(_RET, _error(EAFNOSUPPORT)),
        _Op(_LD, 16 + 8 * 2, label="socket-netlink"),
        _Op(_JEQ, _NETLINK_ROUTE, "socket-fine"),
        _Op(_RET, _error(EPERM)),
        _Op(_LD, 16 + 8 * 1, label="socket-type"),
        _Op(_AND, _TYPE_MASK),
        *(_Op(_JEQ, value, "refuse") for value in _RAW_TYPES),
        _Op(_RET, _ALLOW, label="socket-fine"),
    ]


def _assemble(ops: list[_Op]) -> bytes:
    """Jumps go forward and reach 255 instructions at most."""
    labels = {op.label: index for index, op in enumerate(ops) if op.label}
    out: list[bytes] = []
    for index, op in enumerate(ops):
        jump = labels[op.target] - index - 1 if op.target else 0
        if not 0 <= jump <= 255:
            raise ValueError(f"the filter has grown: {op.target} is {jump} instructions away")
        out.append(struct.pack("=HBBI", op.code, jump, 0, op.value & 0xFFFFFFFF))
    return b"".join(out)
