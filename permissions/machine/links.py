"""Following links as the kernel does, and remembering which ones led to where a path ends."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable

import msgspec

from gatewright.permissions.paths import Place, Resolver, inside, lexical

MAX_LINKS = 40
MAX_LOOKED = 100_000


class Followed(msgspec.Struct, frozen=True):
    """Where a path really leads. `links` are the places of the links on the way, links resolved."""

    real: str
    links: tuple[str, ...] = ()


def followed(path: str, target_of: Callable[[str], str | None]) -> Followed:
    """`target_of` says where a link points, None for what is no link; `..` goes up from there."""
    current = "/"
    pending = [part for part in path.split("/") if part not in ("", ".")][::-1]
    links: list[str] = []
    while pending:
        part = pending.pop()
        if part == "..":
            current = current.rpartition("/")[0] or "/"
            continue
        step = f"{current}/{part}" if current != "/" else f"/{part}"
        target = target_of(step)
        if target is None:
            current = step
            continue
        links.append(step)
        if len(links) > MAX_LINKS:
            return Followed(step, tuple(links))  # a loop: nothing it could escape to
        if target.startswith("/"):
            current = "/"
        pending.extend(p for p in reversed(target.split("/")) if p not in ("", "."))
    return Followed(current, tuple(links))


def led_out(found: Followed, directories: Iterable[str]) -> bool:
    """Whether a link inside one of these (real) directories decides where a path ends outside."""
    around = tuple(directories)
    for link in found.links:
        holding = [one for one in around if inside(link, one)]
        if holding and not any(inside(found.real, one) for one in holding):
            return True
    return False


def own_real(path: str, place: Place, resolver: Resolver) -> str:
    """Where a path of the person's really leads.

    A link inside the project or an added directory is not theirs: where one leads the path out of
    there, it stays as it is written. A repository must not aim a person's rule elsewhere.
    """
    found = resolver.followed(path)
    directories = map(resolver.real, (place.root, *place.directories))
    return lexical(path) if led_out(found, directories) else found.real


def on_disk(path: str) -> Followed:
    return followed(path, _target_of)


def links_out_of(directory: str) -> tuple[str, ...]:
    """Where the links below a directory lead out of it; `/` where there is too much to look at."""
    found: dict[str, None] = {}
    pending, looked = [directory], 0
    while pending:
        with contextlib.suppress(OSError), os.scandir(pending.pop()) as entries:
            for entry in entries:
                looked += 1
                if looked > MAX_LOOKED:
                    return ("/",)
                if entry.is_symlink():
                    found[on_disk(entry.path).real] = None
                elif entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
    return tuple(place for place in found if not inside(place, directory))


def _target_of(path: str) -> str | None:
    with contextlib.suppress(OSError, ValueError):
        return os.readlink(path)  # noqa: PTH115  strings are wanted
    return None
