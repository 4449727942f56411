"""How the screen behaves in a real terminal: keys, silence, streams, long sessions.

`python -m tests.bench.tui [first] [idle] [stream] [whole] [alone] [long] [expand] [--check]`.
`first`, `whole` and `alone` run the program itself, the last two against a server on this machine;
the others the real app on a real pty with a session that only publishes events, so what is measured
is the screen alone.
`--check` fails when a limit is exceeded; compare within one run only.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import fcntl
import os
import pty
import re
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.startup import PROMPT as TYPE_HERE
from tests.bench.startup import READY as SIGN
from tests.bench.startup import SCREEN, first_key
from tests.bench.stream import BARE as BARE_CLIENT
from tests.bench.stream import event
from tests.e2e.program import AGENT, Program

ROOT = Path(__file__).resolve().parents[2]
KEYS = (
    "\u0436\u0449\u044e\u0444\u044d\u0439\u0446\u044a"  # letters on no screen before they are typed
)
READY = "sk anything"  # the cursor stands on the first letter
WORDS = (
    "The lease is renewed after the work, so a *slow* task loses `it` half way and "
    "the retry loop swallows the error again. "
)
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Figures:
    """Named numbers and the limits they have to keep."""

    lines: list[str] = field(default_factory=list[str])
    failed: bool = False

    def add(self, name: str, value: float, unit: str, limit: float | None = None) -> None:
        late = limit is not None and value > limit
        self.failed |= late
        kept = "" if limit is None else f"  (limit {limit:g}{', EXCEEDED' if late else ''})"
        self.lines.append(f"{name:<46}{value:>10.1f} {unit}{kept}")
        print(self.lines[-1], flush=True)


class Screen:
    """A program on a pty; keeps the raw output with the time each piece came."""

    def __init__(
        self,
        argv: list[str],
        *,
        rows: int = 40,
        columns: int = 120,
        folder: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.pid, self.master = pty.fork()
        if not self.pid:
            os.environ.update(
                TERM="xterm-256color", COLORTERM="truecolor", PYTHONPATH=str(ROOT), LANG="C.UTF-8"
            )
            os.chdir(folder or ".")
            os.execve(argv[0], argv, {**os.environ, **(env or {})})
        self._set_size(rows, columns)
        self.raw = bytearray()
        self.times: list[tuple[float, int]] = []
        threading.Thread(target=self._drain, daemon=True).start()

    def _set_size(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def _drain(self) -> None:
        while True:
            try:
                data = os.read(self.master, 65536)
            except OSError:
                return
            if not data:
                return
            self.raw += data
            self.times.append((time.perf_counter(), len(self.raw)))

    def wait(self, text: str, since: int = 0, within: float = 30) -> float:
        """When the text came, in seconds of the monotonic clock."""
        wanted, end = text.encode(), time.perf_counter() + within
        while True:
            at = self.raw.find(wanted, since)
            if at >= 0:
                return next(t for t, size in list(self.times) if size >= at + len(wanted))
            if time.perf_counter() > end:
                raise TimeoutError(f"{text!r} did not come; last: {bytes(self.raw[-300:])!r}")
            time.sleep(0.0005)

    def send(self, text: str) -> None:
        os.write(self.master, text.encode())

    def echo(self, letter: str) -> float:
        """Milliseconds from a key to its paint."""
        since, start = len(self.raw), time.perf_counter()
        self.send(letter)
        return (self.wait(letter, since) - start) * 1000

    def keys(self, count: int, pause: float = 0.05) -> list[float]:
        """Echo times of many keys, each in an emptied prompt."""
        times: list[float] = []
        for number in range(count):
            times.append(self.echo(KEYS[number % len(KEYS)]))
            self.send("\x7f")
            time.sleep(pause)
        return times

    def resize(self, rows: int, columns: int) -> None:
        self._set_size(rows, columns)
        os.kill(self.pid, 28)

    def cpu(self) -> float:
        """Seconds of processor time so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2]
        parts = fields.split()
        return (int(parts[11]) + int(parts[12])) / TICKS

    def memory(self) -> float:
        """Proportional set size in MB."""
        text = Path(f"/proc/{self.pid}/smaps_rollup").read_text(encoding="utf-8")
        found = re.search(r"^Pss:\s+(\d+) kB", text, re.MULTILINE)
        assert found
        return int(found[1]) / 1024

    def close(self) -> None:
        os.kill(self.pid, 15)
        time.sleep(0.3)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)
        os.close(self.master)


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


