"""Every place where outside text is drawn, against everything that acts, hides or misleads."""

from __future__ import annotations

import re
import unicodedata
from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatewright.tui.display import OTHER_NAMES, PLACES, SEQUENCES, STREAMED, display
from gatewright.tui.line import Line, Span
from gatewright.tui.style.look import Look
from tests.fakes.examples import many

ROWS = (STREAMED, *PLACES)
PROMPTS = [place for place in PLACES if place.startswith("prompt_")]
SGR = re.compile(r"\x1b\[[0-9;]*m")
LINK = re.compile(r"\x1b\]8;(?:id=[0-9a-f]{8};(?:https?|file)://?[!-~]+|;)\x1b\\")
SET_TITLE = re.compile(r"\x1b\]0;[^\x00-\x1f\x7f-\x9f]{0,700}\x07")
NOTIFIES = re.compile(
    r"\x07\x1b\]9;[^\x00-\x1f\x7f-\x9f]{0,2000}\x07\x1b\]777;notify;[^;\x00-\x1f\x7f-\x9f]{0,700};"
    r"[^;\x00-\x1f\x7f-\x9f]{0,1400}\x07"
)
ACTS = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c"
    "\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\ud800-\udfff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0100-\U000e01ef\U000f0000-\U0010ffff]"
)
HIDES = [
    *"\x00\x05\x07\b\x0b\x0c\r\x0e\x0f\x1a\x1b\x7f\x80\x84\x85\x8d\x90\x98\x9b\x9c\x9d\x9e\x9f",
    *"\xad\u034f\u061c\u070f\u115f\u1160\u17b4\u180b\u180e\u200b\u200c\u200e\u200f\u2028\u2029",
    *"\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2064\u2066\u2067\u2068\u2069\u206a\u206f\u3164",
    *"\ufe00\ufe0e\ufe0f\ufeff\uffa0\ufff9\ufffa\ufffb\ufffe\uffff\ufdd0\ud800\udfff\u200d",
    *"\U0001bca0\U0001d159\U0001d173\U0001fffe\U000e0001\U000e0041\U000e007f\U000e0100\U000e01ef",
    *"\U000f0000\U0010ffff\U00013430\U0001f3fd\U0001f1e9\u1161\u0301\u0e49\u20e3",
]
SEQUENCE_TEXTS = [
    *("\x1b[31m", "\x1b[2J", "\x1b[1;1H", "\x1b[?1049h", "\x1b[8m", "\x1b[", "\x1b[>0;1", "\x1bc"),
    *("\x1b7", "\x1b(0", "\x1b#8", "\x1b]0;t\x07", "\x1b]2;t\x1b\\", "\x1b]52;c;aGk=\x07", "\x1b]"),
    *(
        "\x1b]8;;http://h/\x1b\\",
        "\x1b]8;;javascript:x\x07",
        "\x1b]1337;File=:\x07",
        "\x1bP+q\x1b\\",
    ),
    *(
        "\x1b_x\x1b\\",
        "\x1b^x\x1b\\",
        "\x1bXx\x1b\\",
        "\x9b31m",
        "\x9d0;t\x9c",
        "\x90q",
        "\x1b\\",
        "\x9c",
    ),
    *(
        "\x1bPtmux;\x1b\x1b]52;c;x\x07\x1b\\",
        "\x1b]9;4;1;50\x07",
        "\x1b[6n",
        "\x1b[5i",
        "\x1b[201~",
    ),
]
WORDS = [
    *(
        "a",
        "rm -rf ",
        " ",
        "\t",
        "\n",
        "\r\n",
        "  ",
        " " * 60,
        "\n" * 9,
        "x" * 130,
        "<U+200B>",
        "-" * 4,
    ),
    *(
        "[red]",
        "[/]",
        "[link=x]",
        "[@click=a]",
        "[bold",
        "<b>",
        "<!-- -->",
        "&#x1b;",
        "&#8238;",
        "&nbsp;",
    ),
    *(
        "[t](http://h/)",
        "](",
        "![i](http://h/)",
        "<http://h/\u0430>",
        "```\n",
        "`",
        "~~~",
        "- ",
        "# ",
    ),
    *("| a | b |\n|---|---|\n", "> ", "1. ", "[r]: http://h/\n", "[r]", "**", "\\", "http://h/"),
    *(
        "\u6f22\u5b57",
        "\uac00",
        "\u1112\u1161\u11ab",
        "\u0e01\u0e33",
        "\u0939\u093f\u0928\u094d\u0926\u0940",
    ),
    *(
        "\u0645\u064f",
        "\u05e9\u05c1",
        "e\u0301",
        "\xa0",
        "\u3000",
        "\u2003",
        "\u2800",
        "\ue0b0",
        "\u2014",
    ),
    *("\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f1e9\U0001f1ea", "\U0001f44d\U0001f3fd"),
    *("1\ufe0f\u20e3", "\u2764\ufe0f", "\U0001f3f3\ufe0f\u200d\U0001f308", "Z" + "\u0334" * 30),
]
HOSTILE = st.lists(
    st.sampled_from(HIDES)
    | st.sampled_from(SEQUENCE_TEXTS)
    | st.sampled_from(WORDS)
    | st.text(max_size=3),
    max_size=14,
)


