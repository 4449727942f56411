"""The lines of a file from its end: what is never asked for is never read."""

from __future__ import annotations

import os
from collections.abc import Iterator

BLOCK = 256 * 1024


def lines_backwards(file: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Offset and text of each line that ends before `end`, the last one first.

    What stands behind the last newline is given first too, and is empty in a file that was closed
    properly.
    """
    pieces: list[bytes] = []  # of the line whose beginning was not reached yet, back to front
    place = end
    while place > 0:
        start = max(0, place - BLOCK)
        block = os.pread(file, place - start, start)
        stop = len(block)
        while (cut := block.rfind(b"\n", 0, stop)) >= 0:
            pieces.append(block[cut + 1 : stop])
            yield start + cut + 1, _joined(pieces)
            pieces, stop = [], cut
        pieces.append(block[:stop])
        place = start
    yield 0, _joined(pieces)


def _joined(pieces: list[bytes]) -> bytes:
    return pieces[0] if len(pieces) == 1 else b"".join(reversed(pieces))
