"""Commands in the editor's terminal: what is the same there as here, and an editor that fails."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.frontends.acp.params import Exited
from gatewright.agent.frontends.acp.terminals import editor_terminals
from gatewright.agent.frontends.acp.terminals.editor_terminals import status_of
from gatewright.agent.frontends.acp.terminals.printed_since import GAP, PrintedSince
from tests.acp.fake_editor import Editor, editor, said
from tests.acp.fake_terminals import CAN, OWN, Terminals, never, nonsense, refuses
from tests.fakes.waiting import PATIENCE, eventually

PATIENT = "gatewright.agent.frontends.acp.terminals.editor_terminals.EditorTerminals.patience"


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is no silent editor."""
    monkeypatch.setattr(PATIENT, PATIENCE)


def run(command: str, **more: Any) -> str:
    return f"call: Bash {json.dumps({'command': command, **more})}"


@asynccontextmanager
async def terminals(
    folder: Path,
    *script: str,
    keeps: int = 1 << 30,
    own: Mapping[str, Any] = OWN,
    env: Mapping[str, str] | None = None,
) -> AsyncGenerator[tuple[Editor, Terminals]]:
    async with editor(folder, *script, "say: Done.", can=CAN, own={**OWN, **own}, env=env) as ed:
        made = Terminals(ed, keeps=keeps)
        try:
            yield ed, made
        finally:
            await made.close()


def told(ed: Editor, at: int = -1) -> str:
    """What the model was told of its last call, with line ends as they are."""
    return json.dumps(ed.server.bodies[at]["messages"][-1]).replace("\\n", "\n")


def cards(ed: Editor, session: str) -> list[dict[str, Any]]:
    return ed.updates(session, "tool_call_update")


def shows(ed: Editor, session: str) -> list[str]:
    """The terminals on the card, as it stands at last."""
    return [
        each["terminalId"] for each in cards(ed, session)[-1]["content"] if "terminalId" in each
    ]


async def test_a_command_runs_there_with_what_it_has_here_and_nothing_of_the_editors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_TOKEN", "hunter2hunter2")  # of the editor, whose child we are
    (tmp_path / "project" / "sub dir").mkdir(parents=True)
    first = "env | sort; echo $((6*7)) \"it's\"; read x; echo [$x]; cd 'sub dir'"
    async with terminals(tmp_path, run(first), run("pwd")) as (ed, made):
        session = await ed.new()
        await ed.turn(session, "go")
        text = told(ed, 1)
        assert "42 it's" in text and "[]" in text  # nothing to read
        assert "GATEWRIGHT=1" in text and "HOME=" in text
        assert "EDITORS_OWN" not in text and "hunter2" not in text and "ANTHROPIC" not in text
        assert f"current directory is now {ed.project}/sub dir" in text
        assert f"{ed.project}/sub dir" in told(ed, 2)
        assert made.released == ["term-1", "term-2"] and not made.killed
        assert shows(ed, session) == ["term-2"]
        assert all(each["command"] == "/usr/bin/env" and "env" not in each for each in made.made)
        words = [word for each in made.made for word in each["args"]]
        assert not any(set(word) & set(" '\"$;&|<>`\\") for word in words)
    assert not list(tmp_path.rglob("command-*"))


@pytest.mark.parametrize(
    ("command", "heard"),
    [("exit 3", "Exit code 3"), ("kill -9 $$", "Exit code 137"), ("true", "no output")],
)
async def test_how_it_ended_is_told(tmp_path: Path, command: str, heard: str) -> None:
    async with terminals(tmp_path, run(command)) as (ed, _):
        session = await ed.new()
        await ed.turn(session, "go")
        assert heard in told(ed)
        failed = "Exit code" in heard
        assert cards(ed, session)[-1]["status"] == ("failed" if failed else "completed")
        assert (heard.lower()[:4] in json.dumps(cards(ed, session)[-1])) == failed


@pytest.mark.parametrize(
    ("can", "own"), [({}, OWN), (CAN, {}), (CAN, {"acp": {"terminal": False}})]
)
async def test_without_setting_or_ability_it_runs_here(
    tmp_path: Path, can: dict[str, Any], own: dict[str, Any]
) -> None:
    async with editor(tmp_path, run("echo hi"), "say: Done.", can=can, own=own) as ed:
        made = Terminals(ed)
        await ed.turn(await ed.new(), "go")
        assert "hi" in told(ed) and not made.made


async def test_a_secret_that_was_kept_for_commands_is_not_the_editors(tmp_path: Path) -> None:
    kept = {"GATEWRIGHT_KEEP_ENV": "DEPLOY_TOKEN", "DEPLOY_TOKEN": "abcdefghij"}
    async with terminals(tmp_path, run("echo ${#DEPLOY_TOKEN}"), env=kept) as (ed, made):
        await ed.turn(await ed.new(), "go")
        assert "10" in told(ed) and not made.made