def cells(row: str) -> int:
    """What a terminal needs at least, counted without the product: a joined picture once."""
    row = re.sub("\u200d[\u2000-\U0001faff]\ufe0f?[\U0001f3fb-\U0001f3ff]?", "", row)
    row = re.sub("[\U0001f1e6-\U0001f1ff]{2}", "xx", row)
    row = re.sub("(?<=[\u2600-\U0001faff])[\U0001f3fb-\U0001f3ff]|[\U000e0020-\U000e007f]", "", row)
    return sum(_cells(character) for character in unicodedata.normalize("NFC", row))


def _cells(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf") or "\u1161" <= character <= "\u11ff":
        return 0
    if unicodedata.category(character) in ("Cn", "Mc"):  # newer than this Python; signs
        return 1
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def bare(output: str) -> str:
    return LINK.sub("", SGR.sub("", output))


def read(output: str) -> str:
    """The words of an answer, without where rows ended."""
    return "".join(bare(output).replace("\u258e", "").split())


@pytest.mark.parametrize("where", ROWS)
@settings(max_examples=many(60), deadline=None)
@given(parts=HOSTILE, width=st.sampled_from([40, 100, 140]))
def test_rows_are_inert_and_within_the_width(where: str, parts: list[str], width: int) -> None:
    output = display(where, parts, width=width)
    shown = bare(output)
    if where == "status_command":  # symbols of patched fonts are what such a line is for
        shown = re.sub("[\U000f0000-\U000ffffd]", "s", shown)
    assert not ACTS.search(shown), ascii(shown)
    assert all(cells(row) <= width for row in shown.split("\n")), ascii(shown)
    assert all(not row or row.endswith("\x1b[0m") for row in output.split("\n"))
    assert output.count("\x1b]8;id") == output.count("\x1b]8;;")


@pytest.mark.parametrize("where", ROWS)
@settings(max_examples=many(25), deadline=None)
@given(parts=HOSTILE, cut=st.integers(1, 6))
def test_it_does_not_matter_how_a_text_arrives(where: str, parts: list[str], cut: int) -> None:
    text = "".join(parts)
    whole = display(where, [text])
    assert display(where, parts) == whole
    assert display(where, [text[at : at + cut] for at in range(0, len(text), cut)]) == whole


@settings(max_examples=many(300), deadline=None)
@given(parts=HOSTILE)
def test_titles_and_notifications_are_one_sequence_each(parts: list[str]) -> None:
    assert SET_TITLE.fullmatch(display("title", parts))
    assert NOTIFIES.fullmatch(display("notification", parts))
    assert NOTIFIES.fullmatch(display("notification_title", parts))
    assert not ACTS.search(display("farewell", parts))


@pytest.mark.parametrize("where", PROMPTS)
@pytest.mark.parametrize("character", HIDES)
def test_questions_spell_out_what_is_hidden(where: str, character: str) -> None:
    mark = unicodedata.category(character) in ("Mn", "Me")
    if mark and not ACTS.match(character) and not 0xFE00 <= ord(character) <= 0xFE0F:
        return  # it is seen on its letter
    assert f"a<U+{ord(character):04X}>b" in read(display(where, [f"a{character}b"]))


@pytest.mark.parametrize("blank", "\u00a0\u1680\u2000\u2003\u2009\u202f\u205f\u3000\u2800")
def test_no_blank_of_a_command_looks_like_another(blank: str) -> None:
    assert f"ls<U+{ord(blank):04X}>x" in read(display("prompt_command", [f"ls{blank}x"]))


def test_a_command_hides_nothing_far_away() -> None:
    for far, told in ((" " * 500, "<U+0020\u00d7500>"), ("\n" * 500, "<U+000A\u00d7500>")):
        output = display("prompt_command", [f"ls{far}rm -rf /"])
        assert told in read(output)
        assert "rm -rf /" in bare(output)
        assert output.count("\n") < 12
    assert "ls<U+000D>" in read(display("prompt_command", ["ls\r\nrm"]))
    assert "ls<U+0009>x" in read(display("prompt_command", ["ls\tx"]))
    assert "<U+003C>U+200B>" in read(display("prompt_command", ["<U+200B>"]))


@pytest.mark.parametrize("where", PROMPTS)
def test_a_long_question_is_complete(where: str) -> None:
    text = " ".join(f"w{number}" for number in range(900))
    if where not in ("prompt_agent",):
        assert text.replace(" ", "") in read(display(where, [text]))


def test_no_entity_breaks_a_row() -> None:
    for text in (
        "| a&#10;b&#9;c |\n|---|\n| d&#10;&#13;e |",
        "# h&#10;i",
        '[x](http://h/ "t&#10;u")',
    ):
        rows = bare(display("transcript", [text], width=60)).split("\n")
        assert {len(row) for row in rows} == {60}


def test_a_row_that_was_made_carelessly_is_inert_too() -> None:
    strip = Look().strip(Line((Span("a\x1b[2J\n\u202eb\ud800"),)), 20)
    assert strip.text == "a\ufffd[2J\ufffd\ufffdb\ufffd".ljust(20)


@pytest.mark.parametrize(
    "text",
    [
        "\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22",
        "\u0939\u093f\u0928\u094d\u0926\u0940",
        "\u0645\u064f\u062d\u064e\u0645\u0651\u064e\u062f",
        "\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd",
        "\u6f22\u5b57\u3001\u304b\u306a",
        "\ud55c\uad6d\uc5b4",
        "Ti\u1ebfng Vi\u1ec7t",
        "10\u202f000\u00a0km",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7",
        "\U0001f926\U0001f3fc\u200d\u2642\ufe0f",
        "1\ufe0f\u20e3",
        "\u2764\ufe0f",
        "\u2714\ufe0e",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "\u250c\u2500\u2510 \u28ff\u2847 \ue0b0",
    ],
)
@pytest.mark.parametrize("where", ["transcript", "user", "tool_output", "notice", "code"])
def test_what_people_write_stays_as_it_is(where: str, text: str) -> None:
    assert text in bare(display(where, [text]))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[https://good.com](https://evil.com/)", "(evil.com)"),
        ("[evil.com.good.com](https://evil.com/)", "(evil.com)"),
        ("[x](https://good.com@evil.com/)", "(https://good.com@evil.com/)"),
        ("[x](https://" + "good.com." * 20 + "evil.com/)", "evil.com)"),
        ("<https://\u0430pple.com/>", "(xn--pple-43d.com)"),
        ("see https://\u0430pple.com/ there", "(\u0430pple.comisreallyxn--pple-43d.com)"),
        ("[x](http://h:81/)", "(h:81)"),
        ("[x](file:///etc/passwd)", "[x](file:///etc/passwd)"),
        ("![x](https://evil.com/y)", "https://evil.com/y"),
        ("[x]: https://evil.com/", "https://evil.com/"),
    ],
)
def test_links_say_where_they_lead(text: str, told: str) -> None:
    assert told.replace(" ", "") in read(display("transcript", [text]))


