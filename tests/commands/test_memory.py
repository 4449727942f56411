"""/memory and /init, on real files."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatewright.agent.commands.outcome import Form, Pick, Problem, Submit
from gatewright.agent.context.briefing import Briefing
from gatewright.agent.context.instruction_files import MemoryBook
from gatewright.agent.context.readable import Readable, Verdict
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.record.events import AnyEvent, FileSaved
from gatewright.agent.record.events_of_past import FileState
from gatewright.agent.settings.workspace import Surroundings, survey
from tests.fakes.commands import Desk
from tests.fakes.commands import told as said

OPEN = Readable(lambda path, real: Verdict("yes"))


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    env = {"HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin"}
    return survey(LaunchOptions(cwd=str(tmp_path / "project")), env, interactive=True)


@pytest.fixture
def desk(around: Surroundings) -> Desk:
    return Desk(memory=MemoryBook(lambda: around, Briefing(lambda: around, OPEN)))


async def test_lines_go_to_the_right_file(desk: Desk, around: Surroundings) -> None:
    root = around.where.root
    assert "no instruction files" in said(await desk.run("/memory "))
    await desk.run("/memory add use tabs")
    await desk.run("/memory add project  - and   no semicolons ")
    assert (root / "AGENTS.md").read_text(encoding="utf-8") == "- use tabs\n- and no semicolons\n"
    await desk.run("/memory add user I am left-handed")
    assert (around.places.home / "AGENTS.md").exists()
    (root / "CLAUDE.local.md").write_text("no newline", encoding="utf-8")
    await desk.run("/memory add local mine")
    assert (root / "CLAUDE.local.md").read_text(encoding="utf-8") == "no newline\n- mine\n"
    text = said(await desk.run("/memory "))
    assert [word for word in text.split() if word in ("user", "shared", "local")] == [
        "user", "shared", "local",
    ]  # fmt: skip
    assert "nothing to remember" in said(await desk.run("/memory add"))
    assert "Usage" in said(await desk.run("/memory nonsense"))


async def test_who_else_reads_a_line_is_said_where_it_is_kept(desk: Desk) -> None:
    shared = "Whoever has the project shares that file"
    assert shared in said(await desk.run("/memory add use tabs"))
    assert shared not in said(await desk.run("/memory add local mine"))
    assert shared not in said(await desk.run("/memory add user mine too"))


async def test_imports_from_outside_wait_for_approval(desk: Desk, around: Surroundings) -> None:
    outside = around.where.root.parent / "other.md"
    outside.write_text("other", encoding="utf-8")
    (around.where.root / "AGENTS.md").write_text("@../other.md", encoding="utf-8")
    assert f"Not read, because outside the project: {outside}" in said(await desk.run("/memory "))
    assert str(outside) in said(await desk.run("/memory allow"))
    assert "Not read" not in said(await desk.run("/memory "))
    assert "nothing waits" in said(await desk.run("/memory allow"))


async def test_init_asks_the_model(desk: Desk, around: Surroundings) -> None:
    outcome = await desk.run("/init mention the linter")
    assert isinstance(outcome, Submit)
    assert "There is none yet." in outcome.text
    assert outcome.text.endswith("mention the linter\n")
    (around.where.root / "AGENTS.md").write_text("x", encoding="utf-8")
    outcome = await desk.run("/init ")
    assert isinstance(outcome, Submit)
    assert "One exists already" in outcome.text


def test_the_prompt_stays_until_a_clear(around: Surroundings) -> None:
    briefing = Briefing(lambda: around, OPEN)
    first = briefing.blocks()
    (around.where.root / "AGENTS.md").write_text("New rule.", encoding="utf-8")
    assert briefing.blocks() is first
    briefing.renew()
    assert "New rule." in briefing.blocks()[1]
    assert [file.path.name for file in briefing.memory().files] == ["AGENTS.md"]


async def test_a_line_is_told_as_the_persons_own(around: Surroundings) -> None:
    told: list[AnyEvent] = []
    book = MemoryBook(lambda: around, Briefing(lambda: around, OPEN), told.append)
    path = await book.add("use tabs", "project")
    assert told == [FileSaved(state=FileState(path=str(path)), line="- use tabs")]


async def opened(desk: Desk, path: Path) -> Form:
    pick = await desk.run("/memory")
    assert isinstance(pick, Pick)
    form = await pick.choose(str(path))
    assert isinstance(form, Form)
    return form


async def test_a_chosen_file_is_edited(desk: Desk, around: Surroundings) -> None:
    root, home = around.where.root, around.places.home
    (root / "AGENTS.md").write_text("use tabs <!-- why -->\n", encoding="utf-8")
    pick = await desk.run("/memory")
    assert isinstance(pick, Pick)
    assert [(c.label, c.source, c.detail) for c in pick.choices] == [
        (str(root / "AGENTS.md"), "shared", "3 tokens"),
        (str(home / "AGENTS.md"), "user", "not there yet"),
        (str(root / "AGENTS.local.md"), "local", "not there yet"),
    ]
    form = await opened(desk, root / "AGENTS.md")
    assert form.text == "use tabs <!-- why -->"
    assert "is changed. It counts from the next /clear" in said(await form.take("use spaces"))
    assert (root / "AGENTS.md").read_text(encoding="utf-8") == "use spaces\n"
    made = await opened(desk, home / "AGENTS.md")
    assert made.text == ""
    await made.take("mine")
    assert (home / "AGENTS.md").read_text(encoding="utf-8") == "mine\n"
    await (await opened(desk, home / "AGENTS.md")).take("")
    assert (home / "AGENTS.md").read_bytes() == b""


async def test_a_file_that_changed_meanwhile_is_not_written_over(
    desk: Desk, around: Surroundings
) -> None:
    path = around.where.root / "AGENTS.md"
    path.write_text("one", encoding="utf-8")
    form = await opened(desk, path)
    path.write_text("two", encoding="utf-8")
    told = await form.take("three")
    assert isinstance(told, Problem)
    assert "changed while you edited it" in said(told)
    assert path.read_text(encoding="utf-8") == "two"


async def test_nothing_is_made_behind_a_link_that_leads_nowhere(
    desk: Desk, around: Surroundings
) -> None:
    target = around.where.root.parent / "keys"
    (around.where.root / "AGENTS.local.md").symlink_to(target)
    form = await opened(desk, around.where.root / "AGENTS.local.md")
    assert isinstance(await form.take("a key"), Problem)
    assert not target.exists()


async def test_what_is_no_text_is_not_edited(desk: Desk, around: Surroundings) -> None:
    (around.where.root / "AGENTS.md").write_bytes(b"\xff\xfe")
    pick = await desk.run("/memory")
    assert isinstance(pick, Pick)
    told = await pick.choose(str(around.where.root / "AGENTS.md"))
    assert isinstance(told, Problem)
    assert "cannot be edited here" in said(told)
