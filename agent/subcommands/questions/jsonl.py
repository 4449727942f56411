"""Questions as JSON lines on standard input, answers as JSON lines on standard output."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated, Any

import msgspec
import typer

from gatewright.agent.launch.exits import UsageError

Jsonl = Annotated[bool, typer.Option("--jsonl", help="Read JSON lines from standard input.")]


def answer_lines(jsonl: bool, answer: Callable[[bytes], bytes], *, lenient: bool = False) -> None:
    """One answer for each line, at once and in order; an answer may be an error.

    After one the exit code is 1, unless `lenient`.
    """
    if not jsonl:
        raise UsageError("Give --jsonl and write questions to standard input, one JSON a line.")
    failed = False
    for line in sys.stdin.buffer:
        if not line.strip():
            continue
        found = answer(line)
        failed = failed or (
            not lenient and "error" in msgspec.json.decode(found, type=dict[str, Any])
        )
        sys.stdout.buffer.write(found + b"\n")
        sys.stdout.buffer.flush()
    if failed:
        raise typer.Exit(1)
