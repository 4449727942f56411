"""Diffs for people: right numbers, bounded size, bounded time."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from gatewright.tools.blocks import Diff
from gatewright.tools.files.diff import diff
from gatewright.tools.files.preview import Missing, preview
from gatewright.tools.inert import inert


def applied(old: str, shown: Diff) -> list[str]:
    """The new lines that follow from the old ones and the hunks."""
    lines = old.split("\n")[:-1]
    out: list[str] = []
    at = 0
    for hunk in shown.hunks:
        out += lines[at : hunk.old_start - 1]
        assert len(out) == hunk.new_start - 1
        at = hunk.old_start - 1
        for line in hunk.lines:
            if line[0] in " -":
                assert lines[at] == line[1:]
                at += 1
            if line[0] in " +":
                out.append(line[1:])
    return out + lines[at:]


TEXTS = st.lists(st.sampled_from("abcde"), max_size=30).map(
    lambda ls: "".join(f"{x}\n" for x in ls)
)


@given(TEXTS, TEXTS)
def test_the_hunks_lead_from_old_to_new(old: str, new: str) -> None:
    shown = diff("f", old, new)
    assert applied(old, shown) == new.split("\n")[:-1]
    marks = [line[0] for hunk in shown.hunks for line in hunk.lines]
    assert (shown.added, shown.removed) == (marks.count("+"), marks.count("-"))


def test_a_small_change_of_a_large_file_is_quick() -> None:
    old = "".join(f"line {i}\n" for i in range(300_000))
    new = old.replace("line 150000\n", "changed\n")
    began = time.process_time()
    shown = diff("f", old, new)
    assert time.process_time() - began < 5
    assert (shown.added, shown.removed, len(shown.hunks)) == (1, 1, 1)
    assert shown.hunks[0].old_start == 149_998


def test_a_rewrite_of_a_large_file_is_bounded() -> None:
    old = "".join(f"old {i}\n" for i in range(50_000))
    new = "".join(f"new {i}\n" for i in range(50_000))
    began = time.process_time()
    shown = diff("f", old, new)
    assert time.process_time() - began < 5
    assert (shown.added, shown.removed) == (50_000, 50_000)
    assert sum(len(hunk.lines) for hunk in shown.hunks) <= 2001


def test_what_is_shown_is_inert() -> None:
    shown = diff("f", "", "\x1b[2J\u202e\r\n")
    assert shown.hunks[0].lines == ("+\u241b[2J\\u202e",)


def test_a_preview_keeps_head_and_tail() -> None:
    text = "\n".join(str(i) for i in range(1000))
    shown, hidden = preview(text)
    assert shown.startswith("0\n1\n") and shown.endswith("\n999") and hidden == 900
    assert preview("short") == ("short", 0)
    assert len(preview("x" * 100_000)[0]) < 500


def test_a_preview_counts_what_was_missing_before() -> None:
    text = "\n".join(["one", "two", "", "[9 lines left out]", "", "twelve"])
    assert preview(text, Missing(9, 2)) == ("one\ntwo\n[... 9 lines]\ntwelve", 9)
    many = [str(n) for n in range(40)]
    text = "\n".join([*many, "", "[60 lines left out]", "", *many])
    shown, hidden = preview(text, Missing(60, 40))
    assert hidden == 140 - 30 - 40 and len(shown.split("\n")) == 30 + 1 + 40


@given(st.text())
def test_inert_text_has_nothing_a_terminal_obeys(text: str) -> None:
    for char in inert(text):
        assert char in "\n\t" or (ord(char) >= 32 and not 0x7F <= ord(char) < 0xA0)
        assert char not in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f"
    assert inert(inert(text)) == inert(text)


@given(st.text(alphabet="ab\n\t xyz09[];m"))
def test_plain_text_is_left_alone(text: str) -> None:
    assert inert(text) == text
