"""`agent workflows run` and `resume`: without a conversation, with a result and exit code."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.e2e.program import Program
from tests.e2e.stage import MODEL, served
from tests.fakes.model_server import ModelServer, ServerThread
from tests.fakes.scripted_provider import read_script
from tests.fakes.waiting import PATIENCE, until

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(60)]

SWEEP = """export const meta = { name: 'sweep', description: 'Sweep the house' }
phase('Sweep')
log('Doors first.')
const rooms = await parallel(args?.rooms ?? [String(args)], (room) => agent(`Sweep the ${room}.`))
if (rooms.includes(null)) throw new Error(`${rooms.filter(Boolean).length} are clean`)
return rooms.join(' ')
"""


def save(program: Program) -> Path:
    path = program.home / ".gatewright" / "workflows" / "sweep.js"
    path.parent.mkdir(parents=True)
    path.write_text(SWEEP, encoding="utf-8")
    return path


def rooms(server: ModelServer, **answers: str) -> None:
    for room, answer in answers.items():
        server.tasks[f"Sweep the {room}."] = list(read_script(answer))


def test_it_prints_what_it_returns_and_asks_no_model_but_its_agents(program: Program) -> None:
    path = save(program)
    with ServerThread() as server:
        rooms(server, hall="say: hall!\n---\nsay: hall?", attic="say: attic!")
        words = ("workflows", "run", "sweep", "--model", MODEL)
        args = json.dumps({"rooms": ["hall", "attic"]})
        done = program.run(*words, "--args", args, env=served(server))
        assert (done.returncode, done.stdout) == (0, "hall! attic!\n"), done.stderr
        assert "  Doors first.\n" in done.stderr
        assert "Run wf_" in done.stderr and "2 ok, 0 failed, 0 replayed, $" in done.stderr
        assert len(server.bodies) == 2
        elsewhere = program.home.parent / "elsewhere.js"
        path.rename(elsewhere)  # outside the project: who names it wants it to be run
        other = ("workflows", "run", str(elsewhere), "--model", MODEL, "--args", "hall", "--json")
        done = program.run(*other, env=served(server))
        told = json.loads(done.stdout)
        assert (told["name"], told["status"], told["result"]) == ("sweep", "done", "hall?")


def test_one_that_failed_goes_on(program: Program) -> None:
    save(program)
    with ServerThread() as server:
        refused = 'status: 400 body={"error":{"type":"invalid_request_error","message":"no"}}'
        rooms(server, hall="say: hall!", attic=f"{refused}\n---\nsay: attic!")
        args = json.dumps({"rooms": ["hall", "attic"]})
        first = ("workflows", "run", "sweep", "--model", MODEL, "--args", args)
        done = program.run(*first, env=served(server))
        assert done.returncode == 1 and "1 are clean" in done.stderr, done.stderr
        (row,) = json.loads(program.run("workflows", "runs", "--json").stdout)
        assert row["status"] == "failed"
        again = ("workflows", "resume", row["id"], "--model", MODEL)
        done = program.run(*again, env=served(server))
        assert (done.returncode, done.stdout) == (0, "hall! attic!\n"), done.stderr
        assert "1 replayed" in done.stderr and len(server.bodies) == 3


def test_what_its_session_told_before_is_not_the_end_of_it(program: Program) -> None:
    save(program)
    with ServerThread("\n---\n".join(["say: It runs.", "say: Told."] * 2)) as server:
        refused = 'status: 400 body={"error":{"type":"invalid_request_error","message":"no"}}'
        rooms(server, hall="say: hall!", attic=f"{refused}\n---\nsay: attic!")
        ask = ("--model", MODEL, "-p")
        assert program.run(*ask, "/sweep hall", env=served(server)).returncode == 0
        assert program.run("--continue", *ask, "/sweep attic", env=served(server)).returncode == 0
        rows = json.loads(program.run("workflows", "runs", "--json").stdout)
        (failed,) = [row for row in rows if row["status"] == "failed"]
        done = program.run(
            "workflows", "resume", failed["id"], "--model", MODEL, "--json", env=served(server)
        )
        told = json.loads(done.stdout)
        assert (told["run"], told["status"], told["result"]) == (failed["id"], "done", "attic!")
        assert "0 are clean" not in done.stderr


def test_ctrl_c_says_how_to_go_on(program: Program) -> None:
    save(program)
    with ServerThread() as server:
        rooms(server, hall="wait: gate\nsay: hall!")
        words = ("workflows", "run", "sweep", "--model", MODEL, "--args", "hall")
        process = program.start(*words, env=served(server))
        until(lambda: len(server.bodies) == 1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    (run,) = json.loads(program.run("workflows", "runs", "--json").stdout)
    assert f"Go on with it: agent workflows resume {run['id']}\n" in err


def test_what_cannot_be_run_says_why(program: Program) -> None:
    with ServerThread() as server:
        done = program.run("workflows", "run", "nothing", "--model", MODEL, env=served(server))
        assert done.returncode == 1 and "There is no workflow 'nothing'" in done.stderr
        missing = program.run("workflows", "resume", "wf_000000000000", env=served(server))
        assert missing.returncode == 1 and "agent workflows runs lists them" in missing.stderr
        assert server.bodies == []


def test_print_mode_waits_for_the_run_and_prints_what_is_made_of_it(program: Program) -> None:
    save(program)
    with ServerThread("say: It runs.\n---\nsay: The hall is clean.\n") as server:
        rooms(server, hall="say: hall!")
        done = program.run("-p", "/sweep hall", "--model", MODEL, env=served(server))
        assert (done.returncode, done.stdout) == (0, "The hall is clean.\n"), done.stderr
        assert "hall!" in json.dumps(server.bodies[-1])


def test_a_script_that_is_not_there_is_said_in_words(program: Program) -> None:
    with ServerThread() as server:
        words = ("workflows", "run", "nowhere.js", "--model", MODEL)
        done = program.run(*words, env=served(server))
        assert done.returncode == 1
        assert done.stderr.rstrip().endswith(
            "nowhere.js: It cannot be read: No such file or directory."
        )
        assert "Errno" not in done.stderr


def test_a_budget_that_ends_is_said_though_the_script_goes_on(program: Program) -> None:
    path = save(program)
    path.write_text(
        "export const meta = { name: 'sweep', description: 'Sweep', budget: { tokens: 10 } }\n"
        "await agent('Sweep the hall.')\n"
        "return String((await parallel(['attic'], (room) => agent(`Sweep the ${room}.`)))[0])\n",
        encoding="utf-8",
    )
    with ServerThread() as server:
        rooms(server, hall="say: hall!\nusage: in=30 out=5")
        done = program.run("workflows", "run", "sweep", "--model", MODEL, env=served(server))
        assert (done.returncode, done.stdout) == (0, "null\n"), done.stderr
        assert "10 tokens" in done.stderr
        assert "No further agent begins." in done.stderr
