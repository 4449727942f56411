"""Who may import whom, and that nothing runs round the gate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.guards import gate, imports, rooms, starts
from tests.guards.sources import Source, own_sources, plant

Rule = Callable[[Sequence[Source]], list[str]]
RULES: tuple[Rule, ...] = (
    imports.forbidden_imports,
    imports.composition_imports,
    gate.raw_executor_users,
    gate.gated_callers,
    gate.other_executors,
    starts.starts_elsewhere,
    starts.bare_names,
    starts.other_finders,
    starts.other_gits,
    rooms.crowded_folders,
    rooms.repeated_names,
    rooms.publishers,
    rooms.main_agents,
)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_tree_keeps_the_rule(rule: Rule) -> None:
    found = rule(own_sources())
    assert not found, f"{rule.__doc__ or 'see the table in ARCHITECTURE.md'}\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("tools/files/read.py", "from gatewright.permissions.decide import decide"),
        ("tools/files/read.py", "import mcp"),
        ("tools/files/read.py", "def late() -> None:\n    import textual"),
        ("permissions/gate.py", "from gatewright.tools import bash"),
        ("permissions/gate.py", "import pydantic"),
        ("permissions/gate.py", "from gatewright.tools.executor import RawExecutor"),
        ("mcp/source.py", "from gatewright.agent.record.events import Event"),
        ("skills/tool.py", "from gatewright.mcp.source import Source"),
        ("agent/turn/loop.py", "from gatewright.permissions.gate import Gate"),
        ("agent/turn/loop.py", "import httpx2"),
        ("agent/turn/loop.py", "import pydantic"),
        ("agent/turn/loop.py", "from gatewright.tools.shell.bash import Bash"),
        ("tui/app.py", "from gatewright.agent.turn.loop import run_turn"),
        ("tui/app.py", "import httpx2"),
        ("tui/app.py", "NAME = 'gatewright.tools.shell.bash:Bash'"),
    ],
)
def test_a_planted_import_is_found(tmp_path: Path, path: str, line: str) -> None:
    sources = plant(tmp_path, {path: line + "\n", "tools/shell/bash.py": ""})
    found = imports.forbidden_imports(sources)
    assert len(found) == 1
    assert found[0].startswith(f"{path}:")
    assert " imports " in found[0]


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("permissions/gated.py", "from gatewright.tools.executor import RawExecutor"),
        ("agent/providers/apis/anthropic.py", "import anthropic, httpx2"),
        ("agent/build.py", "from gatewright.tui.app import App"),
        ("mcp/connection.py", "from mcp import Client"),
        ("tui/app.py", "from textual.app import App"),
    ],
)
def test_what_the_table_allows_passes(tmp_path: Path, path: str, line: str) -> None:
    assert imports.forbidden_imports(plant(tmp_path, {path: line + "\n"})) == []


def test_an_import_of_the_composition_root_is_found(tmp_path: Path) -> None:
    sources = plant(
        tmp_path, {"agent/session/session.py": "from gatewright.agent.build import build\n"}
    )
    assert len(imports.composition_imports(sources)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "from gatewright.tools.executor import RawExecutor\n",
        "import gatewright.tools.executor\n",
        "from gatewright.tools import executor\nrun = executor.RawExecutor()\n",
        "FACTORY = 'gatewright.tools.executor:RawExecutor'\n",
    ],
)
def test_a_raw_executor_elsewhere_is_found(tmp_path: Path, text: str) -> None:
    files = {"agent/build.py": text, "tools/executor.py": "class RawExecutor: ...\n"}
    assert gate.raw_executor_users(plant(tmp_path, files))


def test_a_second_caller_of_the_factory_is_found(tmp_path: Path) -> None:
    text = "from gatewright.permissions.gated import gated\n"
    files = {"tui/app.py": text, "agent/build.py": text}
    found = gate.gated_callers(plant(tmp_path, files))
    assert [line.partition(":")[0] for line in found] == ["tui/app.py"]


def test_a_second_executor_is_found(tmp_path: Path) -> None:
    text = (
        "class Fast:\n"
        "    async def prepare(self, call, where): ...\n"
        "    async def run(self, prepared, ctx): ...\n"
    )
    assert gate.other_executors(plant(tmp_path, {"agent/turn/tool_calls.py": text}))


@pytest.mark.parametrize(
    ("rule", "path", "line"),
    [
        (starts.starts_elsewhere, "agent/turn/loop.py", "subprocess.run([program])"),
        (starts.starts_elsewhere, "tui/app.py", "await create_subprocess_exec(program)"),
        (starts.bare_names, "tools/system/processes.py", "subprocess.Popen(['xclip', '-o'])"),
        (
            starts.bare_names,
            "tui/terminal/clipboard.py",
            "asyncio.create_subprocess_exec(*('xclip', 'x'))",
        ),
        (
            starts.bare_names,
            "tools/search/grep.py",
            "ctx.spawn(SpawnRequest(argv=('rg', 'x'), cwd=cwd))",
        ),
        (starts.bare_names, "tools/system/processes.py", "os.system('/bin/true')"),
        (starts.other_finders, "tools/search/rg.py", "shutil.which('rg')"),
        (starts.other_finders, "tools/search/rg.py", "from shutil import which"),
        (starts.other_gits, "agent/launch/bug_report.py", "find('git', env)"),
        (
            starts.other_gits,
            "tools/system/processes.py",
            "subprocess.run(['/usr/bin/git', 'status'])",
        ),
    ],
)
def test_a_planted_start_is_found(tmp_path: Path, rule: Rule, path: str, line: str) -> None:
    text = f"async def planted():\n    {line}\n"
    assert len(rule(plant(tmp_path, {path: text}))) == 1


@pytest.mark.parametrize(
    ("rule", "path", "line"),
    [
        (rooms.publishers, "agent/session/session.py", "hub = Hub()"),
        (rooms.publishers, "agent/build.py", "self.hub.take(envelope)"),
        (rooms.main_agents, "agent/turn/loop.py", "mine = envelope.agent == 'main'"),
        (rooms.main_agents, "permissions/gate.py", "class A:\n    agent: str = 'main'"),
        (rooms.main_agents, "agent/build.py", "publish(event, agent='main')"),
    ],
)
def test_a_planted_way_around_the_journal_is_found(
    tmp_path: Path, rule: Rule, path: str, line: str
) -> None:
    assert len(rule(plant(tmp_path, {path: line + "\n"}))) == 1


def test_a_crowded_folder_and_a_name_used_thrice_are_found(tmp_path: Path) -> None:
    crowd = {f"tui/file{n}.py": "" for n in range(rooms.CROWDED + 1)}
    assert len(rooms.crowded_folders(plant(tmp_path / "a", crowd))) == 1
    thrice = {f"agent/{room}/wire.py": "" for room in ("turn", "record", "session")}
    assert len(rooms.repeated_names(plant(tmp_path / "b", thrice))) == 1
