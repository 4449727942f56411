"""What MCP servers cost, each figure beside what it is compared with, in one run.

Run by `tests/bench/mcp.py`. Every row of the targets is printed with its verdict; `--check` fails
where one is missed. Compare within one run only.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from gatewright.mcp.definitions import read
from gatewright.mcp.described import Described, Hello, Listing
from gatewright.mcp.known import KnownServers
from gatewright.mcp.servers import PER_TOKEN
from tests.bench import mcp_calls
from tests.bench.figures import MS, Verdict, at_most, ratio, rss
from tests.e2e.program import AGENT, Program
from tests.fakes.model_server import ServerThread
from tests.fakes.terminal import Terminal
from tests.mcp.test_server import FAKE

ROOT = Path(__file__).resolve().parents[2]
READY, TYPED = "\u276f", "abcdefghijklmnopqrstuvwxyz0123456789"
WINDOW = 200_000
ASK = ("-p", "hi", "--model", "anthropic/claude-haiku-4-5")


class Homes(NamedTuple):
    """Programs whose homes know so many servers."""

    none: Program
    ten: Program
    fifty: Program


def with_known(folder: Path, servers: int, tools: int) -> Program:
    """A program whose servers were all listed before; one that started would leave a mark."""
    folder.mkdir()
    made = Program.prepare(folder)
    own = made.home / ".gatewright"
    store, entries = KnownServers(own / "state" / "mcp"), dict[str, Any]()
    for number in range(servers):
        raw = {"command": "/bin/sh", "args": ["-c", f"echo {number} >> {folder}/started"]}
        entries[f"s{number}"] = raw
        definition = read(f"s{number}", raw, "user", "here")
        store.listed(definition.signature, Hello(era="2025-11-25", tools=True), listing(tools))
    settings(made, entries)
    return made


def settings(made: Program, servers: dict[str, Any]) -> None:
    values = {"smallModel": "demo", "mcpServers": servers}
    path = made.home / ".gatewright" / "settings.json"
    path.write_text(json.dumps(values), encoding="utf-8")


def listing(tools: int) -> Listing:
    """Tools as they are in the wild: some 150 tokens each."""
    about = "What it is about, in the words of whoever asks for it; empty for all of them."
    text = {"type": "string", "description": about}
    names = ("owner", "project", "query", "state", "cursor")
    schema = {"type": "object", "properties": dict.fromkeys(names, text), "required": ["owner"]}
    every = (
        Described(name=f"do_{n}", description=f"Does the thing {n} well. {about}", schema=schema)
        for n in range(tools)
    )
    return Listing(tools=tuple(every))


def terminal(made: Program, url: str) -> Terminal:
    return made.terminal(env={"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": url})


def painted(made: Program, url: str) -> float:
    began = time.perf_counter()
    with terminal(made, url) as screen:
        screen.wait_for(READY, within=20)
        return time.perf_counter() - began


def ran(made: Program, *arguments: str, url: str = "") -> float:
    env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": url} if url else {}
    began = time.perf_counter()
    subprocess.run(
        [AGENT, *arguments],
        cwd=made.project,
        env=made.env(**env),
        check=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
    )
    return time.perf_counter() - began


def in_turn(runs: int, *measures: Callable[[], float]) -> list[list[float]]:
    for each in measures:
        each()  # fills caches
    found: list[list[float]] = [[] for _ in measures]
    for _ in range(runs):
        for times, each in zip(found, measures, strict=True):
            times.append(each())
    return found


def starts(homes: Homes, runs: int) -> list[Verdict]:
    with ServerThread("say: x\n", repeat=True) as model:
        paints = (lambda made=made: painted(made, model.url) for made in homes)
        none, ten, fifty = in_turn(2 * runs, *paints)
    versions = (lambda made=made: ran(made, "--version") for made in homes[:2])
    bare, version = in_turn(2 * runs, *versions)
    return [
        ratio("first paint, 10 known servers / none", ten, none, 1.03),
        ratio("first paint, 50 servers, 2,000 tools / none", fifty, none, 1.03),
        ratio("--version, 10 known servers / none", version, bare, 1.03),
    ]


def asks(homes: Homes, runs: int) -> list[Verdict]:
    with ServerThread("say: x\n", repeat=True) as model:
        asking = (lambda made=made: ran(made, *ASK, url=model.url) for made in homes[:2])
        none, ten = in_turn(2 * runs, *asking)
        plain, many = (len(json.dumps(body)) for body in model.bodies[-2:])
    row = ratio("first request of -p, 10 known / none", ten, none, 1.05)
    idle = not (homes.ten.home.parent / "started").exists()
    told = "none started" if idle else "SOME STARTED"
    tokens = (many - plain) / PER_TOKEN
    return [
        row._replace(found=f"{row.found} {told}", good=row.good and idle),
        at_most("tokens of 10 servers, 200 tools", tokens, WINDOW * 0.01 + 600, "tokens"),
    ]


def memory(homes: Homes, runs: int) -> list[Verdict]:
    with ServerThread("say: x\n", repeat=True) as model:
        none, ten = in_turn(max(3, runs // 2), *(
            lambda made=made: idle(made, model.url) for made in homes[:2]
        ))  # fmt: skip
    one, other = statistics.median(ten), statistics.median(none)
    found = f"{one / other:.3f} x  ({one / 1024:.1f} / {other / 1024:.1f} MB)"
    row = Verdict("idle RSS, 10 known servers / none", found, "<= 1.03 x", one / other <= 1.03)
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.mcp_calls"], cwd=ROOT, capture_output=True, check=True
    )
    return [row, *(Verdict(*each) for each in json.loads(done.stdout))]


def idle(made: Program, url: str) -> float:
    """KB. What only the SDK brings along must not be mapped."""
    with terminal(made, url) as screen:
        screen.wait_for(READY, within=20)
        screen.look(4.0)
        maps = Path(f"/proc/{screen.pid}/maps").read_text(encoding="utf-8")
        if "/rpds/" in maps:
            raise SystemExit("the SDK was imported, though no server runs")
        return rss(screen.pid)


def echo(homes: Homes, runs: int) -> list[Verdict]:
    """Keys while ten servers that nobody knew are being connected, beside keys without them."""
    entry = {"command": sys.executable, "args": [str(FAKE)]}
    alone, late = list[float](), list[float]()
    with ServerThread("say: x\n", repeat=True) as model:
        for run in range(max(3, runs // 3)):
            settings(homes.none, {})
            alone += keys(homes.none, model.url)
            settings(homes.none, {f"n{n}": {**entry, "env": {"RUN": str(run)}} for n in range(10)})
            late += keys(homes.none, model.url)
    settings(homes.none, {})
    row = at_most("key echo while 10 new servers connect, p95", p95(late), 20, "ms")
    return [row._replace(found=f"{row.found} (without them {p95(alone):.1f})")]


def keys(made: Program, url: str) -> list[float]:
    found: list[float] = []
    with terminal(made, url) as screen:
        screen.wait_for(READY, within=20)
        for end in range(1, len(TYPED) + 1):
            began = time.perf_counter()
            screen.send(TYPED[end - 1])
            screen.wait_for(TYPED[:end], within=20)
            found.append(time.perf_counter() - began)
            screen.look(0.02)
    return found


def p95(seconds: list[float]) -> float:
    return sorted(seconds)[int(len(seconds) * 0.95)] * MS


def inside(measure: Callable[[int], Any]) -> Callable[[Homes, int], list[Verdict]]:
    def run(homes: Homes, runs: int) -> list[Verdict]:
        del homes
        return asyncio.run(measure(runs))

    run.__name__ = measure.__name__
    return run


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--only", default="", help="groups whose name contains this")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    groups = (starts, asks, memory, echo, *map(inside, mcp_calls.ROWS))
    sys.stdout.write(f"{options.runs} runs, load {os.getloadavg()[0]:.1f}\n")
    good = True
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        counts = (("none", 0, 0), ("ten", 10, 20), ("fifty", 50, 40))
        homes = Homes(*(with_known(root / name, servers, n) for name, servers, n in counts))
        for group in groups:
            if options.only in group.__name__:
                for row in group(homes, options.runs):
                    good = good and row.good
                    sys.stdout.write(row.line())
                    sys.stdout.flush()
    return 0 if good or not options.check else 1


if __name__ == "__main__":
    sys.exit(main())
