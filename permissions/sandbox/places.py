"""Where what settings and search paths name lies on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from gatewright.permissions.machine.links import led_out, on_disk
from gatewright.permissions.sandbox.config import ENV_EXAMPLES, Config, firm_reads
from gatewright.permissions.sandbox.disk.globs import Glob, globs, resolved
from gatewright.permissions.sandbox.disk.guarded import HOME
from gatewright.permissions.sandbox.disk.survey import Surveyor


def programs(search: str) -> Iterator[str]:
    """Where the programs of a search path lie, with the libraries beside them."""
    for place in search.split(":"):
        real = os.path.realpath(place) if place.startswith("/") else ""
        if real.count("/") > 2 and os.path.isdir(real):
            yield os.path.dirname(real) if os.path.basename(real) == "bin" else real


def real(roots: Iterable[Path]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(os.path.realpath(root) for root in roots))


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


def surveyor(config: Config, roots: tuple[str, ...]) -> Surveyor:
    """Who looks on the disk for what commands below `roots` may not read or change.

    Every pattern is resolved here once: links in it are followed as they are now.
    """
    base, home = os.path.realpath(config.cwd), os.path.realpath(config.home)

    def read(texts: Iterable[str], *, grants: bool = False) -> tuple[Glob, ...]:
        given = (glob for each in texts for glob in globs(each, base, home, grants=grants))
        within = roots if grants else ()
        return tuple(each for glob in given for each in resolved(glob, within))

    own = () if config.own_home is None else (os.path.realpath(config.own_home.path),)
    kept = read(config.deny_write)
    return Surveyor(
        roots=roots,
        home=home,
        denies=read(config.deny_read),
        allows=read((*(f"**/{name}" for name in ENV_EXAMPLES), *config.allow_read), grants=True),
        deny_writes=(
            *own,
            *(f"{home}/{name}" for name in HOME),
            *(glob.literal for glob in kept if glob.pattern is None),
        ),
        keeps=tuple(glob for glob in kept if glob.pattern is not None),
        firm=read(firm_reads(config.deny_read)),
        hidden=() if config.own_home is None else config.own_home.hidden(roots),
    )
