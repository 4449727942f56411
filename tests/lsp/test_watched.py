"""Changes of files that no server has open: told to servers, and what comes of them to models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.lsp.watching import walked
from gatewright.agent.lsp.watching.patterns import names_of
from gatewright.agent.lsp.watching.watch import CHANGED, CREATED, DELETED
from gatewright.agent.record.events import TurnEnded
from tests.fakes.waiting import PATIENCE, eventually
from tests.lsp.known_server import Alone, alone, entry, scripted
from tests.permissions.composed import desk

WATCHES = "watches=**/*.x"


def _late(made: Alone) -> str:
    told = made.hearings.late("main")
    return told.text if told is not None else ""


def _changes(trace: Path) -> list[Any]:
    if not trace.exists():
        return []
    lines = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    return [change for found in lines for change in found]


async def _using(made: Alone) -> None:
    """a.x is open and uses b.x, which is not."""
    made.write("b.x", "fine\n", agent="")
    await made.begun("a.x", "USES b.x\n")
    await made.heard()


@pytest.mark.parametrize("options", [(), ("pull",), ("pull", "late=0.05")], ids=str)
async def test_a_command_that_breaks_an_open_file_by_another_is_told(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    async with alone(tmp_path, scripted(WATCHES, *options)) as made:
        await _using(made)
        made.write("b.x", "GONE\n", agent="")
        told = await made.heard()
        texts = [told.text if told is not None else ""]

        def told_of() -> bool:
            texts.append(texts[-1] or _late(made))
            return bool(texts[-1])

        await eventually(told_of)
        assert "a.x:\n  1:6 error" in texts[-1]
        assert not _late(made) and await made.heard() is None


async def test_who_is_asked_is_told_of_in_the_very_next_request(tmp_path: Path) -> None:
    async with alone(tmp_path, scripted(WATCHES, "pull", "late=0.2")) as made:
        await _using(made)
        made.write("b.x", "GONE\n", agent="")
        told = await made.heard()
        assert told is not None and told.summary == "1 error"


@pytest.mark.parametrize("options", [("late=0.2",), ("pull", "late=0.2")], ids=str)
async def test_who_asks_reads_nothing_of_a_text_that_is_gone(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    async with alone(tmp_path, scripted(WATCHES, *options)) as made:
        await _using(made)
        path = f"{made.root}/a.x"
        for text, count in (("GONE\n", 1), ("fine again\n", 0)):
            made.write("b.x", text, agent="")
            await made.hearings.look("main")
            assert await made.languages.until_fresh((path,), PATIENCE)
            assert made.hearings.listed("main", (path,))[1] == count


async def test_a_server_is_told_what_was_created_changed_and_deleted(tmp_path: Path) -> None:
    project, trace = tmp_path / "project", tmp_path / "trace"
    project.mkdir()
    async with alone(project, scripted("watches=**/*.{y,toml}", f"changes={trace}")) as made:
        for name in ("b.x", "c.x", "deep/er/d.x"):
            made.write(name, "fine\n", agent="")
        server = await made.begun("a.x")
        await eventually(lambda: bool(server.abilities.watched))
        await made.heard()
        made.write("old.y", "y\n", agent="")
        made.write("b.x", "other\n", agent="")
        made.write("deep/er/d.x", "other\n", agent="")
        (made.root / "c.x").unlink()
        made.write("new/e.x", "new\n", agent="")
        for name in ("f.z", "ignored/g.x", "node_modules/h.x"):
            made.write(name, "not told\n", agent="")
        made.write("a.x", "open: its text is sent\n", agent="")
        await made.heard()
        told = [["b.x", CHANGED], ["c.x", DELETED], ["d.x", CHANGED], ["e.x", CREATED]]
        await eventually(lambda: len(_changes(trace)) > 4)
        assert _changes(trace) == [*told, ["old.y", CREATED]]
        await made.heard()
        (made.root / "a.x").unlink()
        await made.heard()
        await eventually(lambda: len(_changes(trace)) > 5)
        assert _changes(trace)[5:] == [["a.x", DELETED]]


async def test_what_is_too_large_to_be_looked_through_is_left_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walked, "MOST", 20)
    async with alone(tmp_path, scripted(WATCHES)) as made:
        for number in range(30):
            made.write(f"f{number}.x", "fine\n", agent="")
        await made.begun()
        assert "changes by commands" in made.languages.watch.why
        made.write("a.x", "BAD it\n")
        told = await made.heard()
        assert told is not None and told.errors == 1


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("**/*.py", ["*.py"]),
        ("**", ["**"]),
        ("/a/b/*.{ts,{m,c}ts}", ["*.cts", "*.mts", "*.ts"]),
        ("{**/*.go,**/go.mod}", ["*.go", "go.mod"]),
        ("src/", ["*"]),
        ("x" * 400, ["*"]),
        ("{a,b}" * 12, ["*"]),
        ("{" * 100, ["{" * 100]),
    ],
)
def test_a_pattern_counts_by_its_last_name(pattern: str, names: list[str]) -> None:
    assert list(names_of(pattern)) == names


async def test_in_a_session_a_question_after_a_command_is_of_what_it_left(tmp_path: Path) -> None:
    def asks(call: str) -> str:
        asked = {"operation": "diagnostics", "filePath": "a.x"}
        return f"call[{call}]: LSP {json.dumps(asked)}"

    script = (
        f"call: Write {json.dumps({'file_path': 'a.x', 'content': 'USES b.x'})}",
        asks("1"),
        'call: Bash {"command": "mv c.x b.x"}',
        asks("2"),
        "say: done",
    )
    servers = {"scripted": entry(WATCHES, "late=0.2")}
    given = {"lspServers": servers, "sandbox": {"enabled": False}, "lsp": {"waitMs": 0},
             "permissions": {"allow": ["Bash"]}}  # fmt: skip
    async with desk(tmp_path, script, mode="bypassPermissions", own=given) as made:
        (made.project / "b.x").write_text("fine\n", encoding="utf-8")
        (made.project / "c.x").write_text("GONE\n", encoding="utf-8")
        made.session.submit("go")
        await made.seen.until(TurnEnded, within=PATIENCE)
        assert "No findings" in await made.finished("1")
        assert "a.x:\n  1:6 error" in await made.finished("2")
