"""What goes over the line: `python -m tests.bench.request_bytes [--check]`.

The first request of print mode, by its parts, with the real program against a loopback server. What
says which skills there are is counted apart: it is there when they are.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.bench.figures import Verdict, at_most
from tests.e2e.program import Program
from tests.fakes.model_server import ServerThread

KB = 1000.0
MOST = 10.0  # kB
HEADING = "\n# Skills\n"
MODEL = "anthropic/claude-sonnet-5-5"


def first_request(*, stored: str = "") -> tuple[int, Mapping[str, Any]]:
    """Bytes of the body, and the body."""
    with tempfile.TemporaryDirectory() as folder, ServerThread("say: ok") as server:
        program = Program.prepare(Path(folder))
        if stored:
            (program.home / ".gatewright" / "settings.json").write_text(stored, encoding="utf-8")
        env = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "key"}
        done = program.run("-p", "hi", "--model", MODEL, env=env)
        if done.stdout != "ok\n":
            raise SystemExit(f"no answer:\n{done.stdout}{done.stderr}")
        request = server.requests[0]
        return len(request.raw), request.body


def size(value: object) -> int:
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode())


def of_skills(body: Mapping[str, Any]) -> int:
    """The tool for them, and their list."""
    tools = sum(size(tool) + 1 for tool in body["tools"] if tool["name"] == "Skill")
    texts = "".join(block["text"] for block in body["system"])
    return tools + (size(texts[texts.index(HEADING) :]) if HEADING in texts else 0)


def verdicts() -> list[Verdict]:
    whole, body = first_request()
    skills = of_skills(body)
    rows = sorted(((size(tool), tool["name"]) for tool in body["tools"]), reverse=True)
    sys.stdout.write(f"{whole} bytes: tools {size(body['tools'])}, system {size(body['system'])}")
    sys.stdout.write(f", of these skills {skills}\n")
    sys.stdout.write(", ".join(f"{name} {count}" for count, name in rows) + "\n")
    return [at_most("first request of print mode", (whole - skills) / KB, MOST, "kB")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    found = verdicts()
    sys.stdout.write("".join(verdict.line() for verdict in found))
    return 1 if given.check and not all(verdict.good for verdict in found) else 0


if __name__ == "__main__":
    sys.exit(main())
