"""Paths inside the project are told from the project, in whatever a command leads to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from gatewright.agent.commands.outcome import (
    Change,
    Choice,
    ClearHistory,
    Form,
    Listing,
    Look,
    Outcome,
    Page,
    Pick,
    Problem,
    Say,
    Secret,
    said,
)
from gatewright.agent.session.status.paths_told import as_read
from gatewright.tools.access import Where
from gatewright.tools.blocks import Block, Code, Diff, Output, Table, Text

ROOT = Path("/home/me/work/shop")
WHERE = Where(cwd=ROOT / "src", root=ROOT, home=Path("/home/me"))
FILE, OTHER = f"{ROOT}/src/a.py", "/home/me/notes.md"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"Written to {FILE}.", "Written to src/a.py."),
        (f"{FILE}:12: no", "src/a.py:12: no"),
        (f"{FILE}, {OTHER}", "src/a.py, ~/notes.md"),
        (f'"{FILE}" and ({FILE})', '"src/a.py" and (src/a.py)'),
        (f"{ROOT}/.gatewright/x", ".gatewright/x"),
        (f"{ROOT}/~odd/x", "./~odd/x"),
        (f"In {ROOT} and {ROOT}/ too", f"In {ROOT} and {ROOT}/ too".replace("/home/me", "~")),
        (f"{ROOT}s/a", "~/work/shops/a"),
        (f"/mnt{FILE} and file://{FILE}", f"/mnt{FILE} and file://{FILE}"),
        ("cd '/home/me/my shop'", "cd '/home/me/my shop'"),
        (f"`cd {ROOT}/a && agent -c` goes on", f"`cd {ROOT}/a && agent -c` goes on"),
        ("/etc/passwd", "/etc/passwd"),
    ],
)
def test_a_text(text: str, told: str) -> None:
    assert WHERE.told(text) == told


def test_a_project_at_the_root_or_at_home_changes_little() -> None:
    at_root = Where(cwd=Path("/"), root=Path("/"), home=Path("/"))
    assert at_root.told("in /etc/x") == "in /etc/x"
    at_home = Where(cwd=Path("/home/me"), root=Path("/home/me"), home=Path("/home/me"))
    assert at_home.told("in /home/me/x") == "in x"


SAID = (
    Text(FILE, "warning"),
    Table(("File",), ((FILE,),)),
    Diff(FILE, (), 0, 0),
    Code(FILE, "text"),
    Output(FILE),
)
TOLD = (
    Text("src/a.py", "warning"),
    Table(("File",), (("src/a.py",),)),
    Diff("src/a.py", (), 0, 0),
    Code(FILE, "text"),
    Output(FILE),
)


async def read(id: str) -> Sequence[Block]:
    assert id == FILE
    return SAID


async def choose(id: str) -> Outcome:
    return Say.text(id)


@pytest.mark.parametrize(
    "outcome",
    [
        Say(SAID),
        Problem(SAID),
        Change(ClearHistory(), SAID),
        Page(title="Status", fallback=Say(SAID)),
        Form(fallback=Say(SAID), text=FILE, take=choose),
    ],
)
def test_what_is_said(outcome: Outcome) -> None:
    assert said(as_read(outcome, WHERE)) == TOLD
    assert type(as_read(outcome, WHERE)) is type(outcome)


def test_a_text_to_edit_stays() -> None:
    form = as_read(Form(fallback=Say(()), text=FILE, take=choose), WHERE)
    assert isinstance(form, Form)
    assert form.text == FILE


def test_rows_to_choose_from_keep_their_names() -> None:
    row = Choice(FILE, FILE, f"in {FILE}", typed=f"/x {FILE}", cells=(FILE, "1"))
    offer = Pick(title="x", choices=(row,), choose=choose, about=(FILE,), fallback=Say(()))
    found = as_read(offer, WHERE)
    assert isinstance(found, Pick)
    assert found.about == ("src/a.py",)
    wanted = Choice(FILE, "src/a.py", "in src/a.py", typed=f"/x {FILE}", cells=("src/a.py", "1"))
    assert found.choices == (wanted,)
    asked = as_read(Secret(title="x", about=(FILE,), take=choose, fallback=Say(())), WHERE)
    assert isinstance(asked, Secret)
    assert asked.about == ("src/a.py",)


async def test_a_list_and_what_is_read_of_it() -> None:
    listing = Listing(
        title="x",
        rows=lambda: [Choice(FILE, FILE)],
        read=read,
        looks=(Look("ctrl+e", "looks", read),),
        fallback=Say(()),
    )
    found = as_read(listing, WHERE)
    assert isinstance(found, Listing)
    assert found.rows() == [Choice(FILE, "src/a.py")]
    assert await found.read(FILE) == TOLD
    assert await found.looks[0].read(FILE) == TOLD
