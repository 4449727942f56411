"""What a person points at with @ in their input: files, parts of files, directories, images.

A name that is no file stays a word; the person is told where it reads like one. What is attached is
read when the input is taken up.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from gatewright.agent.context.attach_ports import AttachPorts, nobodys
from gatewright.agent.context.readable import Withheld
from gatewright.tools.access import Where
from gatewright.tools.protocol import Content, TextContent, ToolFailure
from gatewright.tools.system.exact import real_path
from gatewright.tools.system.patterns import later
from gatewright.tools.system.regular import NotRegular

MOST = 20
CHARACTERS = 100_000  # of one file
ALL_CHARACTERS = 400_000
ENTRIES = 200
READ_LIMIT = 20 * 1024 * 1024
LINES = 2_000
TOLD = 3  # names of files that were not attached
_NO_NAMES = (errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL, errno.EILSEQ)
_MENTION = later(r'(?:(?<=[\s(\["\'])|^)@(?:"([^"\n]+)"|([^\s"\'<>|]+))')
_RANGE = later(r"#L(\d{1,9})(?:-L?(\d{1,9}))?$")


class Mention(msgspec.Struct, frozen=True):
    """`first` and `last` are lines, 0 for none given."""

    name: str
    first: int = 0
    last: int = 0


class Brought(msgspec.Struct, frozen=True):
    """`name` is what the person reads of it as attached, `told` a sentence where it is not."""

    content: tuple[Content, ...] = ()
    name: str = ""
    told: str = ""


def named(text: str) -> list[str]:
    """The names behind @, as they are written."""
    found = (match[1] or match[2].rstrip(".,;:!?)]}") for match in _MENTION.finditer(text))
    return list(dict.fromkeys(name for name in found if name))[:MOST]


def mentions(text: str, elsewhere: Callable[[str], bool] = nobodys) -> list[Mention]:
    """Those of files: what is to be found `elsewhere` is none."""
    found = (_mention(name) for name in named(text) if not elsewhere(name))
    return [mention for mention in found if mention.name]


def _mention(name: str) -> Mention:
    if (part := _RANGE.search(name)) is None:
        return Mention(name)
    first = int(part[1])
    return Mention(name[: part.start()], first, int(part[2] or first))


def unread(typed: str, text: str, where: Where) -> str:
    """What to say of files that are named in an input, but not by the person who sent it.

    A pipe or a long paste is somebody else's text, and nobody has read it line by line.
    """
    own = {mention.name for mention in mentions(typed)}
    foreign = [each.name for each in mentions(text) if each.name not in own]
    there = [name for name in foreign if os.path.lexists(where.resolve(name))]
    if not there:
        return ""
    names = ", ".join(f"@{name}" for name in there[:TOLD])
    more = f" and {len(there) - TOLD} more" if len(there) > TOLD else ""
    return f"Not attached: {names}{more}. Only what you type yourself names files to send."


def attach(text: str, where: Where, ports: AttachPorts) -> tuple[Content, ...]:
    """What the mentions of an input add to it, in their order."""
    found: list[Brought] = []
    left = ALL_CHARACTERS
    for mention in mentions(text, ports.elsewhere):
        brought = _attached(mention, where, ports)
        size = sum(len(part.text) for part in brought.content if isinstance(part, TextContent))
        if size > left:
            brought = _not(mention, "was not attached: there is too much already.")
        left -= min(size, left)
        found.append(brought)
    names = ", ".join(each.name for each in found if each.name)
    lines = [f"Attached: {names}"] if names else []
    if said := "\n".join([*lines, *(each.told for each in found if each.told)]):
        ports.tell(said)
    return tuple(part for each in found for part in each.content)


def _not(mention: Mention, why: str) -> Brought:
    said = f"@{mention.name} {why}"
    return Brought((TextContent(said),), told=said)


def _attached(mention: Mention, where: Where, ports: AttachPorts) -> Brought:
    try:
        return _parts(mention, where, ports)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        meant = "." in mention.name or "/" in mention.name  # else it is a word like any other
        return Brought(told=f"There is no file {mention.name} to attach." if meant else "")
    except Withheld as withheld:
        said = f"was not attached: {str(withheld).rstrip('.')}."
    except ToolFailure as failure:
        said = f"was not attached: {str(failure).rstrip('.')}."
    except NotRegular:
        said = "was not attached: it is no regular file."
    except OSError as error:
        if error.errno in _NO_NAMES:
            return Brought()
        said = f"could not be read: {error.strerror}."
    return _not(mention, said)


def _parts(mention: Mention, where: Where, ports: AttachPorts) -> Brought:
    """Who names a file says yes to reading it; a deny rule stands above that. OSError."""
    path = where.resolve(mention.name)
    real = Path(real_path(path))
    agreed = _meant(path, real, where)
    if stat.S_ISDIR(real.lstat().st_mode):
        names = ports.readable.names(path, ENTRIES, agreed=agreed, real=real)
        return Brought((TextContent(_listing(mention.name, real, names)),), mention.name)
    with ports.readable.open(path, agreed=agreed, real=real) as file:
        size = os.fstat(file.fileno()).st_size
        if size > READ_LIMIT:
            return _not(mention, f"has {size:,} bytes: read the parts you need.")
        data = file.read(READ_LIMIT)
    if ports.files is not None:
        with ports.files.opened(real) as file:
            data = file.read(READ_LIMIT)
    if (picture := ports.picture(data, path)) is not None:
        return Brought((TextContent(f"@{mention.name}:"), picture), mention.name)
    if b"\0" in data[:8192]:
        return _not(mention, "was not attached: it is a binary file.")
    return _file(mention, real, data, ports)


def _meant(path: Path, real: Path, where: Where) -> bool:
    """Whether the person named this very place: a link of the project may lead where it likes."""
    roots = [Path(real_path(root)) for root in (where.root, *where.added)]
    written = Path(os.path.normpath(path))
    inside = any(written.is_relative_to(root) for root in (*roots, where.root, *where.added))
    return not inside or any(real.is_relative_to(root) for root in roots)


def _file(mention: Mention, path: Path, data: bytes, ports: AttachPorts) -> Brought:
    lines = data.decode("utf-8", errors="replace").splitlines()
    first = max(1, mention.first)
    last = min(len(lines), mention.last or first + LINES - 1)
    shown = list(_numbered(lines[first - 1 : last], first))
    whole = first == 1 and last == len(lines) and len("".join(shown)) < CHARACTERS
    if whole:
        ports.note(path, data)
    text = "\n".join(shown)[:CHARACTERS]
    about = f"{path}" if whole else f"{path}, lines {first} to {last} of {len(lines)}"
    count = f"{len(shown)} {'line' if len(shown) == 1 else 'lines'}"
    content = (TextContent(f"Contents of {about}:\n\n{text}"),)
    return Brought(content, f"{mention.name} ({count})")


def _numbered(lines: Sequence[str], first: int) -> Iterator[str]:
    for number, line in enumerate(lines, start=first):
        yield f"{number:6}\t{line[:2000]}"


def _listing(name: str, path: Path, names: Sequence[str]) -> str:
    more = "\n(there may be more)" if len(names) >= ENTRIES else ""
    return f"Directory @{name} ({path}):\n\n" + "\n".join(names) + more
