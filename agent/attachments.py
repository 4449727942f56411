"""What a person points at with @ in their input: files, parts of files, directories, images.

A name that is no file stays a word. What is attached is read when the input is taken up.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from gatewright.tools.access import Where
from gatewright.tools.protocol import Content, TextContent

MOST = 20
CHARACTERS = 100_000  # of one file
ALL_CHARACTERS = 400_000
ENTRIES = 200
READ_LIMIT = 20 * 1024 * 1024
LINES = 2_000
_MENTION = re.compile(r'(?:(?<=[\s(\["\'])|^)@(?:"([^"\n]+)"|([^\s"\'<>|]+))')
_RANGE = re.compile(r"#L(\d{1,9})(?:-L?(\d{1,9}))?$")


class Mention(msgspec.Struct, frozen=True):
    """`first` and `last` are lines, 0 for none given."""

    name: str
    first: int = 0
    last: int = 0


class AttachPorts(msgspec.Struct, frozen=True):
    """`picture` gives an image as the model may get it, None for anything else."""

    picture: Callable[[bytes, Path], Content | None]
    note: Callable[[Path, bytes], None]  # the model has seen the whole file
    readable: Callable[[Path], bool]


def mentions(text: str) -> list[Mention]:
    found: dict[Mention, None] = {}
    for match in _MENTION.finditer(text):
        name = match[1] or match[2].rstrip(".,;:!?)]}")
        if part := _RANGE.search(name):
            first = int(part[1])
            mention = Mention(name[: part.start()], first, int(part[2] or first))
        else:
            mention = Mention(name)
        if mention.name:
            found[mention] = None
    return list(found)[:MOST]


def attach(text: str, where: Where, ports: AttachPorts) -> tuple[Content, ...]:
    """What the mentions of an input add to it, in their order."""
    found: list[Content] = []
    left = ALL_CHARACTERS
    for mention in mentions(text):
        path = _existing(where.resolve(mention.name))
        if path is None:
            continue
        content = _attached(mention, path, ports)
        for part in content:
            size = len(part.text) if isinstance(part, TextContent) else 0
            if size > left:
                part = TextContent(f"@{mention.name} was not attached: there is too much already.")
            left -= min(size, left)
            found.append(part)
    return tuple(found)


def _existing(path: Path) -> Path | None:
    """Where the path leads; None where nothing is, or no such name can be."""
    try:
        real = Path(os.path.realpath(path))
        return real if real.exists() else None
    except (OSError, ValueError):  # too long a name, a NUL in it, a directory we may not enter
        return None


def _attached(mention: Mention, path: Path, ports: AttachPorts) -> Sequence[Content]:
    if not ports.readable(path):
        return (TextContent(f"@{mention.name} was not attached: a rule denies reading it."),)
    try:
        if path.is_dir():
            return (TextContent(_listing(mention.name, path)),)
        if not path.is_file():
            return (TextContent(f"@{mention.name} was not attached: it is no regular file."),)
        size = path.stat().st_size
        if size > READ_LIMIT:
            return (TextContent(f"@{mention.name} has {size:,} bytes: read the parts you need."),)
        data = path.read_bytes()
    except OSError as error:
        return (TextContent(f"@{mention.name} could not be read: {error.strerror}."),)
    if (picture := ports.picture(data, path)) is not None:
        return (TextContent(f"@{mention.name}:"), picture)
    if b"\0" in data[:8192]:
        return (TextContent(f"@{mention.name} was not attached: it is a binary file."),)
    return (TextContent(_file(mention, path, data, ports)),)


def _file(mention: Mention, path: Path, data: bytes, ports: AttachPorts) -> str:
    lines = data.decode("utf-8", errors="replace").splitlines()
    first = max(1, mention.first)
    last = min(len(lines), mention.last or first + LINES - 1)
    shown = list(_numbered(lines[first - 1 : last], first))
    whole = first == 1 and last == len(lines) and len("".join(shown)) < CHARACTERS
    if whole:
        ports.note(path, data)
    text = "\n".join(shown)[:CHARACTERS]
    about = f"{path}" if whole else f"{path}, lines {first} to {last} of {len(lines)}"
    return f"Contents of {about}:\n\n{text}"


def _numbered(lines: Sequence[str], first: int) -> Iterator[str]:
    for number, line in enumerate(lines, start=first):
        yield f"{number:6}\t{line[:2000]}"


def _listing(name: str, path: Path) -> str:
    entries = sorted(path.iterdir(), key=lambda entry: (not entry.is_dir(), entry.name))
    shown = [f"{entry.name}/" if entry.is_dir() else entry.name for entry in entries[:ENTRIES]]
    more = f"\n({len(entries) - ENTRIES} more)" if len(entries) > ENTRIES else ""
    return f"Directory @{name} ({path}):\n\n" + "\n".join(shown) + more
