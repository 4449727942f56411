"""Questions as JSON lines on standard input, answers as JSON lines on standard output."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated, Any

import msgspec
import typer

from gatewright.agent.exits import UsageError

Jsonl = Annotated[bool, typer.Option("--jsonl", help="Read JSON lines from standard input.")]


def answer_lines(jsonl: bool, answer: Callable[[bytes], bytes]) -> None:
    """One answer for each line, in order; exit code 1 when a line could not be read."""
    if not jsonl:
        raise UsageError("Give --jsonl and write questions to standard input, one JSON a line.")
    failed = False
    for line in sys.stdin.buffer:
        if not line.strip():
            continue
        found = answer(line)
        failed = failed or "error" in _object(found)
        sys.stdout.buffer.write(found + b"\n")
    sys.stdout.buffer.flush()
    if failed:
        raise typer.Exit(1)


def _object(answer: bytes) -> dict[str, Any]:
    return msgspec.json.decode(answer, type=dict[str, Any])
