"""Bash with real processes: bounded whatever a command does, and nothing survives it."""

from __future__ import annotations

import asyncio
import re
import resource
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from gatewright.tools.blocks import Output
from gatewright.tools.protocol import Progress, SpawnRequest, ToolResult
from gatewright.tools.shell.bash import Bash
from gatewright.tools.shell.shelljob import ShellLimits
from gatewright.tools.shell.snapshot import snapshot
from gatewright.tools.system.secrets import Secrets
from tests.fakes.toolbox import Toolbox, text
from tests.fakes.waiting import PATIENCE, eventually, lasting

MARK = "GATEWRIGHT_TEST_MARK"


@pytest.fixture
def marked(box: Toolbox, tmp_path: Path) -> Toolbox:
    """Commands of this box carry a mark in their environment that `survivors` looks for."""
    box.set(env={**box.ctx.env, MARK: str(tmp_path)})
    return box


def survivors(mark: Path) -> list[str]:
    """Command lines of living processes that carry the mark."""
    wanted = f"{MARK}={mark}".encode()
    found: list[str] = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                found.append((entry / "cmdline").read_bytes().decode())
        except OSError:
            continue
    return found


async def gone(mark: Path) -> bool:
    return not await lasting(lambda: bool(survivors(mark)), PATIENCE)


async def heard(box: Toolbox) -> None:
    """Wait until the running command has said something."""
    await eventually(lambda: bool(box.progress))


async def test_output_and_exit_code(box: Toolbox) -> None:
    result = await box.call("Bash", command="echo out; echo err >&2; exit 3")
    assert not result.ok
    assert text(result) == "out\nerr\n[Exit code 3]"
    assert (result.summary, result.data["exitCode"]) == ("exit 3", 3)


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("nosuch", 1),
        ("true\nnosuch\ntrue", 2),
        ("cat <<X >/dev/null\na \\ 'b'\nX\nnosuch", 4),
        ("echo 'a\nb' >/dev/null\nnosuch", 3),
        ("f() {\n nosuch\n}\n\nf", 2),
        ("true\nif then\n", 2),
        ('true\n\necho "open', 3),
        ("\n\n\nset -u; echo $UNDEFINED", 4),
    ],
)
async def test_errors_name_the_line_of_the_command_itself(
    box: Toolbox, command: str, line: int
) -> None:
    said = text(await box.call("Bash", command=command))
    assert re.findall(r"line (\d+)", said)[:1] == [str(line)]


async def test_a_command_reaches_its_shell_as_it_is(box: Toolbox) -> None:
    command = "printf '%s|' 'a\\n' \"it's\" $'x\\ty' 'ä\n€' \\\\"
    assert await box.said("Bash", command=command) == "a\\n|it's|x\ty|ä\n€|\\|"


async def test_silence_is_said(box: Toolbox) -> None:
    assert await box.said("Bash", command="true") == "[no output]"


@pytest.mark.parametrize(
    ("command", "ok"),
    [
        ("grep nothing /dev/null", True),
        ("echo a | grep b", True),
        ("cd . && grep nothing /dev/null", True),
        ("diff <(echo a) <(echo b)", True),
        ("test 1 = 2", True),
        ("[ 1 = 2 ]", True),
        ("false", False),
        ("grep x /nowhere", False),
        ("grep nothing /dev/null; false", False),
    ],
)
async def test_exit_one_of_a_search_is_an_answer(box: Toolbox, command: str, ok: bool) -> None:
    assert (await box.call("Bash", command=command)).ok is ok


async def test_death_by_signal_is_told(box: Toolbox) -> None:
    assert "Exit code 143" in await box.refused("Bash", command="kill -TERM $$")