async def test_what_the_sandbox_confines_runs_here(tmp_path: Path) -> None:
    out = run("echo out", dangerouslyDisableSandbox=True)
    async with terminals(tmp_path, run("echo hi"), out, own={"sandbox": {"enabled": True}}) as (
        ed,
        made,
    ):
        await ed.turn(await ed.new(), "go")
        assert "hi" in told(ed, 1) and "out" in told(ed, 2)
        confined = "not confined" not in json.dumps(ed.heard)
        assert len(made.made) == (1 if confined else 2)


async def test_time_is_over_there_too(tmp_path: Path) -> None:
    slow, stop = run("echo on; sleep 600", timeout=600), 'call: TaskStop {"task_id": "shell_1"}'
    async with terminals(tmp_path, slow, stop) as (ed, made):
        await ed.turn(await ed.new(), "go")
        assert "on" in told(ed, 1) and "goes on in the background" in told(ed, 1)
        assert "stopped" in told(ed, 2)
        await eventually(lambda: bool(made.released))
        assert made.killed == made.released == ["term-1"]


async def test_cancel_ends_it_there(tmp_path: Path) -> None:
    async with terminals(tmp_path, run("echo up > up; exec sleep 600")) as (ed, made):
        session = await ed.new()
        turn = ed.prompt(session, "go")
        await eventually((ed.project / "up").exists)
        ed.notify("session/cancel", sessionId=session)
        assert (await said(turn))["stopReason"] == "cancelled"
        await eventually(lambda: bool(made.released))
        await eventually(lambda: made.all["term-1"].process.returncode is not None)


async def test_a_command_in_the_background_goes_on_there(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    command = f"echo one; cat {tmp_path}/fifo; echo two"
    output = 'call: TaskOutput {"task_id": "shell_1", "timeout": 60000}'
    async with terminals(tmp_path, run(command, run_in_background=True), "say: So.", output) as (
        ed,
        made,
    ):
        session = await ed.new()
        await ed.turn(session, "go")
        assert "Running in the background as shell_1" in told(ed, 1)
        assert shows(ed, session) == ["term-1"] and not made.released
        (tmp_path / "fifo").write_text("from outside\n", encoding="utf-8")
        await ed.until(lambda: "has ended in the background" in json.dumps(cards(ed, session)))
        assert shows(ed, session) == ["term-1"] and made.released == ["term-1"]
        await ed.until(lambda: len(ed.server.bodies) >= 4)
        assert "one\nfrom outside\ntwo" in told(ed, 3)


async def test_what_it_leaves_behind_is_ended(tmp_path: Path) -> None:
    left = tmp_path / "left"
    command = f"setsid -f sh -c 'echo $$ > {left}; exec sleep 600' >/dev/null 2>&1"
    command += f"; until [ -s {left} ]; do sleep 0.01; done"
    async with terminals(tmp_path, run(command)) as (ed, _):
        await ed.turn(await ed.new(), "go")
        pid = int(left.read_text(encoding="utf-8"))
        await eventually(lambda: not Path(f"/proc/{pid}").exists())


async def test_output_that_the_editor_dropped_is_not_called_whole(tmp_path: Path) -> None:
    command = "seq 100000 109999"
    async with terminals(tmp_path, run(command), keeps=40_000) as (ed, _):
        await ed.turn(await ed.new(), "go")
        text = told(ed)
        assert "109999" in text and "some of it may be missing" in text
        assert "at least" in text and "the whole is in" not in text


@pytest.mark.parametrize(
    ("method", "way", "heard"),
    [
        ("create", refuses, "refused to open a terminal"),
        ("create", nonsense, "is not understood"),
        ("create", never, "did not open a terminal within"),
        ("output", refuses, "lost: the editor refused to say what it printed"),
        ("output", nonsense, "lost: the editor's answer about what it printed"),
        ("output", never, "lost: the editor did not say within"),
        ("wait_for_exit", refuses, "lost: the editor refused to say how it ended"),
        ("wait_for_exit", nonsense, "lost: the editor's answer about its end"),
    ],
)
async def test_an_editor_that_fails_is_told_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, way: Any, heard: str
) -> None:
    pid = tmp_path / "pid"
    async with terminals(tmp_path, run(f"echo $$ > {pid}; exec sleep 600")) as (ed, made):

        async def create(params: dict[str, Any]) -> Any:
            found = await made.create(params)
            monkeypatch.setattr(PATIENT, 0.3 if way is never else PATIENCE)
            return found

        made.broken |= {"create": create, method: way}
        if method == "create" and way is never:
            monkeypatch.setattr(PATIENT, 0.3)
        session = await ed.new()
        await ed.turn(session, "go")
        assert heard in told(ed)
        assert cards(ed, session)[-1]["status"] == "failed"
        if method != "create":
            await eventually(lambda: bool(made.released))
            assert made.killed
        number = pid.read_text(encoding="utf-8").strip() if pid.exists() else ""
        await eventually(lambda: not number or not Path(f"/proc/{number}").exists())


