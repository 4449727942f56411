"""Which git commands print what is in tracked files, and whether their words say in which."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from gatewright.tools.system.patterns import later

_LOGS = frozenset({"log", "reflog", "whatchanged", "diff-tree", "diff-index", "diff-files"})
_FILTERED = frozenset({"grep", "diff", "show", *_LOGS})
_PATCH_LETTERS = frozenset({"-p", "-u", "-U", "-W", "-c", "-L"})
_PATCH = (
    "--patch", "--unified", "--cc", "--dd", "--patch-with-stat", "--patch-with-raw", "--binary",
    "--word-diff", "--word-diff-regex", "--color-words", "--function-context", "--remerge-diff",
    "--diff-merges", "--check",
)  # fmt: skip
_BRIEF = frozenset(
    {"-s", "--no-patch", "--stat", "--shortstat", "--numstat", "--name-only", "--name-status",
     "--raw", "--summary", "--compact-summary", "--dirstat", "--quiet"}
)  # fmt: skip

_BY_ID = frozenset(
    {"show", "diff", "grep", "cat-file", "unpack-file"}
)  # they show a file without name, too
_ID = later(r"(?:\S*-g)?[0-9a-f]{4,64}(?:\^\{\w*\})*", re.IGNORECASE)


def prints(name: str, flags: Collection[str]) -> bool:
    """Whether lines of files are shown, and not only their names or how many there are."""
    if name in ("grep", "archive"):
        return True
    if name == "cat-file":
        return not {"-t", "-s", "-e"} & set(flags)
    patch = any(flag in _PATCH_LETTERS or _is_patch(flag) for flag in flags)
    if name in ("diff", "show"):
        return patch or not _BRIEF & set(flags)
    return patch and (name in _LOGS or name == "stash")


def _is_patch(flag: str) -> bool:
    return flag.startswith("--") and any(
        flag == one or (len(flag) > 4 and one.startswith(flag)) for one in _PATCH
    )


def of_unnamed(
    name: str, flags: Collection[str], operands: Sequence[str], behind: Sequence[str]
) -> bool:
    """Whether what it prints may be of files that no word names.

    Only what stands behind `--`, or cannot be a revision, is surely a path; git reads the rest as
    a revision first.
    """
    if not prints(name, flags) or ("-L" in flags and name in _LOGS | {"show"}):
        return False
    if name in ("show", "cat-file") and not behind and operands and all(map(is_blob, operands)):
        return False
    paths = [*behind, *(text for text in operands if _surely_path(text))]
    wide = any(text.startswith(":") or set(text) & set("*?[") for text in paths)
    return wide or not paths


def is_blob(text: str) -> bool:
    """`commit:path` or `:path`, one version of one file; `:/x` and `:(magic)x` are none."""
    _, colon, rest = text.partition(":")
    return bool(colon and rest) and not text.startswith((":/", ":(", ":!", ":^"))


def ids(name: str, text: str) -> int:
    """How many objects of unknown kind a word names by number: a commit, or the bytes of a file."""
    if name not in _BY_ID or is_blob(text):
        return 0
    sides = re.split(r"\.{2,3}", text.lstrip("^"))
    return len(sides) if any(map(_ID.fullmatch, sides)) else 0


def _surely_path(text: str) -> bool:
    return text == "." or text.startswith("./") or (text.endswith("/") and ":" not in text)


def takes_excludes(name: str, flags: Collection[str], operands: Sequence[str]) -> bool:
    """Whether more path specs may follow: not behind `-L`, `--follow` and versions of files."""
    if name not in _FILTERED or not prints(name, flags):
        return False
    if {"--no-index", "--follow"} & set(flags) or ("-L" in flags and name != "grep"):
        return False
    blobs = [is_blob(text) for text in operands]
    return not any(blobs) if name == "diff" else name == "grep" or not blobs or not all(blobs)
