"""Snapshots of a project in a git directory of our own: the person's repository is never touched.

Covers what commands do to files that git would not ignore. Bytes are kept as they are: no filter,
no line-ending conversion; permissions other than the usual ones are kept beside the tree.
"""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import suppress
from pathlib import Path

import msgspec

from gatewright.tools.system import private
from gatewright.tools.system.git import Caller, Git
from gatewright.tools.system.gitfiles import own_ignores, text_of

SIZE_LIMIT = 2 * 1024 * 1024
TIME = 20.0
USUAL = frozenset({0o644, 0o755})
NAMED = 20
MOST_HELD = 5_000  # files below a path that are looked for in a snapshot
_IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Gatewright"), ("EMAIL", "snapshots@gatewright.invalid"))
}
_ATTRIBUTES = "* -text -eol -ident -filter -working-tree-encoding -diff -merge\n"


class Snapshot(msgspec.Struct, frozen=True):
    tree: str
    left: tuple[str, ...]  # too large to be kept, the first few by name


class Change(msgspec.Struct, frozen=True):
    """A file that differs between two trees; an empty blob: it is not in that one."""

    path: str
    old: str
    new: str
    old_mode: int
    new_mode: int


class Shadow:
    """`shared` is the project's, with all bytes; `own` the session's. Raises OSError for whatever
    goes wrong; the caller decides to do without.
    """

    def __init__(self, shared: Path, own: Path, root: Path, caller: Caller) -> None:
        self._shared = shared
        self._index = own / "index"
        self._root = root
        self._modes = shared / "modes"
        places = {
            "GIT_DIR": str(shared / "git"),
            "GIT_WORK_TREE": str(root),
            "GIT_INDEX_FILE": str(self._index),
        }
        self._caller = caller
        self._places = {**places, **_IDENTITY}

    def take(self) -> Snapshot:
        """Keep the project as it is. Costs what changed since the last time."""
        self._prepare()
        try:
            return self._taken()
        except TimeoutError:
            raise
        except OSError:  # objects the index knows may be gone: once more from nothing
            self._index.unlink(missing_ok=True)
            return self._taken()

    def _taken(self) -> Snapshot:
        listed = self._git("ls-files", "-z", "-o", "-m", "-d", "--exclude-standard")
        names = sorted({name for name in listed.split(b"\0") if name and not name.endswith(b"/")})
        large = [name for name in names if self._is_large(name)]
        small = [name for name in names if name not in set(large)] if large else names
        if small:
            update = ("update-index", "-z", "--add", "--remove", "--replace", "--stdin")
            self._git(*update, input=b"".join(name + b"\0" for name in small))
        tree = self._git("write-tree").decode().strip()
        modes = msgspec.json.encode(self._unusual(), order="sorted")
        key = hashlib.blake2b(modes, digest_size=8).hexdigest()
        private.write(self._modes / key, modes)
        if small:
            self._seed()
        return Snapshot(
            f"{tree}.{key}",
            tuple(name.decode("utf-8", "backslashreplace") for name in large[:NAMED]),
        )

    def holds(self, path: Path) -> bool:
        """Whether each file at and below a path is in what was taken last."""
        try:
            name = os.fsencode(path.relative_to(self._root))
        except ValueError:
            return False
        kept = set(self._git("ls-files", "-z", "--", os.fsdecode(name)).split(b"\0"))
        stack, looked = [name], 0
        while stack:
            each = stack.pop()
            info = os.lstat(os.path.join(os.fsencode(self._root), each))  # noqa: PTH118  bytes
            looked += 1
            if looked > MOST_HELD:
                return False
            if stat.S_ISDIR(info.st_mode):
                inside = os.listdir(os.path.join(os.fsencode(self._root), each))  # noqa: PTH118, PTH208
                stack += [each + b"/" + one for one in inside]
            elif each not in kept or self._is_large(each):
                return False
        return True

    def _seed(self) -> None:
        """The next session need not read every file again."""
        fresh = self._shared / f"seed.{os.getpid()}"
        private.write(fresh, self._index.read_bytes())
        fresh.replace(self._shared / "seed")

    def changes(self, old: str, new: str) -> list[Change]:
        """What differs, links and submodules left out."""
        trees = (old.partition(".")[0], new.partition(".")[0])
        raw = self._git("diff-tree", "-r", "-z", "--raw", "--no-renames", *trees).split(b"\0")
        old_modes, new_modes = self._modes_of(old), self._modes_of(new)
        found: list[Change] = []
        for about, name in zip(raw[::2], raw[1::2], strict=False):
            old_kind, new_kind, old_blob, new_blob, *_ = about.lstrip(b":").decode().split()
            if {old_kind, new_kind} <= {"100644", "100755", "000000"}:
                path = os.fsdecode(name)
                found.append(
                    Change(
                        path=path,
                        old="" if old_kind == "000000" else old_blob,
                        new="" if new_kind == "000000" else new_blob,
                        old_mode=old_modes.get(path, int(old_kind[-3:], 8)),
                        new_mode=new_modes.get(path, int(new_kind[-3:], 8)),
                    )
                )
        found += self._mode_changes({change.path for change in found}, old, new)
        return found

    def blob(self, name: str) -> bytes:
        return self._git("cat-file", "blob", name)

    def _mode_changes(self, known: set[str], old: str, new: str) -> list[Change]:
        """Files with the same bytes but permissions that git does not see."""
        before, after = self._modes_of(old), self._modes_of(new)
        paths = [
            path
            for path in before.keys() | after.keys()
            if path not in known and before.get(path) != after.get(path)
        ]
        if not paths:
            return []
        blobs, others = self._listed(old), self._listed(new)
        return [
            Change(
                path=path,
                old=blobs[path][1],
                new=others[path][1],
                old_mode=before.get(path, blobs[path][0]),
                new_mode=after.get(path, others[path][0]),
            )
            for path in sorted(paths)
            if path in blobs and path in others
        ]

    def _listed(self, tree: str) -> dict[str, tuple[int, str]]:
        entries = self._git("ls-tree", "-r", "-z", tree.partition(".")[0]).split(b"\0")
        found: dict[str, tuple[int, str]] = {}
        for entry in entries:
            if entry.startswith(b"100"):
                about, _, name = entry.partition(b"\t")
                kind, _, blob = about.decode().split()
                found[os.fsdecode(name)] = (int(kind[-3:], 8), blob)
        return found

    def _prepare(self) -> None:
        git = self._shared / "git"
        if not (git / "info" / "attributes").exists():
            private.folder(self._modes)
            self._git("init", "-q")
            private.write(git / "info" / "attributes", _ATTRIBUTES.encode())
        if not self._index.exists():
            private.folder(self._index.parent)
            if (seed := self._shared / "seed").exists():
                private.write(self._index, seed.read_bytes())
            objects = self._root / ".git" / "objects"
            if objects.is_dir():  # what is committed is not stored twice
                alternates = git / "objects" / "info" / "alternates"
                private.write(alternates, f"{objects}\n".encode())
            theirs = text_of(self._root / ".git" / "info" / "exclude")
            ignored = f"{own_ignores(self._caller.env)}\n{theirs}\n"
            private.write(git / "info" / "exclude", ignored.encode())

    def _is_large(self, name: bytes) -> bool:
        try:
            info = os.lstat(os.path.join(os.fsencode(self._root), name))  # noqa: PTH118  bytes
        except OSError:
            return False
        return info.st_size > SIZE_LIMIT or not (
            stat.S_ISREG(info.st_mode) or stat.S_ISLNK(info.st_mode)
        )

    def _unusual(self) -> dict[str, int]:
        found: dict[str, int] = {}
        root = os.fsencode(self._root)
        for name in self._git("ls-files", "-z").split(b"\0"):
            if name:
                try:
                    info = os.lstat(os.path.join(root, name))  # noqa: PTH118  bytes
                except OSError:
                    continue
                mode = stat.S_IMODE(info.st_mode)
                if stat.S_ISREG(info.st_mode) and mode not in USUAL:
                    with suppress(UnicodeDecodeError):  # such a name is not restored either
                        found[name.decode("utf-8")] = mode
        return found

    def _modes_of(self, tree: str) -> dict[str, int]:
        try:
            return msgspec.json.decode(
                (self._modes / tree.partition(".")[2]).read_bytes(), type=dict[str, int]
            )
        except (OSError, msgspec.DecodeError):
            return {}

    def _git(self, *arguments: str, input: bytes = b"") -> bytes:
        git = Git(self._caller, self._places, self._root)
        return git.run(*arguments, seconds=TIME, input=input)
