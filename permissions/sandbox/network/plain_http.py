"""What is read of a plain HTTP request: the server behind must read the same, or it is refused.

A second reading is another host: line ends, lengths and names that servers differ on do not pass.
"""

from __future__ import annotations

import msgspec

from gatewright.permissions.sandbox.network.egress import Refused
from gatewright.tools.system.patterns import later

_TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_FIELD = later(_TOKEN + rb":")
_METHOD = later(_TOKEN)
_LENGTH = later(rb"[0-9]{1,18}")
_CONTROL = later(rb"[\x00-\x1f\x7f]")
_UNPRINTED = later(rb"[\x00-\x08\x0a-\x1f\x7f]")  # a tab may stand in a value
_OURS = (b"host", b"connection", b"proxy-connection", b"proxy-authorization")
_SKIPPED = b"\r\n \t"  # what servers pass over before a request


class Head(msgspec.Struct, frozen=True):
    """The lines that go on as they are, the hosts they named, and the size of what follows."""

    kept: tuple[bytes, ...]
    hosts: tuple[str, ...]
    length: int


def words_of(first: bytes) -> tuple[str, str] | None:
    """Method and address of a request line; None for anything else."""
    words = first.split(b" ")
    if len(words) != 3 or not words[2].startswith(b"HTTP/1.") or _CONTROL.search(first):
        return None
    if _METHOD.fullmatch(words[0]) is None:
        return None
    return words[0].decode("latin-1"), words[1].decode("latin-1")


def read_fields(lines: list[bytes]) -> Head:
    """Raises Refused for what servers could read in two ways."""
    kept: list[bytes] = []
    hosts: list[str] = []
    lengths: list[bytes] = []
    for line in lines:
        if _UNPRINTED.search(line) or _FIELD.match(line) is None:
            raise Refused("A header is not well formed.")
        name, _, value = line.partition(b":")
        word, value = name.lower(), value.strip(b" \t")
        if word == b"transfer-encoding":
            raise Refused("Requests in pieces do not pass; send a Content-Length.")
        if word == b"host":
            hosts.append(value.decode("latin-1"))
        if word == b"content-length":
            lengths.append(value)
        if word not in _OURS:
            kept.append(line)
    if len(lengths) > 1 or any(_LENGTH.fullmatch(each) is None for each in lengths):
        raise Refused("The Content-Length is not one number.")
    return Head(tuple(kept), tuple(hosts), int(lengths[0]) if lengths else 0)


def could_be_request(data: bytes) -> bool | None:
    """Whether a server could read this beginning of a connection as HTTP; None asks for more.

    Whatever the method: it is any word, and servers pass over blank lines before it.
    """
    said = data.lstrip(_SKIPPED)
    method = _METHOD.match(said)
    if method is None:
        return False if said else None
    line, end, _ = said.partition(b"\n")
    if b"\0" in line or (len(said) > method.end() and said[method.end()] not in b" \t\r\n"):
        return False
    rest = line[method.end() :].lstrip(b" \t")
    if rest.startswith(b"/") or b"://" in rest or b"http/" in rest.lower():
        return True
    return False if end else None
