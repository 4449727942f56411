"""Whole runs of the program as stream-json: every line is valid, and the runs are as recorded.

What differs from run to run has a fixed name in a recording. With UPDATE=1 in the environment they
are recorded anew; read the difference before you keep it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gatewright.agent.subcommands.schema import Name, document
from tests.e2e.program import Program
from tests.fakes.model_server import ServerThread

pytestmark = pytest.mark.e2e

GOLDEN = Path(__file__).with_name("golden")
PUBLISHED: Any = jsonschema.Draft202012Validator(document(Name.OUTPUT))
CHANGING = {"uuid", "session_id", "app", "duration_ms", "duration_api_ms"} | {
    "total_cost_usd",
    "costUSD",
}
MODEL = "anthropic/claude-sonnet-5-5"
# What there is grows; each has tests of its own.
LISTS = {"tools", "slash_commands", "agents", "skills"}

RUNS: dict[str, tuple[str, tuple[str, ...], int]] = {
    "answer": ("say: Hello there.\n", (), 0),
    "tools": (
        'think: I look.\nsay: First I look.\ncall: Read {"file_path": "notes.txt"}\n---\n'
        'call: Grep {"pattern": "beta", "output_mode": "content"}\n---\nsay: Two lines.\n',
        (),
        0,
    ),
    "denied": ('call: Bash {"command": "touch made"}\n---\nsay: I may not.\n', (), 0),
    "failed": ('call: Read {"file_path": "absent.txt"}\n---\nsay: It is not there.\n', (), 0),
    "pieces": ("say: Hello there, in pieces.\n", ("--include-partial-messages",), 0),
    "limit": ('call: Glob {"pattern": "*"}\n---\nsay: x\n', ("--max-turns", "1"), 53),
    "structured": (
        'say: Forty-two.\n---\nsay: {"n": 42}\n',
        ("--json-schema", '{"type": "object", "required": ["n"]}'),
        0,
    ),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_is_as_recorded(program: Program, name: str) -> None:
    script, flags, code = RUNS[name]
    with ServerThread(script) as server:
        done = program.run(
            "-p", "go", "--model", MODEL, "--output-format", "stream-json", "--verbose", *flags,
            env={"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url},
        )  # fmt: skip
    assert done.returncode == code, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    for line in lines:
        PUBLISHED.validate(line)
    assert [line["type"] for line in lines].count("result") == 1
    assert (lines[0]["type"], lines[-1]["type"]) == ("system", "result")
    assert len({line["uuid"] for line in lines}) == len(lines)
    assert len({line["session_id"] for line in lines}) == 1
    text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in fixed(lines, program))
    path = GOLDEN / f"{name}.jsonl"
    if os.environ.get("UPDATE"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text.splitlines() == path.read_text(encoding="utf-8").splitlines()


def fixed(lines: list[Any], program: Program) -> Iterator[Any]:
    """The lines with fixed names for what differs from run to run."""
    ids: dict[str, str] = {}

    def walk(value: Any, key: str = "") -> Any:
        if key in CHANGING:
            return f"<{key}>"
        if key in LISTS:
            return "<names>"
        if key in ("id", "tool_use_id") and isinstance(value, str):
            return ids.setdefault(value, f"<id {len(ids) + 1}>")
        match value:
            case dict():
                return {name: walk(item, name) for name, item in value.items()}  # pyright: ignore
            case list():
                return [walk(item) for item in value]  # pyright: ignore
            case str():
                return value.replace(str(program.project), "<project>").replace(
                    str(program.home), "<home>"
                )
            case _:
                return value

    return (walk(line) for line in lines)
