"""What the files of a repository say, read without git: where it is, its branch, a few settings.

The files are anybody's: each is read as a regular file of a known size or not at all, and only
what has the expected form counts.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from gatewright.tools.system.patterns import later
from gatewright.tools.system.regular import head_of, read_regular
from gatewright.tools.system.secrets import without_login

SMALL = 4096
CONFIG = 256 * 1024
IGNORES = 1_000_000
MAX_UP = 40
REMOTES = 8
NAME = 200  # characters of the person's name
_HEAD = later(r"ref:[ \t]*(refs/[^\s~^:?*\[\\\x00-\x20\x7f]{1,1000})|([0-9a-f]{40}|[0-9a-f]{64})")
_SECTION = later(r'\s*\[\s*([A-Za-z0-9.-]+)\s*(?:"((?:[^"\\]|\\.)*)"\s*)?\]')
_QUOTED = later(r'"([^"\\]*)"[ \t]*(?:[#;].*)?')
_FILTER = later(r"\[\s*(?:include|filter)", re.IGNORECASE)
_LARGE = later(r'\[\s*filter\s*"lfs"\s*\]', re.IGNORECASE)
_REMOTE = later(r'^\s*\[remote "([^"\]\n]{1,100})"\]', re.MULTILINE)
_KEY = later(r"\s*([A-Za-z][A-Za-z0-9-]*)\s*=\s*(.*)")


class Repository(NamedTuple):
    """`git` has HEAD and the index, `common` the rest; they differ in a linked work tree."""

    root: Path
    git: Path
    common: Path
    ref: str  # the full name of what is checked out, empty when detached
    commit: str  # where it is detached

    @property
    def branch(self) -> str:
        """For people: a branch, or the short name of a commit."""
        return self.ref.removeprefix("refs/heads/") or self.commit[:9]


def repository_of(folder: Path) -> Repository | None:
    """The repository a directory lies in. Costs a few stats; reads two small files at most."""
    for root in (folder, *folder.parents)[:MAX_UP]:
        mark = root / ".git"
        try:
            mode = mark.stat().st_mode
            if stat.S_ISREG(mode):
                return _read(root, _linked(mark))
            return _read(root, mark) if stat.S_ISDIR(mode) else None
        except FileNotFoundError:
            continue
        except (OSError, ValueError):
            return None
    return None


def names_back(found: Repository) -> bool:
    """Whether the other side says so, too: what stands at `.git` may be anybody's text, or a link.

    Git writes down a linked work tree in its repository, and that of a submodule in its settings.
    """
    mark = found.root / ".git"
    if mark.is_symlink() or mark.is_dir():
        return not mark.is_symlink() and found.git == found.common
    back = settings_of(found.git / "config").get("core.worktree", "")
    wanted = found.root
    if found.git != found.common:
        wanted = mark
        try:
            back = os.fsdecode(read_regular(found.git / "gitdir", SMALL)).strip()
        except OSError:
            return False
    return bool(back) and os.path.realpath(found.git / back) == os.path.realpath(wanted)


def branch_of(folder: Path) -> str:
    """The branch's name, a short commit when detached, or nothing."""
    found = repository_of(folder)
    return found.branch if found is not None else ""


def _linked(mark: Path) -> Path:
    """Where a `.git` file points."""
    text = os.fsdecode(read_regular(mark, SMALL))
    if not text.startswith("gitdir:"):
        raise ValueError("no link to a repository")
    return Path(os.path.realpath(mark.parent / text.removeprefix("gitdir:").strip()))


def _read(root: Path, git: Path) -> Repository | None:
    found = _HEAD.fullmatch(head_of(git / "HEAD", SMALL).decode("utf-8").strip())
    if found is None:
        return None
    common = git
    if (git / "commondir").exists():
        named = os.fsdecode(read_regular(git / "commondir", SMALL)).strip()
        common = Path(os.path.realpath(git / named))
        if git.parent != common / "worktrees":
            raise ValueError("no place where git keeps a linked work tree")
    return Repository(root, git, common, found[1] or "", found[2] or "")


