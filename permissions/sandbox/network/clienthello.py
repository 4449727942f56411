"""The server name in the first bytes of a TLS connection."""

from __future__ import annotations

import msgspec

RECORD_LIMIT = 5 + (1 << 14)


class Hello(msgspec.Struct, frozen=True):
    """`name` is empty when the client sent none; `whole` False asks for more bytes."""

    name: str = ""
    whole: bool = True
    tls: bool = True


def read_hello(data: bytes) -> Hello:
    """Read a ClientHello. One that is cut into several records counts as unreadable: ValueError."""
    if data[:1] != b"\x16":
        return Hello(tls=False)
    if len(data) < 5:
        return Hello(whole=False)
    size = int.from_bytes(data[3:5], "big")
    if size > 1 << 14:
        raise ValueError("the record is too long")
    if len(data) < 5 + size:
        return Hello(whole=False)
    body = data[5 : 5 + size]
    if body[:1] != b"\x01" or int.from_bytes(body[1:4], "big") + 4 > len(body):
        raise ValueError("the greeting is in pieces")
    return Hello(_name(_Bytes(body[4:])))


class _Bytes:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, count: int) -> bytes:
        part = self._data[self._at : self._at + count]
        if len(part) < count:
            raise ValueError("the greeting ends early")
        self._at += count
        return part

    def sized(self, width: int) -> bytes:
        return self.take(int.from_bytes(self.take(width), "big"))

    @property
    def left(self) -> bool:
        return self._at < len(self._data)


def _name(hello: _Bytes) -> str:
    hello.take(34)  # version, random
    hello.sized(1)  # session
    hello.sized(2)  # ciphers
    hello.sized(1)  # compression
    if not hello.left:
        return ""
    extensions = _Bytes(hello.sized(2))
    found: list[str] = []
    while extensions.left:
        kind = int.from_bytes(extensions.take(2), "big")
        content = extensions.sized(2)
        if kind == 0:
            names = _Bytes(_Bytes(content).sized(2))
            while names.left:
                sort = names.take(1)
                name = names.sized(2)
                if sort == b"\0":
                    found.append(name.decode("ascii", "strict"))
    if len(set(found)) > 1:
        raise ValueError("there are several names")
    return found[0] if found else ""
