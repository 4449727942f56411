"""Stories of `agent mcp serve`: the installed program between pipes, and as its own client."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.program import Program
from tests.fakes.model_server import ServerThread
from tests.fakes.waiting import PATIENCE, until, written

pytestmark = pytest.mark.e2e
PAGE = Path(__file__).parent.parent.parent / "docs" / "mcp.md"

HELLO: dict[str, Any] = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "story", "version": "1"},
}

# A client that dies of SIGKILL while its call runs.
CLIENT = """
import json, subprocess, sys
server = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def send(**message):
    server.stdin.write((json.dumps({"jsonrpc": "2.0", **message}) + "\\n").encode())
    server.stdin.flush()
send(id=1, method="initialize", params=json.loads(sys.argv[1]))
server.stdout.readline()
send(method="notifications/initialized")
arguments = {"command": "sh hang.sh"}
send(id=2, method="tools/call", params={"name": "Bash", "arguments": arguments})
print(server.pid, flush=True)
server.stdout.readline()
"""


class Client:
    """The program's client, one line at a time."""

    def __init__(self, program: Program, *flags: str) -> None:
        self._process = subprocess.Popen(
            [*program.argv, "mcp", "serve", *flags],
            cwd=program.project,
            env=program.env(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self._id = 0
        self.ask("initialize", HELLO)
        self.send(method="notifications/initialized")

    def send(self, **message: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._process.stdin.flush()

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._id += 1
        self.send(id=self._id, method=method, params=params)
        assert self._process.stdout is not None
        answer = json.loads(self._process.stdout.readline())
        assert answer["id"] == self._id
        return dict(answer["result"])

    def call(self, name: str, **arguments: Any) -> tuple[bool, str]:
        result = self.ask("tools/call", {"name": name, "arguments": arguments})
        return not result.get("isError"), result["content"][0]["text"]

    def leave(self) -> tuple[int, str, str]:
        out, err = self._process.communicate(timeout=60)
        return self._process.returncode, out, err


def test_a_client_lists_calls_and_is_refused(program: Program) -> None:
    client = Client(program)
    names = {tool["name"] for tool in client.ask("tools/list", {})["tools"]}
    assert {"Read", "Bash"} <= names
    ok, text = client.call("Read", file_path="notes.txt")
    assert ok
    assert "alpha" in text
    ok, text = client.call("Bash", command="rm notes.txt")
    assert not ok
    assert text.startswith("Not run (")
    code, out, err = client.leave()
    assert (code, out) == (0, ""), err
    assert "agent: Refused: Bash(rm notes.txt)" in err
    assert "Traceback" not in err
    assert (program.project / "notes.txt").exists()
    kept = json.dumps(program.stored())
    assert "Calls of story" in kept
    assert "rm notes.txt" in kept


def test_of_a_client_that_is_killed_in_mid_call_nothing_is_left(program: Program) -> None:
    program.unconfined()
    script = "echo $$ > pid\nexec sleep 1000\n"
    (program.project / "hang.sh").write_text(script, encoding="utf-8")
    argv = [*program.argv, "mcp", "serve", "--allowedTools", "Bash"]
    client = subprocess.Popen(
        [sys.executable, "-c", CLIENT, json.dumps(HELLO), *argv],
        cwd=program.project,
        env=program.env(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    )
    command = int(written(program.project / "pid"))
    assert client.stdout is not None
    server = int(client.stdout.readline())
    os.kill(client.pid, signal.SIGKILL)
    client.wait()
    client.stdout.close()
    until(lambda: not _lives(server), what="the end of the server")
    until(lambda: not _lives(command), what="the end of the command")
    assert "interrupted" in json.dumps(program.stored())


def test_the_page_sets_up_another_client(program: Program) -> None:
    """The client is ourselves, with the very entry that the page shows, and patience."""
    (page,) = re.findall(r"```json\n(\{[^`]*\"serve\"[^`]*)```", PAGE.read_text(encoding="utf-8"))
    shown = page.replace('"command"', f'"startupTimeout": {PATIENCE * 1000:.0f}, "command"')
    assert shown != page
    script = 'call: mcp__agent__Read {"file_path": "notes.txt"}\n---\nsay: Done.\n'
    with ServerThread(script) as server:
        env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}
        flags = ("--mcp-config", shown, "--allowedTools", "mcp__agent")
        done = program.run("-p", "go", *flags, env=env)
    assert (done.returncode, done.stdout.strip()) == (0, "Done."), done.stderr
    (result,) = server.bodies[1]["messages"][-1]["content"]
    assert "alpha" in json.dumps(result["content"])


def test_a_wrong_flag_is_explained_before_anything_is_served(program: Program) -> None:
    done = program.run("mcp", "serve", "--resume")
    assert (done.returncode, done.stdout) == (2, "")
    assert "agent mcp serve has no --resume." in done.stderr
    assert "--allowedTools" in program.run("mcp", "serve", "--help").stdout


def test_over_http_the_entry_that_is_printed_lets_us_in(program: Program) -> None:
    """The client is ourselves again; the token is said once, and kept by nobody."""
    with subprocess.Popen(
        [*program.argv, "mcp", "serve", "--http"],
        cwd=program.project,
        env=program.env(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as serving:
        assert serving.stdout is not None
        shown = ""
        while not shown.endswith("\n}\n"):
            shown += serving.stdout.readline()
        script = 'call: mcp__agent__Read {"file_path": "notes.txt"}\n---\nsay: Done.\n'
        with ServerThread(script) as server:
            env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}
            flags = ("--mcp-config", shown, "--allowedTools", "mcp__agent")
            done = program.run("-p", "go", *flags, env=env)
        assert (done.returncode, done.stdout.strip()) == (0, "Done."), done.stderr
        (result,) = server.bodies[1]["messages"][-1]["content"]
        assert "alpha" in json.dumps(result["content"])
        serving.send_signal(signal.SIGINT)
        out, err = serving.communicate(timeout=60)
    assert (serving.returncode, out) == (130, "")
    token = json.loads(shown)["mcpServers"]["agent"]["headers"]["Authorization"].split()[1]
    assert token not in err
    assert "Traceback" not in err
    kept = [f for f in (program.home / ".gatewright").rglob("*") if f.is_file()]
    assert not [f for f in kept if token.encode() in f.read_bytes()]


def _lives(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"
