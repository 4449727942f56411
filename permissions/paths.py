"""Paths as the gate sees them: what is written, and what the kernel would make of it.

Granting needs both readings to satisfy, restricting fires if either does. Containment is by
components, never by string prefix.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeAlias

import msgspec

if TYPE_CHECKING:  # it stands on this module
    from gatewright.permissions.machine.links import Followed

Tier: TypeAlias = Literal["", "A", "B"]


class Resolver(Protocol):
    """What a decision may learn about the machine; a test answers from a table, not from disk."""

    def real(self, path: str) -> str:
        """Resolve an absolute path, `..` applied after the link it follows; never fails."""
        ...

    def followed(self, path: str) -> Followed:
        """Like `real`, with the links that led there."""
        ...

    def config_links(self) -> tuple[str, ...]:
        """Real directories that a link called `.gatewright` points to."""
        ...

    def linked(self, directory: str) -> tuple[str, ...]:
        """Where links below a real directory lead out of it; `/` if there are too many to tell."""
        ...

    def nested_repository(self, directory: str, root: str) -> bool:
        """Whether a `.git` lies in `directory` or between it and `root` (exclusive)."""
        ...

    def expand(self, pattern: str) -> tuple[str, ...] | None:
        """Links and what else of interest an absolute glob matches; None if too many to tell."""
        ...

    def planted(self, program: str) -> bool:
        """Whether a shell would take this program from where others may put one."""
        ...

    def text(self, path: str, most: int) -> str | None:
        """The text of a regular file at a resolved path; None where it is none or longer."""
        ...

    def addresses(self, host: str) -> tuple[str, ...]: ...
    def recoverable(self, path: str) -> bool:
        """Whether all that is at and below a path can be brought back, exactly as it is."""
        ...

    def loses(self, path: str, *, whole: bool) -> bool | None:
        """Whether something cannot be brought back once this file, or the `whole` tree, is written
        over or removed; None where nobody can look."""
        ...

    def dirty(self, directory: str) -> bool:
        """Whether the work tree has changes that git does not hold."""
        ...


class Place(msgspec.Struct, frozen=True):
    """The directories a decision is about, absolute and without a trailing slash.

    `search` is the PATH that commands get; where it is empty nothing is known of programs.
    """

    root: str
    cwd: str
    home: str
    start: str
    directories: tuple[str, ...] = ()
    spelled: tuple[str, ...] = ()  # the root as the person wrote it, through links of theirs
    search: str = ""
    last: tuple[str, ...] = ()  # where else a shell looks in the end: programs of strangers
    own: tuple[str, ...] = ()  # our own home, in every spelling
    readable: tuple[str, ...] = ()  # of it what this session may read
    memory: str = ""  # what the agent that calls remembers, in a directory of its own
    running: tuple[str, ...] = ()  # what runs in this session lies there: plugins in the project
    main: str = ""  # the checkout that the root was set apart from, where it is a work tree of ours


class Located(msgspec.Struct, frozen=True):
    """One path in both readings. `given` is absolute but otherwise as written."""

    given: str
    lexical: str
    real: str

    @property
    def readings(self) -> tuple[str, ...]:
        return (self.lexical,) if self.lexical == self.real else (self.lexical, self.real)


def lexical(path: str) -> str:
    """An absolute path without `.`, `..` and doubled slashes, removed as text."""
    if "/." not in path and "//" not in path and not path.endswith("/"):
        return path
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if parts:
                parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)


def absolute(path: str, base: str, home: str) -> str:
    """Make `path` absolute against `base`, expanding `~`, removing nothing."""
    if path == "~" or path.startswith("~/"):
        return home + path[1:]
    return path if path.startswith("/") else f"{base}/{path}"


def inside(path: str, directory: str) -> bool:
    """Whether `path` is `directory` or below it; both lexical."""
    if directory == "/":
        return True
    return path == directory or path.startswith(directory + "/")


def below(path: str, directory: str) -> bool:
    """Whether `path` is below `directory`, and not that itself; both lexical."""
    return path != directory and inside(path, directory)


def ancestors(path: str) -> Iterator[str]:
    """`path` and every directory above it, the root last."""
    while path != "/" and path:
        yield path
        path = path.rpartition("/")[0] or "/"
    yield "/"


# By component, at any depth, compared without case. A pattern with "/" spans components.
TIER_B: tuple[str, ...] = (
    ".git", ".gitconfig", ".gitmodules", ".bashrc", ".bash_profile", ".bash_login", ".profile",
    ".zshrc", ".zprofile", ".zshenv", ".envrc", ".npmrc", ".yarnrc*", ".pnpmfile.cjs",
    "bunfig.toml", ".pypirc", "pip.conf", ".vscode", ".idea", ".husky", ".devcontainer",
    ".cargo/config*", ".mvn", ".pre-commit-config.yaml", ".bash_logout", ".zlogin", ".zlogout",
    ".ripgreprc", ".github/workflows", ".mcp.json", ".claude", ".agents", ".config/fish",
    "config.fish",
)  # fmt: skip
TIER_B_HOME: tuple[str, ...] = (".ssh", ".config/systemd", ".config/autostart", ".config/git")
TIER_A_NAME = ".gatewright"
MANAGED = ("/etc/gatewright", "/library/application support/gatewright")

_PLAIN_B = frozenset(name for name in TIER_B if "/" not in name and "*" not in name)
_DOTTED_B = tuple(sorted(name for name in _PLAIN_B if name.startswith(".")))
_PATTERNS_B = tuple(tuple(name.split("/")) for name in TIER_B if "/" in name or "*" in name)
_HOME_B = tuple(tuple(name.split("/")) for name in TIER_B_HOME)


def protected_component(parts: list[str], home_parts: list[str]) -> str:
    """The first Tier B component among folded `parts`, as the table spells it, or ''."""
    for index, part in enumerate(parts):
        if part in _PLAIN_B:
            return part
        for pattern in _PATTERNS_B:
            window = parts[index : index + len(pattern)]
            if len(window) == len(pattern) and all(map(fnmatchcase, window, pattern)):
                return "/".join(window)
    depth = len(home_parts)
    if parts[:depth] == home_parts:
        for pattern in _HOME_B:
            if tuple(parts[depth : depth + len(pattern)]) == pattern:
                return "/".join(pattern)
    return ""


def folded_parts(path: str) -> list[str]:
    return [part for part in path.casefold().split("/") if part]


# Another agent's settings, whose denials and questions count here.
FOREIGN: Final = ((".claude", "settings.json"), (".claude", "settings.local.json"))


def tier_of(path: str, home: str, projects: tuple[str, ...], links: tuple[str, ...] = ()) -> Tier:
    """The protection of one absolute lexical path; `projects` are the trusted directories."""
    folded = path.casefold()
    parts = folded_parts(path)
    home_parts = folded_parts(home)
    if any(inside(folded, name) for name in MANAGED) or tuple(parts[-2:]) in FOREIGN:
        return "A"
    if TIER_A_NAME in parts:
        if parts[: len(home_parts) + 1] == [*home_parts, TIER_A_NAME]:
            return "A"
        if any(inside(folded, project.casefold()) for project in projects):
            index = parts.index(TIER_A_NAME)
            below = parts[index + 1 :]
            if len(below) < 2 or below[0] != "worktrees":
                return "A"
            return tier_of("/" + "/".join(parts[:index] + below[2:]), home, projects, links)
    if any(inside(path, link) for link in links):
        return "A"
    return "B" if protected_component(parts, home_parts) else ""


def _below(path: str, places: tuple[str, ...]) -> bool:
    return any(inside(path.casefold(), place.casefold()) for place in places)


class Paths:
    """Locates and classifies the paths of one decision."""

    __slots__ = ("_cache", "_links", "_trusted", "place", "resolver")

    def __init__(self, place: Place, resolver: Resolver) -> None:
        self.place = place
        self.resolver = resolver
        self._cache: dict[str, Located] = {}
        self._links: tuple[str, ...] | None = None
        self._trusted: tuple[str, ...] | None = None

    def locate(self, path: str, base: str | None = None) -> Located:
        """Both readings of a path as written; relative ones start at `base` (default: cwd)."""
        given = absolute(path, base or self.place.cwd, self.place.home)
        found = self._cache.get(given)
        if found is None:
            found = Located(given, lexical(given), self.resolver.real(given))
            self._cache[given] = found
        return found

    def trusted(self) -> tuple[str, ...]:
        """Root and added directories in every spelling: as given, resolved, as started with."""
        if self._trusted is None:
            given = (self.place.root, *self.place.spelled, *self.place.directories)
            self._trusted = tuple(dict.fromkeys((*given, *map(self.resolver.real, given))))
        return self._trusted

    def in_root(self, located: Located) -> bool:
        spellings = {self.place.root, *self.place.spelled, self.resolver.real(self.place.root)}
        return all(any(inside(r, d) for d in spellings) for r in located.readings)

    def is_inside(self, located: Located) -> bool:
        trusted = self.trusted()
        return all(any(inside(r, d) for d in trusted) for r in located.readings)

    def in_main(self, located: Located) -> bool:
        """Whether it belongs to the checkout that whoever calls was set apart from."""
        main = self.place.main
        if not main or self.is_inside(located):
            return False
        spellings = (main, self.resolver.real(main))
        return any(inside(r, d) for r in located.readings for d in spellings)

    def in_memory(self, located: Located) -> bool:
        """What the agent that calls remembers, with no link of the project on the way there."""
        memory = self.place.memory
        if not memory or not inside(located.lexical, memory) or located.lexical == memory:
            return False
        bases = (self.place.root, self.place.home, *self.place.own)
        real = self.resolver.real
        led = {memory.replace(base, real(base), 1) for base in bases if inside(memory, base)}
        return any(inside(located.real, each) for each in (memory, *led))

    def reads_inside(self, located: Located) -> bool:
        """Inside, or what this session keeps for the model to read."""
        if self.is_inside(located):
            return True
        places = self.place.readable
        return all(any(inside(r, place) for place in places) for r in located.readings)

    def tier(self, located: Located) -> Tier:
        """The stronger of the tiers of both readings."""
        if self._links is None:
            self._links = (*self.resolver.config_links(), *self.place.own)
        projects = (*self.trusted(), self.place.start)
        tiers = {
            tier_of(reading, self.place.home, projects, self._links) for reading in located.readings
        }
        if any(_below(reading, self.place.running) for reading in located.readings):
            tiers.add("B")
        return "A" if "A" in tiers else "B" if "B" in tiers else ""

    def glob_tier(self, pattern: str) -> Tier:
        """The tier of what an absolute glob could match, besides what it spells out."""
        for part in pattern.split("/"):
            if any(char in part for char in "*?[") and any(
                components_meet(name, part) for name in (TIER_A_NAME, *_DOTTED_B)
            ):
                return "A" if components_meet(TIER_A_NAME, part) else "B"
        return self.tier(self.locate(pattern))

    def tier_below(self, located: Located) -> Tier:
        """The tier of what is lost with a whole directory: known protected places below it."""
        place = self.place
        places = [(f"{place.home}/{TIER_A_NAME}", "A"), ("/etc/gatewright", "A")]
        places.extend((own, "A") for own in place.own)
        places.extend((each, "B") for each in place.running)
        for project in self.trusted():
            places.extend(((f"{project}/{TIER_A_NAME}", "A"), (f"{project}/.git", "B")))
            places.extend(("/".join((project, *names)), "A") for names in FOREIGN)
        places.extend((f"{place.home}/{name}", "B") for name in (*TIER_B_HOME, ".bashrc"))
        hit = {
            tier
            for known, tier in places
            for reading in located.readings
            if inside(known.casefold(), reading.casefold())
        }
        return "A" if "A" in hit else "B" if "B" in hit else ""


MAX_NAME = 255  # of one component; no file has a longer one
MAX_PATH = 4096


@lru_cache(maxsize=4096)
def components_meet(one: str, two: str) -> bool:
    """Whether some name fits both wildcards; classes count as any single character."""
    if len(one) > MAX_NAME or len(two) > MAX_NAME:
        return True
    a, b = _tokens(one.casefold()), _tokens(two.casefold())
    if b and b[0] in ("*", "?") and a[:1] == ["."]:
        return False  # the shell's wildcards leave dotfiles out
    reach = [[False] * (len(b) + 1) for _ in range(len(a) + 1)]
    reach[0][0] = True
    for i in range(len(a) + 1):
        for j in range(len(b) + 1):
            if not reach[i][j]:
                continue
            if i < len(a) and a[i] == "*":
                reach[i + 1][j] = True
            if j < len(b) and b[j] == "*":
                reach[i][j + 1] = True
            if i < len(a) and j < len(b) and _one_char(a[i], b[j]):
                reach[i + (a[i] != "*")][j + (b[j] != "*")] = True
    return reach[len(a)][len(b)]


def _one_char(a: str, b: str) -> bool:
    return a in ("*", "?") or b in ("*", "?") or a == b


def _tokens(text: str) -> list[str]:
    """Characters; `*` stays, `?` and classes become `?`."""
    tokens: list[str] = []
    index = 0
    while index < len(text):
        char = text[index]
        if char == "\\" and index + 1 < len(text):
            tokens.append(text[index + 1])
            index += 2
            continue
        if char == "[":
            end = text.find("]", index + 2)
            if end > 0:
                tokens.append("?")
                index = end + 1
                continue
        if not (char == "*" and tokens and tokens[-1] == "*"):
            tokens.append(char)
        index += 1
    return tokens


def unusable(path: str) -> bool:
    """NUL and newline never belong into a path."""
    return "\0" in path or "\n" in path
