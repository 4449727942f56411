"""Compressed answers: we ask for none, but a gateway may compress all the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gatewright.agent.errors import FailureKind, ProviderError
from gatewright.agent.providers.transport.response import BadResponse

_PIECE = 256 * 1024  # a kilobyte may stand for a megabyte: who counts must see it piece by piece


def decoder(coding: str) -> Callable[[bytes], Iterator[bytes]]:
    """What turns bytes as they come into pieces of bounded size."""
    if coding in ("", "identity"):
        return lambda data: iter((data,))
    if coding not in ("gzip", "deflate"):
        raise ProviderError(FailureKind.TRANSPORT, f"The answer is compressed with {coding!r}.")
    import zlib  # noqa: PLC0415  lazy: nobody compresses a stream unasked

    inflate = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)

    def decode(data: bytes) -> Iterator[bytes]:
        piece = b""
        while data or len(piece) == _PIECE:
            if inflate.eof:
                raise BadResponse(f"it goes on behind the end of its {coding} data")
            try:
                piece = inflate.decompress(data, _PIECE)
            except zlib.error as error:
                raise BadResponse(f"it is not {coding}, as it says") from error
            data = inflate.unconsumed_tail
            if piece:
                yield piece

    return decode
