"""What is told after a change: its findings, once, of the text as it is, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatewright.agent.lsp.findings import fresh
from tests.fakes.waiting import eventually
from tests.lsp.known_server import PATIENCE, Alone, alone, scripted

WAYS = (
    (),
    ("pull",),
    ("unversioned",),
    ("twice",),
    ("late=0.05",),
    ("late=0.05", "pull"),
    ("stale",),
    ("stale", "backwards"),
    ("utf8",),
    ("unversioned", "twice"),
)


@pytest.mark.parametrize("options", WAYS, ids=" ".join)
async def test_an_error_is_told_after_the_change_that_made_it_and_solved_after_the_next(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    async with alone(tmp_path, scripted(*options)) as made:
        await made.begun()
        made.write("a.x", "one\n\U0001f600 BAD it\n")
        told = await made.heard()
        assert told is not None
        assert "a.x:\n  2:7 error [E1]: it is bad (scripted)" in told.text
        assert told.summary == "1 error" and told.files == ("a.x",)
        assert await made.heard() is None
        made.write("a.x", "zero\none\n\U0001f600 BAD it\n")
        assert await made.heard() is None  # the same finding, a line further down
        made.write("a.x", "fine\r\nWARN that\r\n")
        told = await made.heard()
        assert told is not None and told.summary == "1 warning, 1 solved"
        assert "2:6 warning [E1]: that is doubtful" in told.text
        assert "1 solved in a.x; no errors left." in told.text


async def test_without_a_known_state_errors_alone_are_told(tmp_path: Path) -> None:
    async with alone(tmp_path, scripted()) as made:
        server = await made.begun("b.x")
        made.write("a.x", "BAD one\nWARN two\n")
        told = await made.heard()
        assert told is not None and (told.errors, told.warnings) == (1, 0)
        assert server.documents.get(f"{made.root}/a.x") is not None


async def test_a_change_by_a_command_or_the_person_is_found_and_told(tmp_path: Path) -> None:
    async with alone(tmp_path, scripted()) as made:
        await made.begun()
        made.write("a.x", "BAD it\n", agent="")
        told = await made.heard()
        assert told is not None and told.errors == 1


@pytest.mark.parametrize("options", [(), ("pull",)], ids=["push", "pull"])
async def test_other_open_files_that_got_new_errors_are_told(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    async with alone(tmp_path, scripted(*options)) as made:
        await made.begun("b.x", "USES a.x\n")
        server = await made.begun("a.x")
        await eventually(lambda: server.fresh.still(server.now()))
        made.write("a.x", "GONE\n")
        found = [await made.heard()]
        await eventually(lambda: server.fresh.still(server.now()))
        found += [await made.heard(), made.hearings.late("main")]
        texts = [told.text for told in found if told is not None]
        assert len(texts) == 1 and "b.x:\n  1:6 error" in texts[0]


async def test_each_agent_hears_of_its_own_changes(tmp_path: Path) -> None:
    async with alone(tmp_path, scripted()) as made:
        await made.begun("a.x")
        await made.begun("b.x")
        made.write("a.x", "BAD one\n", agent="main/a1")
        made.write("b.x", "BAD two\n", agent="main/a2")
        first, second = await made.heard("main/a1"), await made.heard("main/a2")
        assert first is not None and first.files == ("a.x",)
        assert second is not None and second.files == ("b.x",)
        assert await made.heard("main") is None


async def test_a_result_that_is_late_is_told_with_a_later_request_once(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    gate.touch()
    async with alone(tmp_path, scripted(f"gate={gate}")) as made:
        server = await made.begun()
        gate.unlink()
        made.write("a.x", "BAD it\n")
        assert await made.heard(seconds=0.01) is None
        assert made.hearings.late("main") is None
        gate.touch()
        await made.languages.until_fresh((f"{made.root}/a.x",), 20)
        told = made.hearings.late("main")
        assert told is not None and told.errors == 1
        assert made.hearings.late("main") is None and await made.heard() is None
        assert server.state == "ready"


async def test_what_is_told_is_bounded_and_cannot_pass_for_ours(tmp_path: Path) -> None:
    async with alone(tmp_path, scripted()) as made:
        for number in range(12):
            await made.begun(f"f{number}.x")
        for number in range(12):
            lines = "".join(f"BAD <system>{each}{'z' * 400}\n" for each in range(40))
            made.write(f"f{number}.x", lines)
        told = await made.heard()
        assert told is not None and told.errors == 480
        assert len(told.text) <= 4000 and told.text.count(" error ") <= 30
        assert "<system>" not in told.text and "\u2039system>" in told.text
        assert "and 30 more" in told.text or "more files with new findings" in told.text


async def test_what_git_ignores_is_too_large_or_lies_outside_is_not_opened(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    async with alone(project, scripted()) as made:
        server = await made.begun()
        made.write("ignored/b.x", "BAD one\n")
        made.write("big.x", "BAD two\n" * 300_000)
        (tmp_path / "out.x").write_text("BAD three\n", encoding="utf-8")
        made.hearings.wrote("main", str(tmp_path / "out.x"))
        (project / "link.x").symlink_to(tmp_path / "out.x")
        made.hearings.wrote("main", f"{made.root}/link.x")
        assert await made.heard() is None
        assert server.documents.paths == (f"{made.root}/a.x",)


async def test_of_many_open_files_the_oldest_is_closed(tmp_path: Path) -> None:
    async with alone(tmp_path, scripted()) as made:
        server = await made.begun()
        for number in range(60):
            made.write(f"f{number}.x", "fine\n")
        await made.heard()
        assert len(server.documents.paths) == 50
        assert f"{made.root}/a.x" not in server.documents.paths


async def test_who_answers_pulls_only_later_is_asked_for_the_first_change_too(
    tmp_path: Path,
) -> None:
    async with alone(tmp_path, scripted("pull", "registers")) as made:
        made.write("a.x", "BAD it\n")
        told = await made.heard(seconds=0.0)
        await eventually(lambda: told is not None or _late(made) == "1 error")


async def test_and_for_who_asks_without_a_change(tmp_path: Path) -> None:
    async with alone(tmp_path, scripted("pull", "registers")) as made:
        path = made.write("a.x", "BAD it\n", agent="")
        (server,) = await made.languages.open(path)
        assert await server.ready(PATIENCE)
        assert await made.languages.until_fresh((path,), PATIENCE)


def _late(made: Alone) -> str:
    told = made.hearings.late("main")
    return told.summary if told is not None else ""


async def test_another_file_whose_answer_comes_late_is_told_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fresh, "CALM", 0.0)
    async with alone(tmp_path, scripted("pull", "slow=b.x")) as made:
        await made.begun("a.x")
        await made.begun("b.x", "USES a.x\n")
        made.write("a.x", "GONE\n")
        assert await made.heard() is None  # of a.x nothing, and b.x is not answered yet
        assert made.hearings.late("main") is None
        await eventually(lambda: _late(made) == "1 error")
