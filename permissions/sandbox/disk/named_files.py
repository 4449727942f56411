"""Which files git's configuration names: directories of hooks, and further configuration.

More than git would believe is found rather than less: what is named stays as it is.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from gatewright.tools.system.patterns import later
from gatewright.tools.system.regular import head_of

_LARGEST = 4 * 1024 * 1024
_INCLUDES = 1000  # git itself follows ten levels
_KEPT = 32 * 1024  # bytes of a file that is worth remembering
_YOUNG = 50_000_000  # ns: a file changed just now may change again within the same tick
_HEADER = later(r'\[([A-Za-z0-9.-]*+)[ \t]*+(?:"(?:[^"\\\n]|\\.)*+")?[ \t]*+\]')
_PAIR = later(
    r"([A-Za-z][A-Za-z0-9-]*+)[ \t]*+(?:=((?:\"(?:[^\"\\]|\\.)*+\"|\\.|[^\n#;\"\\])*+))?",
    re.DOTALL,
)
_TOKEN = later(r'\\(\n|.)|"|[^\\"]+', re.DOTALL)
_SKIP = later(r"[#;][^\n]*|[^#;\[A-Za-z]+")
_ALL = ("/etc/gitconfig", ".gitconfig", ".config/git/config")


def pairs(text: str) -> Iterator[tuple[str, str, str]]:
    """Section, key and value of each line; comments, quotes and continued lines as git has them."""
    section, at = "", 0
    while at < len(text):
        if (header := _HEADER.match(text, at)) is not None:
            section, at = header[1].strip().lower(), header.end()
        elif (pair := _PAIR.match(text, at)) is not None:
            yield section, pair[1].lower(), _plain(pair[2] or "")
            at = pair.end()
        else:
            skip = _SKIP.match(text, at)
            at = at + 1 if skip is None else skip.end()


def _plain(raw: str) -> str:
    def token(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0].replace('"', "")
        return {"\n": "", "n": "\n", "t": "\t", "b": "\b"}.get(found[1], found[1])

    return _TOKEN.sub(token, raw).strip()


def everywhere(home: str) -> tuple[str, ...]:
    """Directories of hooks in every work tree, as the person's own configuration names them."""
    files = [path if path.startswith("/") else f"{home}/{path}" for path in _ALL]
    values = (value for _, key, value in _followed(files, home) if key == "hookspath")
    return tuple(value for value in values if not value.startswith(("/", "~")))


def named(git: str, home: str, hooks: tuple[str, ...] = ()) -> Iterator[str]:
    """Hooks and further configuration that a repository's own configuration names.

    `hooks` are directories that every work tree has.
    """
    worktrees = f"{git}/worktrees"
    linked = [f"{worktrees}/{name}" for name in names_in(worktrees)]
    files = [f"{each}/config.worktree" for each in (git, *linked)]
    trees = {os.path.dirname(git)}
    trees.update(os.path.dirname(text) for each in linked if (text := _text(f"{each}/gitdir")))
    wanted = list(hooks)
    for file, key, value in _followed([f"{git}/config", *files], home):
        if key == "path":
            yield os.path.normpath(os.path.join(os.path.dirname(file), value))
        elif key == "worktree":
            trees.add(os.path.join(git, value))
        else:
            wanted.append(value)
    for value in wanted:
        for tree in trees:
            yield os.path.normpath(os.path.join(tree, value))


def _followed(files: list[str], home: str) -> Iterator[tuple[str, str, str]]:
    """File, key and value of what matters here, in these files and all that they include."""
    queue, seen = [*files], set[str]()
    while queue and len(seen) < _INCLUDES:
        file = queue.pop()
        if not os.path.exists(file) or (file := os.path.realpath(file)) in seen:
            continue
        seen.add(file)
        text = _text(file)
        folded = text.lower()
        if not any(word in folded for word in ("hookspath", "worktree", "include")):
            continue
        for section, key, value in pairs(text.removeprefix("\ufeff")):
            if home and value.startswith("~/"):
                value = f"{home}{value[1:]}"
            if not value or value.startswith(("~", "%(")):
                continue
            if section.startswith("include") and key == "path":
                queue.append(os.path.join(os.path.dirname(file), value))
                yield file, key, value
            elif section == "core" and key in ("hookspath", "worktree"):
                yield file, key, value


def names_in(directory: str | Path) -> list[str]:
    """What lies in a directory; nothing where that is none, or does not show it."""
    try:
        return os.listdir(directory)
    except OSError:
        return []


def _text(path: str) -> str:
    """What a file says: read once for as long as it is the same, which no command can feign."""
    try:
        now = os.stat(path)
    except OSError:
        return ""
    if now.st_size > _KEPT or time.time_ns() - now.st_ctime_ns < _YOUNG:
        return _read(path)
    return _known(path, (now.st_dev, now.st_ino, now.st_size, now.st_ctime_ns))


@lru_cache(maxsize=128)
def _known(path: str, which: tuple[int, int, int, int]) -> str:
    del which
    return _read(path)


def _read(path: str) -> str:
    try:
        return os.fsdecode(head_of(path, _LARGEST).replace(b"\0", b"")).strip()
    except OSError:
        return ""
