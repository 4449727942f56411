"""Vim keys on a text: `|` marks the cursor before and after."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewright.tui.prompt.vim.machine import Edit, Machine
from tests.tui.stage import stage


def play(keys: str, marked: str) -> Edit:
    edit = Edit(marked.replace("|", ""), marked.index("|"))
    machine = Machine()
    for key in keys:
        machine, edit = machine.press(key, edit.text, edit.at)
        if edit.inserting:
            break
    return edit


@pytest.mark.parametrize(
    ("keys", "before", "after"),
    [
        ("w", "|one two", "one |two"),
        ("2w", "|one two three", "one two |three"),
        ("b", "one two| x", "one |two x"),
        ("e", "|one two", "on|e two"),
        ("$", "|one\ntwo", "one|\ntwo"),
        ("0", "one |two", "|one two"),
        ("^", "  on|e", "  |one"),
        ("j", "o|ne\ntwo", "one\nt|wo"),
        ("k", "one\ntw|o", "on|e\ntwo"),
        ("gg", "one\ntw|o", "|one\ntwo"),
        ("G", "o|ne\ntwo", "one\n|two"),
        ("fw", "|one two", "one t|wo"),
        ("tw", "|one two", "one |two"),
        ("Fo", "one tw|x", "|one twx"),
        ("x", "o|ne", "o|e"),
        ("3x", "|abcdef", "|def"),
        ("dw", "|one two", "|two"),
        ("db", "one |two", "|two"),
        ("de", "|one two", "| two"),
        ("d$", "one |two", "one |"),
        ("D", "one |two\nx", "one |\nx"),
        ("dd", "one\nt|wo\nthree", "one\n|three"),
        ("dd", "one\nt|wo", "|one"),
        ("2dd", "|a\nb\nc", "|c"),
        ("dj", "|a\nb\nc", "|c"),
        ("dfx", "|abxc", "|c"),
        ("yyp", "on|e\ntwo", "one\n|one\ntwo"),
        ("ddp", "|a\nb", "b\n|a"),
        ("ywP", "|one two", "one| one two"),
        ("rx", "o|ne", "o|xe"),
        ("dz", "|one", "|one"),
        ("9", "|one", "|one"),
    ],
)
def test_normal_mode(keys: str, before: str, after: str) -> None:
    edit = play(keys, before)
    assert f"{edit.text[: edit.at]}|{edit.text[edit.at :]}" == after
    assert not edit.inserting


@pytest.mark.parametrize(
    ("keys", "before", "after"),
    [
        ("i", "o|ne", "o|ne"),
        ("a", "o|ne", "on|e"),
        ("I", "  on|e", "  |one"),
        ("A", "o|ne\nx", "one|\nx"),
        ("o", "o|ne\nx", "one\n|\nx"),
        ("O", "o|ne\nx", "|\none\nx"),
        ("cw", "|one two", "| two"),
        ("cc", "one\nt|wo\nx", "one\n|\nx"),
        ("C", "one |two", "one |"),
        ("s", "|one", "|ne"),
        ("S", "o|ne\nx", "|\nx"),
    ],
)
def test_commands_that_insert(keys: str, before: str, after: str) -> None:
    edit = play(keys, before)
    assert f"{edit.text[: edit.at]}|{edit.text[edit.at :]}" == after
    assert edit.inserting


@given(st.text("abc \n", max_size=30), st.text("hjklwbe0$^GgdcyxXDCSpPuiaoOrftFT123z", max_size=30))
def test_no_keys_leave_the_text(text: str, keys: str) -> None:
    machine, edit = Machine(), Edit(text, 0)
    for key in keys:
        machine, edit = machine.press(key, edit.text, edit.at)
        assert 0 <= edit.at <= len(edit.text)


async def test_vim_keys_in_the_prompt() -> None:
    async with stage() as s:
        await s.type("/vim")
        await s.press("enter")
        await s.see("Vim keys are on")
        box = s.app.repl.box
        await s.type("one two")
        await s.press("escape")
        await s.see("NORMAL")
        await s.press("0", "d", "w")
        assert box.text == "two"
        await s.press("u")
        assert box.text == "one two"
        await s.press("A", "!", "escape", "enter")
        await s.until(lambda: s.session.sent == ["one two!"])
        await s.press("x", "i", "a")
        assert box.text == "a"