def child(*arguments: str) -> Screen:
    return Screen([sys.executable, str(Path(__file__)), "--child", *arguments])


BARE = """
from textual.app import App
from textual.widgets import Static, TextArea
class Bare(App):
    def compose(self):
        yield Static("Bare")
        yield TextArea(placeholder="Ask anything")
Bare().run()
"""


def bare() -> Screen:
    return Screen([sys.executable, "-c", BARE])


def first(figures: Figures) -> None:
    """From exec to the first echoed key, in turn with the bare app."""
    with tempfile.TemporaryDirectory() as folder:
        program = Program.prepare(Path(folder))
        key = {"ANTHROPIC_API_KEY": "key"}
        runs: dict[str, Callable[[], float]] = {
            "bare": lambda: first_key([sys.executable, "-c", SCREEN], program, TYPE_HERE),
            "ours": lambda: first_key([AGENT], program, SIGN, **key),
        }
        times: dict[str, list[float]] = {name: [] for name in runs}
        for number in range(8):
            for name, run in runs.items():
                seconds = run()
                if number:  # the first start compiles
                    times[name].append(seconds * 1000)
    bare_time, ours = (statistics.median(times[name]) for name in ("bare", "ours"))
    figures.add("first echoed key: bare", bare_time, "ms")
    figures.add("first echoed key: ours", ours, "ms", bare_time * 1.4)


def idle(figures: Figures) -> None:
    for name, start in (("bare", bare), ("ours", lambda: child("idle"))):
        screen = start()
        screen.wait(READY)
        time.sleep(2.0)
        before, cpu = len(screen.raw), screen.cpu()
        time.sleep(10)
        ours = name == "ours"
        figures.add(
            f"idle {name}: bytes in 10 s", len(screen.raw) - before, "B", 0 if ours else None
        )
        figures.add(f"idle {name}: CPU", (screen.cpu() - cpu) * 10, "%", 0.5 if ours else None)
        figures.add(f"idle {name}: PSS", screen.memory(), "MB", 70 if ours else None)
        screen.close()


def stream(figures: Figures) -> None:
    for kind in ("prose", "fence"):
        screen = child("stream", kind)
        screen.wait(READY)
        time.sleep(1)
        cpu, clears = screen.cpu(), screen.raw.count(b"\x1b[2J")
        screen.send("go\r")
        time.sleep(1)
        peak = 0.0
        times: list[float] = []
        while b"LASTTOKEN" not in screen.raw and len(times) < 2000:
            times += screen.keys(4, 0.08)
            peak = max(peak, screen.memory())
        screen.wait("LASTTOKEN")
        figures.add(f"stream {kind}: key echo p50", statistics.median(times), "ms")
        figures.add(f"stream {kind}: key echo p95", p95(times), "ms", 20)
        figures.add(f"stream {kind}: CPU of 20 s", screen.cpu() - cpu, "s", 6)
        figures.add(f"stream {kind}: peak PSS", peak, "MB", 100)
        figures.add(f"stream {kind}: clears", screen.raw.count(b"\x1b[2J") - clears, "", 1)
        figures.add(f"stream {kind}: written", len(screen.raw) / 1e6, "MB")
        figures.add(f"stream {kind}: last token to paint", painted(screen), "ms", 60)
        screen.close()


def whole(figures: Figures) -> None:
    """The program itself with a model that sends 20,000 tokens, 1,000 in each second."""
    ended: list[float] = []
    with tempfile.TemporaryDirectory() as folder, paced(long_text("fence"), ended) as url:
        program = Program.prepare(Path(folder))
        env = program.env(ANTHROPIC_BASE_URL=url, ANTHROPIC_API_KEY="key")
        screen = Screen([AGENT], folder=program.project, env=env)
        screen.wait(SIGN)
        time.sleep(1)
        cpu = screen.cpu()
        screen.send("go\r")
        time.sleep(1)
        peak, times = 0.0, list[float]()
        while b"LASTTOKEN" not in screen.raw and len(times) < 2000:
            times += screen.keys(4, 0.08)
            peak = max(peak, screen.memory())
        shown = screen.wait("LASTTOKEN")
        figures.add("whole program: key echo p95", p95(times), "ms", 20)
        figures.add("whole program: CPU of 20 s", screen.cpu() - cpu, "s", 6)
        figures.add("whole program: peak PSS", peak, "MB", 100)
        figures.add("whole program: clears", screen.raw.count(b"\x1b[2J"), "", 1)
        figures.add("whole program: last token to paint", (shown - ended[-1]) * 1000, "ms", 60)
        screen.wait("tokens", len(screen.raw))  # the turn has ended
        screen.close()


