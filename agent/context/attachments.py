"""What a person points at with @ in their input: files, parts of files, directories, images.

A name that is no file stays a word. What is attached is read when the input is taken up.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from gatewright.agent.context.readable import Readable, Withheld
from gatewright.tools.access import Where
from gatewright.tools.protocol import Content, TextContent
from gatewright.tools.system.exact import real_path
from gatewright.tools.system.regular import NotRegular

MOST = 20
CHARACTERS = 100_000  # of one file
ALL_CHARACTERS = 400_000
ENTRIES = 200
READ_LIMIT = 20 * 1024 * 1024
LINES = 2_000
_NO_NAMES = (errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL, errno.EILSEQ)
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
    readable: Readable


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
        content = _attached(mention, where, ports)
        for part in content:
            size = len(part.text) if isinstance(part, TextContent) else 0
            if size > left:
                part = TextContent(f"@{mention.name} was not attached: there is too much already.")
            left -= min(size, left)
            found.append(part)
    return tuple(found)


def _attached(mention: Mention, where: Where, ports: AttachPorts) -> Sequence[Content]:
    try:
        return _parts(mention, where, ports)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return ()  # a word
    except Withheld as withheld:
        said = f"was not attached: {str(withheld).rstrip('.')}."
    except NotRegular:
        said = "was not attached: it is no regular file."
    except OSError as error:
        if error.errno in _NO_NAMES:
            return ()
        said = f"could not be read: {error.strerror}."
    return (TextContent(f"@{mention.name} {said}"),)


def _parts(mention: Mention, where: Where, ports: AttachPorts) -> Sequence[Content]:
    """Who names a file says yes to reading it; a deny rule stands above that. OSError."""
    path = where.resolve(mention.name)
    real = Path(real_path(path))
    agreed = _meant(path, real, where)
    if stat.S_ISDIR(real.lstat().st_mode):
        names = ports.readable.names(path, ENTRIES, agreed=agreed, real=real)
        return (TextContent(_listing(mention.name, real, names)),)
    with ports.readable.open(path, agreed=agreed, real=real) as file:
        size = os.fstat(file.fileno()).st_size
        if size > READ_LIMIT:
            return (TextContent(f"@{mention.name} has {size:,} bytes: read the parts you need."),)
        data = file.read(READ_LIMIT)
    if (picture := ports.picture(data, path)) is not None:
        return (TextContent(f"@{mention.name}:"), picture)
    if b"\0" in data[:8192]:
        return (TextContent(f"@{mention.name} was not attached: it is a binary file."),)
    return (TextContent(_file(mention, real, data, ports)),)


def _meant(path: Path, real: Path, where: Where) -> bool:
    """Whether the person named this very place: a link of the project may lead where it likes."""
    roots = [Path(real_path(root)) for root in (where.root, *where.added)]
    written = Path(os.path.normpath(path))
    inside = any(written.is_relative_to(root) for root in (*roots, where.root, *where.added))
    return not inside or any(real.is_relative_to(root) for root in roots)


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


def _listing(name: str, path: Path, names: Sequence[str]) -> str:
    more = "\n(there may be more)" if len(names) >= ENTRIES else ""
    return f"Directory @{name} ({path}):\n\n" + "\n".join(names) + more
