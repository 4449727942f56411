"""Every key of the screen with what it does: `/keys` shows it. Data only.

What people need most stands first, in a word or two each, where there is room for two columns.
"""

from __future__ import annotations

from typing import NamedTuple


class Key(NamedTuple):
    keys: str
    help: str


KEYS: tuple[Key, ...] = (
    Key("Enter", "Send"),
    Key("Shift+Enter, Alt+Enter, Ctrl+J, \\ Enter", "New line"),
    Key(
        "Up, Down",
        "Earlier and later messages, at the first and last line; what waits comes back first",
    ),
    Key("Down", "Into the list of agents, when the prompt is empty; Esc leads back"),
    Key("Ctrl+R", "Search what was sent before"),
    Key("Esc", "Close the list, else stop the turn; queued messages return to the prompt"),
    Key("Esc Esc", "Empty the prompt; when it is empty, go back to an earlier message"),
    Key("Ctrl+C", "Stop the turn, queued messages return; else empty the prompt; twice leaves"),
    Key("Ctrl+D", "Leave, when the prompt is empty"),
    Key("Shift+Tab", "Next permission mode"),
    Key("Ctrl+B", "Let running commands and agents go on in the background; else a character back"),
    Key("Ctrl+O", "Open the tool output in view; again opens all of them, again closes them"),
    Key("Ctrl+X", "Fold the list of steps to the current one, or unfold it"),
    Key("Ctrl+T", "Read and search the whole conversation"),
    Key(
        "Up, Down, Enter",
        "Choose an answer when asked; its letter answers too, while the prompt is empty",
    ),
    Key("Page Up, Page Down", "Scroll, what is asked about first; Shift+Up, Shift+Down by one row"),
    Key("Ctrl+Home, Ctrl+End", "First message, and back to the end"),
    Key("/", "Commands"),
    Key("@", "Files"),
    Key("!", "Run a command of your own"),
    Key("#", "Keep a line in the project's memory"),
    Key("?", "These keys, when the prompt is empty"),
    Key("Ctrl+S", "Put the draft aside, or take it back"),
    Key("Ctrl+G", "Write in your editor"),
    Key("Ctrl+A, Ctrl+E", "Start and end of the line"),
    Key("Alt+B, Alt+F", "A word back and forth"),
    Key("Ctrl+K, Ctrl+U, Ctrl+W, Alt+D", "Cut to the end, to the start, the word before, after"),
    Key("Ctrl+Y, Alt+Y", "Paste what was cut, then what was cut before"),
    Key("Ctrl+V", "Attach the picture of the clipboard, else paste what was copied here"),
    Key("Ctrl+_, Alt+Z", "Undo, redo"),
    Key("Ctrl+Z", "Back to the shell; `fg` comes back here"),
    Key("Ctrl+L", "Paint the screen again"),
    Key("Mouse", "Wheel scrolls; drag selects and copies"),
)

BRIEF: tuple[tuple[str, tuple[Key, ...]], ...] = (
    (
        "Writing",
        (
            Key("Enter", "send"),
            Key("Ctrl+J", "new line"),
            Key("/  @", "commands, files"),
            Key("!  #", "shell, memory"),
            Key("Up, Down", "what was sent before"),
            Key("Ctrl+R", "search it"),
            Key("Ctrl+S", "put the draft aside"),
            Key("Ctrl+G", "write in your editor"),
            Key("Ctrl+V", "attach a picture"),
            Key("Ctrl+U", "cut, Ctrl+_ undoes"),
            Key("Esc Esc", "empty it, or go back"),
        ),
    ),
    (
        "While it works",
        (
            Key("Esc", "stop"),
            Key("Ctrl+B", "on in the background"),
            Key("Shift+Tab", "next permission mode"),
            Key("Ctrl+O", "open tool output"),
            Key("Ctrl+T", "read and search all"),
            Key("Ctrl+X", "fold the steps"),
            Key("PgUp, PgDn", "scroll"),
            Key("Ctrl+End", "to the newest"),
            Key("Ctrl+Z", "to the shell, fg returns"),
            Key("Ctrl+C", "stop, twice leaves"),
            Key("Ctrl+D", "leave"),
        ),
    ),
)
