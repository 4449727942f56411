"""What a hook's program may do wrong costs a bounded time, leaves nothing behind and is told."""

from __future__ import annotations

import asyncio
import os
import resource
import time
from contextlib import suppress
from pathlib import Path

import pytest

from gatewright.agent.hooks.answered.answers import understood
from gatewright.agent.hooks.kinds import commands as kinds
from gatewright.agent.hooks.kinds.commands import Commands
from gatewright.agent.hooks.kinds.running import KEPT, Output
from gatewright.agent.hooks.transcripts import Transcripts
from gatewright.agent.record.events import AssistantMessage, Envelope
from gatewright.agent.record.messages import TextPart, Usage
from gatewright.tools.access import MAIN
from gatewright.tools.moments import InputArrives
from gatewright.tools.system import private
from tests.fakes.waiting import PATIENCE, eventually
from tests.hooks.making import commands, firing, handler
from tests.hooks.test_events import Desk

pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks at /proc")


STUBBORN = "trap '' TERM; echo $$ > new; mv new pid"
UNTIL_TOLD = f"{STUBBORN}; until [ -e go ]; do sleep 0.05; done"


async def ran(tmp_path: Path, text: str, **more: object) -> tuple[Output, float]:
    """The run of one command, and how long whoever fired it waited."""
    runner = commands(tmp_path)
    before = _descriptors()
    began = time.monotonic()
    output = await runner.run(
        handler(command=text, **more),  # type: ignore[arg-type]
        firing("PreToolUse", tmp_path, "Bash", tool_input={"x": "y" * 200_000}),
    )
    waited = time.monotonic() - began
    await runner.close()
    assert _descriptors() == before, "a descriptor was left"
    return output, waited


async def ended_if_begun(tmp_path: Path) -> None:
    """Where the machine was too busy, it was ended before its first word."""
    with suppress(FileNotFoundError):
        await ended((tmp_path / "pid").read_text(encoding="utf-8"))


async def ended(pid: str) -> None:
    await eventually(lambda: not Path(f"/proc/{pid.strip()}").exists(), what="the end of it")


def _descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


SPOKEN = Envelope(
    seq=1, uuid="u", parent="", timestamp=0.0, agent=MAIN,
    event=AssistantMessage(id="m", model="x", parts=(TextPart("hi"),), usage=Usage()),
)  # fmt: skip


async def test_a_program_that_hangs_is_ended_at_its_limit(tmp_path: Path) -> None:
    output, waited = await ran(tmp_path, "echo $$ > pid; exec sleep 60", timeout=0.3)
    assert output.failure == "timed out after 0.3 s"
    assert waited < PATIENCE
    await ended_if_begun(tmp_path)


async def test_one_that_traps_the_signal_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kinds, "GRACE", 0.2)
    output, _ = await ran(tmp_path, f"{STUBBORN}; while :; do sleep 0.05; done", timeout=0.3)
    assert output.failure
    await ended_if_begun(tmp_path)


async def test_nobody_waits_for_the_end_of_one_that_traps_the_signal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kinds, "GRACE", 3 * PATIENCE)
    runner = commands(tmp_path)
    began = time.monotonic()
    there = firing("PreToolUse", tmp_path, "Bash")
    output = await runner.run(handler(command=UNTIL_TOLD, timeout=0.3), there)
    assert output.failure
    assert time.monotonic() - began < PATIENCE
    (tmp_path / "go").touch()
    await runner.close()
    await ended_if_begun(tmp_path)


async def test_a_daemon_that_holds_the_pipes_delays_nobody(tmp_path: Path) -> None:
    output, waited = await ran(tmp_path, "(trap '' TERM; sleep 60) & echo $! > pid; echo said")
    assert (output.stdout, output.exit, output.failure) == ("said\n", 0, "")
    assert waited < PATIENCE
    await ended((tmp_path / "pid").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "size",
    [
        32_000_000,
        pytest.param(1_000_000_000, marks=[pytest.mark.proof, pytest.mark.timeout(120)]),
    ],
)
async def test_of_much_output_the_beginning_is_kept(tmp_path: Path, size: int) -> None:
    text = f"head -c {size} /dev/zero; head -c 3000000 /dev/zero >&2"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    output, waited = await ran(tmp_path, text)
    assert len(output.stdout) == len(output.stderr) == KEPT
    assert waited < 90
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024


