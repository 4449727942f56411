"""From the last byte of an answer to the whole next request, with the real program.

`python -m tests.bench.loop [--calls 1000] [--call Read] [--sandbox] [--think MS] [--write MS]
[--check]` runs
`agent -p` against a loopback server whose every answer is one call, and prints the time between
answers and requests: in all, of the first, and at the beginning and the end of a long session. That
it stays flat is measured as CPU. `--think` is how long the server waits before each answer, and
`--write` how long it writes on a call, as a model does.
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
from contextlib import suppress
from pathlib import Path
from typing import Any

TURN_LIMIT_MS = 5.0
READ_LIMIT_MS = 1.5
FIRST_LIMIT_MS = 15.0
FLAT_LIMIT = 1.3
EARLY, LATE = 10, 500
FILES = 100


class Server:
    """Answers at once; keeps when each answer's last byte went out and each request was whole."""

    def __init__(
        self, calls: int, call: str = "Bash", think: float = 0.0, write: float = 0.0
    ) -> None:
        self._calls = calls
        self._think, self._write = think, write
        self._call = call
        self._given = 0
        self._sent = 0.0
        self._worked = 0.0
        self.pid = 0
        self.gaps: list[float] = []
        self.work: list[float] = []  # milliseconds of CPU between the same two moments

    def arrived(self, now: float) -> None:
        """A request is whole."""

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
                self.arrived(now)
                worked = worked_ms(self.pid)
                if self._sent:
                    self.gaps.append((now - self._sent) * 1000)
                    self.work.append(worked - self._worked)
                await asyncio.sleep(self._think)
                body = _answer(self._given, self._call, last=self._given >= self._calls)
                self._given += 1
                writer.write(
                    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
                    b"content-length: %d\r\n\r\n" % len(body)
                )
                if self._write:
                    *begun, body = body.rpartition(b'"partial_json": "{')
                    writer.write(b"".join(begun))
                    await asyncio.sleep(self._write)
                writer.write(body)
                await writer.drain()
                self._sent, self._worked = time.perf_counter(), worked_ms(self.pid)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


def worked_ms(pid: int) -> float:
    """CPU of all threads of a process so far; its children are not in it."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat") if pid else ()
    total = 0
    for path in threads:
        with suppress(OSError):  # one that has just ended
            total += int(path.read_text(encoding="ascii").split()[0])
    return total / 1e6


def _answer(number: int, call: str, *, last: bool) -> bytes:
    usage = {"input_tokens": 10, "output_tokens": 1}
    if last:
        start: dict[str, Any] = {"type": "text", "text": ""}
        delta: dict[str, Any] = {"type": "text_delta", "text": "done"}
    else:
        start = {"type": "tool_use", "id": f"toolu_{number}", "name": call, "input": {}}
        at, file = divmod(number, FILES)  # another part each time, and none far into a file
        read = {"file_path": f"notes{file}.txt", "offset": at + 1, "limit": 2}
        arguments = json.dumps({"command": f"true {number}"} if call == "Bash" else read)
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


async def measure(
    calls: int, *, sandbox: bool = False, call: str = "Bash", times: tuple[float, float] = (0, 0)
) -> Server:
    """The server, which knows the milliseconds of each gap; `times` are to think and to write."""
    server = Server(calls, call, *times)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        for number in range(FILES):
            text = "\n".join(map(str, range(2000)))
            Path(folder, f"notes{number}.txt").write_text(text, encoding="utf-8")
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
        server.pid = process.pid
        out, _ = await asyncio.wait_for(process.communicate(), 600)
    listening.close()
    if process.returncode or out != b"done\n":
        raise SystemExit(f"the program ended with {process.returncode}: {out!r}")
    return server


def report(server: Server) -> tuple[float, float]:
    """Print the figures; returns the median of the first 50 and how much more work the end is."""
    gaps, work = server.gaps, server.work
    first = statistics.median(gaps[EARLY : EARLY + 50])
    early = statistics.median(work[EARLY : EARLY + 50])
    print(f"{len(gaps)} gaps: median {statistics.median(gaps):.2f} ms, max {max(gaps):.1f} ms")
    print(f"the first call: {gaps[0]:.1f} ms, of which CPU {work[0]:.1f}")
    print(f"calls {EARLY}-{EARLY + 50}: median {first:.2f} ms, of which CPU {early:.2f}")
    if len(gaps) < LATE:
        return first, 1.0
    late = statistics.median(work[-50:])
    print(
        f"the last 50: median {statistics.median(gaps[-50:]):.2f} ms, CPU {late:.2f}: "
        f"{late / early:.2f} times the first"
    )
    return first, late / early


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=LATE)
    parser.add_argument("--check", action="store_true", help="fail when over the limits")
    parser.add_argument("--sandbox", action="store_true", help="confine the commands")
    parser.add_argument("--call", choices=("Bash", "Read"), default="Bash")
    parser.add_argument("--think", type=float, default=0, help="ms before each answer")
    parser.add_argument("--write", type=float, default=0, help="ms from a call's name to its end")
    given = parser.parse_args()
    times = given.think / 1000, given.write / 1000
    played = asyncio.run(measure(given.calls, sandbox=given.sandbox, call=given.call, times=times))
    first, growth = report(played)
    most = TURN_LIMIT_MS if given.call == "Bash" else READ_LIMIT_MS
    slow = first > most or growth > FLAT_LIMIT or played.gaps[0] > FIRST_LIMIT_MS
    if given.check and slow:
        print(f"over a limit: {most} ms, {FLAT_LIMIT} times, {FIRST_LIMIT_MS} ms for the first")
    return int(given.check and slow)


if __name__ == "__main__":
    sys.exit(main())
