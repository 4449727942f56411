"""The files of git's sub-commands as data; what is not listed touches none the gate knows of."""

# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class FileRow:
    """`files`: what the operands are. `values`: options that take one which is no file, `written`
    those whose value is a file or directory it writes. `sweeps`: options with which it changes
    files that no word names; `sweeps_alone`: so it does without any path."""

    files: Literal["none", "read", "write", "first", "last"] = "none"
    values: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    sweeps: tuple[str, ...] = ()
    sweeps_alone: bool = False
    walks: bool = False


WRITTEN_BY_ALL: tuple[str, ...] = ("--output",)
_READS = FileRow(
    "read",
    values=(
        "-U",
        "-S",
        "-G",
        "-L",
        "-n",
        "-O",
        "-l",
        "--unified",
        "--author",
        "--committer",
        "--grep",
        "--since",
        "--after",
        "--until",
        "--before",
        "--since-as-filter",
        "--max-age",
        "--min-age",
        "--max-count",
        "--skip",
        "--date",
        "--encoding",
        "--glob",
        "--exclude",
        "--diff-filter",
        "--diff-algorithm",
        "--inter-hunk-context",
        "--src-prefix",
        "--dst-prefix",
        "--line-prefix",
        "--find-object",
        "--word-diff-regex",
        "--ws-error-highlight",
        "--anchored",
        "--decorate-refs",
        "--decorate-refs-exclude",
        "--diff-merges",
    ),
    written=("--output-directory",),
    walks=True,
)
_GREP = FileRow(
    "read",
    values=(
        "-e",
        "-f",
        "-A",
        "-B",
        "-C",
        "-m",
        "--max-depth",
        "--max-count",
        "--after-context",
        "--before-context",
        "--context",
        "--threads",
    ),
    walks=True,
)
ROWS: Mapping[str, FileRow] = {
    **dict.fromkeys(("show", "diff", "blame", "log", "cat-file", "annotate", "reflog", "whatchanged", "diff-tree", "diff-index", "diff-files"), _READS),
    "grep": _GREP,
    "archive": FileRow("read", written=("-o",), values=("--format", "--prefix"), walks=True),
    "rm": FileRow("write", sweeps=("--pathspec-from-file",), walks=True),
    "mv": FileRow("write", walks=True),
    "clean": FileRow("write", values=("-e", "--exclude"), sweeps_alone=True, walks=True),
    "restore": FileRow("write", values=("-s", "--source"), sweeps=("--pathspec-from-file",), sweeps_alone=True, walks=True),
    "checkout": FileRow("write", values=("--conflict",), sweeps=("--pathspec-from-file",), walks=True),
    "checkout-index": FileRow("write", values=("--stage",), written=("--prefix",), sweeps=("-a", "--all", "--stdin"), walks=True),
    "update-index": FileRow("write", values=("--cacheinfo", "--index-version"), sweeps=("--stdin", "--index-info"), walks=True),
    "read-tree": FileRow(written=("--index-output",), sweeps=("-u", "--reset"), values=("--prefix", "--exclude-per-directory")),
    "stash": FileRow(values=("-m", "--message")),
    "apply": FileRow(values=("-p", "-C", "--include", "--exclude", "--directory", "--whitespace"), written=("--build-fake-ancestor",)),
    "worktree": FileRow(values=("-b", "-B", "--reason", "--expire")),
    "clone": FileRow(values=("-b", "--branch", "-o", "--origin", "-u", "--upload-pack", "--reference", "--depth", "-j", "--jobs", "-c", "--config", "--filter", "--template"), written=("--separate-git-dir",)),
    "init": FileRow("last", values=("-b", "--initial-branch", "--template"), written=("--separate-git-dir",)),
    "submodule": FileRow(values=("-b", "--branch", "--name", "--reference", "--depth", "-j", "--jobs")),
    "format-patch": FileRow(values=("-v", "--reroll-count", "--suffix", "--subject-prefix", "--start-number"), written=("-o", "--output-directory")),
    "mergetool": FileRow("write", values=("-t", "--tool", "-O"), sweeps_alone=True, walks=True),
    "difftool": FileRow("write", values=("-t", "--tool", "-x", "--extcmd"), sweeps_alone=True, walks=True),
    "merge-file": FileRow("first", values=("-L", "--marker-size")),
    "interpret-trailers": FileRow("write", values=("--trailer", "--where", "--if-exists", "--if-missing")),
    "mailinfo": FileRow("write"),
    "mailsplit": FileRow(written=("-o",)),
    "index-pack": FileRow(written=("-o",)),
    "fast-export": FileRow(written=("--export-marks",)),
    **dict.fromkeys(("bugreport", "diagnose"), FileRow(written=("-o", "--output-directory"))),
    "config": FileRow(values=("-f", "--file", "--type", "--default", "--blob")),
    "switch": FileRow(values=("-c", "-C", "--conflict", "--orphan")),
    "reset": FileRow(),
}  # fmt: skip
