from __future__ import annotations

import itertools

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewright.agent.providers.transport.response import BadResponse, ResponseReader

BODY = b"data: one\n\ndata: two and more\n\n"
CHUNKED = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"b\r\ndata: one\n\n\r\n14;x=y\r\ndata: two and more\n\n\r\n0\r\nX-Trailer: 1\r\n\r\n"
)
PLAIN = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nX: a\r\nx:  b \r\n\r\n%s" % (len(BODY), BODY)
CLOSED = b"HTTP/1.0 200 OK\r\n\r\n" + BODY
EARLY = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + CHUNKED


def read(pieces: list[bytes]) -> tuple[ResponseReader, bytes]:
    reader = ResponseReader()
    body = b""
    for piece in pieces:
        if piece and not reader.complete:
            reader.feed(piece)
            body += reader.take()
    if not reader.complete:
        reader.feed(b"")
    return reader, body


@pytest.mark.parametrize("wire", [CHUNKED, PLAIN, CLOSED, EARLY])
def test_every_framing_whole_and_byte_by_byte(wire: bytes) -> None:
    for pieces in ([wire], [wire[i : i + 1] for i in range(len(wire))]):
        reader, body = read(pieces)
        assert (reader.status, body, reader.complete) == (200, BODY, True)
        assert reader.reusable == (wire is not CLOSED)


def test_headers_are_lower_case_and_joined() -> None:
    reader, _ = read([PLAIN])
    assert reader.headers["x"] == "a, b"


@pytest.mark.parametrize(
    "wire",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nbad header: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n folded: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx",
        b"HTTP/1.1 200 OK\r\ncontent-length: +1\r\n\r\nxx",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nabcd\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab",
        b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nx: " + b"y" * 300_000,
    ],
)
def test_nonsense_is_refused(wire: bytes) -> None:
    for pieces in ([wire], [wire[i : i + 1] for i in range(min(len(wire), 500))]):
        if len(wire) > 500 and len(pieces) > 1:
            continue
        with pytest.raises(BadResponse):
            read(pieces)


def test_bytes_behind_the_answer_end_the_connection() -> None:
    for wire in (CHUNKED, PLAIN):
        reader, body = read([wire + b"HTTP/1.1 200 OK\r\n"])
        assert (body, reader.complete, reader.reusable) == (BODY, True, False)


def h11_body(wire: bytes) -> bytes | None:
    peer = h11.Connection(h11.CLIENT)
    peer.send(h11.Request(method="GET", target="/", headers=[("host", "x")]))
    peer.send(h11.EndOfMessage())
    peer.receive_data(wire)
    peer.receive_data(b"")
    body = b""
    try:
        while True:
            event = peer.next_event()
            if isinstance(event, h11.Data):
                body += bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                return body
            elif event is h11.NEED_DATA or isinstance(event, h11.ConnectionClosed):
                return None
    except h11.RemoteProtocolError:
        return None


def own_body(pieces: list[bytes]) -> bytes | None:
    try:
        return read(pieces)[1]
    except BadResponse:
        return None


@given(
    parts=st.lists(st.binary(min_size=1, max_size=40), max_size=8),
    cuts=st.lists(st.integers(0, 600), max_size=12),
    truncated=st.integers(0, 40),
)
def test_agrees_with_a_general_parser(parts: list[bytes], cuts: list[int], truncated: int) -> None:
    framed = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)
    wire = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + framed + b"0\r\n\r\n"
    wire = wire[: len(wire) - truncated]
    edges = sorted({0, len(wire), *(cut for cut in cuts if cut < len(wire))})
    pieces = [wire[a:b] for a, b in itertools.pairwise(edges)]
    assert own_body(pieces) == h11_body(wire)


@given(noise=st.binary(max_size=200), at=st.integers(0, 150))
def test_noise_never_breaks_out(noise: bytes, at: int) -> None:
    own_body([CHUNKED[:at], noise, CHUNKED[at:]])
