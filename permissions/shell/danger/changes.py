"""Which commands change something by their nature, for plan mode: tables and one question."""

# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Mapping

from gatewright.permissions.shell.files.git_files import git_words
from gatewright.permissions.shell.files.operands import touched
from gatewright.permissions.shell.line import Part

GIT_WRITES: frozenset[str] = frozenset(
    {"add", "commit", "merge", "rebase", "cherry-pick", "am", "apply", "checkout", "switch", "pull",
     "push", "init", "clone", "reset", "restore", "rm", "mv", "revert", "clean", "fetch", "gc",
     "filter-branch", "filter-repo", "update-ref", "update-index", "write-tree", "commit-tree",
     "notes", "replace", "submodule", "sparse-checkout", "prune", "repack", "fast-import", "bisect"}
)  # fmt: skip
_GIT_LISTS: Mapping[str, frozenset[str]] = {
    "stash": frozenset({"list", "show"}),
    "worktree": frozenset({"list"}),
    "remote": frozenset({"show", "get-url", "-v", "--verbose"}),
}
PACKAGE_MANAGERS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(
        ("npm", "pnpm", "yarn", "bun"),
        frozenset({"install", "i", "ci", "add", "remove", "rm", "uninstall", "un", "update", "up",
                   "upgrade", "link", "unlink", "dedupe", "prune", "init", "rebuild", "import"})),
    **dict.fromkeys(("pip", "pip3", "pipx"), frozenset({"install", "uninstall", "upgrade", "inject"})),
    "uv": frozenset({"add", "remove", "sync", "lock", "init", "venv", "pip install", "pip uninstall",
                     "pip sync", "tool install", "python install"}),
    "poetry": frozenset({"add", "remove", "install", "update", "lock", "init", "new"}),
    "pdm": frozenset({"add", "remove", "install", "update", "lock", "sync"}),
    "pipenv": frozenset({"install", "uninstall", "update", "lock", "sync"}),
    "cargo": frozenset({"add", "remove", "rm", "install", "uninstall", "update", "init", "new", "fix"}),
    "go": frozenset({"get", "install", "mod tidy", "mod download", "mod init", "mod vendor"}),
    "gem": frozenset({"install", "uninstall", "update"}),
    "bundle": frozenset({"install", "add", "update", "remove"}),
    "composer": frozenset({"install", "require", "remove", "update"}),
    **dict.fromkeys(
        ("apt", "apt-get", "dnf", "yum", "zypper", "brew", "port", "snap", "flatpak", "conda", "mamba"),
        frozenset({"install", "remove", "purge", "update", "upgrade", "autoremove", "uninstall",
                   "reinstall", "create", "full-upgrade", "dist-upgrade"})),
    "apk": frozenset({"add", "del", "update", "upgrade"}),
    "pacman": frozenset({"-S", "-Sy", "-Syu", "-R", "-Rs", "-U"}),
    "rustup": frozenset({"install", "update", "component add", "target add", "default"}),
    "npx": frozenset(),
}  # fmt: skip


def changes_something(part: Part) -> bool:
    """Whether a command writes by its nature: files, the repository, or installed packages."""
    if any(one.file and one.writes for one in part.redirects) or touched(part).writes:
        return True
    if not part.argv:
        return False
    program = part.program
    if program == "git":
        return _git_changes(part)
    table = PACKAGE_MANAGERS.get(program)
    if table is None:
        return False
    words = [text for text in part.texts[1:] if not text.startswith("-") or program == "pacman"]
    if program == "yarn" and not words:
        return True
    return any(" ".join(words[: len(known.split())]) == known for known in table)


def _git_changes(part: Part) -> bool:
    words = [arg.text for arg in git_words(part)]
    if not words:
        return False
    sub, rest = words[0], words[1:]
    if sub in GIT_WRITES:
        return True
    operands = [word for word in rest if not word.startswith("-")]
    lists = _GIT_LISTS.get(sub)
    if lists is not None:
        return not (operands and operands[0] in lists) and (bool(operands) or sub == "stash")
    if sub in ("branch", "tag"):
        listing = any(
            word in ("-l", "--list", "--contains", "--merged", "--no-merged", "--points-at",
                     "--no-contains") for word in rest
        )  # fmt: skip
        return bool(operands) and not listing
    if sub == "config":
        reads = any(word.startswith(("--get", "--list")) or word == "-l" for word in rest)
        return len(operands) > 1 and not reads
    return sub == "reflog" and operands[:1] in (["expire"], ["delete"])
