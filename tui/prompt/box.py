"""The prompt: a text area in which Enter sends, with readline's keys and a history.

An Enter that arrives within a burst of keys is part of a paste and never sends.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.document._document import EditResult
from textual.document._edit import Edit
from textual.message import Message
from textual.timer import Timer

from gatewright.tui.early.frame import HINT
from gatewright.tui.prompt.afterwards import Afterwards
from gatewright.tui.prompt.history import History
from gatewright.tui.prompt.keyword import KeywordArea
from gatewright.tui.prompt.kill import CUTTING, Cuts
from gatewright.tui.prompt.paste import Chips, normal, seen
from gatewright.tui.prompt.vim.machine import Machine
from gatewright.tui.terminal.clipboard import clipboard_picture

BURST = 0.012  # seconds between keys below which nobody types
SETTLE = 0.03  # an Enter at the end of a burst counts after so long without another key
SCREEN_KEYS = frozenset(
    {"escape", "tab", "shift+tab", "pageup", "pagedown", "shift+up", "shift+down"}
    | {
        "ctrl+r",
        "ctrl+s",
        "ctrl+g",
        "ctrl+c",
        "ctrl+d",
        "ctrl+o",
        "ctrl+t",
        "ctrl+l",
        "ctrl+x",
        "ctrl+z",
    }
)
MOST_ROWS = 10
STARTLED = 0.6  # seconds after a question went in which an Enter was meant for it
OTHERS = 5  # rows of a small screen that are not the prompt's: status line, queue, transcript
NEWLINES = frozenset({"shift+enter", "ctrl+j", "alt+enter", "ctrl+enter"})


class Box(KeywordArea):
    """Reports what the screen has to act on as messages; knows no session."""

    FOCUS_ON_CLICK = False  # what is open above keeps the keys

    @dataclass
    class Submitted(Message):
        box: Box
        text: str

    @dataclass
    class Pressed(Message):
        """A key that means something to the screen rather than to the text."""

        box: Box
        key: str

    class Empty(Message):
        """Neither the desktop's clipboard has a picture nor ours a text."""

    @dataclass
    class Turned(Message):
        """Vim's normal mode began or ended."""

        box: Box
        inserting: bool

    def __init__(self, hint: str = HINT, *, id: str | None = None) -> None:
        super().__init__(
            id=id,
            compact=True,
            highlight_cursor_line=False,
            show_line_numbers=False,
            placeholder=Content(hint),
            max_checkpoints=200,
        )
        self.cursor_blink = False  # a blinking cursor writes 2 kB each second for nothing
        self.match_cursor_bracket = False
        self.history_ = History()
        self.cuts = Cuts(self)
        self.chips = Chips()
        self.menu_open = False
        self.waiting = False  # for a call that may be sent to the background
        self.queued = False  # something sent was not taken up yet
        self._recalled = ""  # what the history put here last
        self.edits = 0
        self._last_key = 0.0
        self._startled = 0.0  # until then, unless somebody types
        self._most = MOST_ROWS
        self._held: Timer | None = None
        self.vim: Machine | None = None  # None: vim keys are off
        self.inserting = True
        self._actions = self._key_actions()
        self.afterwards = Afterwards()
        self.told: Callable[[Box.Submitted | Box.Pressed], None] | None = None

    def _say(self, message: Box.Submitted | Box.Pressed) -> None:
        """At once where somebody listens: what is typed next comes after what this leads to."""
        if self.told is None:
            self.post_message(message)
        else:
            self.told(message)

    def _watch_show_vertical_scrollbar(self) -> None:
        """Ours has no width: nothing wraps differently, and the cursor may be out of date."""

    def _key_actions(self) -> Mapping[str, Callable[[], object]]:
        return {
            "ctrl+a": self.action_cursor_line_start,
            "ctrl+b": self._back_or_background,
            "ctrl+e": self.action_cursor_line_end,
            "ctrl+f": self.action_cursor_right,
            "alt+f": self.action_cursor_word_right,
            "alt+b": self.action_cursor_word_left,
            "ctrl+k": self.cuts.to_end,
            "ctrl+u": self.cuts.to_start,
            "ctrl+v": self._paste_picture,
            "ctrl+w": self.cuts.word,
            "alt+d": self.cuts.word_right,
            "ctrl+y": self.cuts.yank,
            "alt+y": self.cuts.turn,
            "ctrl+underscore": self.action_undo,
            "ctrl+shift+z": self.action_redo,
            "alt+z": self.action_redo,
        }

    async def _on_key(self, event: events.Key) -> None:
        gap = event.time - self._last_key
        self._last_key = event.time
        if self._held is not None:
            self._held.stop()
            self._held = None
            self.insert("\n")
        key = event.key
        vim = self.vim is not None
        if self._meant_for_a_question(key, event.time) or (
            vim and self._vim(key, event.character or "")
        ):
            event.stop()
            event.prevent_default()
        elif key == "enter":
            event.stop()
            event.prevent_default()
            if gap < BURST:  # also with a menu: what was typed last may have closed it by then
                self._held = self.set_timer(SETTLE, self._release)
            else:
                await self.afterwards.sending(self._entered)
        elif key in NEWLINES:
            event.stop()
            event.prevent_default()
            self.insert("\n")
        elif self._consumes(key):
            event.stop()
            event.prevent_default()
        else:
            self.cuts.ring.other_key()
            for binding in self._bindings.key_to_bindings.get(key, ())[:1]:
                event.stop()  # at once: the framework acts only after the next key was written
                event.prevent_default()
                await self.run_action(binding.action)

    def begin(self, text: str, at: int, last: float) -> None:
        """Go on with a line that was typed before the screen was there; its last key came then."""
        self._last_key = last
        if text:
            self.insert(text)
            self.move_cursor((0, at))

    def startle(self) -> None:
        """A question that had the keys is gone: its Enter, pressed twice or held, sends nothing."""
        self._startled = time.monotonic() + STARTLED

    def _meant_for_a_question(self, key: str, now: float) -> bool:
        if key != "enter":
            self._startled = 0.0
        elif now < self._startled:
            self._startled = now + STARTLED  # held down, it comes again and again
            return True
        return False

    def _vim(self, key: str, character: str) -> bool:
        """Vim's share of the keys: everything printable in normal mode, Escape while inserting."""
        assert self.vim is not None
        if self.inserting:
            if key != "escape" or self.menu_open:
                return False
            self._set_inserting(on=False)
            self.action_cursor_left() if self.cursor_location[1] else None
            return True
        if not (character.isprintable() and character) or key == "question_mark":
            return False
        at = len(self.get_text_range((0, 0), self.cursor_location))
        self.vim, edit = self.vim.press(character, self.text, at)
        if edit.undo:
            self.action_undo()
        elif edit.text != self.text:
            self.replace(edit.text, (0, 0), self.document.end)
        if not edit.undo:
            before = edit.text[: edit.at]
            self.move_cursor((before.count("\n"), len(before) - before.rfind("\n") - 1))
        if edit.inserting:
            self._set_inserting(on=True)
        return True

    def _set_inserting(self, *, on: bool) -> None:
        self.inserting = on
        self.post_message(self.Turned(self, inserting=on))

    def address(self, name: str) -> None:
        """Whom the prompt talks to; empty for the main agent."""
        self.placeholder = Content(f"Say something to {name}" if name else HINT)

    def fit(self, height: int) -> None:
        """Take no more rows of a screen so high than leaves the others their place."""
        self._most = max(1, min(MOST_ROWS, height - OTHERS))
        self.styles.max_height = self._most

    def lines(self) -> int:
        """Rows that the text takes on the screen."""
        return max(1, min(self._most, self.wrapped_document.height))

    def on_resize(self) -> None:
        """The text has grown beyond the box, or the box shrunk: the cursor stays in sight."""
        self.call_after_refresh(self.scroll_cursor_visible)

    def vim_mode(self) -> str:
        """Empty where vim keys are off."""
        return "" if self.vim is None else "INSERT" if self.inserting else "NORMAL"

    def use_vim(self, *, on: bool) -> None:
        """Switch vim keys on or off; inserting comes first."""
        self.vim = Machine() if on else None
        self._set_inserting(on=True)

    async def _release(self) -> None:
        self._held = None
        await self.afterwards.sending(self._entered)

    def _entered(self) -> None:
        if self.menu_open:
            self._say(self.Pressed(self, "enter"))
        else:
            self.send()

    def send(self) -> None:
        """What Enter means where no menu takes it."""
        row, column = self.cursor_location
        before = self.document.get_line(row)[:column]
        if before.endswith("\\"):
            self.replace("\n", (row, column - 1), (row, column))
            return
        text = self.text
        if text.strip():
            self._say(self.Submitted(self, text))

    def _consumes(self, key: str) -> bool:
        """Whether the key is handled here; everything else is ordinary editing."""
        action = self._actions.get(key)
        if action is not None:
            if key not in CUTTING:
                self.cuts.ring.other_key()
            action()
            return True
        if key in ("up", "down", "ctrl+p", "ctrl+n"):
            return self._vertical(key in ("up", "ctrl+p"))
        if key == "backspace" and (self._delete_chip() or self.behind_keyword()):
            return True
        if key in SCREEN_KEYS:
            self._say(self.Pressed(self, key))
            return True
        if key in ("ctrl+home", "ctrl+end") or (key == "end" and not self.text):
            self._say(self.Pressed(self, "ctrl+end" if key == "end" else key))
            return True
        if key == "question_mark" and not self.text:
            self._say(self.Pressed(self, "question_mark"))
            return True
        return False

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        shell = self.text.startswith("!")
        text = self.chips.fold(normal(event.text), shell=shell)
        self._replace_via_keyboard(text, *self.selection)
        self.call_after_refresh(self.scroll_cursor_visible)

    def _paste_picture(self) -> None:
        self.run_worker(self._pasted(), exclusive=True, group="clipboard")

    async def _pasted(self) -> None:
        """The picture of the clipboard, else what was copied here."""
        picture = await clipboard_picture()
        if picture is not None:
            self.insert(self.chips.picture(picture, "clipboard.png") + " ")
        elif self.app.clipboard:  # pyright: ignore[reportUnknownMemberType]
            self.action_paste()
        else:
            self.post_message(self.Empty())

    def _delete_chip(self) -> bool:
        """Delete the chip before the cursor whole."""
        row, column = self.cursor_location
        if self.selected_text:
            return False
        chip = self.chips.before(self.document.get_line(row)[:column])
        if chip:
            self.delete((row, column - len(chip)), (row, column))
        return bool(chip)

    def _vertical(self, up: bool) -> bool:
        if self.menu_open:
            self._say(self.Pressed(self, "up" if up else "down"))
            return True
        at_edge = self.cursor_at_first_line if up else self.cursor_at_last_line
        if not at_edge:
            (self.action_cursor_up if up else self.action_cursor_down)()
            return True
        if up and self.queued:
            self._say(self.Pressed(self, "up"))
            return True
        if not self.recalled:
            self.history_.leave()
        found = self.history_.older(self.text) if up else self.history_.newer()
        if found is not None:
            self.put(found)
            self._recalled = self.text
        elif not up and not self.text:
            self._say(self.Pressed(self, "down"))
        return True

    @property
    def recalled(self) -> bool:
        """It shows an entry of the history as it was sent."""
        return self.history_.walking and self.text == self._recalled

    def edit(self, edit: Edit) -> EditResult:
        """Whatever comes in, by a paste, from a file name or an earlier message, is harmless."""
        edit.text = seen(edit.text)
        self.edits += 1
        return super().edit(edit)

    def add(self, text: str, key: str = "") -> None:
        """What was typed while a question had the keys; vim's normal mode has no use for it."""
        if key == "escape":
            self.put("")
        elif self.inserting or not key:
            if key == "backspace":
                if not self._delete_chip():
                    self.action_delete_left()
            elif key in self._actions:
                self._actions[key]()
            else:
                self._replace_via_keyboard(self.chips.fold(normal(text)), *self.selection)

    def put(self, text: str) -> None:
        """Show this text with the cursor at its end; undo brings the old one back."""
        self.replace(self.chips.fold_again(text), (0, 0), self.document.end)
        self.move_cursor(self.document.end)

    def take(self) -> str:
        """The text, leaving the box empty."""
        text = self.text
        self.put("")
        return text

    def _back_or_background(self) -> None:
        if self.waiting:
            self._say(self.Pressed(self, "ctrl+b"))
        else:
            self.action_cursor_left()
