"""The sandbox behind the gate: what runs in it, what leaves it, and what the model is told."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gatewright.agent.commands.outcome import Say
from gatewright.agent.commands.registry import CommandContext, Commands
from gatewright.agent.commands.sandbox import sandbox_command
from gatewright.agent.settings.schema import Sandbox, SandboxFiles
from gatewright.permissions.gated import GatePorts, gated
from gatewright.permissions.policy import Policy, PolicyConfig
from gatewright.permissions.rules import RuleTexts
from gatewright.permissions.sandbox import probe as probing
from gatewright.permissions.sandbox.commands import Base, CommandSandbox
from gatewright.permissions.sandbox.machine import Machine, machine
from gatewright.permissions.sandbox.restrictions import restrictions
from gatewright.tools.access import Where
from gatewright.tools.blocks import Code
from gatewright.tools.interact import Answer, Ask
from gatewright.tools.proc import spawn
from gatewright.tools.protocol import ToolCall, ToolResult
from gatewright.tools.registry import BASIC, BuiltinTools
from tests.fakes.executor import context, text_of

pytestmark = pytest.mark.skipif(
    probing.probe(machine()).level != "bwrap", reason="no bubblewrap here"
)


class House:
    def __init__(
        self, place: Path, settings: Sandbox, project: Path | None = None, **config: Any
    ) -> None:
        for name in ("proj", "home", "out"):
            (place / name).mkdir()
        self.place, self.project = place, project or place / "proj"
        self.asked: list[Ask] = []
        self.warned: list[str] = []
        self.told: list[str] = []  # why commands are not confined
        self.answer = Answer(("once",))
        where = Where(self.project, self.project, place / "home")
        self.policy = Policy(
            PolicyConfig(root=where.root, cwd=where.cwd, home=where.home, trusted=True, **config)
        )
        root = str(self.project)
        self.sandbox = CommandSandbox(
            Base(where.cwd, where.home, (where.root,), place / "own"),
            settings,
            restrictions=lambda: restrictions(self.policy.rules(), root, root),
            warn=self.warned.append,
            unconfined=self.told.append,
        )
        ports = GatePorts(sandbox=self.sandbox)
        self.executor = gated([BuiltinTools(BASIC)], self.policy, ports)
        env = {"PATH": os.environ["PATH"], "HOME": str(where.home)}
        self.ctx = msgspec.structs.replace(
            context(self.project), ask=self._ask, where=where, spawn=spawn, env=env
        )

    async def _ask(self, ask: Ask) -> Answer:
        self.asked.append(ask)
        return self.answer

    async def bash(self, command: str, **more: object) -> ToolResult:
        call = ToolCall("c1", "Bash", {"command": command, **more})
        return await self.executor.execute(call, self.ctx)


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
    result = await house.bash("make --version >/dev/null; echo $TMPDIR; echo x > a")
    assert result.ok
    assert house.asked == []
    assert (house.project / "a").exists()
    assert text_of(result).startswith("/tmp/gatewright-")


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


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("touch .npmrc", ".npmrc"),
        ("python3 -c \"open('.mcp' + '.json', 'w')\"", ".mcp.json"),
        ("d=.github; mkdir $d/workflows/x", ".github/workflows"),
    ],
)
async def test_a_name_that_is_held_is_explained(house: House, command: str, name: str) -> None:
    text = text_of(await house.bash(command))
    assert f"[sandbox: {name} is protected: commands may not create it]" in text
    assert "is protected" not in text_of(await house.bash("ls -A; echo x.npmrc"))


async def test_little_stands_in_the_project(house: House) -> None:
    shown = text_of(await house.bash("ls -A")).split()
    assert ".npmrc" in shown
    assert not [name for name in shown if name.startswith((".bash", ".zsh", ".profile", ".pypi"))]
    assert len(shown) < 18


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


async def test_what_was_made_is_told_and_stays(house: House) -> None:
    code = "import os; os.makedirs('new/.vscode'); open('new/.vscode/tasks.json', 'w')"
    text = text_of(await house.bash(f'python3 -c "{code}"'))
    assert "made while the command ran: new/.vscode/tasks.json; such files can run code" in text
    assert [line for line in house.warned if "new/.vscode/tasks.json" in line]
    assert (house.project / "new" / ".vscode" / "tasks.json").exists()
    assert "made while" not in text_of(await house.bash("echo again"))


async def test_what_others_make_meanwhile_is_not_touched(house: House) -> None:
    """An editor, a test run or a person in another terminal works in the same project."""
    project = house.project
    running = asyncio.create_task(house.bash("echo x > started; while ! test -e go; do :; done"))
    seen = await asyncio.create_subprocess_shell(
        f"while ! test -e {project}/started; do sleep 0.01; done"
    )
    async with asyncio.timeout(8):
        await seen.wait()
    other = project / "other"
    for words in (("init", "-q", str(other)), ("-C", str(other), "config", "core.pager", "mine")):
        git = await asyncio.create_subprocess_exec("git", *words)
        assert await git.wait() == 0
    hook = other / ".git" / "hooks" / "pre-commit"
    hook.write_text("mine\n", encoding="utf-8")
    for number in range(7):
        (other / f"{number}" / ".vscode").mkdir(parents=True)
    (project / "go").touch()
    text = text_of(await running)
    assert "other/0/.vscode" in text
    assert "other/6/.vscode" not in text
    assert re.search(r" and \d+ more; such", text)
    assert "mine" in (other / ".git" / "config").read_text(encoding="utf-8")
    assert hook.exists()
    assert len(list(other.glob("*/.vscode"))) == 7


async def test_a_whole_home_is_not_searched(tmp_path: Path, close: list[House]) -> None:
    house = House(tmp_path, Sandbox(auto_allow_bash_if_sandboxed=True), project=tmp_path / "home")
    close.append(house)
    result = await house.bash("mkdir -p a/.vscode; echo done")
    assert "done" in text_of(result)
    assert "made while" not in text_of(result)
    assert (tmp_path / "home" / "a" / ".vscode").is_dir()


async def test_a_background_command_is_confined_to_its_end(house: House) -> None:
    await house.bash("echo x > b; (sleep 0.2; echo late > c) & wait")
    assert sorted(p.name for p in house.project.glob("[bc]")) == ["b", "c"]


async def test_an_opened_directory_can_be_worked_in_until_it_is_closed(house: House) -> None:
    """Before the first command, between two of them, and while one goes on."""
    out = house.place / "out"
    (out / ".git" / "hooks").mkdir(parents=True)
    house.sandbox.reach((house.project, out))
    assert (await house.bash(f"echo a > {out}/a")).ok
    house.sandbox.reach((house.project,))
    assert not (await house.bash(f"echo b > {out}/b")).ok
    going = asyncio.create_task(house.bash("echo on > on; sleep 0.6; echo end > end"))
    await house.bash("until [ -e on ]; do sleep 0.02; done")
    house.sandbox.reach((house.project, out))
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
    command = sandbox_command(house.sandbox.panel)
    context_ = CommandContext(modes=house.policy, rules=house.policy, model="", commands=Commands())
    before = await command.run("", context_)
    assert isinstance(before, Say)
    await house.bash("echo x > /etc/gatewright-test; mkdir -p n/.claude")
    after = await command.run("", context_)
    assert isinstance(after, Say)
    [shown, table] = after.blocks
    assert isinstance(shown, Code)
    assert "bubblewrap" in shown.text
    assert str(house.project) in shown.text
    assert "made while the command ran: n/.claude" in str(table)


async def test_nothing_is_left(house: House) -> None:
    await house.bash("true")
    temp = house.sandbox.temp
    assert temp is not None
    assert temp.is_dir()
    await house.sandbox.close()
    assert not temp.exists()
    assert list(house.project.iterdir()) == []


def test_the_default_settings_restrict(tmp_path: Path) -> None:
    settings = Sandbox()
    assert settings.enabled == "auto"
    assert settings.filesystem == SandboxFiles()
    assert not settings.network.allowed_domains
    assert not settings.auto_allow_bash_if_sandboxed
