"""What goes along with a message: listed above the prompt, sent with it, brought back with it."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from gatewright.tools.protocol import ImageContent
from gatewright.tui.prompt.attached import Attachment, attached_rows, mentioned, sized
from gatewright.tui.prompt.paste import Chips
from tests.fakes.fake_session import FakeSession
from tests.tui.stage import stage

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "notes.md").write_text("x" * 1234, encoding="utf-8")
    (tmp_path / "two words.txt").write_text("x", encoding="utf-8")
    (tmp_path / "src").mkdir()
    (tmp_path / "shot.png").write_bytes(PNG)
    return tmp_path


async def test_what_will_be_attached_is_listed(folder: Path) -> None:
    async with stage(FakeSession(cwd=str(folder))) as on:
        await on.settled()
        await on.type("read @notes.md and @src/ but not @nobody ")
        row = next(r for r in (await on.see("+ notes.md")).splitlines() if "+ notes.md" in r)
        assert row.split() == ["+", "notes.md", "1", "kB", "src/"]
        on.app.repl.box.put("")
        await on.gone("+ notes.md")


async def test_a_name_being_written_is_not_listed(folder: Path) -> None:
    async with stage(FakeSession(cwd=str(folder))) as on:
        await on.settled()
        await on.type("read @notes.md")
        await on.pilot.pause(0.1)
        assert "+ notes.md" not in on.text()
        await on.type(" now")
        await on.see("+ notes.md")


async def test_a_dropped_picture_goes_along_and_backspace_takes_it_away(folder: Path) -> None:
    session = FakeSession(cwd=str(folder))
    async with stage(session) as on:
        await on.settled()
        await on.paste(str(folder / "shot.png"))
        await on.see("[Picture shot.png #1]", "+ shot.png 70 B")
        await on.press("backspace")
        await on.gone("shot.png")
        await on.paste(f"'{folder}/shot.png'")
        await on.type(" what is it?")
        await on.press("enter")
        await on.until(lambda: bool(session.attached))
        (picture,) = session.attached[0]
        assert isinstance(picture, ImageContent)
        assert base64.b64decode(picture.data) == PNG
        await on.gone("+ shot.png")


@pytest.mark.parametrize("key", ["escape", "up"])
async def test_taking_a_queued_message_back_brings_its_picture(folder: Path, key: str) -> None:
    session = FakeSession(cwd=str(folder))
    async with stage(session) as on:
        await on.settled()
        session.busy = True
        await on.paste(str(folder / "shot.png"))
        await on.type(" one")
        await on.press("enter")
        await on.until(lambda: len(session.queued) == 1)
        (folder / "shot.png").unlink()  # it was read when it was sent
        await on.press(key)
        await on.see("[Picture shot.png #1] one", "+ shot.png")
        await on.press("enter")
        await on.until(lambda: len(session.attached) == 2)
        assert session.attached[1] == session.attached[0] != ()


@pytest.mark.parametrize(
    ("spelled", "becomes"),
    [
        ("{0}/notes.md", "@{0}/notes.md"),
        ("'{0}/two words.txt' ", '@"{0}/two words.txt"'),
        ("{0}/two\\ words.txt", '@"{0}/two words.txt"'),
        ("file://{0}/two%20words.txt", '@"{0}/two words.txt"'),
        ("{0}/nothing", "{0}/nothing"),
        ("see {0}/notes.md", "see {0}/notes.md"),
        ("/", "/"),
        ("/help", "/help"),
    ],
)
def test_a_dropped_path_becomes_a_mention(folder: Path, spelled: str, becomes: str) -> None:
    assert Chips().fold(spelled.format(folder)) == becomes.format(folder)


def test_a_path_in_an_own_command_stays_one(folder: Path) -> None:
    for name in ("notes.md", "shot.png"):
        assert Chips().fold(f"{folder}/{name}", shell=True) == f"{folder}/{name}"


def test_names_with_brackets_and_the_order_of_pictures(folder: Path) -> None:
    (folder / "a[1].png").write_bytes(PNG + b"a")
    chips = Chips()
    second, first = (chips.fold(f"{folder}/{name}") for name in ("a[1].png", "shot.png"))
    text = f"{first} then {second}"
    sent = chips.pictures(text)
    assert [base64.b64decode(p.data) for p in sent if isinstance(p, ImageContent)] == [
        PNG,
        PNG + b"a",
    ]
    other = Chips()
    other.restore(text, sent)
    assert other.pictures(text) == sent
    assert other.before(second) == second


def test_the_row_is_cut_and_inert(folder: Path) -> None:
    many = [Attachment(f"\x1b[31mname{n}", n * 1000) for n in range(12)]
    [row] = attached_rows(many, 60)
    assert row.width <= 60
    assert "\x1b" not in row.plain
    assert [a.name for a in mentioned('a "@x" @"two words.txt" x@notes.md', folder)] == [
        "two words.txt"
    ]
    assert [sized(n) for n in (-1, 0, 999, 1000, 5_000_000, 3 * 10**9)] == [
        *("", "0 B", "999 B", "1 kB", "5 MB", "3 GB")
    ]
