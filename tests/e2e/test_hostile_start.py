"""Started in a hostile directory: nothing of it runs, and nothing in it holds the start up.

Of what is tried in many places one try is a start of its own; the others are copies of a loaded
program, which meet the same files in the same order.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.program import Program
from tests.fakes.hostile_git import VECTORS, Trapped, plant_together
from tests.fakes.model_server import ServerThread
from tests.fakes.waiting import PATIENCE

pytestmark = pytest.mark.e2e


DEMO = ("-p", "hi", "--model", "demo")
WAYS = {"plain": (), "bare": ("--bare",), "trusted": ("--trust",)}


@pytest.fixture
def at(program: Program) -> Trapped:
    return Trapped.make(program.project, program.home.parent / "marks")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["clean filter of a gitlink", "file monitor of a gitlink"])
def test_no_nested_repository_runs_anything(
    program: Program, at: Trapped, name: str, way: str
) -> None:
    VECTORS[name].plant(at)
    done = program.run(*DEMO, *WAYS[way])
    assert done.returncode == 0, done.stderr
    assert not at.sprung()
    at.git(*VECTORS[name].springs, check=False)
    assert at.sprung()


def test_nothing_of_any_vector_runs_on_the_screen(program: Program, at: Trapped) -> None:
    plant_together(at)
    with program.cold.terminal("--model", "demo") as terminal:
        terminal.wait_for("main")
        terminal.send("hello\r")
        terminal.wait_until(lambda shown: re.search(r"\d out\b", shown) is not None)
        terminal.send("/diff\r")
        terminal.wait_for("a.txt")
    assert not at.sprung()


FIFOS = (
    ".git", ".git/HEAD", ".git/config", ".git/index", ".git/packed-refs", ".git/commondir",
    ".git/info/exclude", ".git/refs/heads/main", ".gitattributes", ".gitignore", "AGENTS.md",
    "CLAUDE.md", "AGENTS.local.md",
)  # fmt: skip


def fifo(path: Path) -> None:
    os.mkfifo(path)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def loop(path: Path) -> None:
    path.symlink_to(path.name)


def put(place: Path, make: Callable[[Path], None]) -> None:
    if place.is_dir():
        place.rename(place.with_name("was"))
    place.unlink(missing_ok=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    make(place)


@pytest.mark.parametrize("place", FIFOS)
def test_a_pipe_in_place_of_a_file_holds_no_start_up(
    program: Program, at: Trapped, place: str
) -> None:
    put(at.root / place, fifo)
    done = program.run(*DEMO)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "place", ["state/offered.json", "state/models.json", "projects/x/pipe.jsonl"]
)
def test_a_pipe_among_our_own_files_holds_no_start_up(
    program: Program, at: Trapped, place: str
) -> None:
    (at.root / ".mcp.json").write_text("{}", encoding="utf-8")
    put(program.home / ".gatewright" / place, fifo)
    done = program.run(*DEMO)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("make", [endless, loop], ids=lambda one: one.__name__)
def test_endless_files_and_links_hold_no_start_up(
    program: Program, at: Trapped, make: Callable[[Path], None]
) -> None:
    for place in FIFOS[2:]:
        put(at.root / place, make)
    done = program.cold.run(*DEMO)
    assert done.returncode == 0, done.stderr
    put(at.root / ".git" / "HEAD", make)
    assert program.run(*DEMO).returncode == 0


def test_the_screen_opens_beside_a_pipe(program: Program, at: Trapped) -> None:
    put(at.root / ".git" / "HEAD", fifo)
    with program.cold.terminal("--model", "demo") as terminal:
        terminal.wait_for("demo")
        terminal.send("hello\r")
        terminal.wait_for("hello")
        terminal.kill(signal.SIGTERM)
        assert terminal.wait_exit() == 128 + signal.SIGTERM


# Whatever holds a start up: it never comes back to the loop that hears signals.
STUCK = """
import os, sys
from gatewright.agent.session.start import base
from gatewright.agent.launch import main
pipe = sys.argv.pop()
def stuck(*_, **__):
    print("stuck", file=sys.stderr, flush=True)
    os.open(pipe, os.O_RDONLY)
