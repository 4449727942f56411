"""From the last byte of an answer to the whole next request, with the real program.

`python -m tests.bench.loop [--calls 50] [--check]` runs `agent -p` against a loopback server whose
every answer is one call of `true`, and prints the time between answers and requests: in all, and
at the beginning and the end of a long session.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

TURN_LIMIT_MS = 6.0
FLAT_LIMIT = 1.3
EARLY, LATE = 10, 500


class Server:
    """Answers at once; keeps when each answer's last byte went out and each request was whole."""

    def __init__(self, calls: int) -> None:
        self._calls = calls
        self._given = 0
        self._sent = 0.0
        self.gaps: list[float] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    int(line.split(b":")[1])
                    for line in head.lower().split(b"\r\n")
                    if line.startswith(b"content-length")
                )
                await reader.readexactly(length)
                now = time.perf_counter()
                if self._sent:
                    self.gaps.append((now - self._sent) * 1000)
                body = _answer(self._given, last=self._given >= self._calls)
                self._given += 1
                writer.write(
                    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
                    b"content-length: %d\r\n\r\n%s" % (len(body), body)
                )
                await writer.drain()
                self._sent = time.perf_counter()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


def _answer(number: int, *, last: bool) -> bytes:
    usage = {"input_tokens": 10, "output_tokens": 1}
    if last:
        start: dict[str, Any] = {"type": "text", "text": ""}
        delta: dict[str, Any] = {"type": "text_delta", "text": "done"}
    else:
        start = {"type": "tool_use", "id": f"toolu_{number}", "name": "Bash", "input": {}}
        arguments = json.dumps({"command": f"true {number}"})
        delta = {"type": "input_json_delta", "partial_json": arguments}
    message: dict[str, Any] = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": "fake",
        "content": [],
        "stop_reason": None,
        "usage": usage,
    }
    reason = "end_turn" if last else "tool_use"
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": start},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage},
        {"type": "message_stop"},
    ]
    return b"".join(
        b"event: %s\ndata: %s\n\n" % (event["type"].encode(), json.dumps(event).encode())
        for event in events
    )


async def measure(calls: int, *, sandbox: bool = False) -> list[float]:
    """Milliseconds of each gap."""
    server = Server(calls)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": folder,
            "ANTHROPIC_API_KEY": "k",
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}",
        }
        agent = Path(sys.executable).with_name("agent")
        flags = ["-p", "go", "--model", "anthropic/fake", "--permission-mode", "bypass"]
        flags += ["--settings", json.dumps({"sandbox": {"enabled": sandbox}})]
        process = await asyncio.create_subprocess_exec(
            agent, *flags, cwd=folder, env=env, stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        out, _ = await asyncio.wait_for(process.communicate(), 300)
    listening.close()
    if process.returncode or out != b"done\n":
        raise SystemExit(f"the program ended with {process.returncode}: {out!r}")
    return server.gaps


def report(gaps: Sequence[float]) -> tuple[float, float]:
    """Print the figures; returns the median of the first 50 and how much slower the end is."""
    first = statistics.median(gaps[EARLY : EARLY + 50])
    print(f"{len(gaps)} gaps: median {statistics.median(gaps):.2f} ms, max {max(gaps):.1f} ms")
    print(f"calls {EARLY}-{EARLY + 50}: median {first:.2f} ms")
    if len(gaps) < LATE:
        return first, 1.0
    late = statistics.median(gaps[-50:])
    print(f"the last 50: median {late:.2f} ms, {late / first:.2f} times the first")
    return first, late / first


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=LATE)
    parser.add_argument("--check", action="store_true", help="fail when over the limits")
    parser.add_argument("--sandbox", action="store_true", help="confine the commands")
    given = parser.parse_args()
    first, growth = report(asyncio.run(measure(given.calls, sandbox=given.sandbox)))
    if given.check and (first > TURN_LIMIT_MS or growth > FLAT_LIMIT):
        print(f"over the limit: {TURN_LIMIT_MS} ms and {FLAT_LIMIT} times")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
