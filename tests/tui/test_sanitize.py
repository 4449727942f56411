"""Hostile text: whatever it holds, it cannot act on the terminal and cannot hide."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewright.tui import cells
from gatewright.tui.display import PLACES, SEQUENCES, WIDTH, display
from gatewright.tui.sanitize import Stripper, one_line, stripped, visible

OURS = re.compile(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b\x07]*\x1b\\")
ACTS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200e\u200f\ufeff]")
COMMON = ["\x1b", "[31m", "]52;c;aGk=", "\x07", "\x1b\\", "\u202e", "\u200b", "a", "\u6f22", "\n"]
MORE = [
    "&#x1b;",
    "&#8238;",
    "](http://h/",
    "[",
    "\r",
    "\b",
    "\x9b",
    "[bold]",
    "e\u0301",
    "\U0001f468\u200d\U0001f469",
    " ",
    "\t",
    "```\n",
]
HOSTILE = st.lists(st.sampled_from(COMMON + MORE) | st.text(max_size=4), max_size=20)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\r\nb", "a\nb"),
        ("\x1b[31mred", "<U+001B>[31mred"),
        ("\u202egnp.exe", "<U+202E>gnp.exe"),
        ("zero\u200bwidth", "zero<U+200B>width"),
        ("tag\U000e0041", "tag<U+E0041>"),
        ("a\u00a0b", "a\u00a0b"),
        ("\U0001f468\u200d\U0001f469", "\U0001f468\u200d\U0001f469"),
        ("\u2764\ufe0f", "\u2764\ufe0f"),
        ("a\u200db", "a<U+200D>b"),
        ("a\ufe0f", "a<U+FE0F>"),
        ("e\u0301", "e\u0301"),
        ("Z" + "\u0334" * 6, "Z" + "\u0334" * 4 + "<U+0334>" * 2),
        ("\u6f22\u5b57", "\u6f22\u5b57"),
        ("[bold]x[/bold]", "[bold]x[/bold]"),
    ],
)
def test_hidden_characters_are_spelled_out(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert visible(shown) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a\u00a0b", "a<U+00A0>b"), ("\u2764\ufe0f", "\u2764<U+FE0F>"), ("\ue0b0", "<U+E0B0>")],
)
def test_prompts_spell_out_more(text: str, shown: str) -> None:
    assert visible(text, strict=True) == shown


@pytest.mark.parametrize(
    ("chunks", "left"),
    [
        (["\x1b[31mred\x1b[0m"], "red"),
        (["\x1b]0;title\x07text"], "text"),
        (["\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\"], "link"),
        (["\x1bPdcs\x1b\\x"], "x"),
        (["\x9b31mred"], "red"),
        (["\x1b(Bx"], "x"),
        (["a\x1b", "[", "3", "1mb"], "ab"),
        (["a\x1b]52;c;aa", "aa\x1b", "\\b"], "ab"),
        (["a\x1b]52;c;aaaa\nb"], "a\x1b]52;c;aaaa\nb"),
        (["a\x1b[\x1b[1mb"], "a\x1b[b"),
        (["a\x18b"], "a\x18b"),
    ],
)
def test_sequences_are_removed_across_chunks(chunks: list[str], left: str) -> None:
    stripper = Stripper()
    assert "".join(map(stripper.feed, chunks)) + stripper.finish() == left


@given(HOSTILE, st.integers(1, 5))
def test_chunk_borders_do_not_matter(parts: list[str], size: int) -> None:
    text = "".join(parts)
    whole, pieces = Stripper(), Stripper()
    cut = [text[at : at + size] for at in range(0, len(text), size)]
    assert "".join(map(pieces.feed, cut)) + pieces.finish() == whole.feed(text) + whole.finish()


def test_progress_bars_show_their_last_state() -> None:
    assert stripped("10%\r50%\r100%\r\ndone") == "100%\ndone"
    assert stripped("N\bNA\bA _\bx |\b/\b-\bok") == "NA x ok"
    assert stripped("safe\revil ab\bc") == "safe\nevil ab<U+0008>c"


def test_one_line_is_one_line() -> None:
    assert one_line(" a\n\tb  c\u2028d ") == "a b c<U+2028>d"
    assert one_line(" a\n\tb", strict=True) == "a<U+000A><U+0009>b"


@pytest.mark.parametrize("where", PLACES)
@given(parts=HOSTILE)
def test_nothing_but_our_colours_reaches_the_terminal(where: str, parts: list[str]) -> None:
    shown = OURS.sub("", display(where, parts))
    assert not ACTS.search(shown), repr(shown)
    assert all(cells.width(row) == WIDTH for row in shown.split("\n") if shown)


@pytest.mark.parametrize("where", SEQUENCES)
@given(parts=HOSTILE)
def test_a_title_cannot_leave_its_sequence(where: str, parts: list[str]) -> None:
    body = display(where, parts)
    clean = display(where, ["x"])
    assert body.count("\x1b") == clean.count("\x1b")
    assert body.count("\x07") == clean.count("\x07")
    assert len(body) < 1000


def test_an_unknown_place_is_named() -> None:
    with pytest.raises(ValueError, match="no place nowhere"):
        display("nowhere", ["x"])


def test_links_lead_only_where_they_say() -> None:
    safe = display("transcript", ["[docs](https://example.com/a)"])
    assert "\x1b]8;" in safe
    assert "example.com" in OURS.sub("", safe)
    for target in ("javascript:alert(1)", "data:text/html,x", "vscode://x"):
        shown = display("transcript", [f"[docs]({target})"])
        assert "\x1b]8;" not in shown


def test_entities_hide_nothing() -> None:
    shown = display(
        "transcript", ["a&#x1b;[2K &#8238;b &#x200b; `&#x1b;` [x](http://a/&#x1b;]0;y)"]
    )
    assert not ACTS.search(OURS.sub("", shown))
    assert "<U+202E>b" in shown


def test_a_very_long_line_is_quick() -> None:
    shown = display("tool_output", ["x" * 300_000])
    assert shown.count("\n") > 2000
