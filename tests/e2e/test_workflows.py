"""Workflows in a real terminal: deep research on a web of ours, the dialog, the view, `/name`."""

from __future__ import annotations

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.program import Program
from tests.e2e.stage import choose, say, screen
from tests.fakes.model_server import ModelServer
from tests.fakes.scripted_provider import read_script
from tests.fakes.warm import Nursery

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]

PAGES = {"/leases": "Fencing tokens make leases safe.", "/clocks": "Clocks drift every day."}
QUESTION = "are leases safe"


class Pages(BaseHTTPRequestHandler):
    """A search service, and the pages that it finds."""

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/search":
            base = f"http://{self.headers['host']}"
            hits = [{"title": name, "url": base + name, "content": PAGES[name]} for name in PAGES]
            self._give(json.dumps({"results": hits}), "application/json")
        elif path in PAGES:
            self._give(f"<html><body><p>{PAGES[path]}</p></body></html>", "text/html")
        else:
            self.send_error(404)

    def _give(self, text: str, kind: str) -> None:
        data = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""


@contextmanager
def web() -> Generator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def said(value: Any) -> str:
    return f"say: {json.dumps(value)}"


def researchers(server: ModelServer, address: str) -> None:
    """What each agent of the script answers, known by what it is asked."""
    leases, clocks = f"{address}/leases", f"{address}/clocks"

    def source(at: str) -> dict[str, str]:
        return {"address": at, "title": at.rpartition("/")[2], "why": "it is about that"}

    def read(claim: str) -> dict[str, Any]:
        return {"claims": [{"claim": claim, "quote": claim}]}

    angles = [
        {"title": title, "queries": [f"{title} of leases"]} for title in ("theory", "practice")
    ]
    verdict = {"verdict": "supported", "reason": "it stands there", "address": leases}
    search = 'call: WebSearch {"query": "leases"}'
    scripts = {
        "Name 3 to 6 angles": [said({"angles": angles})],
        "Angle: theory": [search, said({"sources": [source(leases)]})],
        "Angle: practice": [search, said({"sources": [source(clocks)]})],
        f"Read {leases}": [f'call: WebFetch {{"url": "{leases}"}}', said(read(PAGES["/leases"]))],
        f"Read {clocks}": [f'call: WebFetch {{"url": "{clocks}"}}', said(read(PAGES["/clocks"]))],
        "Join those that say the same": [
            said(
                {"claims": [{"claim": each, "from": [n]} for n, each in enumerate(PAGES.values())]}
            )
        ],
        "You are a sceptic": [said(verdict)] * 6,
        "Write the answer": ["wait: report\nsay: They are, with fencing tokens [1]."],
    }
    for words, answers in scripts.items():
        server.tasks[words] = list(read_script("\n---\n".join(answers)))


def settle(program: Program, address: str) -> None:
    settings = program.home / ".gatewright" / "settings.json"
    settings.parent.mkdir(exist_ok=True)
    kept: dict[str, Any] = {}
    if settings.exists():
        kept = json.loads(settings.read_text(encoding="utf-8"))
    own = {"search": "searxng", "searchUrl": address, "privateHosts": ["127.0.0.1"]}
    settings.write_text(json.dumps({**kept, "web": own}), encoding="utf-8")


def test_deep_research_from_the_question_to_the_report(program: Program) -> None:
    script = (
        "say: It runs.\n---\nsay: The report is there: tokens.\n---\nsay: Swept.\n---\nsay: ok\n"
    )
    with web() as address:
        settle(program, address)
        with screen(program, script, rows=40, columns=110) as (terminal, server):
            researchers(server, address)
            say(terminal, f"/deep-research {QUESTION}")
            terminal.wait_for("three sceptics", "v reads it", "Yes, don't ask again")
            terminal.look()
            terminal.press("v")
            terminal.wait_for("export const meta")
            terminal.press("escape")
            terminal.wait_for("v reads it")
            choose(terminal, "y", until="It runs.")
            terminal.wait_for(
                " asks · Fetch", "deep-research · Read", "1 of 2"
            )  # private addresses
            choose(terminal, "y", until="Read 4/5")
            choose(terminal, "y", until="Report 12/13")
            terminal.wait_for("◇ deep-research", "Report 12/13")
            terminal.press("down")
            terminal.wait_for("enter opens")
            terminal.press("enter")
            terminal.wait_for("Plan", "Search", "Check", "6/6")
            terminal.press("down", "down", "right")
            terminal.wait_for("leases", "clocks")
            terminal.press("enter")
            terminal.wait_for("Asked", "with WebFetch and nothing else")
            terminal.press("escape", "escape")
            server.release("report")
            terminal.wait_for("The report is there: tokens.")
            told = json.dumps(server.bodies[-1])
            assert "They are, with fencing tokens [1]." in told and "## Sources" in told
            terminal.wait_for("done")


SWEEP = """export const meta = { name: 'sweep', description: 'Sweep one room after the other' }
phase('Sweep')
const sweep = (room) => agent(`Sweep the ${room}.`, { label: room })
const rooms = await parallel(['hall', 'attic'], sweep)
return rooms.join(' ')
"""


@pytest.mark.parametrize(
    ("below", "rows", "columns"),
    [(".", 40, 110), ("/".join(["a-folder-with-a-name"] * 6), 24, 80)],
    ids=["roomy", "long-path-and-small-window"],
)
def test_a_script_of_the_model_is_asked_about_saved_and_run_by_its_name(
    tmp_path: Path, nursery: Nursery, below: str, rows: int, columns: int
) -> None:
    folder = tmp_path / "it" / below
    folder.mkdir(parents=True)
    program = Program.prepare(folder, nursery)
    script = "\n---\n".join(
        [
            f"call: Workflow {json.dumps({'script': SWEEP})}",
            "say: I have begun.",
            "say: Both are clean.",
            "say: It runs again.",
            "say: Still clean.",
        ]
    )
    with screen(program, script, rows=rows, columns=columns) as (terminal, server):
        for room in ("hall", "attic"):
            server.tasks[f"Sweep the {room}."] = list(
                read_script(f"say: {room}!\n---\nsay: {room}?")
            )
        say(terminal, "ultracode: sweep the house")
        terminal.wait_for("Sweep one room after the other", "v reads it")
        choose(terminal, "y", until="Both are clean.")
        assert "<ultracode>" in json.dumps(server.bodies[0])
        say(terminal, "/workflows")
        terminal.wait_for("sweep", "2/2", "s saves")
        terminal.look()
        terminal.press("s")
        terminal.wait_for("tab user", "sweep.js")
        terminal.look()
        terminal.press("tab", "enter")
        terminal.wait_for("/sweep runs it", "s saves")  # the panel has the keys again
        terminal.press("escape")
        terminal.wait_gone("s saves")
        kept = program.home / ".gatewright" / "workflows" / "sweep.js"
        assert kept.read_text(encoding="utf-8") == SWEEP
        assert kept.parent.stat().st_mode & 0o077 == 0
        say(terminal, "/sweep")
        terminal.wait_for("Sweep one room after the other", "Yes, don't ask again this session")
        choose(terminal, "y", until="Still clean.")
        assert "hall? attic?" in json.dumps(server.bodies[-1])