class TestDirectory:
    async def test_it_persists_inside(self, box: Toolbox) -> None:
        (box.root / "sub").mkdir()
        assert "now" in await box.said("Bash", command="cd sub")
        assert await box.said("Bash", command="pwd") == str(box.root / "sub")

    async def test_it_persists_after_exit_and_failure(self, box: Toolbox) -> None:
        (box.root / "sub").mkdir()
        await box.call("Bash", command="cd sub; set -e; false; echo never")
        assert box.moved == [box.root / "sub"]

    async def test_it_is_reset_outside_and_told(self, box: Toolbox) -> None:
        said = await box.said("Bash", command="cd /usr; pwd")
        assert said.startswith("/usr\n") and "outside the project" in said
        assert box.moved == [box.root]

    async def test_an_added_directory_is_inside(self, box: Toolbox, tmp_path: Path) -> None:
        other = tmp_path / "other"
        other.mkdir()
        where = type(box.ctx.where)(box.root, box.root, box.ctx.where.home, (other,))
        box.set(where=where)
        await box.said("Bash", command=f"cd {other}")
        assert box.moved == [other]

    async def test_a_link_to_the_outside_is_outside(self, box: Toolbox) -> None:
        (box.root / "way").symlink_to("/usr")
        assert "outside" in await box.said("Bash", command="cd way")

    async def test_a_removed_one_is_a_clear_failure(self, box: Toolbox) -> None:
        (box.root / "sub").mkdir()
        await box.said("Bash", command="cd sub")
        (box.root / "sub").rmdir()
        assert "does not exist any more" in await box.refused("Bash", command="ls")

    @pytest.mark.parametrize("path", ["$PWD/../out", "$PWD/way", "$PWD/none", "sub", "$PWD/l\nx"])
    async def test_a_forged_report_leads_nowhere(
        self, box: Toolbox, tmp_path: Path, path: str
    ) -> None:
        (tmp_path / "out").mkdir()
        (box.root / "l\nx").mkdir()
        (box.root / "sub").mkdir()
        (box.root / "way").symlink_to(tmp_path / "out")
        finds = 'm=$(tr "\\0" "\\n" < /proc/$$/cmdline | grep -ao "end-[0-9a-f]*-" | head -1)'
        await box.said("Bash", command=f'{finds}; printf "\\0$m{path}\\n\\0"; exec true')
        assert set(box.moved) <= {box.root}

    async def test_no_redirection_catches_the_report(self, box: Toolbox) -> None:
        (box.root / "sub").mkdir()
        await box.said("Bash", command="cd sub; exec >../log 2>&1; echo inside")
        assert (box.root / "log").read_text(encoding="utf-8") == "inside\n"
        assert box.moved == [box.root / "sub"]


class TestEnvironment:
    async def test_it_does_not_persist(self, box: Toolbox) -> None:
        await box.said("Bash", command="export LEFT=over")
        assert await box.said("Bash", command="echo [$LEFT]") == "[]"

    async def test_the_env_file_does(self, box: Toolbox, tmp_path: Path) -> None:
        file = tmp_path / "env.sh"
        file.write_text("export FROM_FILE=yes\n", encoding="utf-8")
        box.set(env={**box.ctx.env, "GATEWRIGHT_ENV_FILE": str(file)})
        assert await box.said("Bash", command="echo $FROM_FILE") == "yes"

    async def test_there_is_no_pager_prompt_or_colour(self, box: Toolbox) -> None:
        said = await box.said(
            "Bash", command="echo $GIT_TERMINAL_PROMPT $PAGER $GIT_PAGER $TERM $NO_COLOR"
        )
        assert said == "0 cat cat dumb 1"

    async def test_secrets_are_left_out_unless_kept(self, box: Toolbox) -> None:
        secret = {"ANTHROPIC_API_KEY": "one", "GH_TOKEN": "two", "DB_PASSWORD": "three"}
        box.set(env={**box.ctx.env, **secret}, secrets=Secrets(kept=frozenset({"GH_TOKEN"})))
        command = "echo [$ANTHROPIC_API_KEY$GH_TOKEN$DB_PASSWORD]"
        assert await box.said("Bash", command=command) == "[two]"

    async def test_no_code_of_the_environment_runs_first(self, box: Toolbox) -> None:
        trap = box.root / "trap.sh"
        trap.write_text("echo trapped\n", encoding="utf-8")
        functions = {"BASH_FUNC_ls%%": "() { echo trapped; }"}
        box.set(env={**box.ctx.env, **functions, "BASH_ENV": str(trap), "ENV": str(trap)})
        assert await box.said("Bash", command="ls") == "trap.sh"

    async def test_cd_goes_where_it_was_judged_to(self, box: Toolbox, tmp_path: Path) -> None:
        for place in (box.root, tmp_path / "elsewhere"):
            (place / "sub").mkdir(parents=True)
        box.set(env={**box.ctx.env, "CDPATH": str(tmp_path / "elsewhere")})
        assert (await box.said("Bash", command="cd sub && pwd")).startswith(str(box.root / "sub"))

    async def test_a_planted_bare_repository_brings_no_configuration(self, box: Toolbox) -> None:
        said = await box.said(
            "Bash", command="git init -q --bare trap && cd trap && git status 2>&1 || true"
        )
        assert "safe.bareRepository" in said


