"""A search as data, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec

Mode: TypeAlias = Literal["names", "content", "files", "counts"]

COLUMNS = 500
NOT_VCS = ("!.git", "!.hg", "!.svn")


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """`mode` "names" lists files and needs no pattern."""

    mode: Mode
    pattern: str = ""
    globs: tuple[str, ...] = ()
    type: str = ""
    ignore_case: bool = False
    multiline: bool = False
    before: int = 0
    after: int = 0
    ordered: bool = False  # one thread, in the order of the paths
    ignores: bool = True  # ignore files are heeded

    def argv(self, *targets: str) -> tuple[str, ...]:
        """The arguments of ripgrep behind its name; the targets are a directory or files."""
        argv = ["--no-config", "--hidden", "--no-messages", "--null", "--color=never"]
        argv += [f"--glob={pattern}" for pattern in (*self.globs, *NOT_VCS)]
        argv += ["--sort=path"] if self.ordered else []
        argv += [] if self.ignores else ["--no-ignore"]
        if self.mode == "names":
            return (*argv, "--files")
        argv += {"content": ["-n"], "files": ["-l"], "counts": ["-c"]}[self.mode]
        argv += ["--no-heading", "-H", f"--max-columns={COLUMNS}", "--max-columns-preview"]
        argv += [f"-A{self.after}"] if self.after else []
        argv += [f"-B{self.before}"] if self.before else []
        argv += ["-i"] if self.ignore_case else []
        argv += ["-U", "--multiline-dotall"] if self.multiline else []
        argv += [f"--type={self.type}"] if self.type else []
        return (*argv, "-e", self.pattern, "--", *targets)


class Printed(msgspec.Struct, frozen=True):
    """What a search printed; `cut` says why it is not all, `failed` why it was not run."""

    output: bytes
    cut: str = ""
    failed: str = ""
    full: bool = False  # stopped because there was more than wanted


Lines: TypeAlias = Mapping[bytes, Sequence[bytes]]
SEPARATOR = b"--"


class Found(msgspec.Struct, frozen=True):
    """What was found in each file: its lines, its count, or nothing where only names are asked.

    `times` are when these files were changed, in nanoseconds; the rest is as in Printed.
    """

    lines: Lines
    times: Mapping[bytes, int] = {}
    cut: str = ""
    full: bool = False


def by_file(output: bytes, mode: Mode) -> dict[bytes, Sequence[bytes]]:
    """What ripgrep printed; it prints a file's lines together, in any order of files."""
    if mode in ("names", "files"):
        return dict.fromkeys(output.split(b"\0")[:-1], ())
    groups: dict[bytes, Sequence[bytes]] = {}
    current: list[bytes] = []
    separator = False
    last = b""
    for line in output.split(b"\n")[:-1]:
        name, nul, rest = line.partition(b"\0")
        if not nul:
            separator = separator or line == SEPARATOR
            continue
        if name != last:
            current, last, separator = [], name, False
            groups[name] = current
        elif separator:
            current.append(SEPARATOR)
            separator = False
        current.append(rest)
    return groups
