"""The files of a plugin as one thing: looked through, copied, and told apart by a digest.

Nothing of it is followed, run or opened that is no regular file. A tree that holds anything which
could reach out of it, or stand for two things, is refused.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import structs

from gatewright.agent.errors import GatewrightError
from gatewright.tools.system.regular import regular_fd

MOST_FILES = 20_000
MOST_BYTES = 200 * 1024 * 1024
DEPTH = 40
HISTORY = frozenset({".git"})  # at the top of a directory of the person's own
FILE, PROGRAM, FOLDER = 0o444, 0o555, 0o755
_CHUNK = 1024 * 1024


class BadTree(GatewrightError):
    """Why a directory cannot be a plugin."""


class Item(msgspec.Struct, frozen=True):
    """One file or link, by its path with slashes; `mark` changes when the file does."""

    path: str
    link: str  # where it leads, as written; empty for a file
    program: bool
    size: int
    mark: tuple[int, int, int]


class Tree(msgspec.Struct, frozen=True):
    root: Path
    items: tuple[Item, ...]  # by path
    contents: Mapping[str, str] = {}  # digests of files that were written here just now, by path
    plain: frozenset[str] = frozenset()  # those of them that hold none of the signs asked for

    @property
    def bytes(self) -> int:
        return sum(item.size for item in self.items)

    @property
    def stamp(self) -> str:
        """The same for as long as nobody touched any of it; costs no reading."""
        said = hashlib.sha256()
        for item in self.items:
            said.update(repr((item.path, item.link, item.program, item.size, item.mark)).encode())
        return said.hexdigest()

    def digest(self) -> str:
        """Of all that is in it. Raises BadTree where something cannot be read."""
        whole = hashlib.sha256()
        for item in self.items:
            whole.update(_line(item, self._content(item)))
        return f"sha256:{whole.hexdigest()}"

    def _content(self, item: Item) -> str:
        if item.link:
            return hashlib.sha256(item.link.encode()).hexdigest()
        if known := self.contents.get(item.path):
            return known
        try:
            source = regular_fd(f"{self.root}/{item.path}", follow=False)
        except OSError as error:
            raise _unread(item, error) from error
        try:
            return _passed_on(source)[0]
        except OSError as error:
            raise _unread(item, error) from error
        finally:
            os.close(source)


def _unread(item: Item, error: OSError) -> BadTree:
    return BadTree(f"{item.path} cannot be read: {error.strerror or error}.")


def _line(item: Item, content: str) -> bytes:
    kind = "link" if item.link else "program" if item.program else "file"
    return f"{kind} {content} {item.path}\n".encode()


def tree_of(root: Path, left_out: frozenset[str] = frozenset()) -> Tree:
    """Look through a directory, all but what is left out at its top. Raises BadTree."""
    base = os.path.realpath(root)
    found: list[Item] = []
    size = 0
    for item in _walk(base, "", left_out):
        found.append(item)
        size += item.size
        if len(found) > MOST_FILES:
            raise BadTree(f"There are more than {MOST_FILES:,} files in it.")
        if size > MOST_BYTES:
            raise BadTree(f"It is larger than {MOST_BYTES // 1024 // 1024} MiB.")
    found.sort(key=lambda item: item.path)
    return Tree(Path(base), tuple(found))


def _walk(base: str, below: str, left_out: frozenset[str] = frozenset()) -> Iterator[Item]:
    if below.count("/") >= DEPTH:
        raise BadTree(f"{below} is more than {DEPTH} directories deep.")
    try:
        with os.scandir(f"{base}/{below}") as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        raise BadTree(f"{below or base} cannot be read: {error.strerror or error}.") from error
    names: dict[str, str] = {}
    for entry in listed:
        if entry.name in left_out:
            continue
        path = f"{below}/{entry.name}" if below else entry.name
        _named_well(path, entry.name, names)
        info = entry.stat(follow_symlinks=False)
        if stat.S_ISDIR(info.st_mode):
            yield from _walk(base, path)
        else:
            yield _item(base, path, info)


def _named_well(path: str, name: str, names: dict[str, str]) -> None:
    if not name.isprintable() or "\\" in name or _unencodable(name):
        raise BadTree(f"{path!r} has a name that no file of a plugin may have.")
    if (other := names.setdefault(name.casefold(), name)) != name:
        raise BadTree(f"{path} and {other} are the same name on other systems.")


def _unencodable(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return True
    return False


def _item(base: str, path: str, info: os.stat_result) -> Item:
    mark = (info.st_mtime_ns, info.st_ctime_ns, info.st_ino)
    if stat.S_ISLNK(info.st_mode):
        link = str(Path(f"{base}/{path}").readlink())
        real = os.path.realpath(f"{base}/{path}")
        if link.startswith("/") or not real.startswith(f"{base}/"):
            raise BadTree(f"{path} is a link that leads out of it, to {link}.")
        if ".git" in real[len(base) :].casefold().split("/"):
            raise BadTree(f"{path} is a link into the files of a repository itself.")
        return Item(path, link, program=False, size=0, mark=mark)
    if not stat.S_ISREG(info.st_mode):
        raise BadTree(f"{path} is neither a file nor a directory.")
    if info.st_mode & (stat.S_ISUID | stat.S_ISGID):
        raise BadTree(f"{path} would run as somebody else (set-id).")
    return Item(path, "", bool(info.st_mode & 0o100), info.st_size, mark)


def copy_tree(source: Path, into: Path, signs: Sequence[bytes] = ()) -> Tree:
    """Copy what `tree_of` finds to a new directory, sealed, each file read once: its digest is of
    the very bytes that were written, and so is what is said of signs. Raises BadTree and OSError.
    """
    tree = tree_of(source, HISTORY)
    into.mkdir(mode=FOLDER)
    made = {""}
    contents: dict[str, str] = {}
    plain: set[str] = set()
    for item in tree.items:
        folder = item.path.rpartition("/")[0]
        if folder not in made:
            (into / folder).mkdir(mode=FOLDER, parents=True, exist_ok=True)
            made.add(folder)
        target = f"{into}/{item.path}"  # texts: a Path for each costs as much as a small file
        if item.link:
            os.symlink(item.link, target)  # noqa: PTH211
            continue
        file = regular_fd(f"{tree.root}/{item.path}", follow=False)
        try:
            mode = PROGRAM if item.program else FILE
            contents[item.path], whole = _write(file, target, mode)
        finally:
            os.close(file)
        if whole is not None and not any(sign in whole for sign in signs):
            plain.add(item.path)
    return structs.replace(tree_of(into), contents=contents, plain=frozenset(plain))


def _write(source: int, target: str, mode: int) -> tuple[str, bytes | None]:
    """What `_passed_on` says of what was written."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(target, flags, 0o600)
    try:
        said = _passed_on(source, descriptor)
        os.fchmod(descriptor, mode)
    finally:
        os.close(descriptor)
    return said


def _passed_on(source: int, target: int | None = None) -> tuple[str, bytes | None]:
    """The digest of all that is left to read, which is written where there is a target; and the
    bytes themselves, where they came in one piece.
    """
    said = hashlib.sha256()
    whole: bytes | None = b""
    while chunk := os.read(source, _CHUNK):
        said.update(chunk)
        whole = chunk if whole == b"" else None
        left = memoryview(chunk if target is not None else b"")
        while left and target is not None:
            left = left[os.write(target, left) :]
    return said.hexdigest(), whole


def seal(tree: Tree) -> None:
    """Take the right to write away: a program of it that keeps its own files keeps them as data."""
    for item in tree.items:
        if not item.link:
            with suppress(OSError):
                os.chmod(tree.root / item.path, PROGRAM if item.program else FILE)  # noqa: PTH101


def remove_tree(folder: Path) -> None:
    """All of it, or as much as can be removed; nothing is followed."""
    if folder.is_symlink() or not folder.is_dir():
        with suppress(OSError):
            folder.unlink()
        return
    shutil.rmtree(folder, ignore_errors=True)
