"""The sandbox behind the gate: what runs in it, what leaves it, and what the model is told."""

from __future__ import annotations

import asyncio
import tempfile
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from gatewright.agent.commands.outcome import Page, Say
from gatewright.agent.commands.registry import CommandContext
from gatewright.agent.commands.sandbox import sandbox_command
from gatewright.agent.session.jobs import SessionJobs
from gatewright.agent.settings.groups.sandbox_settings import Sandbox, SandboxFiles
from gatewright.permissions.rulebook.rules import RuleTexts
from gatewright.permissions.sandbox import confinement
from gatewright.permissions.sandbox import probe as probing
from gatewright.permissions.sandbox.disk import settle
from gatewright.permissions.sandbox.machine import Machine, machine
from gatewright.tools.access import MAIN
from gatewright.tools.blocks import Table
from gatewright.tools.protocol import ToolCall
from tests.fakes.executor import executed, text_of
from tests.fakes.waiting import PATIENCE, eventually
from tests.permissions.sandbox.gated_house import House

pytestmark = pytest.mark.skipif(
    probing.probe(machine()).level != "bwrap", reason="no bubblewrap here"
)


@pytest.fixture
async def close() -> AsyncIterator[list[House]]:
    houses: list[House] = []
    yield houses
    for house in houses:
        await house.sandbox.close()


@pytest.fixture
def house(tmp_path: Path, close: list[House]) -> House:
    made = House(tmp_path, Sandbox(auto_allow_bash_if_sandboxed=True))
    close.append(made)
    return made


async def test_a_confined_command_runs_without_a_question(house: House) -> None:
    result = await house.bash("sh -c true; echo $TMPDIR; echo x > a")
    assert result.ok
    assert house.asked == []
    assert (house.project / "a").exists()
    assert text_of(result).startswith(f"{tempfile.gettempdir()}/gatewright-")


async def test_without_auto_allow_it_asks_and_is_confined_all_the_same(
    tmp_path: Path, close: list[House]
) -> None:
    house = House(tmp_path, Sandbox())
    close.append(house)
    result = await house.bash("touch ../out/x")
    assert len(house.asked) == 1
    assert not result.ok
    assert not (tmp_path / "out" / "x").exists()


async def test_a_failure_is_explained(house: House) -> None:
    result = await house.bash("echo x > /etc/gatewright-test")
    text = text_of(result)
    assert "Read-only file system" in text
    assert "dangerouslyDisableSandbox" in text
    assert not text_of(await house.bash("exit 3")).count("sandbox")


async def test_a_command_sees_an_empty_project_as_it_is(house: House) -> None:
    assert text_of(await house.bash("ls -A | wc -l")).strip() == "0"
    assert list(house.project.iterdir()) == []
    assert "No such file" in text_of(await house.bash("cat .npmrc"))
    assert text_of(await house.bash("mkdir sub; ls -A . sub")).split() == [".:", "sub", "sub:"]


async def test_leaving_is_asked_each_time_and_not_for_always(house: House) -> None:
    command = f"touch {house.place}/out/x"
    result = await house.bash(command, dangerouslyDisableSandbox=True)
    assert result.ok, text_of(result)
    assert (house.place / "out" / "x").exists()
    assert [option.id for option in house.asked[0].options] == ["once", "no"]


async def test_leaving_can_be_forbidden(tmp_path: Path, close: list[House]) -> None:
    settings = Sandbox(auto_allow_bash_if_sandboxed=True, allow_unsandboxed_commands=False)
    house = House(tmp_path, settings)
    close.append(house)
    command = "python3 -c \"open('../' + 'out/x', 'w')\""
    result = await house.bash(command, dangerouslyDisableSandbox=True)
    assert not result.ok
    assert house.asked == []
    assert not (tmp_path / "out" / "x").exists()
    assert "dangerouslyDisableSandbox" not in text_of(result)


async def test_excluded_commands_run_outside_and_are_not_allowed_by_the_sandbox(
    tmp_path: Path, close: list[House]
) -> None:
    settings = Sandbox(auto_allow_bash_if_sandboxed=True, excluded_commands=("touch:*",))
    house = House(tmp_path, settings)
    close.append(house)
    result = await house.bash(f"touch {tmp_path}/out/x")
    assert result.ok
    assert len(house.asked) == 1
    compound = await house.bash(f"touch a; touch {tmp_path}/out/y")
    assert not (tmp_path / "out" / "y").exists(), text_of(compound)