def settings_of(file: Path) -> dict[str, str]:
    """`section.key` in small letters, without subsections; what is included is not looked at.

    Only plain values: one with a quote or an escape in it is not in the result. Sections that
    include other files are there as `include.path`.
    """
    try:
        text = read_regular(file, CONFIG).decode("utf-8", errors="replace")
    except OSError:
        return {}
    found: dict[str, str] = {}
    section = ""
    for line in text.splitlines():
        rest = line
        if head := _SECTION.match(line):
            name = head[1].lower()
            section = name if head[2] is None or name == "includeif" else ""
            rest = line[head.end() :]
        key = _KEY.match(rest)
        if key is not None and section:
            plain = _plain(key[2])
            name = f"{section.removesuffix('if')}.{key[1].lower()}"
            if plain is None:
                found.pop(name, None)
            else:
                found[name] = plain
    return found


def remote_of(file: Path, name: str) -> str:
    """The address of a remote, as plain text; empty where there is none that is."""
    try:
        text = read_regular(file, CONFIG).decode("utf-8", errors="replace")
    except OSError:
        return ""
    inside = False
    for line in text.splitlines():
        rest = line
        if head := _SECTION.match(line):
            inside = (head[1].lower(), head[2]) == ("remote", name)
            rest = line[head.end() :]
        key = _KEY.match(rest)
        if inside and key is not None and key[1].lower() == "url":
            return _plain(key[2]) or ""
    return ""


def remotes_of(root: Path) -> dict[str, str]:
    """The remotes of the repository that a directory lies in, by name, as they are now.

    What may be a password is left out of their addresses. Blocks: a few small reads.
    """
    found = repository_of(root)
    if found is None:
        return {}
    config = found.common / "config"
    try:
        names = _REMOTE.findall(read_regular(config, CONFIG).decode("utf-8", "replace"))
    except OSError:
        return {}
    given = ((name, remote_of(config, name)) for name in dict.fromkeys(names[:REMOTES]))
    return {
        name: address if address.startswith(("/", ".", "~")) else without_login(address)
        for name, address in given
        if address
    }


def _plain(value: str) -> str | None:
    """A value up to its comment; None for one with an escape, or with quotes inside it."""
    quoted = _QUOTED.fullmatch(value.strip())
    if quoted is not None:
        return quoted[1]
    value = re.split(r"[#;]", value.strip(), maxsplit=1)[0].rstrip(" \t")
    return None if '"' in value or "\\" in value else value


def own_settings(env: Mapping[str, str]) -> dict[str, str]:
    """The person's own configuration."""
    home, config = _homes(env)
    return {**settings_of(config / "git" / "config"), **settings_of(home / ".gitconfig")}


def committer(repository: Repository, env: Mapping[str, str]) -> str:
    """Whose name commits get; nothing where files that are included may say another."""
    here, own = settings_of(repository.common / "config"), own_settings(env)
    name = here.get("user.name", "")
    if not name and "include.path" not in {**here, **own}:
        name = own.get("user.name", "")
    return name[:NAME] if name.isprintable() else ""


def filtering(repository: Repository, env: Mapping[str, str]) -> bool:
    """Whether files may be kept in another form than they have: settings name a filter, or more
    settings. What cannot be read counts; the person's own filter for large files loses nothing.
    """
    home, config = _homes(env)
    theirs = (repository.common / "config", repository.git / "config.worktree")
    own = (config / "git" / "config", home / ".gitconfig")
    try:
        texts = [*map(_whole, theirs), *(_LARGE.sub("", _whole(place)) for place in own)]
    except OSError:
        return True
    return any(map(_FILTER.search, texts))


def _whole(file: Path) -> str:
    try:
        return read_regular(file, CONFIG).decode("utf-8", errors="replace")
    except FileNotFoundError:
        return ""


def own_ignores(env: Mapping[str, str]) -> str:
    """The person's own ignore file: where their configuration says, or its usual place."""
    home, config = _homes(env)
    path = config / "git" / "ignore"
    if named := own_settings(env).get("core.excludesfile"):
        path = home / named[2:] if named.startswith("~/") else Path(named)
    return text_of(path)


def text_of(path: Path) -> str:
    """A file with patterns, or nothing."""
    try:
        return read_regular(path, IGNORES).decode("utf-8", errors="replace")
    except (OSError, ValueError):
        return ""


def _homes(env: Mapping[str, str]) -> tuple[Path, Path]:
    home = Path(env.get("HOME") or "/")
    return home, Path(env.get("XDG_CONFIG_HOME") or home / ".config")
