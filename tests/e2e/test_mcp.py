"""Stories of MCP servers: the installed program, real processes, a scripted model."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.program import Program
from tests.fakes.model_server import ServerThread
from tests.fakes.waiting import PATIENCE, until, written

pytestmark = pytest.mark.e2e
WAITED = int(PATIENCE * 1000)  # ms that the first request waits for it
FAKE = str(Path(__file__).parent.parent / "fakes" / "mcp_server.py")


def servers(*flags: str, **more: Any) -> str:
    fake = {"command": sys.executable, "args": [FAKE, *flags], "startupTimeout": WAITED, **more}
    return json.dumps({"mcpServers": {"fake": fake}})


def asked(program: Program, script: str, *flags: str) -> tuple[Any, list[dict[str, Any]]]:
    """How print mode ended, and what the model was sent."""
    with ServerThread(script) as server:
        env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}
        return program.run("-p", "go", *flags, env=env), server.bodies


def test_print_mode_waits_for_servers_of_its_flag(program: Program) -> None:
    script = 'call: mcp__fake__echo {"text": "hello"}\n---\nsay: Done.\n'
    flags = ("--mcp-config", servers(), "--allowedTools", "mcp__fake")
    done, bodies = asked(program, script, *flags)
    assert (done.returncode, done.stdout.strip()) == (0, "Done."), done.stderr
    assert "mcp__fake__echo" in {tool["name"] for tool in bodies[0]["tools"]}
    (result,) = bodies[1]["messages"][-1]["content"]
    assert result["content"] in ("hello", [{"type": "text", "text": "hello"}])


def test_the_first_object_of_stream_json_lists_them(program: Program) -> None:
    flags = ("--mcp-config", servers(), "--output-format", "stream-json")
    done, _ = asked(program, "say: Done.\n", *flags)
    first, *_ = [json.loads(line) for line in done.stdout.splitlines()]
    assert first["mcp_servers"] == [{"name": "fake", "status": "connected"}]
    assert "mcp__fake__echo" in first["tools"]


def test_print_mode_goes_on_without_one_that_fails(program: Program) -> None:
    dead = json.dumps({"mcpServers": {"far": {"type": "http", "url": "http://127.0.0.1:9/mcp"}}})
    done, _ = asked(program, "say: Done.\n", "--mcp-config", dead)
    assert (done.returncode, done.stdout.strip()) == (0, "Done.")
    assert "Traceback" not in done.stderr
    done, _ = asked(program, "say: Done.\n", "--mcp-config", servers("--die"))
    assert "MCP server fake: it ended with exit code 7" in done.stderr
    done, _ = asked(program, "say: Done.\n", "--mcp-config", "nowhere.json")
    assert done.returncode == 2
    assert "--mcp-config nowhere.json: cannot be read" in done.stderr
    done, _ = asked(program, "say: Done.\n", "--mcp-config", '{"a": {"command": "x"}}')
    assert done.returncode == 2
    assert '--mcp-config: has no servers: they stand in "mcpServers"' in done.stderr


def test_killed_it_leaves_no_server_and_whole_files(program: Program, tmp_path: Path) -> None:
    """A server dies with us; what it had forked itself is ended by the next start."""
    began, started, forks = (tmp_path / name for name in ("began", "started", "forks"))
    flags = (f"--began={began}", f"--started={started}", f"--forks={forks}", "--stubborn")
    given = ("--mcp-config", servers(*flags), "--allowedTools", "mcp__fake")
    with ServerThread("call: mcp__fake__hang {}\n---\nsay: Done.\n") as server:
        env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}
        running = program.start("-p", "go", *given, env=env)
        until(began.exists)
        (pid,) = map(int, written(started).split())
        forked = [int(each) for each in written(forks).split()]
        assert all(Path(f"/proc/{each}").exists() for each in (pid, *forked))
        os.kill(running.pid, signal.SIGKILL)
        running.communicate(timeout=PATIENCE)
        until(lambda: gone(pid), 5.0)  # soon: any other start would sweep it up
        (known,) = (program.home / ".gatewright" / "state" / "mcp").glob("*.json")
        assert "echo" in {tool["name"] for tool in json.loads(known.read_bytes())["tools"]}
        done = program.run("-p", "again", "--continue", env=env)
        assert (done.returncode, done.stdout.strip()) == (0, "Done."), done.stderr
    until(lambda: all(gone(each) for each in forked))


def gone(pid: int) -> bool:
    """A zombie is: whoever adopted it may never look."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return True
    return stat.rpartition(")")[2].split()[0] in "ZX"


def test_on_the_screen_a_project_is_trusted_then_its_server_then_its_tool(program: Program) -> None:
    (program.project / ".mcp.json").write_text(servers(), encoding="utf-8")
    script = 'call: mcp__fake__fail {"text": "x"}\n---\nsay: All done.\n'
    with ServerThread(script) as server:
        env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}
        with program.terminal(env=env, columns=140, rows=40) as terminal:
            terminal.wait_for("Do you trust", "MCP server fake")
            terminal.press_until_gone("y", "Do you trust")
            shown = terminal.wait_for("Use the MCP server fake of this project?", "It is /")
            assert "mcp_server.py" in shown
            terminal.press_until_gone("y", "Use the MCP server")
            terminal.wait_for("Ask anything")
            terminal.send("/mcp\r")
            terminal.wait_for("MCP servers", "connected · 13 tools · project")
            terminal.press_until_gone("\x1b", "connected · 13 tools")
            terminal.send("go\r")
            terminal.wait_for("fake x", "mcp__fake__fail")
            terminal.press_until_gone("y", "mcp__fake__fail")
            terminal.wait_for("All done.")
