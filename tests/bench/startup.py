"""What a start costs, beside the least it could cost, measured in turn in one run.

`python tests/bench/startup.py [--runs N] [--check]`. Compare within one run only: on a busy machine
everything gets slower together. `--check` fails when a limit is exceeded.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.e2e.program import AGENT, Program
from tests.fakes.terminal import Terminal

WORDS = 40
PROMPT = "Type here"
READY = "\u276f"  # the sign before our own prompt
KEY = "\u00a7"  # on no screen before it is typed

CLIENT = """
import asyncio, json, sys, httpx2
async def main():
    body = {"model": "m", "max_tokens": 1000, "stream": True,
            "messages": [{"role": "user", "content": "hi"}]}
    async with httpx2.AsyncClient() as client:
        async with client.stream("POST", sys.argv[1] + "/v1/messages", json=body) as answer:
            async for line in answer.aiter_lines():
                if line.startswith("data: "):
                    delta = json.loads(line[6:]).get("delta", {})
                    sys.stdout.write(delta.get("text", ""))
asyncio.run(main())
"""

SCREEN = f"""
from textual.app import App
from textual.widgets import Static, TextArea
class Bare(App):
    def compose(self):
        yield Static("Bare")
        yield TextArea(placeholder={PROMPT!r})
Bare().run()
"""


class Answers(BaseHTTPRequestHandler):
    """Streams one text answer in the Anthropic dialect, as fast as it is read."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(answer().encode())
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the table is the output."""


def answer() -> str:
    usage = {"input_tokens": 10, "output_tokens": 1}
    message: dict[str, object] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
    }
    events: list[dict[str, object]] = [
        {"type": "message_start", "message": {**message, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *(
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "text_delta", "text": f"word{n} "},
            }
            for n in range(WORDS)
        ),
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": WORDS},
        },
        {"type": "message_stop"},
    ]
    return "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events)


@contextmanager
def server() -> Generator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as http:
        thread = threading.Thread(target=http.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()


@dataclass
class Row:
    """One thing to start. `limit` is in milliseconds above, or as a multiple of, its base."""

    name: str
    run: Callable[[], float]
    base: str = ""
    above: float = 0.0
    times: float = 0.0
    seconds: list[float] = field(default_factory=list[float])

    @property
    def median(self) -> float:
        return statistics.median(self.seconds) * 1000

    def verdict(self, base: Row | None) -> tuple[str, bool]:
        if base is None:
            return "", True
        if self.above:
            extra = self.median - base.median
            return f"+{extra:.0f} ms (limit +{self.above:.0f})", extra <= self.above
        ratio = self.median / base.median
        return f"{ratio:.2f} x (limit {self.times:.2f})", ratio <= self.times


def timed(argv: list[str], program: Program, **env: str) -> float:
    began = time.perf_counter()
    done = subprocess.run(
        argv,
        cwd=program.project,
        env=program.env(**env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - began
    if done.returncode:
        raise SystemExit(f"{argv[0]} failed:\n{done.stdout}{done.stderr}")
    if "-p" in argv and f"word{WORDS - 1}" not in done.stdout:
        raise SystemExit(f"no answer from the server:\n{done.stdout}{done.stderr}")
    return seconds


def first_key(argv: list[str], program: Program, ready: str, **env: str) -> float:
    """From exec until a typed character is on the screen: only then a prompt is usable."""
    began = time.perf_counter()
    with Terminal(
        argv, cwd=program.project, env=program.env(**env), rows=30, columns=100
    ) as terminal:
        terminal.wait_for(ready, within=20)
        terminal.send(KEY)
        terminal.wait_for(KEY, within=20)
        return time.perf_counter() - began


def rows(program: Program, url: str) -> list[Row]:
    python, pass_ = sys.executable, "python -c pass"
    keys = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "key"}
    ask = [AGENT, "-p", "hi", "--model", "anthropic/claude-sonnet-5-5"]
    screen, client = "bare Textual app, first key", "bare httpx2 client"
    return [
        Row(pass_, lambda: timed([python, "-c", "pass"], program)),
        Row("agent --version", lambda: timed([AGENT, "--version"], program), pass_, above=25),
        Row(client, lambda: timed([python, "-c", CLIENT, url], program)),
        Row("agent -p hi", lambda: timed(ask, program, **keys), client, times=0.8),
        Row(screen, lambda: first_key([python, "-c", SCREEN], program, PROMPT)),
        Row(
            "agent, first key",
            lambda: first_key([AGENT], program, READY, **keys),
            screen,
            times=0.22,
        ),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", default="", help="rows whose name contains this, and their bases")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, server() as url:
        table = {row.name: row for row in rows(Program.prepare(Path(folder)), url)}
        picked = [row for row in table.values() if options.only in row.name]
        wanted = {name for row in picked for name in (row.name, row.base) if name}
        table = {name: row for name, row in table.items() if name in wanted}
        for row in table.values():
            row.run()  # fills caches: the first start of all compiles bytecode
        for _ in range(options.runs):
            for row in table.values():
                row.seconds.append(row.run())
    good = True
    sys.stdout.write(f"{'':32}{'min':>8}{'median':>8}   ms, {options.runs} runs, load ")
    sys.stdout.write(f"{os.getloadavg()[0]:.1f}\n")
    for row in table.values():
        verdict, kept = row.verdict(table.get(row.base))
        good = good and kept
        mark = "" if kept else "   TOO SLOW"
        low = min(row.seconds) * 1000
        sys.stdout.write(f"{row.name:32}{low:8.0f}{row.median:8.0f}   {verdict}{mark}\n")
    return 0 if good or not options.check else 1


if __name__ == "__main__":
    sys.exit(main())
