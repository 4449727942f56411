"""Which lines of a repository's configuration can run nothing: a list, everything else goes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Final

from gatewright.tools.system.patterns import later
from gatewright.tools.system.regular import read_regular

LARGEST: Final = 256 * 1024
_MOST = 2000

_HEADER = later(r'\[([A-Za-z0-9-]+)(?:\s+"([^"\\]*)")?\]')
_LINE = later(r"([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?")
_ADDRESS = later(
    r'"?(?:(?:https?|ssh|git|file)://[\w.@:/~%+-]+|(?!-)[\w.@/~+-]+(?::[\w./~+-]+)?)"?'
)

_FINE: Final[dict[str, frozenset[str]]] = {
    "core": frozenset(
        {"repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase",
         "precomposeunicode", "symlinks", "autocrlf", "eol", "worktree", "quotepath",
         "sparsecheckout", "sharedrepository", "abbrev", "untrackedcache"}
    ),
    "remote": frozenset({"url", "pushurl", "fetch", "push", "tagopt", "prune", "mirror", "promisor",
                         "partialclonefilter"}),
    "branch": frozenset({"remote", "merge", "rebase", "pushremote", "description"}),
    "user": frozenset({"name", "email"}),
    "submodule": frozenset({"url", "active", "path", "branch"}),
    "extensions": frozenset({"objectformat", "refstorage", "partialclone"}),
    "init": frozenset({"defaultbranch"}),
    "push": frozenset({"default", "autosetupremote"}),
    "pull": frozenset({"rebase", "ff"}),
    "fetch": frozenset({"prune"}),
    "gc": frozenset({"auto"}),
    "commit": frozenset({"gpgsign"}),
    "tag": frozenset({"gpgsign"}),
    "advice": frozenset({"detachedhead", "addembeddedrepo"}),
    "color": frozenset({"ui"}),
    "receive": frozenset({"denycurrentbranch"}),
}  # fmt: skip
_ADDRESSES: Final = frozenset({"url", "pushurl"})


def harmless(text: str, known: frozenset[str] = frozenset()) -> tuple[str, tuple[str, ...]]:
    """The configuration without lines that could run a program, and the keys left out.

    Lines of `running` that were `known` before stay.
    """
    kept: list[str] = []
    dropped: list[str] = []
    for word, key, fine in _lines(text, known):
        if fine:
            kept.append(f"\t{word}" if key else word)
        elif key:
            dropped.append(key)
    return "\n".join(kept) + "\n", tuple(dropped)


def running(text: str) -> frozenset[str]:
    """The lines that could run a program, each with its section."""
    return frozenset(
        f"{key} {word}" for word, key, fine in _lines(text, frozenset()) if key and not fine
    )


def programs(directories: Iterable[str]) -> dict[str, frozenset[str]]:
    """What the configurations of these git directories run now; of too many nothing is known."""
    found: dict[str, frozenset[str]] = {}
    for git in sorted(directories)[:_MOST]:
        with contextlib.suppress(OSError, ValueError):
            data = read_regular(f"{git}/config", LARGEST)
            found[git] = running(data.decode("utf-8", "surrogateescape"))
    return found


def _lines(text: str, known: frozenset[str]) -> Iterator[tuple[str, str, bool]]:
    """Every line with the key it sets, '' for a header, and whether it can run nothing."""
    section = ""
    for line in text.split("\n"):
        word = line.strip()
        if not word or word[0] in "#;":
            continue
        header = _HEADER.fullmatch(word)
        if header is not None:
            section = header[1].lower()
            mine = any(line.startswith(f"{section}.") for line in known)
            yield word, "", mine or section in _FINE
            continue
        found = _LINE.fullmatch(word)
        key = found[1].lower() if found is not None else word
        fine = found is not None and section in _FINE and _allowed(section, key, found[2] or "")
        name = f"{section}.{key}" if section else key
        yield word, name, fine or f"{name} {word}" in known


def _allowed(section: str, key: str, value: str) -> bool:
    if key not in _FINE[section] or value.endswith("\\"):
        return False
    return key not in _ADDRESSES or _ADDRESS.fullmatch(value) is not None