base.find_start = stuck
sys.exit(main.launch(sys.argv[1:]))
"""


@pytest.fixture
def pipe(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    yield path


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_start_that_is_stuck_obeys(program: Program, pipe: Path, number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STUCK, *DEMO, str(pipe)],
        cwd=program.project, env=program.env(), stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        try:
            assert process.stderr is not None
            assert process.stderr.readline() == "stuck\n"
            process.send_signal(number)
            assert process.wait(PATIENCE) == 128 + number
        finally:
            process.kill()


# --- PATH -------------------------------------------------------------------------------------

NAMES = ("git", "bash", "sh", "ls", "rg", "bwrap", "prlimit", "cat")


def plant_programs(program: Program, folder: str) -> Path:
    """Programs of the project that leave a mark and then do as they should."""
    marks = program.home.parent / "marks"
    marks.mkdir(exist_ok=True)
    for name in NAMES:
        made = program.project / folder / name
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_text(
            f'#!/bin/sh\n: > "{marks}/{name}"\nPATH=/usr/bin:/bin exec {name} "$@"\n', "utf-8"
        )
        made.chmod(0o755)
    return marks


@pytest.mark.parametrize("entry", [".", "bin", "./bin", "", "{project}/bin", "{home}/link"])
@pytest.mark.parametrize("way", [(), ("--trust",)], ids=["untrusted", "trusted"])
def test_no_program_of_the_project_takes_the_place_of_one(
    program: Program, entry: str, way: tuple[str, ...]
) -> None:
    marks = plant_programs(program, "" if entry in ("", ".") else "bin")
    subprocess.run(["git", "init", "-q"], cwd=program.project, check=True)
    (program.home / "link").symlink_to(program.project / "bin")
    entry = entry.format(project=program.project, home=program.home)
    calls = ["git status", "ls", "cat notes.txt", "ls | cat"]
    script = "\n".join(f"call: Bash {json.dumps({'command': call})}" for call in calls)
    with ServerThread(f"{script}\n---\nsay: done") as server:
        env = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "key"}
        env["PATH"] = f"{entry}:{program.env()['PATH']}"
        done = program.run("-p", "go", "--model", "anthropic/claude-sonnet-5-5", *way, env=env)
        body = json.dumps(server.bodies)
    assert done.returncode == 0, done.stderr
    assert "alpha" in body
    assert sorted(path.name for path in marks.iterdir()) == []
    assert "PATH is used without" in done.stderr


def test_doctor_names_what_path_is_used_without(program: Program) -> None:
    env = {"PATH": f"./bin:{program.project}/tools:{program.env()['PATH']}"}
    shown = program.run("doctor", env=env).stdout
    assert "./bin" in shown
    assert f"{program.project}/tools" in shown
    assert "./bin" not in program.run("doctor").stdout


def test_an_activated_environment_of_a_trusted_project_runs_when_it_was_approved(
    program: Program,
) -> None:
    plant_programs(program, ".venv/bin")
    tool = program.project / ".venv" / "bin" / "mytool"
    tool.write_text("#!/bin/sh\necho it-is-mine\n", encoding="utf-8")
    tool.chmod(0o755)
    calls = ["mytool", "ls"]
    script = "\n".join(f"call: Bash {json.dumps({'command': call})}" for call in calls)
    with ServerThread(f"{script}\n---\nsay: done") as server:
        env = {
            "ANTHROPIC_BASE_URL": server.url,
            "ANTHROPIC_API_KEY": "key",
            "VIRTUAL_ENV": f"{program.project}/.venv",
            "PATH": f"{program.project}/.venv/bin:{program.env()['PATH']}",
        }
        done = program.cold.run(
            *("-p", "go", "--model", "anthropic/claude-sonnet-5-5", "--trust"),
            *("--allowedTools", "Bash(mytool)", "--output-format", "json"),
            env=env,
        )
        body = json.dumps(server.bodies)
    assert "it-is-mine" in body
    denied = json.loads(done.stdout)["permission_denials"]
    assert [entry["tool_input"]["command"] for entry in denied] == ["ls"]
    assert "PATH leads to a stranger's ls" in body
