"""A search as data, so that ripgrep and the fallback answer the same question."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

Mode: TypeAlias = Literal["names", "content", "files", "counts"]

COLUMNS = 500
NOT_VCS = ("!.git", "!.hg", "!.svn")


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """`mode` "names" lists files and needs no pattern; `root` is where globs are anchored."""

    root: Path
    target: str = "."  # "./name" for a single file
    mode: Mode
    pattern: str = ""
    globs: tuple[str, ...] = ()
    type: str = ""
    ignore_case: bool = False
    multiline: bool = False
    before: int = 0
    after: int = 0
    ordered: bool = False  # one thread, in the order of the paths

    def argv(self) -> tuple[str, ...]:
        """The arguments of ripgrep behind its name."""
        argv = ["--no-config", "--hidden", "--no-messages", "--null", "--color=never"]
        argv += [f"--glob={pattern}" for pattern in (*self.globs, *NOT_VCS)]
        argv += ["--sort=path"] if self.ordered else []
        if self.mode == "names":
            return (*argv, "--files")
        argv += {"content": ["-n"], "files": ["-l"], "counts": ["-c"]}[self.mode]
        argv += ["--no-heading", "-H", f"--max-columns={COLUMNS}", "--max-columns-preview"]
        argv += [f"-A{self.after}"] if self.after else []
        argv += [f"-B{self.before}"] if self.before else []
        argv += ["-i"] if self.ignore_case else []
        argv += ["-U", "--multiline-dotall"] if self.multiline else []
        argv += [f"--type={self.type}"] if self.type else []
        return (*argv, "-e", self.pattern, "--", self.target)


class Found(msgspec.Struct, frozen=True):
    """What a search printed; `cut` says why it is not all, `failed` why it was not run."""

    output: bytes
    cut: str = ""
    failed: str = ""
    full: bool = False  # stopped because there was more than wanted