@pytest.mark.parametrize("dead", ["kill", "wait_for_exit", "all"])
async def test_who_does_not_end_it_is_not_waited_for(tmp_path: Path, dead: str) -> None:
    pid = tmp_path / "pid"
    async with terminals(tmp_path, run(f"echo $$ > {pid}; exec sleep 600")) as (ed, made):
        session = await ed.new()
        turn = ed.prompt(session, "go")
        await eventually(lambda: pid.exists() and pid.stat().st_size > 0)
        for method in ("kill", "wait_for_exit", "output", "release") if dead == "all" else (dead,):
            made.broken[method] = never
        ed.notify("session/cancel", sessionId=session)
        assert (await said(turn))["stopReason"] == "cancelled"
        number = pid.read_text(encoding="utf-8").strip()
        await eventually(lambda: not Path(f"/proc/{number}").exists())  # ended here
        await ed.until(lambda: ed.asked("terminal/release"))


async def test_a_terminal_that_comes_too_late_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PATIENT, 0.2)
    late = asyncio.Event()
    async with terminals(tmp_path, run("touch ran")) as (ed, made):

        async def waits(params: dict[str, Any]) -> Any:
            await late.wait()
            return await made.create(params)

        made.broken["create"] = waits
        await ed.turn(await ed.new(), "go")
        assert "did not open a terminal" in told(ed)
        monkeypatch.setattr(PATIENT, PATIENCE)
        late.set()
        await eventually(lambda: bool(made.released))
        await made.all["term-1"].reads
        assert not (ed.project / "ran").exists()  # what it was to run is gone


async def test_one_that_is_on_another_machine_is_found_out(tmp_path: Path) -> None:
    async with terminals(tmp_path, run("touch ran")) as (ed, made):

        async def elsewhere(params: dict[str, Any]) -> Any:
            return await made.create({**params, "command": "/bin/true", "args": []})

        made.broken["create"] = elsewhere
        await ed.turn(await ed.new(), "go")
        assert "did not run it" in told(ed) and "another machine" in told(ed)


async def test_an_editor_that_goes_away_leaves_nothing(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    async with terminals(tmp_path, run(f"echo $$ > {pid}; exec sleep 600")) as (ed, _):
        ed.prompt(await ed.new(), "go")
        await eventually(lambda: pid.exists() and pid.stat().st_size > 0)
        number = pid.read_text(encoding="utf-8").strip()
        ed.leave()
        assert ed.agent is not None
        ed.agent.stop()
        await eventually(lambda: not Path(f"/proc/{number}").exists())


async def test_a_directory_that_the_editor_does_not_enter_is_entered_or_nothing_runs(
    tmp_path: Path,
) -> None:
    async with terminals(tmp_path, run("pwd; touch made")) as (ed, made):

        async def at_home(params: dict[str, Any]) -> Any:
            return await made.create({**params, "cwd": "/"})

        made.broken["create"] = at_home
        await ed.turn(await ed.new(), "go")
        assert (ed.project / "made").exists()


def test_ends_that_a_client_may_name() -> None:
    names = [Exited(0, None), Exited(None, "SIGTERM"), Exited(None, "kill"), Exited(None, "2")]
    assert [status_of(each) for each in names] == [0, 143, 137, 130]
    assert status_of(Exited(None, "nonsense")) is None and status_of(Exited()) is None


def fold(*looks: str, cut: int = 1 << 30) -> str:
    printed = PrintedSince()
    new = [printed.take(text[-cut:], truncated=len(text) > cut, over=False) for text in looks]
    last = looks[-1]
    return "".join([*new, printed.take(last[-cut:], truncated=len(last) > cut, over=True)])


def test_what_is_new_in_each_look() -> None:
    assert fold("a\n", "a\nb\n", "a\nb\nc") == "a\nb\nc"
    assert fold("a\n 10%", "a\n 20%", "a\n100%\nb") == "a\n100%\nb"
    assert fold("ask? ", "ask? ", "ask? yes\n") == "ask? yes\n"
    assert fold("bar 1", "bar 1", "bar 2\nend") == "bar 1\nbar 2\nend"
    assert fold("a\r\nb\r\n") == "a\nb\n"
    rows = [f"line {number}\n" for number in range(100)]
    looks = ["".join(rows[:end]) for end in (10, 40, 70, 100)]
    assert fold(*looks, cut=400) == "".join(rows)
    assert GAP in fold(looks[0], looks[3], cut=100)


def test_limits_are_those_that_are_documented() -> None:
    assert editor_terminals.PATIENCE == 10.0
