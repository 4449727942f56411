"""Sessions in the background as a person has them: begun, listed, answered, stopped, killed."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from gatewright.agent.autonomy.running.running_record import CUT
from tests.background.looking import Front
from tests.background.stage import BELOW, stage
from tests.e2e.program import Program
from tests.e2e.stage import MODEL, served
from tests.fakes.model_server import ServerThread
from tests.fakes.waiting import until, written

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(BELOW, reason="a test of a session speaks for no person"),
]
ASKS = """
say: I will make it.
call[c1]: Write {"file_path": "made.txt", "content": "made"}
---
say: It is made.
"""
RUNS = """
call[c1]: Bash {"command": "echo $$ > pid; exec sleep 300", "description": "Wait"}
---
say: I saw that it was stopped.
"""


async def test_it_asks_is_answered_and_stops(program: Program) -> None:
    with ServerThread(ASKS) as server, stage(program, served(server)) as at:
        id = at.begin("Make it.", "--model", MODEL)
        asking = at.comes_to(id, "needs you")
        assert "made.txt" in asking.ask
        (row,) = at.listed()
        assert (row["id"], row["live"], row["state"]) == (id, True, "needs you")
        assert f"asks: {asking.ask}" in at.agent("ps").stdout
        assert b"Make it." not in Path(f"/proc/{asking.pid}/cmdline").read_bytes()
        assert b"secret" not in Path(f"/proc/{asking.pid}/environ").read_bytes()
        assert os.getsid(asking.pid) == asking.pid

        fronts = [await Front.at(Path(asking.socket)) for _ in range(2)]
        answers: list[bool] = []
        for front in fronts:
            await front.ask("session_follow")
            asked = next(one for one in front.told if one.get("event", {}).get("type") == "asked")
            number, ask = asked["event"]["id"], asked["event"]["ask"]
            yes = ask["options"][0]["id"]
            answer = await front.ask("session_answer", ask=number, answer={"choices": [yes]})
            answers.append(answer["response"]["answered"])
        assert answers == [True, False]
        await fronts[0].until("session_event", type="turn_ended")
        assert (program.project / "made.txt").read_text(encoding="utf-8") == "made"
        done = at.comes_to(id, "done")
        assert done.viewers == 2

        stopped = at.agent("stop", id[-8:])
        assert stopped.returncode == 0, stopped.stderr
        assert (await fronts[1].until("session_ending"))["why"] == "You stopped it."
        for front in fronts:
            front.leave()
        assert at.listed() == []
        (row,) = at.listed("--all")
        assert (row["live"], row["state"]) == (False, "stopped")
        assert not Path(asking.socket).exists()
        said = at.agent("logs", id, "-f").stdout
        assert "I will make it." in said
        assert "It is made." in said
        assert "Forgotten: 1" in at.agent("bg", "clean").stdout
        assert at.listed("--all") == []
        assert len(program.transcripts()) == 1


def test_killed_it_stays_dead_with_what_it_had_started_and_goes_on_when_resumed(
    program: Program,
) -> None:
    program.unconfined()
    with ServerThread(RUNS) as server, stage(program, served(server)) as at:
        id = at.begin("Run it.", "--model", MODEL, "-y")
        command = int(written(program.project / "pid"))
        killed = at.agent("kill", id)
        assert killed.returncode == 0, killed.stderr
        until(lambda: not Path(f"/proc/{command}").exists(), what="the end of its command")
        (row,) = at.listed("--all")
        assert (row["live"], row["state"], row["why"]) == (False, "interrupted", "You killed it.")
        assert at.agent("kill", id).returncode == 1
        again = at.agent("bg", "--resume", id, "What happened?", "--model", MODEL)
        assert again.returncode == 0, again.stderr
        at.comes_to(id, "done")
        assert "I saw that it was stopped." in at.agent("logs", id).stdout


def test_one_that_somebody_killed_was_interrupted(program: Program) -> None:
    with stage(program) as at:
        id = at.begin("hello", "--model", "demo")
        record = at.comes_to(id, "done")
        os.kill(record.pid, signal.SIGKILL)
        until(lambda: not record.process.lives(), what="its end")
        (row,) = at.listed("--all")
        assert (row["live"], row["state"], row["why"]) == (False, "interrupted", CUT)
        told = at.agent("stop", id)
        assert (told.returncode, "has ended already: interrupted" in told.stderr) == (1, True)


def test_no_command_of_a_session_has_to_do_with_any(program: Program) -> None:
    with stage(program) as at:
        for words in (("bg", "hello"), ("stop", "x"), ("kill", "x"), ("bg", "clean")):
            done = at.agent(*words, GATEWRIGHT="1")
            assert done.returncode == 1
            assert "by the person, in a terminal of their own" in done.stderr
        assert at.ids() == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["x", "-p"], "agent bg has no --print."),
        (["x", "--output-format", "json"], "agent bg has no --output-format."),
        (["x", "--no-session"], "agent bg has no --no-session."),
        (["x", "--no-such-flag"], "--no-such-flag"),
        (["x", "--permission-mode", "nonsense"], "--permission-mode"),
        (["x", "--resume"], "agent bg --resume ID"),
        ([], 'agent bg "PROMPT"'),
        (["", "--model", "demo"], 'agent bg "PROMPT"'),
        (["--resume", "nobody"], "No session here matches"),
    ],
)
def test_a_wrong_line_is_said_at_once(program: Program, words: list[str], told: str) -> None:
    with stage(program) as at:
        done = at.agent("bg", *words)
        assert done.returncode in {1, 2}
        assert told in done.stderr
        assert at.ids() == []


def test_the_second_one_in_a_checkout_has_a_work_tree_and_there_is_a_most(program: Program) -> None:
    with stage(program) as at:
        settings = '{"smallModel": "demo", "bg": {"max": 3}}'
        (at.home / "settings.json").write_text(settings, encoding="utf-8")
        first = at.begin("hello", "--model", "demo")
        refused = at.agent("bg", "hello", "--model", "demo")
        assert "without git there is no work tree" in refused.stderr
        at.begin("look around", "--model", "demo", "--permission-mode", "plan")
        program.shell(
            "git init -q; git -c user.name=a -c user.email=b commit -q --allow-empty -m x"
        )
        done = at.agent("bg", "hello", "--model", "demo")
        assert f"{first[:13]} works in this checkout" in done.stdout
        (tree,) = [id for id in at.ids() if at.record(id).root != str(program.project)]
        assert "/worktrees/" in at.comes_to(tree, "done", "failed").cwd, at.told(tree)
        full = at.agent("bg", "hello", "--here", "--model", "demo")
        assert "3 sessions run in the background" in full.stderr


def test_one_that_nobody_needs_ends_by_itself(program: Program) -> None:
    with stage(program) as at:
        settings = '{"smallModel": "demo", "bg": {"idleMinutes": 0.001}}'
        (at.home / "settings.json").write_text(settings, encoding="utf-8")
        (program.project / "sub").mkdir()
        # Files are named from where it is begun, wherever it works.
        words = ("--cwd", "sub", "--append-system-prompt-file", "notes.txt")
        ended = at.ended(at.begin("hello", "--model", "demo", *words))
        assert (ended.state, ended.why) == ("done", "Nobody needed it for 0.001 min.")
        assert ended.cwd == str(program.project / "sub")


def test_a_prompt_that_means_nothing_has_failed(program: Program) -> None:
    with stage(program) as at:
        id = at.begin("/no-such-thing", "--model", "demo")
        ended = at.ended(id)
        assert ended.state == "failed"
        assert "There is no command /no-such-thing" in ended.why