def test_what_is_no_plain_web_address_cannot_be_followed() -> None:
    unsafe = ("javascript:alert(1)", "file:///etc/passwd", "file://host/share", "vscode://x")
    for target in ("https://good.com@evil.com/", *unsafe, "http://h/" + "x" * 3000):
        assert "\x1b]8;" not in display("transcript", [f"[x]({target})"])


def test_output_loses_sequences_and_nothing_else() -> None:
    for begun in ("\x1b]0;", "\x1b]8;;http://h", "\x1bP", "\x9d", "\x1b[1;", "\x1b"):
        assert "seen" in read(display("tool_output", [f"{begun}\u00e9seen"]))
        assert "seen" in read(display("tool_output", [begun, "x\n", "seen"]))


def test_marks_never_cover_what_stands_before_a_text() -> None:
    for where in set(ROWS) - {"unknown_block", "prompt_file"}:  # where it does not come first
        assert "<U+0301>" in read(display(where, ["\u0301x"])), where


def test_every_name_means_a_place() -> None:
    for name, place in OTHER_NAMES.items():
        assert place in {STREAMED, *PLACES, *SEQUENCES}, name
        assert name not in {STREAMED, *PLACES, *SEQUENCES}
    assert display("Tool-Output", ["x"]) == display("tool_output", ["x"])


def test_many_borders_change_nothing() -> None:
    text = "\x1b[3\x1b]52;c;x\x07\x1b[1mred\u202e\U0001f468\u200d\U0001f469\n```py\nx = 1\n```\nend"
    for where in ROWS:
        whole = display(where, [text])
        for at in accumulate([1] * (len(text) - 1)):
            assert display(where, [text[:at], text[at:]]) == whole
