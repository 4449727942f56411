"""A server that fails in any way costs a bounded time, and leaves nothing running."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import time
from pathlib import Path

import msgspec
import pytest

from gatewright.agent.lsp.running import server as running
from gatewright.agent.lsp.running.process_memory import resident
from gatewright.agent.record.events import Noticed
from gatewright.tools.system.sweep import started_at
from tests.fakes.waiting import being_written, eventually, until
from tests.lsp.known_server import PATIENCE, alone, entry, inside, scripted
from tests.permissions.composed import desk


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is restarted at once, and its memory is looked at often."""
    monkeypatch.setattr(running, "DELAYS", (0.0, 0.0, 0.0))
    monkeypatch.setattr(running, "LOOKS", 0.02)


async def test_after_a_crash_it_is_started_again_with_the_same_files(tmp_path: Path) -> None:
    async with alone(tmp_path, scripted("crash=BOOM")) as made:
        server = await made.begun()
        made.write("b.x", "fine\n")
        await made.heard()
        (made.root / "a.x").write_text("BOOM\n", encoding="utf-8")
        made.languages.renew()
        (made.root / "a.x").write_text("fine\n", encoding="utf-8")
        await eventually(lambda: server.restarts == 1 and server.state == "ready")
        await eventually(lambda: len(server.documents.paths) == 2)
        assert "it ended" in server.why
        made.write("a.x", "BAD it\n")
        told = await made.heard()
        assert told is not None and told.errors == 1


@pytest.mark.parametrize("how", ["crash", "garbage"])
async def test_one_that_cannot_begin_is_off_with_one_notice(tmp_path: Path, how: str) -> None:
    async with alone(tmp_path, scripted(f"begin={how}", max_restarts=2)) as made:
        made.write("a.x", "fine\n")
        await made.heard()
        await eventually(lambda: bool(made.said))
        server = made.languages.all[0]
        assert server.state == "off" and server.restarts == 2 and len(made.children) == 3
        assert len(made.said) == 1 and made.said[0].startswith(
            "The language server scripted is off"
        )
        if how == "garbage":
            assert "not the protocol: npm WARN this is no header" in made.said[0]
        made.write("a.x", "BAD it\n")
        assert await made.heard() is None and len(made.children) == 3


async def test_one_that_does_not_begin_in_time_is_off(tmp_path: Path) -> None:
    slow = scripted("begin=slow", startup_timeout=0.1, max_restarts=0)
    async with alone(tmp_path, slow) as made:
        made.write("a.x", "fine\n")
        await made.heard()
        await eventually(lambda: bool(made.said))
        assert "not ready within 0.1 s" in made.said[0]


async def test_one_that_does_not_answer_twice_is_killed_and_started_again(tmp_path: Path) -> None:
    async with alone(tmp_path, scripted("pull", "hang=STOP")) as made:
        server = await made.begun()
        hasty = msgspec.structs.replace(server.definition, request_timeout=0.2)
        made.definitions[0] = server.definition = hasty
        made.write("a.x", "STOP\n")
        assert await made.heard(seconds=0.3) is None
        made.languages.pull(f"{made.root}/a.x")
        made.write("a.x", "fine\n", agent="")
        await eventually(lambda: server.restarts == 1 and server.state == "ready")
        assert "did not answer twice" in server.why


async def test_garbage_in_the_middle_ends_it(tmp_path: Path) -> None:
    async with alone(tmp_path, scripted("garbage=JUNK")) as made:
        server = await made.begun()
        made.write("a.x", "JUNK\n")
        await made.heard(seconds=0.1)
        await eventually(lambda: server.restarts >= 1)
        assert "not the protocol" in server.why


async def test_a_publication_of_50_mb_is_left_out_and_the_next_counts(tmp_path: Path) -> None:
    async with alone(tmp_path, scripted("huge=HUGE")) as made:
        server = await made.begun()
        made.write("a.x", "HUGE BAD it\n")
        told = await made.heard()
        assert told is not None and told.errors == 1 and server.restarts == 0
        assert b"more than 16 MiB was left out" in made.log


async def test_a_storm_of_requests_ends_it(tmp_path: Path) -> None:
    async with alone(tmp_path, scripted("storm=STORM", max_restarts=0)) as made:
        await made.begun()
        made.write("a.x", "STORM\n")
        await made.heard(seconds=0.1)
        await eventually(lambda: bool(made.said))
        assert "more messages than anybody can read" in made.said[0] or "not read" in made.said[0]


async def test_one_that_takes_too_much_memory_is_restarted_once_and_then_off(
    tmp_path: Path,
) -> None:
    async with alone(tmp_path, scripted("eat=EAT", memory_mb=150, max_restarts=9)) as made:
        server = await made.begun()
        made.write("a.x", "EAT\n")
        await made.heard(seconds=0.1)
        await eventually(lambda: bool(made.said))
        assert server.state == "off" and server.restarts == 1
        assert "held more than 150 MB" in made.said[0]


async def test_closing_ends_even_one_that_hears_nothing(tmp_path: Path) -> None:
    async with alone(tmp_path, scripted("ignore=DEAF", shutdown_timeout=0.5)) as made:
        await made.begun()
        made.write("a.x", "DEAF\n")
        await made.heard(seconds=0.1)
        before = time.monotonic()
    assert time.monotonic() - before < PATIENCE
    assert all(child.code is not None for child in made.children)