def alone(figures: Figures) -> None:
    """The same while nobody types, beside a bare client that is sent the same."""
    for kind in ("prose", "fence"):
        with tempfile.TemporaryDirectory() as folder, paced(long_text(kind), []) as url:
            program = Program.prepare(Path(folder))
            env = program.env(ANTHROPIC_BASE_URL=url, ANTHROPIC_API_KEY="key")
            before = os.times()
            subprocess.run(
                [sys.executable, "-c", BARE_CLIENT, url], check=True, capture_output=True
            )
            bare_cpu = sum(os.times()[2:4]) - sum(before[2:4])
            screen = Screen([AGENT], folder=program.project, env=env)
            screen.wait(SIGN)
            time.sleep(1)
            cpu, size = screen.cpu(), len(screen.raw)
            screen.send("go\r")
            screen.wait("LASTTOKEN", within=60)
            figures.add(f"alone {kind}: bare client, CPU of 20 s", bare_cpu, "s")
            figures.add(f"alone {kind}: CPU of 20 s", screen.cpu() - cpu, "s", bare_cpu * 0.7)
            figures.add(f"alone {kind}: written", (len(screen.raw) - size) / 1e6, "MB", 0.5)
            screen.wait("tokens", len(screen.raw))  # the turn has ended
            screen.close()


@contextlib.contextmanager
def paced(text: str, ended: list[float]) -> Generator[str]:
    """A server that streams the text in tokens at their pace; notes when the last was sent."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            usage = {"input_tokens": 10, "output_tokens": 1}
            message: dict[str, object] = {"id": "m", "type": "message", "role": "assistant"}
            block = {"type": "text", "text": ""}
            message |= {"content": [], "usage": usage}
            self._send({"type": "message_start", "message": message})
            self._send({"type": "content_block_start", "index": 0, "content_block": block})
            begun, sent = time.perf_counter(), 0
            while sent < len(text):
                due = min(len(text), int((time.perf_counter() - begun) * 4000))
                while sent < due:
                    self._text(text[sent : sent + 4])
                    sent += 4
                time.sleep(0.001)
            self._text("\nLASTTOKEN")
            ended.append(time.perf_counter())
            time.sleep(1)
            self._send({"type": "content_block_stop", "index": 0})
            stop = {"stop_reason": "end_turn"}
            self._send({"type": "message_delta", "delta": stop, "usage": usage})
            self._send({"type": "message_stop"})
            self.wfile.write(b"0\r\n\r\n")

        def _text(self, text: str) -> None:
            delta = {"type": "text_delta", "text": text}
            self._send({"type": "content_block_delta", "index": 0, "delta": delta})

        def _send(self, value: Mapping[str, object]) -> None:
            self.wfile.write(event(value))

        def log_message(self, format: str, *args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def painted(screen: Screen) -> float:
    """Milliseconds from the last token's publication, which the child notes, to its paint."""
    note = Path(tempfile.gettempdir()) / f"gatewright-bench-{screen.pid}"
    published = float(note.read_text(encoding="utf-8"))
    note.unlink()
    return (screen.wait("LASTTOKEN") - published) * 1000


def long(figures: Figures) -> None:
    base: dict[str, float] = {}
    for count in (0, 5000):
        screen = child("long", str(count))
        start = time.perf_counter()
        screen.wait(READY)
        if count:
            screen.wait(f"message {count - 1} ")
        first = (time.perf_counter() - start) * 1000
        time.sleep(2)
        keys = p95(screen.keys(40))
        memory = screen.memory()
        times: list[float] = []
        for rows, columns in ((30, 100), (40, 120), (24, 80), (40, 120)):
            since, begun = len(screen.raw), time.perf_counter()
            screen.resize(rows, columns)
            screen.wait("default", since)
            times.append((time.perf_counter() - begun) * 1000)
        name = f"{count} messages"
        figures.add(f"{name}: start to first screen", first, "ms", base.get("first", 1e9) * 1.2)
        figures.add(f"{name}: key echo p95", keys, "ms", max(base.get("keys", 1e9) * 1.2, 1))
        figures.add(f"{name}: PSS", memory, "MB", base.get("memory", 1e9) + 40)
        figures.add(f"{name}: resize, worst", max(times), "ms", 100)
        if not base:
            base = {"first": first, "keys": keys, "memory": memory}
        screen.close()


