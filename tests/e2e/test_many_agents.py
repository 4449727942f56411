"""Twenty agents at a server that answers one request at a time: nobody fails, nothing is lost."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gatewright.agent.providers.catalog import load_catalog
from tests.e2e.program import Program
from tests.fakes.model_server import ServerThread
from tests.fakes.narrow_server import MAIN, NarrowServer
from tests.fakes.scripted_provider import DEFAULT_USAGE

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

COUNT = 20
NAMES = [f"agent{number:02}" for number in range(COUNT)]
BURSTS = 5  # of 16, 8, 4, 2 requests and one: who comes through in such a one is the network's luck
READ = 'call: Read {"file_path": "notes.txt"}'


def script(who: str) -> str:
    if who != MAIN:
        return f"{READ}\n---\nsay: {who} is done.\n"
    calls = (json.dumps({"description": name, "prompt": f"I am {name}."}) for name in NAMES)
    lines = "\n".join(f"call[{n}]: Agent {call}" for n, call in zip(NAMES, calls, strict=True))
    return f"{lines}\n---\nsay: All.\n"


def in_order(names: list[str]) -> int:
    """How many of them stand in the order of their names."""
    longest: list[int] = []
    for place, name in enumerate(names):
        before = (longest[i] for i in range(place) if names[i] < name)
        longest.append(1 + max(before, default=0))
    return max(longest)


@pytest.mark.parametrize("retry_after", ["", "1"], ids=["no word of when", "retry-after"])
def test_all_finish_in_order_and_the_cost_is_the_servers(
    program: Program, retry_after: str
) -> None:
    # An answer takes longer than a burst of requests needs to come: all but one of it are refused.
    server = NarrowServer(script, retry_after=retry_after, seconds=0.1)
    with ServerThread(server=server):
        env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}
        flags = ("--output-format", "stream-json", "--verbose", "--model", "haiku")
        done = program.run("-p", "go", *flags, env=env, within=200)
        assert done.returncode == 0, done.stderr
        lines: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
        again = program.run("-p", "/cost", "--continue", env=env)
    reports = [
        block
        for line in lines
        if line["type"] == "user" and line["parent_tool_use_id"] is None
        for block in line["message"]["content"]
    ]
    assert [block["tool_use_id"] for block in reports] == NAMES, "each once, in order"
    assert not any(block["is_error"] for block in reports)
    texts = [str(block["content"]) for block in reports]
    assert all(f"{name} is done." in text for name, text in zip(NAMES, texts, strict=True))
    ended = [line["status"] for line in lines if line.get("subtype") == "task_notification"]
    assert ended == ["completed"] * COUNT
    assert server.refused, "or this shows nothing"
    first = list(dict.fromkeys(who for who in server.answered if who != MAIN))
    assert in_order(first) >= COUNT - BURSTS, first
    requests = len(server.answered)
    assert requests == 2 * COUNT + 2
    last = lines[-1]
    assert (last["type"], last["result"]) == ("result", "All.")
    used = last["modelUsage"]
    assert sum(each["outputTokens"] for each in used.values()) == requests * DEFAULT_USAGE.output
    price = load_catalog().facts("anthropic", server.bodies[0]["model"]).cost(DEFAULT_USAGE)
    assert last["total_cost_usd"] == pytest.approx(requests * price)
    row = next(line for line in again.stdout.splitlines() if line.split()[:1] == ["session"])
    assert f"{requests * DEFAULT_USAGE.output:,}" in row