async def test_deny_rules_bind_every_program(tmp_path: Path, close: list[House]) -> None:
    rules = {"user": RuleTexts(deny=("Read(secret.txt)", "Edit(/fixed/**)"))}
    house = House(tmp_path, Sandbox(auto_allow_bash_if_sandboxed=True), rules=rules)
    close.append(house)
    (house.project / "sub").mkdir()
    (house.project / "sub" / "secret.txt").write_text("sesame", encoding="utf-8")
    (house.project / "fixed").mkdir()
    script = "import os\nprint(open(os.sep.join(['sub', 'secret' + '.txt'])).read())\n"
    (house.project / "read.py").write_text(script, encoding="utf-8")
    assert "sesame" not in text_of(await house.bash("python3 read.py"))
    script = "import os\nopen(os.path.join('fix' + 'ed', 'x'), 'w')\n"
    (house.project / "write.py").write_text(script, encoding="utf-8")
    await house.bash("python3 write.py")
    assert list((house.project / "fixed").iterdir()) == []


async def test_what_was_made_is_put_aside_told_and_taken_back(house: House) -> None:
    code = "import os; os.makedirs('new/.vscode'); open('new/.vscode/tasks.json', 'w')"
    text = text_of(await house.bash(f'python3 -c "{code}"'))
    assert "put aside: new/.vscode; commands do not make such files" in text
    assert "`/sandbox restore 1` takes it back" in text
    assert [line for line in house.warned if "new/.vscode" in line]
    made = house.project / "new" / ".vscode" / "tasks.json"
    assert not made.parent.exists()
    assert "put aside" not in text_of(await house.bash("echo again"))
    assert "Nothing is put aside as 7" in str(house.sandbox.restore("7"))
    assert "Taken back: new/.vscode." in str(house.sandbox.restore("1"))
    assert made.exists()
    assert "put aside" not in text_of(await house.bash("ls new/.vscode"))
    assert "There is: none" in str(house.sandbox.restore("1"))


async def test_what_was_taken_back_stays_while_a_command_goes_on(house: House) -> None:
    going = asyncio.create_task(house.bash("touch on; until [ -e go ]; do sleep 0.02; done"))
    made = house.unspelled("until [ -e on ]; do sleep 0.02; done; mkdir .idea; echo x > .idea/x")
    await house.bash(made)
    assert not (house.project / ".idea").exists()
    house.sandbox.restore("1")
    assert "put aside" not in text_of(await house.bash("touch go"))
    assert "put aside" not in text_of(await going)
    assert (house.project / ".idea" / "x").exists()


