"""Which lines of a repository's configuration can run nothing: a list, everything else goes."""

from __future__ import annotations

import re
from typing import Final

_HEADER = re.compile(r'\[([A-Za-z0-9-]+)(?:\s+"([^"\\]*)")?\]')
_LINE = re.compile(r"([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?")
_ADDRESS = re.compile(
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


def harmless(text: str) -> tuple[str, tuple[str, ...]]:
    """The configuration without lines that could run a program, and the keys left out."""
    kept: list[str] = []
    dropped: list[str] = []
    section = ""
    for line in text.split("\n"):
        word = line.strip()
        if not word or word[0] in "#;":
            continue
        header = _HEADER.fullmatch(word)
        if header is not None:
            section = header[1].lower()
            if section in _FINE:
                kept.append(word)
            continue
        found = _LINE.fullmatch(word)
        key = found[1].lower() if found is not None else word
        if found is None or section not in _FINE or not _allowed(section, key, found[2] or ""):
            dropped.append(f"{section}.{key}" if section else key)
            continue
        kept.append(f"\t{word}")
    return "\n".join(kept) + "\n", tuple(dropped)


def _allowed(section: str, key: str, value: str) -> bool:
    if key not in _FINE[section] or value.endswith("\\"):
        return False
    return key not in _ADDRESSES or _ADDRESS.fullmatch(value) is not None
