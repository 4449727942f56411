"""Where what settings and search paths name lies on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator

from gatewright.permissions.machine.links import led_out, on_disk


def programs(search: str) -> Iterator[str]:
    """Where the programs of a search path lie, with the libraries beside them."""
    for place in search.split(":"):
        real = os.path.realpath(place) if place.startswith("/") else ""
        if real.count("/") > 2 and os.path.isdir(real):
            yield os.path.dirname(real) if os.path.basename(real) == "bin" else real


def absolute(text: str, base: str, home: str, roots: tuple[str, ...]) -> str:
    """Where a setting points, links resolved; "" where a link in a root leads it out of there."""
    if text == "~" or text.startswith("~/"):
        text = home + text[1:]
    if text.startswith("//"):
        text = text[1:]
    path = os.path.join(base, text)
    if led_out(on_disk(path), roots):
        return ""
    parent, name = os.path.split(os.path.normpath(path))
    whole = os.path.realpath(path)
    return whole if os.path.lexists(whole) else os.path.join(os.path.realpath(parent), name)
