"""What a long answer costs in CPU, beside a bare streaming client, measured in one run.

`python -m tests.bench.stream [--tokens 20000] [--runs 5] [--check]`. Each program's CPU for a one
word answer is taken off, so that what remains is the stream alone. `--check` fails when the agent
needs more than twice the bare client's CPU, or when ten times the tokens cost more per token.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

RATIO_LIMIT = 2.0
LINEAR_LIMIT = 1.15
BLOCK = 16 * 1024

BARE = """
import asyncio, json, sys, httpx2
async def main():
    body = {"model": "m", "max_tokens": 1000, "stream": True,
            "messages": [{"role": "user", "content": "hi"}]}
    async with httpx2.AsyncClient() as client:
        async with client.stream("POST", sys.argv[1] + "/v1/messages", json=body) as answer:
            parts = []
            async for line in answer.aiter_lines():
                if line.startswith("data: "):
                    delta = json.loads(line[6:]).get("delta", {})
                    parts.append(delta.get("text", ""))
    sys.stdout.write("".join(parts))
asyncio.run(main())
"""
ADAPTER = """
import asyncio, sys
from gatewright.agent.record.messages import UserTurn
from gatewright.agent.providers.protocol import Request, TextPiece
from gatewright.agent.providers.registry import open_provider
from gatewright.agent.providers.settings import ProviderSettings
from gatewright.tools.protocol import TextContent
async def main():
    settings = {"x": ProviderSettings(type="anthropic", base_url=sys.argv[1])}
    provider = open_provider("x/m", settings=settings, env={}).provider
    request = Request(model="m", system=(), tools=(), max_output=1000,
                      turns=(UserTurn((TextContent("hi"),)),))
    parts = [p.text async for p in provider.stream(request) if isinstance(p, TextPiece)]
    await provider.close()
    sys.stdout.write("".join(parts))
asyncio.run(main())
"""


def event(value: Mapping[str, object]) -> bytes:
    """One event as a chunk of its own."""
    body = b"event: %s\ndata: %s\n\n" % (
        str(value["type"]).encode(),
        json.dumps(value).encode(),
    )
    return b"%x\r\n%s\r\n" % (len(body), body)


def wire(tokens: int) -> bytes:
    """A chunked answer with one event in each chunk, as model servers send it."""
    usage = {"input_tokens": 10, "output_tokens": tokens}
    message: dict[str, Any] = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "content": [],
        "usage": usage,
    }
    text = {"type": "text", "text": ""}
    start: dict[str, Any] = {"type": "content_block_start", "index": 0, "content_block": text}
    parts = [event({"type": "message_start", "message": message}), event(start)]
    parts += [
        event(
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "text_delta", "text": f"word{n % 10} " if n % 20 else "end.\n"},
            }
        )
        for n in range(tokens)
    ]
    stop = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage}
    parts += [event({"type": "content_block_stop", "index": 0}), event(stop)]
    parts += [event({"type": "message_stop"}), b"0\r\n\r\n"]
    return b"".join(parts)


@contextmanager
def served(body: bytes) -> Generator[str]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            for start in range(0, len(body), BLOCK):
                self.wfile.write(body[start : start + BLOCK])

        def log_message(self, format: str, *args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def cpu(argv: Sequence[str], env: dict[str, str], cwd: str) -> float:
    """CPU milliseconds of one run, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        argv, env=env, cwd=cwd, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used * 1000


def measured(tokens: int, runs: int) -> dict[str, float]:
    """Least CPU of each program for the stream alone."""
    programs = {
        "bare client": [sys.executable, "-c", BARE],
        "adapter": [sys.executable, "-c", ADAPTER],
        "agent -p": [str(Path(sys.executable).with_name("agent")), "-p", "hi"],
    }
    least: dict[str, list[float]] = {name: [1e9, 1e9] for name in programs}
    with tempfile.TemporaryDirectory() as home:
        for size, count in enumerate((1, tokens)):
            with served(wire(count)) as url:
                env = {
                    **os.environ,
                    "HOME": home,
                    "ANTHROPIC_BASE_URL": url,
                    "ANTHROPIC_API_KEY": "k",
                }
                for _ in range(runs):
                    for name, argv in programs.items():
                        given = argv if name == "agent -p" else [*argv, url]
                        least[name][size] = min(least[name][size], cpu(given, env, home))
    return {name: long - short for name, (short, long) in least.items()}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tokens", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    once = measured(given.tokens, given.runs)
    tenfold = measured(given.tokens * 10, max(1, given.runs // 2))
    bare = once["bare client"]
    for name, spent in once.items():
        linear = tenfold[name] / spent / 10
        print(
            f"{name:12} {given.tokens} tokens {spent:7.1f} ms CPU  {spent / bare:5.2f} x bare  "
            f"ten times as many: {linear:5.2f} x per token"
        )
    agent = once["agent -p"]
    good = agent <= RATIO_LIMIT * bare and tenfold["agent -p"] <= LINEAR_LIMIT * 10 * agent
    return 0 if good or not given.check else 1


if __name__ == "__main__":
    sys.exit(main())
