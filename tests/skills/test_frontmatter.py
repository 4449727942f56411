"""Front matter as people write it: a table of shapes, and what no text may do."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gatewright.skills.frontmatter import (
    FILE_LIMIT,
    FRONT_LIMIT,
    FrontError,
    decoded,
    read_front,
    read_front_file,
)
from gatewright.skills.yaml_values import YamlError, read_yaml

KNOWN = ("name", "description", "tools", "model", "hooks", "background", "maxTurns", "when_to_use")

# Name of the shape, front matter (between the lines ---), what is read.
SHAPES: tuple[tuple[str, str, Mapping[str, Any]], ...] = (
    ("plain", "name: a\ndescription: b c", {"name": "a", "description": "b c"}),
    ("empty", "", {}),
    ("blank lines", "\n\nname: a\n\n", {"name": "a"}),
    ("only a comment", "# nothing here", {}),
    ("comment behind", "name: a # the name", {"name": "a"}),
    ("hash in a word", "description: c#4 and f#", {"description": "c#4 and f#"}),
    ("double quotes", 'description: "a: b"', {"description": "a: b"}),
    ("single quotes", "description: 'it''s: so'", {"description": "it's: so"}),
    ("escapes in quotes", r'description: "a\nb\t\u00e9"', {"description": "a\nb\té"}),
    ("escape without quotes", r"description: a\nb", {"description": r"a\nb"}),
    ("literal block", "description: |\n  a: b\n  c", {"description": "a: b\nc\n"}),
    ("folded block", "description: >\n  a\n  b\nname: x", {"description": "a b\n", "name": "x"}),
    ("folded, no end", "description: >-\n  a\n\n  b", {"description": "a\nb"}),
    ("indented block", "description: |2\n    a\n  b", {"description": "  a\nb\n"}),
    ("over lines", "description: a\n  b\n  c", {"description": "a b c"}),
    ("flow list", "tools: [Read, Grep]", {"tools": ["Read", "Grep"]}),
    ("flow over lines", "tools: [Read,\n  Grep]", {"tools": ["Read", "Grep"]}),
    ("block list", "tools:\n  - Read\n  - Grep", {"tools": ["Read", "Grep"]}),
    ("list at the margin", "tools:\n- Read\n- Grep", {"tools": ["Read", "Grep"]}),
    ("empty list", "tools: []", {"tools": []}),
    ("nothing said", "tools:\nname: a", {"tools": None, "name": "a"}),
    ("null", "tools: null\nmodel: ~", {"tools": None, "model": None}),
    ("yes", "background: yes", {"background": True}),
    ("off", "background: off", {"background": False}),
    ("true", "background: True", {"background": True}),
    ("whole number", "maxTurns: 20", {"maxTurns": 20}),
    ("decimal", "model: 1.10", {"model": 1.1}),
    ("a date is text", "name: 2026-01-31", {"name": "2026-01-31"}),
    ("a time is text", "name: 12:30", {"name": "12:30"}),
    ("octal is text", "name: 0777", {"name": "0777"}),
    ("underscores are text", "name: 1_000", {"name": "1_000"}),
    ("hexadecimal is text", "name: 0xff", {"name": "0xff"}),
    ("infinity is text", "name: .inf", {"name": ".inf"}),
    ("said to be text", "name: !!str 5", {"name": "5"}),
    ("twice: the last", "name: a\nname: b", {"name": "b"}),
    ("anchor", "tools: &t [Read]\nmodel: *t", {"tools": ["Read"], "model": ["Read"]}),
    ("merge", "hooks: {<<: {a: x, b: y}, b: z}", {"hooks": {"a": "x", "b": "z"}}),
    (
        "map in a map",
        "hooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks: [{type: command, command: ./c}]",
        {
            "hooks": {
                "PreToolUse": [
                    {"matcher": "Bash", "hooks": [{"type": "command", "command": "./c"}]}
                ]
            }
        },
    ),
    ("unicode", "description: naïve 日本語 🦊", {"description": "naïve 日本語 🦊"}),
    ("no break space", "description: a\u00a0b", {"description": "a\u00a0b"}),
    ("line separator", 'description: "a\\u2028b"', {"description": "a\u2028b"}),
    ("quoted key", '"name": a', {"name": "a"}),
    ("url", "description: see https://x.y/z?a=b", {"description": "see https://x.y/z?a=b"}),
    ("colon without blank", "description: a:b", {"description": "a:b"}),
    ("rule with brackets", "tools: Bash(git:*), Read", {"tools": "Bash(git:*), Read"}),
    ("types in brackets", "tools: Agent(a, b), Read", {"tools": "Agent(a, b), Read"}),
    # what is no YAML, and is read all the same
    ("colon and blank", "description: Use when: asked", {"description": "Use when: asked"}),
    ("colon at the end", "description: these:", {"description": "these:"}),
    ("several colons", "description: a: b: c\nname: x", {"description": "a: b: c", "name": "x"}),
    ("others stay", "description: a: b\nbackground: true", {"background": True}),
    ("numbers stay", "description: a: b\nmaxTurns: 5", {"maxTurns": 5}),
    ("lists stay", "description: a: b\ntools: [x, y]", {"tools": ["x", "y"]}),
    ("blocks stay", "description: a: b\nhooks: |\n  c: d", {"hooks": "c: d\n"}),
    (
        "an example in a line",
        r'description: Use it. <example>user: "Do: it" assistant: \n done</example>',
        {
            "description": (
                r'Use it. <example>user: "Do: it" assistant: \n done</example>'
            )
        },
    ),
    (
        "an example over lines",
        'description: Use it when:\n\n<example>\nContext: x\nuser: "y"\n</example>\ntools: Read',
        {
            "description": 'Use it when: <example> Context: x user: "y" </example>',
            "tools": "Read",
        },
    ),
    (
        "further lines with colons",
        "description: Use it\n  when: asked\nname: a",
        {"description": "Use it when: asked", "name": "a"},
    ),
    ("star", "tools: *", {"tools": "*"}),
    ("bold", "description: *very* good", {"description": "*very* good"}),
    ("at", "description: @file", {"description": "@file"}),
    ("backtick", "description: `x` does", {"description": "`x` does"}),
    ("percent", "description: %d of", {"description": "%d of"}),
    ("exclamation", "description: !important this", {"description": "!important this"}),
    ("two brackets", "description: [file] [mode]", {"description": "[file] [mode]"}),
    ("bracket, then text", "description: {a} b", {"description": "{a} b"}),
    ("quote inside", 'description: "a" and b', {"description": '"a" and b'}),
    ("quote open", "description: 'tis", {"description": "'tis"}),
    ("dash", "description: - a", {"description": "- a"}),
    ("arrow", "description: > a: b", {"description": "> a: b"}),
    ("tabs", "hooks:\n\tx:\n\t\t- y", {"hooks": {"x": ["y"]}}),
    ("tab behind", "name:\ta", {"name": "a"}),
    ("star in a list", "tools:\n  - *\n  - Read", {"tools": ["*", "Read"]}),
    ("backslash", "description: C:\\x: y", {"description": "C:\\x: y"}),
    ("control characters", "name: a\x1b[1mb", {"name": "a[1mb"}),
    ("NUL", "name: a\x00b", {"name": "ab"}),
)  # fmt: skip

# Name, whole text, line that is named.
BROKEN: tuple[tuple[str, str, int], ...] = (
    ("no end", "---\nname: a\n", 1),
    ("end of four", "---\nname: a\n----\n", 1),
    ("end further in", "---\nname: a\n  ---\n", 1),
    ("a list", "---\n- a\n- b\n---\n", 2),
    ("a text", "---\njust words\n---\n", 2),
    ("flow without end", "---\nname: a\ntools: [x,\n  y\n---\n", 5),
    ("flow without end behind a colon", "---\nname: a\ndescription: x: y\ntools: [x\n---\n", 5),
    ("nested", f"---\na: {'[' * 100_000}\n---\n", 2),
    ("nested and closed", f"---\na: {'[' * 300}{']' * 300}\n---\n", 2),
    ("unknown alias", "---\nname: *none\n---\n", 2),
    ("map as key", "---\n{a: b}: c\n---\n", 2),
    ("endless", f"---\na: {'x' * FRONT_LIMIT}\n---\n", 1),
    ("copies of copies", "---\na: &a [1, 2, 3, 4, 5, 6, 7, 8, 9, 0]\n"
     "b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\n"
     "c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\n---\n", 4),
    ("itself", "---\na: &a [*a]\n---\n", 2),
    ("itself in a map", "---\na: &a {b: *a}\n---\n", 2),
)  # fmt: skip


@pytest.mark.parametrize(
    ("front", "values"), [each[1:] for each in SHAPES], ids=[s[0] for s in SHAPES]
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_shapes(front: str, values: Mapping[str, Any], newline: str) -> None:
    text = f"---\n{front}\n---\nThe text: as it is.\n".replace("\n", newline)
    read = read_front(text, KNOWN)
    assert read is not None
    assert {key: read.values[key] for key in values} == values
    assert read.body == "The text: as it is."


@pytest.mark.parametrize(
    ("text", "line"), [each[1:] for each in BROKEN], ids=[b[0] for b in BROKEN]
)
def test_broken(text: str, line: int) -> None:
    with pytest.raises(FrontError) as caught:
        read_front(text, KNOWN)
    assert caught.value.line == line
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    "text",
    ["", "# Title\n", "text\n---\nname: a\n---\n", "--- name: a\n---\n", "----\na: b\n----\n"],
)
def test_a_document_has_no_front_matter(text: str) -> None:
    assert read_front(text) is None


def test_a_mark_of_the_encoding_and_blank_lines_may_come_first() -> None:
    for data in (
        b"\xef\xbb\xbf---\nname: a\n---\n",
        "\ufeff---\nname: a\n---\n".encode("utf-16-le"),
        "\ufeff---\nname: a\n---\n".encode("utf-16-be"),
        b"\n\n---  \nname: a\n---\t\n",
    ):
        read = read_front(decoded(data))
        assert read is not None
        assert read.values == {"name": "a"}
    read = read_front("\n\n---\nname: a\n---\n")
    assert read is not None
    assert read.lines == {"name": 4}


def test_a_rule_in_the_text_ends_nothing() -> None:
    read = read_front("---\nname: a\n---\none\n\n---\n\ntwo: b\n")
    assert read is not None
    assert read.body == "one\n\n---\n\ntwo: b"


def test_what_is_not_known_is_noted_with_the_nearest() -> None:
    read = read_front(
        "---\nname: a\ndisallowed: x\nback-ground: true\nwhenToUse: now\n---\n", KNOWN
    )
    assert read is not None
    assert [(note.line, note.text) for note in read.notes] == [
        (3, "there is no field 'disallowed': ignored"),
        (4, "there is no field 'back-ground', did you mean background"),
        (5, "there is no field 'whenToUse', did you mean when_to_use"),
    ]
    assert {note.fix for note in read.notes} == {""}  # its text says what to do


def test_what_was_taken_as_text_is_noted_with_its_line() -> None:
    read = read_front("---\nname: a\ndescription: b: c\n---\n", KNOWN)
    assert read is not None
    assert [note.line for note in read.notes] == [3]
    assert "plain text" in read.notes[0].text


def test_what_is_said_stays_as_it_was_written() -> None:
    read = read_front("---\nname: 007\nmodel: 1.10\ntools: yes\n---\n")
    assert read is not None
    assert read.said == {"name": "007", "model": "1.10", "tools": "yes"}


def test_files_that_cannot_be_used(tmp_path: Path) -> None:
    huge, pipe, bad = tmp_path / "huge.md", tmp_path / "pipe.md", tmp_path / "bad.md"
    huge.write_bytes(b"---\nname: a\n---\n" + b"x" * FILE_LIMIT)
    os.mkfifo(pipe)
    bad.write_bytes(b"---\nname: \xff\xfe\xe9\n---\nx")
    for path, why in (
        (huge, "1 MiB"),
        (pipe, "FIFO"),
        (tmp_path, "directory"),
        (tmp_path / "no", "No such"),
    ):
        with pytest.raises(FrontError, match=why):
            read_front_file(path)
    read = read_front_file(bad)
    assert read is not None
    assert read.values == {"name": "\ufffd\ufffd\ufffd"}


@given(st.text(max_size=200))
def test_no_text_ends_it(text: str) -> None:
    for whole in (text, f"---\n{text}\n---\n"):
        try:
            read = read_front(whole, KNOWN)
        except FrontError:
            continue
        assert read is None or isinstance(read.values, dict)


@given(
    st.text(
        st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters="\ufeff"),
        max_size=60,
    )
)
def test_any_line_is_a_description(text: str) -> None:
    """Whatever somebody writes behind the colon: it is read, never half of it, or it is YAML."""
    front = f"---\nname: x\ndescription: {text}\nmaxTurns: 5\n---\n"
    try:
        expected = yaml.safe_load(front[4:-4])
    except (yaml.YAMLError, ValueError):
        expected = None
    try:
        read = read_front(front, KNOWN)
    except FrontError:
        assert any(char in text for char in "[{&*\"'|>#")  # what opens something that never ends
        return
    assert read is not None
    if not isinstance(expected, dict):
        assert read.values.get("name") == "x"


WORDS = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=12)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-999, 999) | WORDS,
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(WORDS, inside, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(WORDS, PLAIN, min_size=1, max_size=5), st.booleans())
def test_what_a_writer_of_yaml_writes_is_read(values: dict[str, Any], flow: bool) -> None:
    text = yaml.safe_dump(values, default_flow_style=flow, allow_unicode=True, width=1_000)
    assert read_yaml(text).values == values


def test_a_hundred_thousand_brackets_end_in_an_error() -> None:
    for text in ("[" * 200_000, "{a: " * 100_000, "- " * 100_000, "? " * 50_000):
        with pytest.raises(YamlError):
            read_yaml(f"a: {text}" if text[0] in "[{" else text)
