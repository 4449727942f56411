"""What a person points at comes along; what is no file stays a word."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewright.agent.context.attach_ports import AttachPorts
from gatewright.agent.context.attachments import (
    CHARACTERS,
    Mention,
    attach,
    mentions,
    unread,
)
from gatewright.agent.context.file_notices import FileNotices
from gatewright.agent.context.prompt.memory import Memory, MemoryFile, MemoryPlaces
from gatewright.agent.context.readable import Readable, Verdict
from gatewright.agent.record.events import (
    AnyEvent,
    Cleared,
    Compacted,
    Rewound,
    ToolFinished,
    ToolStarted,
)
from gatewright.tools.access import Where
from gatewright.tools.protocol import Content, ImageContent, TextContent

YES = Verdict("yes")
OPEN = Readable(lambda path, real: YES)
DENIED = Verdict("denied", "a rule denies reading it")


def loaded(files: Sequence[MemoryFile], path: Path) -> None:
    """Nobody listens here."""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see @a.py", [Mention("a.py")]),
        ("@a.py, @src/b.py.", [Mention("a.py"), Mention("src/b.py")]),
        ("(@a.py#L10-20)", [Mention("a.py", 10, 20)]),
        ("@a.py#L5 and @a.py#L5", [Mention("a.py", 5, 5)]),
        ('@"with space.md"', [Mention("with space.md")]),
        ("@~/x @/abs/y @../z", [Mention("~/x"), Mention("/abs/y"), Mention("../z")]),
        ("me@example.org and a@b", []),
        ("@ alone", []),
        ("@decorator\ndef f(): ...", [Mention("decorator")]),
        ("@größe.txt", [Mention("größe.txt")]),
    ],
)
def test_mentions(text: str, found: list[Mention]) -> None:
    assert mentions(text) == found


class Place:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.noted: list[str] = []
        self.told: list[str] = []
        self.where = Where(root, root, root)

    def attach(self, text: str) -> list[str]:
        ports = AttachPorts(
            picture=self.picture,
            note=lambda path, data: self.noted.append(path.name),
            readable=Readable(
                lambda path, real: DENIED if real.name == "denied.txt" else Verdict("yes")
            ),
            tell=self.told.append,
        )
        return [
            part.text if isinstance(part, TextContent) else "image"
            for part in attach(text, self.where, ports)
        ]

    def picture(self, data: bytes, path: Path) -> Content | None:
        return ImageContent("image/png", "A") if data.startswith(b"\x89PNG") else None


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "a.py").write_text("one\ntwo\nthree\n", encoding="utf-8")
    (tmp_path / "denied.txt").write_text("secret", encoding="utf-8")
    (tmp_path / "b.bin").write_bytes(b"\0\1")
    (tmp_path / "i.png").write_bytes(b"\x89PNG...")
    (tmp_path / "dir" / "sub").mkdir(parents=True)
    (tmp_path / "dir" / "f.txt").write_text("x", encoding="utf-8")
    (tmp_path / "big.txt").write_text("line of text\n" * 30_000, encoding="utf-8")
    return Place(tmp_path)


def test_files_ranges_directories_and_images(place: Place) -> None:
    (whole,) = place.attach("@a.py")
    assert whole.endswith("     1\tone\n     2\ttwo\n     3\tthree")
    assert place.noted == ["a.py"]
    (part,) = place.attach("@a.py#L2-9")
    assert "lines 2 to 3 of 3" in part
    assert "one" not in part
    assert place.noted == ["a.py"]
    assert place.attach("@dir")[0].endswith("sub/\nf.txt")
    assert place.attach("look @i.png") == ["@i.png:", "image"]


def test_what_is_not_attached_says_so_or_stays_a_word(place: Place) -> None:
    assert place.attach("@nothing.txt @decorator") == []
    assert place.attach(f"@nul\0l @{'x' * 5000} @{'d/' * 5000}") == []
    assert "a rule denies" in place.attach("@denied.txt")[0]
    assert "secret" not in "".join(place.attach("@denied.txt"))
    assert "binary" in place.attach("@b.bin")[0]
    (big,) = place.attach("@big.txt")
    assert len(big) < CHARACTERS + 200
    assert "lines 1 to 2000 of 30000" in big
    assert place.noted == []


def touched(path: Path, call: str = "c") -> tuple[ToolStarted, ToolFinished]:
    started = ToolStarted(
        call_id=call, name="Read", input={"file_path": str(path)}, verb="Read", target=""
    )
    return started, ToolFinished(call_id=call, ok=True, content=())


def test_files_that_changed_are_told_once(tmp_path: Path) -> None:
    places = MemoryPlaces(
        tmp_path / "h", tmp_path, tmp_path, tmp_path, lambda path: False, OPEN, tmp_path / "c"
    )
    noticing = FileNotices(places, Memory, bare=False, tell=print, loaded=loaded)
    paths = [tmp_path / name for name in ("a", "b", "c", "d")]
    for path in paths:
        path.write_text("1", encoding="utf-8")
    for number, path in enumerate(paths):
        for event in touched(path, str(number)):
            assert noticing.saw(event) == ()
    assert noticing.changed() == ""
    paths[0].write_text("changed", encoding="utf-8")
    paths[1].unlink()
    paths[2].write_text("ours", encoding="utf-8")
    for event in touched(paths[2]):
        noticing.saw(event)
    text = noticing.changed()
    assert text.endswith(f"- {paths[0]}\n- {paths[1]} (deleted)")
    assert noticing.changed() == ""
    paths[3].write_text("forgotten", encoding="utf-8")
    noticing.saw(Cleared())
    assert noticing.changed() == ""


def test_instructions_further_down_are_told_once(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "AGENTS.md").write_text("Use tabs.", encoding="utf-8")
    file = tmp_path / "deep" / "x.py"
    file.write_text("", encoding="utf-8")
    places = MemoryPlaces(
        tmp_path / "h", tmp_path, tmp_path, tmp_path, lambda path: False, OPEN, tmp_path / "c"
    )
    noticing = FileNotices(places, Memory, bare=False, tell=print, loaded=loaded)
    started, finished = touched(file)
    assert noticing.saw(started) == ()
    (told,) = noticing.saw(finished)
    assert "Use tabs." in told
    noticing.saw(started)
    assert noticing.saw(finished) == ()
    for number in range(3_000):  # more than the kernel follows, and than Python can resolve
        (tmp_path / f"l{number}").symlink_to(f"l{number + 1}")
    for odd in ("\0", "x" * 9_000, "../" * 999, "\ud800", "l0"):
        for event in touched(Path(odd)):
            assert noticing.saw(event) == ()
    bare = FileNotices(places, Memory, bare=True, tell=print, loaded=loaded)
    bare.saw(started)
    assert bare.saw(finished) == ()


@pytest.mark.parametrize(
    "event",
    [
        Cleared(),
        Compacted(summary="s", trigger="manual", tokens_before=1),
        Rewound(to="", left=""),
    ],
)
def test_instructions_are_told_again_once_the_model_may_have_lost_them(
    tmp_path: Path, event: AnyEvent
) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "AGENTS.md").write_text("Use tabs.", encoding="utf-8")
    file = tmp_path / "deep" / "x.py"
    file.write_text("", encoding="utf-8")
    places = MemoryPlaces(
        tmp_path / "h", tmp_path, tmp_path, tmp_path, lambda path: False, OPEN, tmp_path / "c"
    )
    noticing = FileNotices(places, Memory, bare=False, tell=print, loaded=loaded)
    for each in touched(file):
        noticing.saw(each)
    noticing.saw(event)
    started, finished = touched(file)
    noticing.saw(started)
    (told,) = noticing.saw(finished)
    assert "Use tabs." in told


@given(st.text(max_size=400) | st.text("@/.\0#L1-~\"' a\n", max_size=400))
def test_no_input_breaks_it(text: str) -> None:
    ports = AttachPorts(
        lambda data, path: None,
        lambda path, data: None,
        Readable(lambda path, real: DENIED),
        list[str]().append,
    )
    attach(text, Where(Path("/nonexistent"), Path("/"), Path("/")), ports)


def test_the_person_reads_what_goes_along_and_what_does_not(place: Place) -> None:
    place.attach("see @a.py, @dir/f.txt and @dir with @i.png, not @nope.py nor @b.bin, @sam")
    assert place.told == [
        "Attached: a.py (3 lines), dir/f.txt (1 line), dir, i.png\n"
        "There is no file nope.py to attach.\n"
        "@b.bin was not attached: it is a binary file."
    ]
    place.told.clear()
    place.attach("ask @sam")
    assert place.told == []


def test_what_a_pipe_names_is_said_and_not_attached(place: Place) -> None:
    text = "look at @a.py\n\nfrom: @dir and @a.py and @b.bin @i.png @denied.txt @nothing.here"
    said = unread("look at @a.py", text, place.where)
    assert said.startswith("Not attached: @dir, @b.bin, @i.png and 1 more. ")
    assert unread(text, text, place.where) == ""
    assert unread("", "mail me@example.org, @decorator", place.where) == ""


def test_names_that_cannot_be(place: Place) -> None:
    assert place.attach("@" + "x" * 5_000) == []
    assert place.attach("@a\0b") == []
    closed = place.root / "closed"
    closed.mkdir(mode=0o000)
    assert len(place.attach("@closed/x @closed")) <= 1
    closed.chmod(0o700)
