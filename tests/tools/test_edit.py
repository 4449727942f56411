"""Edit and MultiEdit: bytes outside the change are identical, or the refusal is clear."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatewright.tools.blocks import Diff, plain
from gatewright.tools.files import fs, match
from gatewright.tools.protocol import ToolContext, ToolFailure
from tests.fakes.examples import many
from tests.fakes.toolbox import Toolbox, text


async def edited(box: Toolbox, before: bytes, old: str, new: str, **more: object) -> bytes:
    path = box.root / "file.txt"
    path.write_bytes(before)
    box.ledger.note(path, before)
    await box.said("Edit", file_path="file.txt", old_string=old, new_string=new, **more)
    return path.read_bytes()


async def refusal(box: Toolbox, before: bytes, old: str, new: str, **more: object) -> str:
    path = box.root / "file.txt"
    path.write_bytes(before)
    box.ledger.note(path, before)
    said = await box.refused("Edit", file_path="file.txt", old_string=old, new_string=new, **more)
    assert path.read_bytes() == before
    assert [entry.name for entry in box.root.iterdir()] == ["file.txt"]
    return said


UTF16 = "\ufeffeins\r\nzwei ä\r\ndrei\r\n"

MATRIX = {
    "plain": (b"a\nb\nc\n", "b", "B", b"a\nB\nc\n"),
    "crlf": (b"a\r\nb\r\nc\r\n", "a\nb\n", "a\nB\nnew\n", b"a\r\nB\r\nnew\r\nc\r\n"),
    "crlf, one line becomes two": (b"a\r\nb\r\n", "b", "b\nc", b"a\r\nb\r\nc\r\n"),
    "crlf given": (b"a\r\nb\r\n", "a\r\nb", "a\r\nx", b"a\r\nx\r\n"),
    "cr": (b"a\rb\rc\r", "a\nb", "a\nx\ny", b"a\rx\ry\rc\r"),
    "mixed": (b"a\r\nb\nc\r\nd\n", "b\nc", "b\nC", b"a\r\nb\nC\r\nd\n"),
    "utf-8 bom": (b"\xef\xbb\xbfa\nb\n", "a", "x", b"\xef\xbb\xbfx\nb\n"),
    "latin-1": (b"caf\xe9\nna\xefve\n", "caf\xe9", "th\xe9", b"th\xe9\nna\xefve\n"),
    "one stray byte": (b"\xc3\xa4 \xff b\n", "b", "c", b"\xc3\xa4 \xff c\n"),
    "utf-16 le": (
        UTF16.encode("utf-16-le"),
        "zwei ä\ndrei",
        "zwei ö\ndrei",
        UTF16.replace("ä", "ö").encode("utf-16-le"),
    ),
    "utf-16 be": (
        UTF16.encode("utf-16-be"),
        "zwei",
        "2",
        UTF16.replace("zwei", "2").encode("utf-16-be"),
    ),
    "no final newline": (b"a\nb", "b", "c", b"a\nc"),
    "final newline removed on purpose": (b"a\nb\n", "b\n", "b", b"a\nb"),
    "trailing space in the file": (b"a  \nb\t\nc\n", "a\nb\nc", "a\nB\nc", b"a  \nB\t\nc\n"),
    "trailing space given": (b"a\nb\n", "a  \nb", "a  \nc", b"a\nc\n"),
    "curly quotes": (
        "say \u201chi\u201d it\u2019s\nend\n".encode(),
        'say "hi" it\'s\nend',
        'say "hi" it\'s\nEND',
        "say \u201chi\u201d it\u2019s\nEND\n".encode(),
    ),
    "tabs in the file, spaces given": (
        b"if x:\n\ta = 1\n\tb = 2\n",
        "    a = 1\n    b = 2",
        "    a = 1\n    b = 3",
        b"if x:\n\ta = 1\n\tb = 3\n",
    ),
    "deeper in the file": (
        b"class A:\n    def f(self):\n        return 1\n",
        "def f(self):\n    return 1",
        "def f(self):\n    x = 1\n    return x",
        b"class A:\n    def f(self):\n        x = 1\n        return x\n",
    ),
    "an invisible last line": (b"\n\n\n", "\n\n\n", "x\n", b"x\n"),
    "surrogate pair": ("a😀b\n".encode(), "😀", "😁", "a😁b\n".encode()),
    "form feed is no line end": (b"a\x0cb\nc\n", "c", "d", b"a\x0cb\nd\n"),
}


@pytest.mark.parametrize("case", MATRIX.values(), ids=MATRIX.keys())
async def test_matrix(box: Toolbox, case: tuple[bytes, str, str, bytes]) -> None:
    before, old, new, after = case
    assert await edited(box, before, old, new) == after


REFUSED = {
    "not there": (b"alpha\nbeta\n", "gamma delta", "x", "not in the file"),
    "twice": (b"a\nb\na\n", "a", "x", "2 times (lines 1, 3)"),
    "twice up to trailing space": (b"a b \n c\na b  \n c\n", "a b\n c", "x", "2 times"),
    "twice up to indentation": (b"  a\n    a\n", "\ta", "x", "2 times"),
    "binary": (b"a\0b", "a", "x", "binary"),
    "no place in latin-1": (b"caf\xe9\n", "caf", "\u20ac", "latin-1"),
    "odd utf-16": (b"\xff\xfea\0b", "a", "x", "utf-16"),
    "nothing to change": (b"a\n", "a", "a", "the same"),
    "empty": (b"", "a", "b", "not in the file"),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED.keys())
async def test_refused(box: Toolbox, case: tuple[bytes, str, str, str]) -> None:
    before, old, new, why = case
    assert why in await refusal(box, before, old, new)


async def test_a_miss_shows_the_nearest_text(box: Toolbox) -> None:
    before = b"def one():\n    return 1\n\n\ndef two():\n    return 2\n"
    said = await refusal(box, before, "def tow():\n    return 2", "x")
    assert "     5\tdef two():\n     6\t    return 2" in said


async def test_the_step_that_matched_is_said(box: Toolbox) -> None:
    path = box.root / "file.txt"
    path.write_bytes(b"a  \nb\n")
    await box.said("Read", file_path="file.txt")
    said = await box.said("Edit", file_path="file.txt", old_string="a\nb", new_string="a\nc")
    assert "Matched up to quotes, line endings and trailing space." in said


async def test_replace_all(box: Toolbox) -> None:
    assert await edited(box, b"a b a\r\na", "a", "x", replace_all=True) == b"x b x\r\nx"


async def test_the_result_is_a_diff_with_counts(box: Toolbox) -> None:
    path = box.root / "file.txt"
    path.write_text("".join(f"{i}\n" for i in range(20)), encoding="utf-8")
    await box.said("Read", file_path="file.txt")
    result = await box.call("Edit", file_path="file.txt", old_string="9\n", new_string="nine\n")
    assert not result.ok  # 9 and 19
    result = await box.call("Edit", file_path="file.txt", old_string="\n9\n", new_string="\nIX\n")
    (block,) = result.view
    assert isinstance(block, Diff)
    (hunk,) = block.hunks
    assert (block.path, block.added, block.removed) == ("file.txt", 1, 1)
    assert (hunk.old_start, hunk.new_start) == (7, 7)
    assert hunk.lines == (" 6", " 7", " 8", "-9", "+IX", " 10", " 11", " 12")
    assert result.summary == "+1 -1"


class TestUnread:
    async def test_a_file_must_have_been_read(self, box: Toolbox) -> None:
        (box.root / "a").write_text("x\n", encoding="utf-8")
        said = await box.refused("Edit", file_path="a", old_string="x", new_string="y")
        assert "was not read yet" in said

    async def test_a_change_since_is_refused(self, box: Toolbox) -> None:
        path = box.root / "a"
        path.write_text("x\n", encoding="utf-8")
        await box.said("Read", file_path="a")
        path.write_text("x \n", encoding="utf-8")
        said = await box.refused("Edit", file_path="a", old_string="x", new_string="y")
        assert "changed since" in said
        path.write_text("x\n", encoding="utf-8")  # touched, but the same again
        await box.said("Edit", file_path="a", old_string="x", new_string="y")

    async def test_own_edits_need_no_new_read(self, box: Toolbox) -> None:
        (box.root / "a").write_text("1\n", encoding="utf-8")
        await box.said("Read", file_path="a")
        await box.said("Edit", file_path="a", old_string="1", new_string="2")
        await box.said("Edit", file_path="a", old_string="2", new_string="3")

    async def test_showing_it_with_cat_counts(self, box: Toolbox) -> None:
        (box.root / "a b").write_text("1\n", encoding="utf-8")
        await box.said("Bash", command="echo $(cat 'a b')")
        await box.refused("Edit", file_path="a b", old_string="1", new_string="2")
        await box.said("Bash", command="cat 'a b'")
        await box.said("Edit", file_path="a b", old_string="1", new_string="2")

    async def test_a_missing_file_names_near_ones(self, box: Toolbox) -> None:
        (box.root / "settings.py").write_text("1\n", encoding="utf-8")
        said = await box.refused("Edit", file_path="setings.py", old_string="1", new_string="2")
        assert "Near names there: settings.py" in said


class TestKept:
    async def test_mode_bits(self, box: Toolbox) -> None:
        path = box.root / "file.txt"
        path.touch()
        path.chmod(0o754)
        await edited(box, b"a\n", "a", "b")
        assert stat.S_IMODE(path.stat().st_mode) == 0o754

    async def test_a_link_stays_a_link(self, box: Toolbox) -> None:
        target = box.root / "real.txt"
        target.write_text("a\n", encoding="utf-8")
        (box.root / "link").symlink_to("real.txt")
        await box.said("Read", file_path="link")
        await box.said("Edit", file_path="link", old_string="a", new_string="b")
        assert (box.root / "link").is_symlink()
        assert target.read_text(encoding="utf-8") == "b\n"

    async def test_hard_links_stay_one_file(self, box: Toolbox) -> None:
        one, other = box.root / "one", box.root / "other"
        one.write_text("a long line\n", encoding="utf-8")
        os.link(one, other)
        await box.said("Read", file_path="one")
        await box.said("Edit", file_path="one", old_string="a long line", new_string="b")
        assert other.read_text(encoding="utf-8") == "b\n"
        assert one.stat().st_nlink == 2

    async def test_a_read_only_file_is_refused(self, box: Toolbox) -> None:
        path = box.root / "file.txt"
        path.write_text("a\n", encoding="utf-8")
        path.chmod(0o444)
        await box.said("Read", file_path="file.txt")
        said = await box.refused("Edit", file_path="file.txt", old_string="a", new_string="b")
        assert "read-only" in said
        assert path.read_text(encoding="utf-8") == "a\n"

    async def test_a_huge_file_is_refused_at_once(self, box: Toolbox) -> None:
        path = box.root / "file.txt"
        with path.open("wb") as file:
            file.truncate(200 * 1024 * 1024)
        said = await box.refused("Edit", file_path="file.txt", old_string="a", new_string="b")
        assert "209,715,200 bytes" in said

    @pytest.mark.parametrize("what", ["directory", "fifo", "device"])
    async def test_only_regular_files(self, box: Toolbox, what: str) -> None:
        path = box.root / "it"
        if what == "directory":
            path.mkdir()
        elif what == "fifo":
            os.mkfifo(path)
        else:
            path.symlink_to("/dev/zero")
        said = await box.refused("Edit", file_path="it", old_string="a", new_string="b")
        assert "not a regular file" in said


class TestRaces:
    async def test_a_link_swapped_after_the_decision_is_refused(
        self, box: Toolbox, tmp_path: Path
    ) -> None:
        judged, other = box.root / "judged", tmp_path / "outside"
        for path in (judged, other):
            path.write_text("a\n", encoding="utf-8")
        link = box.root / "link"
        link.symlink_to(judged)
        await box.said("Read", file_path="link")
        box.ledger.note(other, b"a\n")
        box.set(real={link: judged})
        link.unlink()
        link.symlink_to(other)
        said = await box.refused("Edit", file_path="link", old_string="a", new_string="b")
        assert "nobody agreed to" in said
        assert other.read_text(encoding="utf-8") == "a\n"

    async def test_a_directory_swapped_for_a_link_is_refused(
        self, box: Toolbox, tmp_path: Path
    ) -> None:
        inside, outside = box.root / "dir", tmp_path / "outside"
        for directory in (inside, outside):
            directory.mkdir()
            (directory / "f").write_text("a\n", encoding="utf-8")
        await box.said("Read", file_path="dir/f")
        box.ledger.note(outside / "f", b"a\n")
        box.set(real={box.root / "dir/f": inside / "f"})
        (inside / "f").unlink()
        inside.rmdir()
        inside.symlink_to(outside)
        await box.refused("Edit", file_path="dir/f", old_string="a", new_string="b")
        assert (outside / "f").read_text(encoding="utf-8") == "a\n"

    async def test_a_writer_in_between_is_noticed(
        self, box: Toolbox, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = box.root / "file.txt"
        path.write_text("a\n", encoding="utf-8")
        await box.said("Read", file_path="file.txt")
        reading = fs.reading

        def disturbed(asked: Path, ctx: ToolContext) -> bytes:
            data = reading(asked, ctx)
            asked.write_text("a and more\n", encoding="utf-8")
            return data

        monkeypatch.setattr(fs, "reading", disturbed)
        said = await box.refused("Edit", file_path="file.txt", old_string="a", new_string="b")
        assert "changed just now" in said
        assert path.read_text(encoding="utf-8") == "a and more\n"


class TestMultiEdit:
    async def test_in_order(self, box: Toolbox) -> None:
        (box.root / "f").write_bytes(b"one\r\ntwo\r\n")
        await box.said("Read", file_path="f")
        edits = [
            {"old_string": "one", "new_string": "1"},
            {"old_string": "1\ntwo", "new_string": "1\n2\n3"},
        ]
        await box.said("MultiEdit", file_path="f", edits=edits)
        assert (box.root / "f").read_bytes() == b"1\r\n2\r\n3\r\n"

    async def test_all_or_nothing(self, box: Toolbox) -> None:
        (box.root / "f").write_text("one\ntwo\n", encoding="utf-8")
        await box.said("Read", file_path="f")
        edits = [
            {"old_string": "one", "new_string": "1"},
            {"old_string": "three", "new_string": "3"},
        ]
        said = await box.refused("MultiEdit", file_path="f", edits=edits)
        assert "Edit 2 of 2 (nothing was changed)" in said
        assert (box.root / "f").read_text(encoding="utf-8") == "one\ntwo\n"


# -- properties -------------------------------------------------------------------------------

LETTERS = "ab \t'\u2019\u00e9"
ENDINGS = (("\n",), ("\r\n",), ("\r",), ("\n", "\r\n"))


@st.composite
def files(draw: st.DrawFn) -> tuple[bytes, str]:
    encoding = draw(st.sampled_from(("utf-8", "utf-16", "latin-1")))
    letters = LETTERS.replace("\u2019", "") if encoding == "latin-1" else LETTERS
    ends = st.sampled_from(draw(st.sampled_from(ENDINGS)))
    lines = draw(st.lists(st.text(alphabet=letters, max_size=8), min_size=1, max_size=8))
    body = "".join(line + draw(ends) for line in lines)
    body = body[: -draw(st.integers(1, 2))] if draw(st.booleans()) else body
    return (body or "a").encode(encoding), body or "a"


def flat(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def canon(text: str) -> str:
    """The text as far as the second step of matching looks at it."""
    lines = flat(text).replace("\u2019", "'").split("\n")
    return "\n".join(line.rstrip(" \t") for line in lines)


@settings(max_examples=many(600), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(file=files(), data=st.data())
def test_a_match_changes_what_was_meant_and_nothing_else(
    file: tuple[bytes, str], data: st.DataObject
) -> None:
    raw, body = file
    start = data.draw(st.integers(0, len(body) - 1))
    old = body[start : data.draw(st.integers(start + 1, len(body)))]
    if data.draw(st.booleans()):  # as a model would write it
        old = canon(old)
    new = data.draw(st.text(alphabet="xy'\n", max_size=8))
    found = fs.decode(raw)
    if not old or old == new or old[0] == "\n" or old[-1] == "\r":
        return  # half a CR LF is never what a model means
    try:
        matched = match.find(found.text, old, new, every=False)
    except ToolFailure:
        return
    changed = match.apply(found.text, matched.spans)
    assert fs.decode(found.encode(changed)).text == changed or not changed
    if not matched.step:
        assert body.count(old) == 1
        at = body.find(old)
        assert changed.startswith(body[:at]) and changed.endswith(body[at + len(old) :])
        assert flat(changed) == flat(body[:at]) + new + flat(body[at + len(old) :])
    elif "quotes" in matched.step:
        at = canon(body).find(canon(old))
        meant = canon(body)[:at] + canon(new) + canon(body)[at + len(canon(old)) :]
        assert canon(changed) == canon(meant)
    (span,) = matched.spans
    outside = body[: span.start] + body[span.end :]
    kept = changed[: span.start] + changed[len(changed) - (len(body) - span.end) :]
    assert kept == outside


@settings(max_examples=many(300), deadline=None)
@given(st.binary(max_size=200))
def test_decoding_loses_nothing(data: bytes) -> None:
    try:
        found = fs.decode(data)
    except ToolFailure:
        return
    assert found.encode(found.text) == data


@settings(max_examples=many(200), deadline=None)
@given(
    st.text(alphabet="ab\n", max_size=30),
    st.text(alphabet="ab\n", min_size=1, max_size=6),
    st.text(alphabet="abx\n", max_size=6),
)
def test_an_exact_match_is_what_replace_does(body: str, old: str, new: str) -> None:
    if body.count(old) != 1 or body.find(old) != body.rfind(old):
        return
    spans = match.find(body, old, new, every=False).spans
    assert match.apply(body, spans) == body.replace(old, new)


async def test_text_of_a_refusal_is_for_the_model(box: Toolbox) -> None:
    result = await box.call("Edit", file_path="", old_string="", new_string=3)
    assert "`file_path`" in text(result) and "`old_string`" in text(result)
    assert "`new_string`: input should be a valid string (got 3)" in text(result)


async def test_why_it_failed_names_the_file_as_people_call_it(box: Toolbox) -> None:
    (box.root / "unread.txt").write_text("x\n", encoding="utf-8")
    result = await box.call("Edit", file_path="unread.txt", old_string="x", new_string="y")
    assert plain(result.view[0]) == "unread.txt was not read yet. Read it first."
    assert str(box.root / "unread.txt") in text(result), "the model reads the whole path"
