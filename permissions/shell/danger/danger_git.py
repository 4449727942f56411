"""Git commands that throw work away, here or on the server."""

from __future__ import annotations

from gatewright.permissions.shell.files.git_files import git_words
from gatewright.permissions.shell.line import Part


def git_danger(part: Part) -> tuple[str, bool]:
    """Why it is dangerous ('' if not), and whether it loses uncommitted work."""
    words = [arg.text for arg in git_words(part)]
    if not words:
        return "", False
    sub, rest = words[0], words[1:]
    short = {letter for word in rest if _is_bundle(word) for letter in word[1:]}
    before = rest[: rest.index("--")] if "--" in rest else rest
    match sub:
        case "push":
            return _push(rest, short), False
        case "reset":
            return _loses("resets the work tree", _any(rest, "--hard", 4))
        case "checkout":
            return _loses("discards changes", _checkout(rest, before, short))
        case "restore":
            staged = _any(rest, "--staged", 5) or "S" in short
            worktree = _any(rest, "--worktree", 4) or "W" in short
            return _loses("discards changes", not staged or worktree)
        case "switch":
            forced = "f" in short or _any(rest, "--force", 4) or _any(rest, "--discard-changes", 4)
            return _loses("discards changes", forced)
        case "clean":
            forced = "f" in short or _any(rest, "--force", 4)
            dry = "n" in short or _any(rest, "--dry-run", 4)
            return _loses("deletes untracked files", forced and not dry)
        case _:
            return _history(sub, rest, short), False


def _loses(text: str, condition: bool) -> tuple[str, bool]:
    return (text, True) if condition else ("", False)


def _is_bundle(word: str) -> bool:
    return word.startswith("-") and not word.startswith("--") and len(word) > 1


def _any(words: list[str], option: str, least: int) -> bool:
    """An option in full, with a value, or abbreviated to at least `least` characters."""
    for word in words:
        name = word.partition("=")[0]
        if name == option or (len(name) >= least + 1 and option.startswith(name)):
            return True
    return False


def _push(rest: list[str], short: set[str]) -> str:
    names = {word.partition("=")[0] for word in rest}
    overwrites = any(name.startswith(("--mir", "--pru")) for name in names)
    if "f" in short or overwrites or "--force" in names:
        return "overwrites or removes what is on the server"
    if "d" in short or any(name.startswith("--del") for name in names):
        return "deletes on the server"
    refs = [word for word in rest if not word.startswith("-")]
    if any(ref.startswith("+") for ref in refs):
        return "overwrites what is on the server"
    if any(ref.startswith(":") and len(ref) > 1 for ref in refs):
        return "deletes on the server"
    return ""


def _checkout(rest: list[str], before: list[str], short: set[str]) -> bool:
    if "f" in short or _any(before, "--force", 4):
        return True
    if "b" in short or "B" in short or "--orphan" in rest:
        return False
    if "--" in rest:
        return bool(rest[rest.index("--") + 1 :])
    operands = [word for word in rest if not word.startswith("-")]
    if (
        _any(rest, "--pathspec-from-file", 6)
        or "p" in short
        or "--ours" in rest
        or "--theirs" in rest
    ):
        return True
    return any(word.rstrip("/") in (".", "..", "*", ":/", ":/.", ":") for word in operands) or (
        len(operands) > 1
    )


def _history(sub: str, rest: list[str], short: set[str]) -> str:
    match sub:
        case "branch" if "D" in short or (
            ("d" in short or "--delete" in rest) and ("f" in short or "--force" in rest)
        ):
            return "deletes a branch that may not be merged"
        case "stash" if rest[:1] and rest[0] in ("drop", "clear"):
            return "throws a stash away"
        case "filter-branch" | "filter-repo":
            return "rewrites history"
        case "reflog" if rest[:1] and rest[0] in ("expire", "delete"):
            return "throws the way back away"
        case "update-ref" if "d" in short:
            return "deletes a reference"
        case "worktree" if rest[:1] == ["remove"] and ("f" in short or "--force" in rest):
            return "discards a work tree"
        case "gc" if any(word.startswith("--prune=") for word in rest):
            return "throws the way back away"
        case _:
            return ""
