"""Stories of servers that others wrote, in print mode and on the screen of a real terminal."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.e2e.program import Program
from tests.fakes.model_server import ModelServer, ServerThread
from tests.fakes.terminal import Terminal
from tests.fakes.waiting import PATIENCE, until
from tests.mcp.installed import OURS, of_npm, of_python

pytestmark = pytest.mark.e2e
FAST = str(Path(__file__).parent.parent / "fakes" / "fast_server.py")
LONG = 'call: mcp__s__trigger-long-running-operation {"duration": 60, "steps": 600}\n---\n'
DONE = "say: All done.\n"
NOWHERE = subprocess.DEVNULL


class Story(NamedTuple):
    """What is called of a server, and what the model reads then."""

    name: str
    server: Callable[[Program], list[str]]
    tool: str
    input: Callable[[Program], dict[str, Any]]
    told: str


def fast(program: Program) -> list[str]:
    del program
    pytest.importorskip("fastmcp")
    return [sys.executable, FAST]


def everything(program: Program) -> list[str]:
    del program
    return [of_npm("mcp-server-everything"), "stdio"]


def npm(name: str) -> Callable[[Program], list[str]]:
    return lambda program: [of_npm(name)]


def python(name: str) -> Callable[[Program], list[str]]:
    return lambda program: [of_python(name)]


def files(program: Program) -> list[str]:
    return [of_npm("mcp-server-filesystem"), str(program.project)]


def notes(program: Program) -> dict[str, Any]:
    return {"path": str(program.project / "notes.txt")}


def given(**input: Any) -> Callable[[Program], dict[str, Any]]:
    return lambda program: input


def repository(program: Program) -> dict[str, Any]:
    subprocess.run(["git", "init", "-q", "-b", "trunk"], cwd=program.project, check=True)
    return {"repo_path": str(program.project)}


STORIES = (
    Story("everything", everything, "echo", given(message="hi"), "Echo: hi"),
    Story("picture", everything, "get-tiny-image", given(), "The picture cannot be shown"),
    Story(
        "progress", everything, "trigger-long-running-operation", given(duration=1, steps=4),
        "Long running operation completed",
    ),
    Story("memory", npm("mcp-server-memory"), "read_graph", given(), "entities"),
    Story(
        "filesystem", files, "read_text_file",
        notes, "alpha",
    ),
    Story(
        "thinking", npm("mcp-server-sequential-thinking"), "sequentialthinking",
        given(thought="a", thoughtNumber=1, totalThoughts=1, nextThoughtNeeded=False),
        "thoughtHistoryLength",
    ),
    Story(
        "time", python("mcp-server-time"), "convert_time",
        given(source_timezone="UTC", time="12:00", target_timezone="Asia/Tokyo"), "Asia/Tokyo",
    ),
    Story("git", python("mcp-server-git"), "git_status", repository, "trunk"),
    Story(
        "fetch", python("mcp-server-fetch"), "fetch",
        given(url="http://127.0.0.1:9/"), "robots.txt",
    ),
    Story("fastmcp", fast, "add", given(a=20, b=22), "42"),
)  # fmt: skip
EACH = pytest.mark.parametrize("story", STORIES, ids=[story.name for story in STORIES])
SHORT = {"everything", "time", "fastmcp"}  # a screen shows every server alike
ON_SCREEN = pytest.mark.parametrize(
    "story",
    [
        pytest.param(
            story, id=story.name, marks=() if story.name in SHORT else (pytest.mark.proof,)
        )
        for story in STORIES
    ],
)


def script(story: Story, program: Program) -> str:
    input = json.dumps(story.input(program))
    wait = 'call: WaitForMcpServers {"servers": ["s"]}\n---\n'  # on a busy machine they are slow
    return f"{wait}call: mcp__s__{story.tool} {input}\n---\n{DONE}"


def defined(argv: list[str] | str) -> dict[str, Any]:
    """By how it is started, or by where it is."""
    if isinstance(argv, str):
        return {"s": {"type": "sse" if argv.endswith("sse") else "http", "url": argv}}
    env = {"MEMORY_FILE_PATH": "/dev/null"} if "memory" in argv[0] else {}
    wait = int(PATIENCE * 1000)
    return {"s": {"command": argv[0], "args": argv[1:], "env": env, "startupTimeout": wait}}


def settings(program: Program, argv: list[str] | str, *allowed: str) -> None:
    values = {
        "smallModel": "demo",
        "mcpServers": defined(argv),
        "permissions": {"allow": ["WaitForMcpServers", *allowed]},
    }
    path = program.home / ".gatewright" / "settings.json"
    path.write_text(json.dumps(values), encoding="utf-8")


def environment(model: ModelServer) -> dict[str, str]:
    return {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": model.url}


def result(body: dict[str, Any]) -> str:
    return json.dumps(body["messages"][-1]["content"])


@EACH
def test_a_call_in_print_mode(program: Program, story: Story) -> None:
    flags = json.dumps({"mcpServers": defined(story.server(program))})
    with ServerThread(script(story, program)) as model:
        done = program.run(
            "-p", "go", "--mcp-config", flags, "--allowedTools", "mcp__s", "WaitForMcpServers",
            env=environment(model),
        )  # fmt: skip
        assert (done.returncode, done.stdout.strip()) == (0, "All done."), done.stderr
        assert story.told in result(model.bodies[-1])
    assert "Traceback" not in done.stderr


@contextmanager
def on_screen(
    program: Program, argv: list[str] | str, said: str, *allowed: str
) -> Generator[tuple[Terminal, ModelServer]]:
    settings(program, argv, *allowed)
    with (
        ServerThread(said) as model,
        program.terminal(env=environment(model), columns=120, rows=40) as terminal,
    ):
        terminal.wait_for("Ask anything")
        terminal.send("/mcp\r")
        terminal.wait_for("MCP servers", "connected · ")
        terminal.press_until_gone("\x1b", "connected · ")
        yield terminal, model


@ON_SCREEN
def test_a_call_on_the_screen(program: Program, story: Story) -> None:
    with on_screen(program, story.server(program), script(story, program)) as (terminal, model):
        terminal.send("go\r")
        terminal.wait_for("ask in this mode", f"mcp__s__{story.tool}")
        terminal.press_until_gone("y", "ask in this mode")
        terminal.wait_for("All done.")
        assert story.told in result(model.bodies[-1])


def test_a_picture_is_one(program: Program) -> None:
    story = Story("", fast, "picture", given(), "image/png")
    with on_screen(program, fast(program), script(story, program), "mcp__s") as (terminal, model):
        terminal.send("go\r")
        terminal.wait_for("All done.")
        assert story.told in result(model.bodies[-1])


def test_progress_is_shown_and_a_call_is_cancelled_and_the_server_stays(program: Program) -> None:
    said = f'{LONG}call: mcp__s__echo {{"message": "still there"}}\n---\n{DONE}'
    with on_screen(program, everything(program), said, "mcp__s") as (terminal, model):
        before = servers_of(terminal.pid)
        terminal.send("go\r")
        terminal.wait_for(" of 600")
        terminal.press_until_gone("\x1b", " of 600")
        terminal.send("again\r")
        terminal.wait_for("All done.")
        assert "Echo: still there" in result(model.bodies[-1])
        assert servers_of(terminal.pid) == before


@contextmanager
def everything_at(kind: str) -> Generator[str]:
    """Its address, behind which it runs for so long."""
    command = of_npm("mcp-server-everything")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    env = {**OURS, "PORT": str(port)}
    with subprocess.Popen([command, kind], env=env, stdout=NOWHERE, stderr=NOWHERE) as running:
        try:
            until(lambda: _listens(port))
            yield f"http://127.0.0.1:{port}/{'sse' if kind == 'sse' else 'mcp'}"
        finally:
            running.kill()


def _listens(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize("kind", ["streamableHttp", "sse"])
def test_behind_an_address_in_print_mode(program: Program, kind: str) -> None:
    story = next(story for story in STORIES if story.name == "progress")
    with everything_at(kind) as url, ServerThread(script(story, program)) as model:
        flags = json.dumps({"mcpServers": defined(url)})
        done = program.run(
            "-p", "go", "--mcp-config", flags, "--allowedTools", "mcp__s", "WaitForMcpServers",
            env=environment(model),
        )  # fmt: skip
        assert (done.returncode, done.stdout.strip()) == (0, "All done."), done.stderr
        assert story.told in result(model.bodies[-1])


@pytest.mark.parametrize("kind", ["streamableHttp", "sse"])
def test_behind_an_address_on_the_screen_a_call_is_cancelled(program: Program, kind: str) -> None:
    said = f'{LONG}call: mcp__s__echo {{"message": "still there"}}\n---\n{DONE}'
    with (
        everything_at(kind) as url,
        on_screen(program, url, said, "mcp__s") as (terminal, model),
    ):
        terminal.send("go\r")
        terminal.wait_for(" of 600")
        terminal.press_until_gone("\x1b", " of 600")
        terminal.send("again\r")
        terminal.wait_for("All done.")
        assert "Echo: still there" in result(model.bodies[-1])


def test_one_that_is_killed_in_mid_call_says_so_and_is_started_again(program: Program) -> None:
    said = f'{LONG}call: mcp__s__echo {{"message": "here again"}}\n---\n{DONE}'
    with on_screen(program, everything(program), said, "mcp__s") as (terminal, model):
        terminal.send("go\r")
        terminal.wait_for(" of 600")
        (pid,) = servers_of(terminal.pid)
        os.kill(pid, signal.SIGKILL)
        terminal.wait_for("All done.")
        assert "ended during the call" in result(model.bodies[1])
        assert "Echo: here again" in result(model.bodies[-1])


@pytest.mark.parametrize("interrupted", [False, True])
def test_in_print_mode_one_is_killed_too_and_an_interrupt_leaves_nothing(
    program: Program, interrupted: bool
) -> None:
    heard = (
        program.home / "heard"
    )  # what the server was asked: it is killed in the call, not before
    server = " ".join(everything(program))
    flags = json.dumps({"mcpServers": defined(["bash", "-c", f"exec {server} < <(tee {heard})"])})
    with ServerThread(LONG + DONE) as model:
        running = program.start(
            "-p", "go", "--mcp-config", flags, "--allowedTools", "mcp__s", env=environment(model)
        )
        until(lambda: bool(servers_of(running.pid)))
        (pid,) = servers_of(running.pid)
        until(lambda: heard.exists() and b"tools/call" in heard.read_bytes())
        if interrupted:
            os.kill(running.pid, signal.SIGINT)
        else:
            os.kill(pid, signal.SIGKILL)
        out, _ = running.communicate(timeout=60)
        if not interrupted:
            assert out.strip() == "All done."
            assert "ended during the call" in result(model.bodies[1])
        until(lambda: not Path(f"/proc/{pid}").exists())


def test_a_resource_is_completed_and_sent_along_and_a_prompt_is_a_command(program: Program) -> None:
    said = f"say: read it\n---\n{DONE}"
    with on_screen(program, everything(program), said) as (terminal, model):
        terminal.send("see @s:featur")
        terminal.wait_for("static/document/features.md")
        terminal.press("tab")
        terminal.wait_for("see @s:demo://resource/static/document/features.md")
        terminal.press("enter")
        terminal.wait_for("read it", "Attached: s:demo://resource/static/document/features.md")
        assert "What the MCP server s gives for" in json.dumps(model.bodies[0])
        terminal.send("/mcp__s__args-prompt Paris\r")
        terminal.wait_for("All done.")
        assert "Paris" in result(model.bodies[-1])


def test_a_list_that_changes_is_taken_up(program: Program) -> None:
    said = (
        'call: mcp__s__grow {}\n---\ncall: mcp__s__work {"steps": 4}\n---\n'
        'call: ToolSearch {"query": "select:mcp__s__later"}\n---\n'
        'call: CallTool {"name": "mcp__s__later", "input": {"word": "x"}}\n---\n' + DONE
    )
    with on_screen(program, fast(program), said, "mcp__s") as (terminal, model):
        terminal.send("go\r")
        terminal.wait_for("The server offers this tool since its tools were accepted")
        terminal.press_until_gone("y", "since its tools were accepted")
        terminal.wait_for("All done.")
        assert "later x" in result(model.bodies[-1])


def test_a_form_is_filled_in_on_the_screen(program: Program) -> None:
    said = f"call: mcp__s__trigger-elicitation-request {{}}\n---\n{DONE}"
    with on_screen(program, everything(program), said, "mcp__s") as (terminal, model):
        terminal.send("go\r")
        terminal.wait_for("The MCP server s asks you", "Fill it in")
        terminal.press_until_gone("y", "Decline")
        terminal.wait_for("Send it")
        terminal.send("Ada Lovelace")
        terminal.press("pagedown")
        terminal.press_until_gone("\r", "Send it")
        terminal.wait_for("All done.")
        assert "Ada Lovelace" in result(model.bodies[-1])


def servers_of(pid: int) -> list[int]:
    """The processes that a program started, by the command line of the servers here."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int(
                    (entry / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1]
                )
                command = (entry / "cmdline").read_bytes()
            except (OSError, IndexError, ValueError):
                continue
            if parent == pid and b"server-everything" in command:
                found.append(int(entry.name))
    return found
