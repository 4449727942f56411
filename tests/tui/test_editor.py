"""The person's own editor in a real pty: whatever it does, screen and draft come back."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from gatewright.tui.prompt.editor import Edited, Editor, editor
from tests.tui.test_terminal import READY, child, restored

PROMPT = "\u276f "


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("command", "after", "told"),
    [
        ("true", "old draft", ""),
        ("sed -i s/old/new/", "new draft", ""),
        ("false", "old draft", "false ended with 1"),
        ("nosuch-editor", "old draft", "nosuch-editor could not be used (No such file"),
        ("'half", "old draft", "EDITOR cannot be read"),
        ("rm", "old draft", "rm could not be used"),
    ],
)
def test_the_screen_comes_back_with_the_draft(command: str, after: str, told: str) -> None:
    with child("prose", EDITOR=command) as terminal:
        terminal.wait_for(READY, "the notes")
        for turn in range(3):  # each time anew, more often than a queue of writes is long
            terminal.send("old draft" if not turn else "")
            terminal.wait_for(f"{PROMPT}old draft" if not turn else f"{PROMPT}{after}")
            before = terminal.raw.count(b"\x1b[?1049h")
            terminal.press("ctrl+g")
            terminal.wait_until(lambda _: terminal.raw.count(b"\x1b[?1049h") > before)  # noqa: B023
            terminal.wait_for(READY, f"{PROMPT}{after}", *([told] if told else []))
        terminal.send("!")
        terminal.wait_for(f"{PROMPT}{after}!")
        terminal.press("ctrl+c", "ctrl+d")
        assert terminal.wait_exit() == 0
        restored(bytes(terminal.raw))


@pytest.mark.e2e
def test_what_happens_meanwhile_does_not_write_over_the_editor(tmp_path: Path) -> None:
    go = tmp_path / "go"
    script = f"sh -c 'echo EDITING; until test -e {go}; do sleep 0.05; done' -"
    with child("until", EDITOR=script, UNTIL=str(go)) as terminal:
        terminal.wait_for(READY)
        terminal.press("ctrl+g")
        terminal.wait_for("EDITING")
        begun = len(terminal.raw)
        with pytest.raises(AssertionError):
            terminal.wait_until(lambda _: len(terminal.raw) > begun, within=1)
        go.touch()
        terminal.wait_for("THE-END")


@pytest.mark.e2e
def test_keys_of_the_editor_do_not_end_the_program() -> None:
    with child("prose", EDITOR="sh -c 'echo EDITING; exec sleep 60' -") as terminal:
        terminal.wait_for(READY)
        terminal.press("ctrl+g")
        terminal.wait_for("EDITING")
        terminal.press("ctrl+c")
        terminal.wait_for(READY, "sh ended with -2")


@pytest.mark.e2e
def test_a_signal_ends_the_editor_and_the_program() -> None:
    with child("prose", EDITOR="sh -c 'echo EDITING; exec sleep 60' -") as terminal:
        terminal.wait_for(READY)
        terminal.press("ctrl+g")
        terminal.wait_for("EDITING")
        terminal.kill(signal.SIGTERM)
        assert terminal.wait_exit() == 128 + signal.SIGTERM
        restored(bytes(terminal.raw))


def test_the_editor_is_what_the_person_set(tmp_path: Path) -> None:
    found = {}
    for name in ("vi", "code", "vim"):
        (tmp_path / name).touch(0o755)
        found[name] = str(tmp_path / name)
    path = {"PATH": str(tmp_path)}
    assert editor({**path, "EDITOR": "code -w", "VISUAL": "vim"}) == [found["vim"]]
    assert editor({**path, "EDITOR": "code -w"}) == [found["code"], "-w"]
    (tmp_path / "vim").unlink()
    assert editor(path) == [found["vi"]]
    assert editor({**path, "EDITOR": "./mine"}) == ["./mine"]
    assert editor({"PATH": "/nonexistent"}) == []


async def test_no_editor_is_told() -> None:
    edited = await Editor().run("draft", {"PATH": "/nonexistent"})
    assert edited == Edited("draft", "There is no editor here: set EDITOR to the one you like.")