class TestSnapshot:
    async def test_aliases_and_functions_are_taken_once(self, box: Toolbox) -> None:
        rc = box.ctx.where.home / ".bashrc"
        rc.write_text(
            "echo noise; alias greet='echo hello'\nshout() { echo \"$1!\"; }\n_private() { :; }\n"
            "echo x >> $HOME/count\n",
            encoding="utf-8",
        )
        bash = Bash()
        box = Toolbox(box.root, bash)
        assert await box.said("Bash", command="greet; shout hey") == "hello\nhey!"
        assert await box.said("Bash", command="type _private 2>&1 | head -1") != ""
        assert (box.ctx.where.home / "count").read_text(encoding="utf-8") == "x\n"

    async def test_without_a_start_up_file_there_is_none(self, box: Toolbox) -> None:
        assert await snapshot("/bin/bash", box.ctx.env, box.ctx) is None
        assert not box.ctx.spill.exists()

    async def test_a_start_up_file_that_hangs_is_given_up(
        self, box: Toolbox, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("gatewright.tools.shell.snapshot._SECONDS", 0.3)
        (box.ctx.where.home / ".bashrc").write_text("sleep 100\n", encoding="utf-8")
        assert await box.said("Bash", command="echo on") == "on"


class TestNothingSurvives:
    @pytest.mark.parametrize(
        "command",
        [
            "sleep 300 & echo started",
            "(sleep 300; echo late) & echo started",
            "sleep 300 >/dev/null 2>&1 & echo started",
            "setsid sleep 300 & sleep 0.1; echo started",
            "setsid nohup sleep 300 >/dev/null 2>&1 </dev/null & sleep 0.1; echo started",
            "(trap '' TERM HUP INT; while :; do sleep 0.1; done) & echo started",
            "sh -c 'sleep 300 & sleep 300 & sleep 300 &' ; echo started",
        ],
    )
    async def test_after_the_command_ended(
        self, marked: Toolbox, tmp_path: Path, command: str
    ) -> None:
        began = time.monotonic()
        assert await marked.said("Bash", command=command) == "started"
        assert time.monotonic() - began < PATIENCE
        assert await gone(tmp_path)

    @pytest.mark.parametrize(
        "command",
        [
            "sleep 300",
            "trap '' TERM INT HUP; while :; do sleep 0.1; done",
            "bash -c 'trap \"\" TERM; sleep 300 & wait'",
            "setsid sleep 300 & sleep 300",
            "for i in $(seq 20); do sleep 300 & done; wait",
        ],
    )
    async def test_after_the_time_limit(
        self, marked: Toolbox, tmp_path: Path, command: str
    ) -> None:
        began = time.monotonic()
        result = await marked.call("Bash", command=command, timeout=300)
        assert time.monotonic() - began < PATIENCE
        assert not result.ok and "stopped after 0.3 s" in text(result)
        assert await gone(tmp_path)

    @pytest.mark.parametrize("command", ["sleep 300", "trap '' TERM; while :; do sleep 0.1; done"])
    async def test_after_a_cancel(self, marked: Toolbox, tmp_path: Path, command: str) -> None:
        call = asyncio.create_task(marked.call("Bash", command=f"echo here; {command}"))
        await heard(marked)
        began = time.monotonic()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert time.monotonic() - began < PATIENCE
        assert await gone(tmp_path)

    async def test_after_two_cancels(self, marked: Toolbox, tmp_path: Path) -> None:
        command = "trap '' TERM; echo here; while :; do sleep 0.1; done"
        call = asyncio.create_task(marked.call("Bash", command=command))
        await heard(marked)
        call.cancel()
        await asyncio.wait({call}, timeout=0.05)
        assert not call.done()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert await gone(tmp_path)

    async def test_cancelling_again_and_again_leaves_no_state(
        self, marked: Toolbox, tmp_path: Path
    ) -> None:
        tasks = len(asyncio.all_tasks())
        for _ in range(50):
            call = asyncio.create_task(marked.call("Bash", command="sleep 300"))
            await asyncio.wait({call}, timeout=0.004)
            assert not call.done()
            call.cancel()
            await asyncio.wait({call}, timeout=PATIENCE)
            assert call.cancelled()
        assert await gone(tmp_path)
        assert await marked.said("Bash", command="echo on") == "on"
        assert len(asyncio.all_tasks()) == tasks


class TestOutput:
    async def test_a_reader_of_input_ends_at_once(self, box: Toolbox) -> None:
        assert "[]" in await box.said("Bash", command="read x; echo [$x]; cat")

    async def test_there_is_no_terminal(self, box: Toolbox) -> None:
        assert "no" in await box.said("Bash", command="(: </dev/tty) 2>/dev/null || echo no")

    async def test_escapes_controls_and_bidi_are_inert(self, box: Toolbox) -> None:
        command = (
            r"printf '\033[31mred\033[0m \033]0;title\007 a\010b \u202eevil\u202c \x07\x9b2J\n'"
        )
        said = await box.said("Bash", command=command)
        assert "red" in said and "\x1b" not in said and "\u202e" not in said
        assert not any(ord(char) < 32 and char not in "\n\t" for char in said)

    async def test_progress_bars_keep_their_last_state(self, box: Toolbox) -> None:
        assert await box.said("Bash", command=r"printf '10%%\r50%%\r100%%\ndone\n'") == "100%\ndone"

    async def test_nul_bytes_are_shown(self, box: Toolbox) -> None:
        assert await box.said("Bash", command=r"printf 'a\0b'") == "a\u2400b"

    async def test_what_looks_like_our_report_is_output(self, box: Toolbox) -> None:
        said = await box.said("Bash", command=r"printf '\0end-0000'; sleep 0.1; printf '0\0'")
        assert said == "\u2400end-00000\u2400"

    async def test_long_output_keeps_head_and_tail_and_the_rest_in_a_file(
        self, box: Toolbox
    ) -> None:
        result = await box.call("Bash", command="seq 1 50000")
        said = text(result)
        assert said.startswith("1\n2\n") and said.endswith("\n50000")
        assert len(said) < 30_000 and "lines" in said
        (file,) = box.ctx.spill.iterdir()
        assert str(file) in said
        assert file.read_text(encoding="utf-8") == "".join(f"{i}\n" for i in range(1, 50001))

    @pytest.mark.parametrize("command", ["seq 1 200000", "seq -f %0400.0f 1 200000"])
    async def test_what_is_hidden_is_counted(self, box: Toolbox, command: str) -> None:
        """To the model, to people and in a collapsed row: what is seen and what is not is all."""
        result = await box.call("Bash", command=command)
        said = text(result)
        note = re.search(r"\[([\d,]+) lines \(([\d,]+) bytes\) left out", said)
        assert note
        head, _, tail = said.partition(f"\n{note[0]}")
        seen = len(head.split()) + len(tail.partition("]\n\n")[2].split())
        assert seen + int(note[1].replace(",", "")) == 200_000
        (output,) = result.view
        assert isinstance(output, Output)
        lines = output.text.split("\n")
        assert f"[... {output.hidden_lines:,} lines]" in lines
        assert len(lines) - 1 + output.hidden_lines == 200_000

    async def test_one_line_of_50_mb(self, box: Toolbox) -> None:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        began = time.monotonic()
        result = await box.call("Bash", command="head -c 50000000 /dev/zero | tr '\\0' x")
        assert result.ok and len(text(result)) < 30_000
        assert time.monotonic() - began < PATIENCE
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 30_000  # kB

    async def test_10_mb_of_nul_bytes(self, box: Toolbox) -> None:
        result = await box.call("Bash", command="head -c 10000000 /dev/zero")
        assert result.ok and len(text(result)) < 30_000

    async def test_runaway_output_is_ended(self, box: Toolbox, tmp_path: Path) -> None:
        box = Toolbox(box.root, Bash(ShellLimits(output=50_000_000)), env={MARK: str(tmp_path)})
        began = time.monotonic()
        result = await box.call("Bash", command="yes")
        assert not result.ok and "more than 50,000,000 bytes" in text(result)
        assert time.monotonic() - began < PATIENCE
        assert await gone(tmp_path)
        (file,) = box.ctx.spill.iterdir()
        assert file.stat().st_size < 60_000_000

    async def test_the_file_does_not_grow_for_ever(self, box: Toolbox) -> None:
        box = Toolbox(box.root, Bash(ShellLimits(file=1_000_000)))
        said = await box.said("Bash", command="head -c 5000000 /dev/zero | tr '\\0' x; echo end")
        assert "its first 1,000,000 bytes are in" in said and said.endswith("end")
        (file,) = box.ctx.spill.iterdir()
        assert file.stat().st_size == 1_000_000

    async def test_a_full_disk_is_told(self, box: Toolbox) -> None:
        box = Toolbox(box.root, Bash(ShellLimits(disk_free=10**18)))
        result = await box.call("Bash", command="yes")
        assert "disk is nearly full" in text(result)

    async def test_a_fork_storm_is_over_with_the_time_limit(
        self, marked: Toolbox, tmp_path: Path
    ) -> None:
        command = "f() { for i in 1 2 3; do sleep 0.05; (f $(($1+1))) & done; wait; }; f 0"
        command = f"ulimit -u 3000; {command}"
        await marked.call("Bash", command=command, timeout=500)
        assert await gone(tmp_path)

    async def test_progress_comes_only_with_news(self, box: Toolbox) -> None:
        await box.said("Bash", command="for i in 1 2 3; do echo $i; sleep 0.25; done")
        assert [p.tail.split("\n")[-1] for p in box.progress] == ["1", "2", "3"]
        assert box.progress[-1].size == 6 and box.progress[-1].seconds > 0.5

    async def test_noisy_output_gives_ten_reports_a_second_at_most(self, box: Toolbox) -> None:
        began = time.monotonic()
        await box.call("Bash", command="timeout 1 yes", timeout=5000)
        assert 0 < len(box.progress) <= (time.monotonic() - began) * 10 + 1

    async def test_nowhere_to_spill(self, box: Toolbox) -> None:
        box.ctx.spill.write_text("a file, not a directory", encoding="utf-8")
        said = await box.said("Bash", command="seq 1 50000")
        assert said.startswith("1\n") and said.endswith("50000")


async def test_a_question_is_seen_and_told(box: Toolbox) -> None:
    box = Toolbox(box.root, Bash(ShellLimits(quiet=0.2)))
    command = "printf 'Overwrite? [y/N] '; sleep 300"
    result = await box.call("Bash", command=command, timeout=1500)
    assert not result.ok
    assert "stopped: it waits for input it cannot get ('Overwrite? [y/N]')" in text(result)


async def test_silence_after_a_whole_line_is_no_question(box: Toolbox) -> None:
    box = Toolbox(box.root, Bash(ShellLimits(quiet=0.1)))
    assert "done" in await box.said("Bash", command="echo 'Really? [y/n]'; sleep 0.4; echo done")
    assert "done" in await box.said("Bash", command="printf 'Loading: '; sleep 0.4; echo done")


class Wrapped:
    """A sandbox that only says it was there."""

    def confine(self, request: SpawnRequest) -> SpawnRequest:
        argv = ("/usr/bin/env", "IN_SANDBOX=yes", *request.argv)
        return SpawnRequest(argv=argv, cwd=request.cwd, env=request.env)


async def test_it_runs_inside_the_sandbox_it_was_given(box: Toolbox) -> None:
    box.set(confinement=Wrapped())
    (box.root / "sub").mkdir()
    assert (await box.said("Bash", command="echo $IN_SANDBOX; cd sub")).startswith("yes\n")
    assert box.moved == [box.root / "sub"]


async def test_a_command_that_is_too_long_is_refused(box: Toolbox) -> None:
    assert "too long" in await box.refused("Bash", command="echo " + "x" * 200_000)
    assert "NUL" in await box.refused("Bash", command="echo \0")


async def test_access_and_title(box: Toolbox) -> None:
    facts = await box.facts("Bash", command="ls", dangerouslyDisableSandbox=True)
    runs = facts.access.runs
    assert runs is not None
    assert (runs.command, runs.cwd, runs.unsandboxed) == ("ls", box.root, True)
    assert not facts.access.concurrent()
    assert (facts.verb, facts.target) == ("Run", "ls")


def open_files() -> Sequence[Path]:
    return list(Path("/proc/self/fd").iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("commands", [100, pytest.param(1000, marks=pytest.mark.proof)])
async def test_many_commands_leave_nothing(marked: Toolbox, tmp_path: Path, commands: int) -> None:
    await marked.said("Bash", command="true")
    files, tasks = len(open_files()), len(asyncio.all_tasks())
    for number in range(commands):
        assert await marked.said("Bash", command=f"echo {number}") == str(number)
    assert len(open_files()) == files
    assert len(asyncio.all_tasks()) == tasks
    assert survivors(tmp_path) == []
    assert not marked.ctx.spill.exists()
    assert list(box_files(tmp_path)) == []


def box_files(tmp_path: Path) -> list[Path]:
    return [path for path in tmp_path.rglob("*") if path.is_file()]


async def test_an_interrupted_command_leaves_what_it_had_printed(box: Toolbox) -> None:
    left: list[ToolResult] = []
    printed = asyncio.Event()

    def progress(news: Progress) -> None:
        if "second" in news.tail:
            printed.set()

    box.set(leave=left.append, progress=progress)
    command = "echo first; echo second; sleep 30"
    running = asyncio.create_task(box.call("Bash", command=command))
    async with asyncio.timeout(PATIENCE):
        await printed.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    (result,) = left
    assert (result.ok, result.summary) == (False, "interrupted")
    assert text(result).startswith("first\nsecond\n[The person interrupted the command")
    assert result.view == (Output("first\nsecond"),)