async def test_what_a_person_makes_meanwhile_is_told_and_one_step_away(house: House) -> None:
    """An editor works in the same project: nobody can tell whose work it was."""
    project = house.project
    going = asyncio.create_task(house.bash("touch on; until [ -e go ]; do sleep 0.02; done"))
    await house.bash("until [ -e on ]; do sleep 0.02; done")
    (project / ".github" / "workflows").mkdir(parents=True)
    (project / ".github" / "workflows" / "ci.yml").write_text("mine\n", encoding="utf-8")
    (project / "go").touch()
    await going
    assert not (project / ".github" / "workflows").exists()
    assert [line for line in house.warned if "`/sandbox restore 1` takes it back" in line]
    house.sandbox.restore("1")
    text = (project / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    assert text == "mine\n"


async def test_what_a_write_with_a_yes_makes_meanwhile_stays(house: House) -> None:
    made = "touch on; until [ -e go ]; do sleep 0.02; done; echo x > .github/workflows/b"
    going = asyncio.create_task(house.bash(house.unspelled(made)))
    await house.bash("until [ -e on ]; do sleep 0.02; done")
    path = house.project / ".github" / "workflows" / "a.yml"
    call = ToolCall("c2", "Write", {"file_path": str(path), "content": "a\n"})
    assert (await executed(house.executor, call, house.ctx)).ok
    assert path.exists()
    text = text_of(await house.bash(house.unspelled("mkdir .husky; touch go", "more.sh")))
    text += text_of(await going)  # the first look that finds it tells
    assert ".husky" in text
    assert ".github/workflows/b" in text
    assert [each.name for each in path.parent.iterdir()] == ["a.yml"]


async def test_a_command_outside_makes_what_it_may(house: House) -> None:
    going = asyncio.create_task(house.bash("touch on; until [ -e go ]; do sleep 0.02; done"))
    await house.bash("until [ -e on ]; do sleep 0.02; done")
    await house.bash(
        "mkdir .idea; echo a > .idea/a; git init -q r; touch r/.git/hooks/x",
        dangerouslyDisableSandbox=True,
    )
    await house.bash("touch go")
    await going
    assert (house.project / ".idea" / "a").exists()
    assert (house.project / "r" / ".git" / "hooks" / "x").exists()
    assert house.warned == []


async def test_a_file_that_was_written_by_right_opens_nothing_below_its_name(house: House) -> None:
    waits = "touch on; until [ -e foo ]; do sleep 0.02; done"
    line = f"{waits}; rm foo; mkdir -p foo/.vscode; touch foo/.vscode/tasks.json done"
    going = asyncio.create_task(house.bash(house.unspelled(line)))
    await house.bash("until [ -e on ]; do sleep 0.02; done")
    write = ToolCall("c2", "Write", {"file_path": str(house.project / "foo"), "content": "x"})
    await executed(house.executor, write, house.ctx)
    assert "foo/.vscode" in text_of(await going) + "".join(house.warned)
    assert (house.project / "done").exists()
    assert not (house.project / "foo" / ".vscode").exists()


async def test_a_file_that_was_written_by_right_is_nobodys_to_change(house: House) -> None:
    line = "touch on; until [ -e go ]; do sleep 0.02; done; echo evil >> .npmrc"
    going = asyncio.create_task(house.bash(house.unspelled(line)))
    await house.bash("until [ -e on ]; do sleep 0.02; done")
    write = ToolCall("c2", "Write", {"file_path": str(house.project / ".npmrc"), "content": "x\n"})
    await executed(house.executor, write, house.ctx)
    (house.project / "go").touch()
    await going
    npmrc = house.project / ".npmrc"
    assert not npmrc.exists() or "evil" not in npmrc.read_text(encoding="utf-8")


async def test_what_comes_while_a_command_runs_outside_is_not_taken_for_its_work(
    house: House,
) -> None:
    line = "touch on; until [ -e go ]; do sleep 0.02; done; mkdir .vscode; touch .vscode/tasks.json"
    waits = "until [ -e end ]; do sleep 0.02; done"
    going = asyncio.create_task(house.bash(house.unspelled(f"{line} .npmrc done; {waits}")))
    await house.bash("until [ -e on ]; do sleep 0.02; done")
    outside = "touch go; until [ -e done ]; do sleep 0.02; done; touch .yarnrc"
    await house.bash(outside, dangerouslyDisableSandbox=True)
    (house.project / "end").touch()
    await going
    left = {path.name for path in house.project.iterdir() if path.name.startswith(".")}
    assert left == {".yarnrc"}


async def test_a_background_command_is_looked_after_between_calls(house: House) -> None:
    """Its result was given long ago: the next one tells, whatever call it is of."""
    house.ctx = msgspec.structs.replace(
        house.ctx, jobs=(jobs := SessionJobs(_deaf, _deaf)).of(MAIN)
    )
    command = "touch on; until [ -e go ]; do sleep 0.02; done; mkdir .vscode; touch done; sleep 60"
    await house.bash(house.unspelled(command), run_in_background=True)
    (house.project / "a").write_text("a\n", encoding="utf-8")
    read = ToolCall("c2", "Read", {"file_path": str(house.project / "a")})
    assert "put aside" not in text_of(await executed(house.executor, read, house.ctx))
    (house.project / "go").touch()
    await house.bash("until [ -e done ]; do sleep 0.02; done", dangerouslyDisableSandbox=True)
    assert not (house.project / ".vscode").exists()
    assert [line for line in house.warned if "put aside: .vscode" in line]
    await jobs.close()


async def test_a_background_command_is_looked_after_when_nothing_else_happens(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confinement, "WATCH_SECONDS", 0.05)
    house.ctx = msgspec.structs.replace(
        house.ctx, jobs=(jobs := SessionJobs(_deaf, _deaf)).of(MAIN)
    )
    command = house.unspelled("mkdir .vscode; sleep 60")
    first = text_of(await house.bash(command, run_in_background=True))
    await eventually(lambda: bool(house.warned))
    assert not (house.project / ".vscode").exists()
    await jobs.close()
    text = first + text_of(await house.bash("true"))  # the first, where that came late enough
    assert text.count("put aside: .vscode") == 1


async def test_what_is_not_looked_through_makes_every_command_ask(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settle, "MOST", 40)
    text = text_of(await house.bash("for i in $(seq 100); do mkdir -p n/$i/.vscode; done"))
    assert "the sandbox allows no command by itself" in text
    assert "and 35 more" in text
    house.asked.clear()
    await house.bash("make --version")
    assert len(house.asked) == 1
    assert not list(house.project.glob("n/*/.vscode"))
    await house.bash("make --version")
    assert len(house.asked) == 1


async def test_in_a_whole_home_what_lies_right_in_it_is_looked_at(
    tmp_path: Path, close: list[House]
) -> None:
    house = House(tmp_path, Sandbox(auto_allow_bash_if_sandboxed=True), project=tmp_path / "home")
    close.append(house)
    made = "mkdir -p a/.vscode .github/workflows .config/systemd; touch .bashrc"
    result = await house.bash(house.unspelled(made))
    assert "put aside: .bashrc, .config/systemd, .github/workflows;" in text_of(result)
    assert (tmp_path / "home" / "a" / ".vscode").is_dir()
    assert not (tmp_path / "home" / ".bashrc").exists()


def _deaf(*_: object) -> None:
    return None


async def test_a_background_command_is_confined_to_its_end(house: House) -> None:
    await house.bash("echo x > b; (sleep 0.2; echo late > c) & wait")
    assert sorted(p.name for p in house.project.glob("[bc]")) == ["b", "c"]


async def test_an_opened_directory_can_be_worked_in_until_it_is_closed(house: House) -> None:
    """Before the first command, between two of them, and while one goes on."""
    out = house.place / "out"
    (out / ".git" / "hooks").mkdir(parents=True)
    house.opened(out)
    assert (await house.bash(f"echo a > {out}/a")).ok
    house.opened()
    assert not (await house.bash(f"echo b > {out}/b")).ok
    going = asyncio.create_task(house.bash("echo on > on; sleep 0.6; echo end > end"))
    await house.bash("until [ -e on ]; do sleep 0.02; done")
    house.opened(out)
    assert (await house.bash(f"echo c > {out}/c")).ok
    assert (await going).ok
    assert not (await house.bash(f"echo x > {out}/.git/hooks/x")).ok
    assert house.warned == []
    await house.sandbox.close()
    assert sorted(path.name for path in out.iterdir()) == [".git", "a", "c"]


async def test_switched_off_nothing_is_confined(tmp_path: Path, close: list[House]) -> None:
    house = House(tmp_path, Sandbox(enabled=False))
    close.append(house)
    assert (await house.bash(f"touch {tmp_path}/out/x")).ok
    assert (tmp_path / "out" / "x").exists()
    assert house.warned == []
    assert "switched off" in house.sandbox.status
    assert house.told == [house.sandbox.status]


@pytest.mark.parametrize("strict", [False, True])
async def test_where_nothing_works(
    tmp_path: Path, close: list[House], strict: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = probing.Found("none", "It does not work here.")

    def nothing(machine: Machine) -> probing.Found:
        return found

    monkeypatch.setattr(probing, "probe", nothing)
    house = House(tmp_path, Sandbox(fail_if_unavailable=strict))
    close.append(house)
    result = await house.bash("echo hi")
    assert result.ok is not strict
    assert ("sandbox.failIfUnavailable" in text_of(result)) is strict
    assert "It does not work here." in house.warned[0]


async def test_the_panel_says_what_holds(house: House) -> None:
    command = sandbox_command(house.sandbox.panel, house.sandbox.restore)
    before = await command.run(CommandContext())
    assert isinstance(before, Page)
    await house.bash(house.unspelled("echo x > /etc/gatewright-test; mkdir -p n/.claude"))
    after = await command.run(CommandContext())
    assert isinstance(after, Page)
    [shown, table, aside] = after.fallback.blocks
    assert "n/.claude" in str(aside)
    assert isinstance(shown, Table), "no listing: its rows have no numbers"
    assert ("writable", str(house.project)) in shown.rows
    assert "bubblewrap" in shown.rows[0][1]
    assert "put aside: n/.claude" in str(table)
    assert "('sh unspelled.sh', " in str(table)  # as it was given, not as we start it
    taken = await command.run(CommandContext(args="restore 1"))
    assert isinstance(taken, Say)
    assert (house.project / "n" / ".claude").is_dir()


async def test_nothing_is_left(house: House) -> None:
    await house.bash("true")
    temp = house.sandbox.temp
    assert temp is not None
    assert temp.is_dir()
    await house.sandbox.close()
    assert not temp.exists()
    assert list(house.project.iterdir()) == []


async def test_closed_while_it_begins_it_does_not_begin(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    probe, looks, go_on = probing.probe, threading.Event(), threading.Event()

    def slow(machine: Machine) -> probing.Found:
        looks.set()
        assert go_on.wait(PATIENCE)
        return probe(machine)

    monkeypatch.setattr(probing, "probe", slow)
    call = asyncio.create_task(house.bash("echo x > a"))
    await eventually(looks.is_set)
    await house.sandbox.close()
    go_on.set()
    assert "The session has ended" in text_of(await call)
    assert house.sandbox.temp is None
    assert list(house.project.iterdir()) == []


def test_the_default_settings_restrict(tmp_path: Path) -> None:
    settings = Sandbox()
    assert settings.enabled == "auto"
    assert settings.filesystem == SandboxFiles()
    assert not settings.network.allowed_domains
    assert not settings.auto_allow_bash_if_sandboxed