async def test_twenty_changes_a_second_by_five_agents_go_to_one_server_in_order(
    tmp_path: Path,
) -> None:
    trace = tmp_path / "trace"
    project = tmp_path / "project"
    project.mkdir()
    async with alone(project, scripted(f"trace={trace}")) as made:
        await made.begun("f0.x", "start\n")

        async def work(agent: int) -> None:
            for number in range(20):
                made.write(f"f{number % 3}.x", f"{agent} {number}\n", agent=f"main/a{agent}")
                await made.heard(f"main/a{agent}", 0.05)

        await asyncio.gather(*(work(agent) for agent in range(5)))
        await made.heard()
        assert len(made.children) == 1
        final = {name: (project / name).read_text(encoding="utf-8") for name in ("f0.x", "f1.x")}
        await eventually(lambda: _last(trace, "f0.x") == final["f0.x"])
        rows = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    versions = [version for _, version, _ in rows]
    assert versions == sorted(set(versions))
    assert [text for name, _, text in rows if name == "f1.x"][-1] == final["f1.x"]


def _last(trace: Path, name: str) -> str:
    rows = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    return next((text for known, _, text in reversed(rows) if known == name), "")


KILLED = """
import asyncio, os, sys
from pathlib import Path
from tests.lsp.known_server import alone, scripted
async def main():
    async with alone(Path(sys.argv[1]), scripted()) as made:
        await made.begun()
        Path(sys.argv[2]).write_text(str(made.children[0].pid), encoding="utf-8")
        await asyncio.Event().wait()
asyncio.run(main())
"""


async def test_killed_with_minus_nine_it_leaves_no_server(tmp_path: Path) -> None:
    said, project = tmp_path / "pid", tmp_path / "project"
    project.mkdir()
    ours = await asyncio.create_subprocess_exec(
        sys.executable, "-c", KILLED, str(project), str(said), cwd=Path(__file__).parents[2]
    )
    try:
        await eventually(lambda: said.exists() and bool(said.read_text(encoding="utf-8")), PATIENCE)
        pid = int(said.read_text(encoding="utf-8"))
        assert started_at(pid)
    finally:
        os.kill(ours.pid, signal.SIGKILL)
        await ours.wait()
    until(lambda: not started_at(pid), what="the end of the server")


@pytest.mark.proof
async def test_one_that_takes_four_gigabytes_in_the_sandbox_never_has_them(tmp_path: Path) -> None:
    """With the limit as it ships: the kernel and we see to it, and nothing is left running."""
    script = (_writes("a.x", "fine\n"), _LOOKS, _writes("b.x", "GROW\n"), "say: done")
    server = entry("grow=GROW", program=inside(tmp_path / "project"))
    given = {"lspServers": {"scripted": server}, "sandbox": {"enabled": True}}
    async with desk(tmp_path, script, mode="bypassPermissions", own=given) as made:
        made.session.submit("go")
        most = 0

        def off() -> bool:
            nonlocal most
            found = [resident(pid) for pid in _inside(tmp_path)]
            most = max([most, *found])
            notices = [each.text for each in made.seen.events if isinstance(each, Noticed)]
            return any("is off for this session" in text for text in notices)

        await eventually(off, 100.0)
        assert most < 4 * 1024**3
        await eventually(lambda: not _inside(tmp_path), what="the end of the server")


KILLED_INSIDE = """
import asyncio, sys
from pathlib import Path
from tests.lsp.test_faults import _LOOKS, _writes
from tests.lsp.known_server import entry, inside
from tests.permissions.composed import desk
async def main():
    script = (_writes("a.x", "fine\\n"), _LOOKS, "say: done")
    server = entry(program=inside(Path(sys.argv[1]) / "project"))
    given = {"lspServers": {"scripted": server}, "sandbox": {"enabled": True}}
    async with desk(Path(sys.argv[1]), script, mode="bypassPermissions", own=given) as made:
        made.session.submit("go")
        await made.ended()
        Path(sys.argv[2]).write_text("ready", encoding="utf-8")
        await asyncio.Event().wait()
asyncio.run(main())
"""


async def test_killed_with_minus_nine_it_leaves_none_in_the_sandbox_either(tmp_path: Path) -> None:
    said, folder = tmp_path / "said", tmp_path / "all"
    folder.mkdir()
    ours = await asyncio.create_subprocess_exec(
        sys.executable, "-c", KILLED_INSIDE, str(folder), str(said), cwd=Path(__file__).parents[2]
    )
    try:
        await being_written(said)
        assert _inside(folder)
    finally:
        os.kill(ours.pid, signal.SIGKILL)
        await ours.wait()
    await eventually(lambda: not _inside(folder), what="the end of the server")


def _writes(path: str, text: str) -> str:
    return f"call: Write {json.dumps({'file_path': path, 'content': text})}"


_LOOKS = f"call: LSP {json.dumps({'operation': 'diagnostics', 'filePath': 'a.x'})}"


def _inside(folder: Path) -> list[int]:
    """The scripted servers whose project lies there, seen from outside of their sandbox."""
    found: list[int] = []
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            with contextlib.suppress(OSError):
                line = (each / "cmdline").read_bytes()
                if b"lsp_server.py" in line and str(folder) in str((each / "cwd").readlink()):
                    found.append(int(each.name))
    return found
