"""Bytes of a terminal: keys are keys, and nothing that arrives ends the program."""

from __future__ import annotations

import asyncio

import pytest
from textual import events

from gatewright.tui.prompt.editor import Editor
from gatewright.tui.terminal.input import Input


def keys(*chunks: bytes) -> list[str]:
    source = Input()
    found = [message for chunk in chunks for message in source.feed(chunk)]
    return [message.key for message in found if isinstance(message, events.Key)]


@pytest.mark.parametrize(
    "noise",
    [
        b"\xff\xfe\x80\xed\xa0\x80",
        b"\x1b[1114112u",
        b"\x1b[27;5;99999999999999999999~",
        b"\x1b[<99999999999;1;1M\x1b[<;;M",
        b"\x1b[48;0;0;0;0t",
        b"\x1b[M\xff\xff\xff",
        b"\x1b[" + b"9" * 300,
    ],
)
def test_noise_ends_nothing(noise: bytes) -> None:
    assert keys(noise, b"\x1b[A", b"ok")[-3:] == ["up", "o", "k"]


@pytest.mark.parametrize(
    "answer",
    [
        b"\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\",
        b"\x1b]52;c;aGk=\x07",
        b"\x1bP>|xterm(370)\x1b\\",
        b"\x1b[?1;2c\x1b[>41;354;0c\x1b[?0u\x1b[4;600;800t\x1b[0n",
    ],
)
def test_answers_of_the_terminal_are_not_typed(answer: bytes) -> None:
    assert keys(b"a" + answer + b"b") == ["a", "b"]


def test_a_character_may_come_in_halves() -> None:
    assert keys(b"\xe6\xbc", b"\xa2") == ["\u6f22"]
    assert keys(b"\x1b[97;5u", b"\x1b[13;2u") == ["ctrl+a", "shift+enter"]


def test_two_escapes_in_one_write_are_two_keys() -> None:
    found = keys(b"\x1b\x1b", b"\x1b[A")
    assert found.count("escape") == 2
    assert found[-1] == "up"
    assert keys(b"\x1b\x1bx").count("escape") <= 1, "one of them was the x's"
    assert keys(b"") == []


async def test_an_editor_is_there_from_the_moment_it_is_asked_for() -> None:
    """Two at once would each remember the line as the other had set it."""
    editor = Editor()
    task = asyncio.create_task(editor.run("text", {"VISUAL": "true"}))
    await asyncio.sleep(0)
    assert editor.running
    assert (await task).text == "text"
    assert not editor.running