async def test_a_pipe_in_place_of_the_transcript_holds_up_nobody(tmp_path: Path) -> None:
    transcripts = Transcripts(tmp_path, "s")
    os.mkfifo(transcripts.path())
    transcripts.saw(SPOKEN)
    await asyncio.wait_for(transcripts.written(), PATIENCE)


async def test_a_full_disk_costs_the_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: str, flags: int) -> int:
        del path, flags
        return os.open("/dev/full", os.O_WRONLY)

    monkeypatch.setattr(private, "opener", full)
    transcripts = Transcripts(tmp_path, "s")
    transcripts.saw(SPOKEN)
    await transcripts.written()
    desk = Desk(tmp_path, "UserPromptSubmit", Output(exit=0, stdout="x" * 20_000))
    verdict = await desk.listening.at(InputArrives(text="hi"))
    assert "the whole could not be kept: No space left on device" in verdict.context[0]
    output, _ = await ran(tmp_path, "cat > /dev/full")
    answer = understood(output, handler(command="x"))
    assert "No space left on device" in answer.failure


async def test_stdin_need_not_be_read_and_its_end_is_seen(tmp_path: Path) -> None:
    output, _ = await ran(tmp_path, "exec <&-; echo fine")
    assert (output.stdout, output.failure) == ("fine\n", "")
    output, _ = await ran(tmp_path, "wc -c | tr -d ' '")
    assert int(output.stdout) > 200_000


async def test_a_directory_that_is_gone_is_the_root_instead(tmp_path: Path) -> None:
    runner = commands(tmp_path)
    there = firing("PreToolUse", tmp_path / "gone", "Bash")
    assert (await runner.run(handler(command="pwd -P"), there)).stdout.strip() == str(
        tmp_path.resolve()
    )


@pytest.mark.parametrize("said", [{"command": "/no/such"}, {"command": "/no/such", "args": ()}])
async def test_a_program_that_is_not_there_is_a_failure(
    tmp_path: Path, said: dict[str, object]
) -> None:
    output, _ = await ran(tmp_path, **{"text": said.pop("command"), **said})  # type: ignore[arg-type]
    assert output.exit == 127
    answer = understood(output, handler(command="/no/such"))
    assert "no/such" in answer.failure or "not found" in answer.failure


async def test_the_exec_form_needs_no_shell(tmp_path: Path) -> None:
    runner = commands(tmp_path)
    each = handler(command="printf", args=("%s|", "a b", "${CLAUDE_PROJECT_DIR}", "$HOME"))
    output = await runner.run(each, firing("PreToolUse", tmp_path, "Bash"))
    assert output.stdout == f"a b|{tmp_path}|$HOME|"


async def test_no_profile_runs_and_strangers_get_no_secrets(tmp_path: Path) -> None:
    (tmp_path / "profile").write_text("echo noise", encoding="utf-8")
    env = {
        "BASH_ENV": str(tmp_path / "profile"),
        "ENV": str(tmp_path / "profile"),
        "MY_SECRET": "x",
    }
    runner = commands(tmp_path, env)
    there = firing("PreToolUse", tmp_path, "Bash")
    for shell in ("", "bash"):
        own = await runner.run(handler(command='echo "[$MY_SECRET]"', shell=shell), there)
        assert own.stdout == "[x]\n"
    theirs = handler(command='echo "[$MY_SECRET]"', origin="project")
    assert (await runner.run(theirs, there)).stdout == "[]\n"


async def test_an_interrupt_returns_at_once_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kinds, "GRACE", 3 * PATIENCE)  # until what traps the signal is killed
    runner = commands(tmp_path)
    before = _descriptors()
    for _ in range(2):
        for name in ("pid", "go"):
            (tmp_path / name).unlink(missing_ok=True)
        await _interrupted(runner, tmp_path)
    await runner.close()
    assert _descriptors() == before


async def _interrupted(runner: Commands, tmp_path: Path) -> None:
    there = firing("PreToolUse", tmp_path, "Bash")
    task = asyncio.ensure_future(runner.run(handler(command=UNTIL_TOLD), there))
    async with asyncio.timeout(PATIENCE):
        while not (tmp_path / "pid").exists():
            await asyncio.wait({task}, timeout=0.01)
    began = time.monotonic()
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()
    assert time.monotonic() - began < PATIENCE
    (tmp_path / "go").touch()
    await ended((tmp_path / "pid").read_text(encoding="utf-8"))
