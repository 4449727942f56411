"""What a type of agent remembers: read into its prompt, its own to change, and nothing beyond."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatewright.agent.agents.agent_memory import BYTES, LINES, memory_section
from gatewright.agent.agents.kind import AgentKind, MemoryPlace
from gatewright.agent.extensions.agent_types.plugging import AgentTypes
from gatewright.agent.record.events import Asked
from tests.permissions.composed import Desk, desk


def kind(memory: MemoryPlace = "project", name: str = "notes") -> AgentKind:
    return AgentKind(name=name, description="d", prompt="p", memory=memory)


def test_the_first_lines_are_in_the_prompt(tmp_path: Path) -> None:
    folder = tmp_path / ".gatewright" / "agent-memory" / "a"
    folder.mkdir(parents=True)
    assert "There is no MEMORY.md yet." in memory_section(folder)
    file = folder / "MEMORY.md"
    file.write_text("remember this\n", encoding="utf-8")
    assert memory_section(folder).endswith("says:\n\nremember this")
    file.write_text("\n".join(f"line {n}." for n in range(LINES + 5)), encoding="utf-8")
    text = memory_section(folder)
    assert f"line {LINES - 1}." in text
    assert f"line {LINES}." not in text
    file.write_text("é" * BYTES, encoding="utf-8")
    assert len(memory_section(folder).encode()) < BYTES + 1_000


def test_a_link_of_the_project_is_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "MEMORY.md").write_text("sesame", encoding="utf-8")
    base = tmp_path / "p" / ".gatewright" / "agent-memory"
    base.mkdir(parents=True)
    (base / "a").symlink_to(secret)
    assert "sesame" not in memory_section(base / "a")
    (base / "b").mkdir()
    (base / "b" / "MEMORY.md").symlink_to(secret / "MEMORY.md")
    assert "sesame" not in memory_section(base / "b")


async def test_what_a_rule_denies_is_not_in_the_prompt(tmp_path: Path) -> None:
    folder = tmp_path / "project/.gatewright/agent-memory/notes"
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text("sesame", encoding="utf-8")
    async with desk(tmp_path, ["say: x"]) as made:
        assert "sesame" in await begun(made, kind())
    denied = {"permissions": {"deny": ["Read(**/agent-memory/**)"]}}
    async with desk(tmp_path, ["say: x"], own=denied) as made:
        assert "sesame" not in await begun(made, kind())


async def begun(made: Desk, given: AgentKind, agent: str = "main") -> str:
    types = made.session.part(AgentTypes)
    assert types is not None
    await types.brings.begin(agent, given)
    return types.brings.prompt(given)


def script(path: str) -> list[str]:
    return [
        f'call[c1]: Write {{"file_path": "{path}", "content": "noted"}}',
        f'call[c2]: Read {{"file_path": "{path}"}}',
        f'call[c3]: Edit {{"file_path": "{path}", "old_string": "noted", "new_string": "kept"}}',
        "say: done",
    ]


@pytest.mark.parametrize("memory", ["user", "project", "local"])
@pytest.mark.parametrize("mode", ["default", "dontAsk"])
async def test_it_reads_and_changes_its_own_unasked(
    tmp_path: Path, memory: MemoryPlace, mode: str
) -> None:
    home = tmp_path / ("home" if memory == "user" else "project") / ".gatewright"
    folder = home / ("agent-memory-local" if memory == "local" else "agent-memory") / "notes"
    async with desk(tmp_path, script(f"{folder}/deep/MEMORY.md"), mode=mode) as made:
        assert str(folder) in await begun(made, kind(memory))
        made.session.submit("go")
        await made.ended()
        assert (await made.decided("c1")).stage == "own_memory"
        assert made.seen.of(Asked) == []
        assert (folder / "deep" / "MEMORY.md").read_text(encoding="utf-8") == "kept"
    ignored = folder.parent / ".gitignore"
    assert ignored.exists() is (memory == "local")


@pytest.mark.parametrize(
    "where", ["agent-memory/other/MEMORY.md", "agent-memory/notes/../../settings.json",
              "agent-memory/notes", "settings.json", "agent-memory/notes/link/x"]
)  # fmt: skip
async def test_it_writes_nowhere_else_by_it(tmp_path: Path, where: str) -> None:
    project = tmp_path / "project"
    path = project / ".gatewright" / where
    async with desk(tmp_path, [*script(str(path))[:1], "say: done"], mode="dontAsk") as made:
        await begun(made, kind())
        (project / "elsewhere").mkdir()
        (project / ".gatewright/agent-memory/notes/link").symlink_to(project / "elsewhere")
        made.session.submit("go")
        await made.ended()
        assert (await made.decided("c1")).behavior == "deny"
    assert not (project / "elsewhere" / "x").exists()


async def test_another_agent_asks(tmp_path: Path) -> None:
    path = tmp_path / "project/.gatewright/agent-memory/notes/MEMORY.md"
    async with desk(tmp_path, [*script(str(path))[:1], "say: done"], mode="dontAsk") as made:
        await begun(made, kind(), "main/a1")
        made.session.submit("go")
        await made.ended()
        assert (await made.decided("c1")).behavior == "deny"


async def test_a_rule_of_the_person_counts(tmp_path: Path) -> None:
    path = tmp_path / "project/.gatewright/agent-memory/notes/MEMORY.md"
    rules = {"permissions": {"ask": ["Edit"]}}
    lines = [*script(str(path))[:1], "say: done"]
    async with desk(tmp_path, lines, mode="dontAsk", own=rules) as made:
        await begun(made, kind())
        made.session.submit("go")
        await made.ended()
        assert (await made.decided("c1")).behavior == "deny"


@pytest.mark.parametrize(
    ("memory", "counts"), [("project", False), ("local", False), ("user", True)]
)
async def test_none_of_a_project_that_is_not_trusted(
    tmp_path: Path, memory: MemoryPlace, counts: bool
) -> None:
    async with desk(tmp_path, ["say: x"], trust=False) as made:
        assert bool(await begun(made, kind(memory))) is counts