def expand(figures: Figures) -> None:
    screen = child("expand")
    screen.wait("ctrl+o")
    time.sleep(1)
    since, start = len(screen.raw), time.perf_counter()
    screen.send("\x0f")
    screen.wait("output line 20 ", since)  # the first ones stand there already
    figures.add("200,000 lines: expand", (time.perf_counter() - start) * 1000, "ms", 100)
    figures.add("200,000 lines: key echo p95 after", p95(screen.keys(20)), "ms", 20)
    start, since = time.perf_counter(), len(screen.raw)
    screen.send("\x1b[1;5F")
    screen.wait("199999", since)
    figures.add("200,000 lines: jump to the end", (time.perf_counter() - start) * 1000, "ms", 100)
    screen.close()


# the child: the real app with a session that publishes what is measured


def run_child(arguments: list[str]) -> None:
    from gatewright.agent.record import events as ev
    from gatewright.agent.record.messages import TextPart
    from gatewright.tools.blocks import Command, Output
    from gatewright.tools.protocol import TextContent
    from gatewright.tui import app
    from tests.fakes.fake_session import FakeSession

    session = FakeSession()
    if arguments[0] == "long":
        for number in range(int(arguments[1])):
            text = f"message {number} " + WORDS * 4 + "\n\n- one\n- two\n\n```python\nx = 1\n```\n"
            if number % 2:
                session.publish(ev.AssistantMessage(id="m", model="x", parts=(TextPart(text),)))
            else:
                session.publish(ev.UserMessage(content=(TextContent(text),)))
    if arguments[0] == "expand":
        text = "\n".join(f"output line {n} " + "x" * 40 for n in range(200_000))
        view = (Command("make"), Output(text))
        session.publish(
            ev.ToolStarted(call_id="1", name="Bash", input={}, verb="Run", target="make"),
            ev.ToolFinished(call_id="1", ok=True, content=(), view=view, summary="done", ms=1),
        )
    if arguments[0] == "stream":
        session.submit = _streamer(session, arguments[1])  # type: ignore[method-assign,assignment]

    async def open_session() -> object:
        return session.facade()

    app.run(open_session)  # type: ignore[arg-type]


def _streamer(session: object, kind: str) -> Callable[[str], str]:
    tasks: list[asyncio.Task[None]] = []

    def submit(text: str, attachments: object = (), **named: object) -> str:
        del attachments, named
        tasks.append(asyncio.create_task(_publish(session, kind)))
        return text

    return submit


def long_text(kind: str) -> str:
    """20,000 tokens of four characters, of prose or in one fence."""
    paragraph = f"## Part\n\n{WORDS * 3}\n\n- a **point** to make\n- another `one`\n\n"
    text = paragraph * 400
    if kind == "fence":
        row = 'def f(value: int) -> str:\n    return f"x{value}"  # a comment\n'
        text = "Here:\n\n```python\n" + row * 1300
    return text[:79_980]


async def _publish(session: object, kind: str) -> None:
    """20,000 tokens of about four characters, 1,000 in each second."""
    from gatewright.agent.record import events as ev
    from gatewright.agent.record.messages import TextPart
    from tests.fakes.fake_session import FakeSession

    assert isinstance(session, FakeSession)
    text = long_text(kind)
    session.publish(ev.TurnStarted())
    begun, sent = time.perf_counter(), 0
    while sent < len(text):
        due = min(len(text), int((time.perf_counter() - begun) * 4000))
        while sent < due:
            session.publish(ev.TextDelta(text=text[sent : sent + 4]))
            sent += 4
        await asyncio.sleep(0.001)
    tail = "\nLASTTOKEN"
    note = Path(tempfile.gettempdir()) / f"gatewright-bench-{os.getpid()}"
    note.write_text(str(time.perf_counter()), encoding="utf-8")
    session.publish(ev.TextDelta(text=tail))
    await asyncio.sleep(1)
    session.publish(ev.AssistantMessage(id="m", model="x", parts=(TextPart(text + tail),)))


PARTS: dict[str, Callable[[Figures], None]] = {
    "first": first,
    "idle": idle,
    "stream": stream,
    "whole": whole,
    "alone": alone,
    "long": long,
    "expand": expand,
}


def main() -> int:
    if sys.argv[1:2] == ["--child"]:
        run_child(sys.argv[2:])
        return 0
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    figures = Figures()
    for part in options.parts or PARTS:
        PARTS[part](figures)
    return int(options.check and figures.failed)


if __name__ == "__main__":
    sys.exit(main())
