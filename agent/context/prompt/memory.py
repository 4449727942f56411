"""Instruction files: the person's own, then each directory's from the project root down to cwd.

They tell the model how to work here. Nothing in them changes permissions or settings.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from gatewright.agent.compact.estimate import text_tokens
from gatewright.agent.context.readable import Readable, Withheld
from gatewright.agent.settings.paths import CLAUDE, folders_down
from gatewright.tools.system.exact import real_path
from gatewright.tools.system.patterns import later

if TYPE_CHECKING:
    from gatewright.agent.context.prompt.path_rules import PathRule


INSTRUCTIONS = "# Instructions from files"
NAMES = ("AGENTS.md", "CLAUDE.md")
LOCAL_NAMES = ("AGENTS.local.md", "CLAUDE.local.md")
SHARED_NAMES = (*NAMES, f"{CLAUDE}/CLAUDE.md")
RULES = "rules"  # a directory beside the last of these
RULES_DEPTH = 6
ENTRIES = 500  # of one directory of rules
SIZE_LIMIT = 40_000
DEPTH = 4
FILES = 100
NAMED = 5  # of what was withheld
_FENCE = later(r"^[ \t]*(```+|~~~+)")
_CODE = later(r"`[^`\n]*`")
_IMPORT = later(r"(?:(?<=\s)|^)@((?:~/|\.{0,2}/)?[\w./~-]*\w)")
_COMMENT = later(r"<!--.*?(?:-->|\Z)", re.DOTALL)


class MemoryFile(msgspec.Struct, frozen=True):
    """`kind` is user, shared, local or import; `by` names the file that imports it."""

    path: Path
    text: str
    cut: bool
    kind: str = "shared"
    by: Path | None = None
    paths: tuple[str, ...] = ()  # it is about such files alone

    @property
    def tokens(self) -> int:
        return text_tokens(self.text)


class Withholding(msgspec.Struct, frozen=True):
    path: Path
    why: str


class Memory(msgspec.Struct, frozen=True):
    """In the order the model reads them: the nearest comes last.

    `waiting` are imports from outside the project that the person did not approve, `withheld` what
    a rule keeps from the model, or what a call of Read would have to ask about. `rules` are files
    that are read once such a file is touched as they are about.
    """

    files: tuple[MemoryFile, ...] = ()
    waiting: tuple[Path, ...] = ()
    withheld: tuple[Withholding, ...] = ()
    rules: tuple[PathRule, ...] = ()

    def left_out(self) -> str:
        """One line for the person about what was withheld; empty where nothing was."""
        if not self.withheld:
            return ""
        named = "; ".join(f"{each.path} ({each.why})" for each in self.withheld[:NAMED])
        more = f", and {len(self.withheld) - NAMED} more" if len(self.withheld) > NAMED else ""
        return f"Instruction files that the model was not given: {named}{more}."


class MemoryPlaces(msgspec.Struct, frozen=True):
    """`approved` says whether a file outside the project may be imported by one inside.

    `claude_home` is where the person's own files for Claude Code are.
    """

    own_home: Path
    root: Path
    cwd: Path
    home: Path
    approved: Callable[[Path], bool]
    readable: Readable
    claude_home: Path


def memory_files(places: MemoryPlaces) -> Memory:
    """Everything that holds for the working directory."""
    reading = _Reading(places)
    reading.claude_home(places.claude_home)
    reading.folder(places.own_home, user=True)
    for folder in folders_down(places.root, places.cwd):
        reading.folder(folder, user=False)
    return reading.done()


def nested_files(
    places: MemoryPlaces, touched: Path, known: Sequence[Path], rules: Sequence[PathRule] = ()
) -> Memory:
    """What a file that is touched adds to the files known so far: the rules about it, and the
    instructions of the directories between cwd and it."""
    reading = _Reading(places, known, touched)
    for rule in rules:
        if rule.about(touched):
            reading.rule(rule)
    if touched.is_relative_to(places.cwd):
        for folder in list(folders_down(places.cwd, touched.parent))[1:]:
            reading.folder(folder, user=False)
    return reading.done()


def section(files: Sequence[MemoryFile]) -> str:
    """The files for the system prompt; an empty string where there are none."""
    if not files:
        return ""
    parts = [INSTRUCTIONS, ""]
    for file in files:
        note = f" (cut after {SIZE_LIMIT} characters)" if file.cut else ""
        by = f", imported by {file.by}" if file.by else ""
        by += f", for {', '.join(file.paths)}" if file.paths else ""
        parts.append(f"## {file.path}{by}{note}\n\n{file.text.strip()}\n")
    return "\n".join(parts)


class _Reading:
    def __init__(
        self, places: MemoryPlaces, known: Sequence[Path] = (), touched: Path | None = None
    ) -> None:
        self._places = places
        self._touched = touched
        self._rules: dict[str, PathRule] = {}
        self._seen = {real_path(path) for path in known}
        self._found: list[MemoryFile] = []
        self._texts: set[str] = set()
        self._waiting: dict[Path, None] = {}
        self._withheld: dict[Path, str] = {}

    def done(self) -> Memory:
        withheld = tuple(Withholding(path, why) for path, why in self._withheld.items())
        rules = tuple(self._rules.values())
        return Memory(tuple(self._found), tuple(self._waiting), withheld, rules)

    def claude_home(self, folder: Path) -> None:
        self._read(folder / "CLAUDE.md", "user", None, DEPTH)
        self._rules_in(folder / RULES, self._places.root, "user")

    def rule(self, rule: PathRule) -> None:
        """One that is about the touched file."""
        self._read(rule.path, rule.kind, None, DEPTH, base=rule.base)

    def folder(self, folder: Path, *, user: bool) -> None:
        imported = self._imports_of(folder, user=user)
        for name in SHARED_NAMES:
            # Where one imports the other, the importing one is read: it brings the other along.
            if real_path(folder / name) not in imported:
                self._read(folder / name, "user" if user else "shared", None, DEPTH)
        if not user:
            self._rules_in(folder / CLAUDE / RULES, folder, "shared")
        for name in LOCAL_NAMES:
            self._read(folder / name, "local", None, DEPTH)

    def _imports_of(self, folder: Path, *, user: bool) -> set[str]:
        """What the shared files of a folder import of each other, the first one winning."""
        paths = {name: folder / name for name in SHARED_NAMES}
        texts = {n: self._text(p, Path(real_path(p)), own=user)[0] for n, p in paths.items()}
        found: set[str] = set()
        for name, text in texts.items():
            real = real_path(folder / name)
            if real not in found:
                names = {real_path(p) for p in self._named(text, paths[name].parent)}
                found |= names & {real_path(path) for path in paths.values()} - {real}
        return found

    def _rules_in(self, folder: Path, base: Path, kind: str, depth: int = RULES_DEPTH) -> None:
        """Every .md file of a directory and of those in it; links to directories are not taken."""
        if not depth or not folder.is_dir():
            return
        real = Path(real_path(folder))
        if not self._may(real, kind):
            return
        own = kind == "user" or not real.is_relative_to(real_path(self._places.root))
        try:
            names = self._places.readable.names(folder, ENTRIES, agreed=own, real=real)
        except Withheld as withheld:
            self._withheld[folder] = str(withheld)
            return
        except OSError:
            return
        for name in names:
            if name.endswith("/"):
                self._rules_in(folder / name[:-1], base, kind, depth - 1)
            elif name.endswith(".md"):
                self._read(folder / name, kind, None, DEPTH, base=base)

    def _waits(self, rule: PathRule, real: str) -> bool:
        """Whether it is about other files than the one that was touched."""
        if not rule.globs or (self._touched is not None and rule.about(self._touched)):
            return False
        if len(self._rules) < FILES:
            self._rules.setdefault(real, rule)
        return True

    def _read(
        self, path: Path, kind: str, by: Path | None, depth: int, *, base: Path | None = None
    ) -> None:
        """With a `base` the file is a rule, which may name the files below it that it is about."""
        real = real_path(path)
        if real in self._seen or len(self._found) >= FILES:
            return
        if by is None and not self._may(Path(real), kind):
            return  # a link that leads out of the project imports like any other
        text, cut = self._text(path, Path(real), own=kind == "user")
        paths: tuple[str, ...] = ()
        if base is not None:
            from gatewright.agent.context.prompt.path_rules import PathRule, front_matter  # noqa: PLC0415  lazy

            paths, text = front_matter(text)
            if self._waits(PathRule(path, paths, base, kind), real):
                return
        if not text.strip() or text in self._texts:
            return
        self._seen.add(real)
        self._texts.add(text)
        if depth:
            for target in self._named(text, path.parent):
                if self._may(Path(real_path(target)), kind):
                    self._read(target, kind if kind == "user" else "import", path, depth - 1)
        kind = kind if by is None else "import"
        self._found.append(MemoryFile(path, text, cut, kind, by, paths))

    def _may(self, target: Path, kind: str) -> bool:
        """The person's own file may import anything; a project's what lies in the project."""
        places = self._places
        if kind == "user" or target.is_relative_to(real_path(places.root)):
            return True
        if places.approved(target):
            return True
        with suppress(OSError):  # too long a name, a directory we may not enter
            if target.is_file():
                self._waiting[target] = None
        return False

    def _text(self, path: Path, real: Path, *, own: bool) -> tuple[str, bool]:
        """What the file says to the model, and whether it was cut.

        The person's own file and what they approved outside the project have their yes.
        """
        if not os.path.lexists(real):  # most names: judging costs 12 ms at the first one
            return "", False
        agreed = own or not real.is_relative_to(real_path(self._places.root))
        try:
            data = self._places.readable.head(path, SIZE_LIMIT * 4, agreed=agreed, real=real)
        except Withheld as withheld:
            self._withheld[path] = str(withheld)
            return "", False
        except OSError:
            return "", False
        text = _without_comments(data.decode("utf-8-sig", errors="replace"))
        return text[:SIZE_LIMIT], len(text) > SIZE_LIMIT

    def _named(self, text: str, folder: Path) -> Iterator[Path]:
        for name in _imports(text):
            yield self._places.home / name[2:] if name.startswith("~/") else folder / name


def _imports(text: str) -> Sequence[str]:
    """The names of files, each once, and no more than could be read: each costs looks at disk."""
    lines = _outside_code(text)
    found = (match[1] for line in lines for match in _IMPORT.finditer(_CODE.sub("", line)))
    return list(itertools.islice(dict.fromkeys(found), FILES))


def _outside_code(text: str) -> Iterator[str]:
    fence = ""
    for line in text.splitlines():
        match = _FENCE.match(line)
        if fence:
            if match and match[1].startswith(fence):
                fence = ""
        elif match:
            fence = match[1]
        else:
            yield line


def _without_comments(text: str) -> str:
    """HTML comments are notes between people. Those inside code stay."""
    if "<!--" not in text:
        return text
    parts = re.split(
        r"(^[ \t]*(?:```|~~~).*?(?:^[ \t]*(?:```|~~~)[ \t]*$|\Z))", text, flags=re.M | re.S
    )
    return "".join(
        part if index % 2 else _COMMENT.sub("", part) for index, part in enumerate(parts)
    )
