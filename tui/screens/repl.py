"""The one screen of a session: transcript, what waits, the prompt, the status line."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.screen import Screen
from textual.widgets import Static, TextArea

from gatewright.agent.commands.registry import Commands
from gatewright.tools.interact import Answer
from gatewright.tui.apply import apply
from gatewright.tui.ask.panel import AskPanel
from gatewright.tui.look import Look
from gatewright.tui.prompt.box import Box
from gatewright.tui.prompt.complete import NOTHING, Word, command_choices, word_at
from gatewright.tui.prompt.menu import Menu
from gatewright.tui.rows import Rows
from gatewright.tui.spinner import Spinner
from gatewright.tui.state import Change, View
from gatewright.tui.status import Status
from gatewright.tui.transcript.view import Transcript
from gatewright.tui.waiting import Agents, Queue

MARK = "\u276f"
SHORT = 16  # below so many rows the prompt loses its padding


class Actions(Protocol):
    """What the screen asks of the program."""

    def send(self, text: str) -> None: ...
    def answer(self, ask: int, answer: Answer) -> None: ...
    def stop(self) -> bool: ...
    def recall(self) -> Sequence[str]: ...
    def cycle_mode(self) -> None: ...
    def commands(self) -> Commands: ...
    def leave(self) -> None: ...


class Repl(Screen[None]):
    """Routes keys; what they lead to is decided by `Actions`."""

    AUTO_FOCUS = "#box"
    BINDINGS = [
        ("ctrl+c", "cancel", ""),
        ("ctrl+o", "open", ""),
        ("ctrl+l", "redraw", ""),
    ]

    def __init__(
        self,
        look: Look,
        actions: Actions,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        super().__init__()
        self._look = look
        self._actions = actions
        self._word: Word = NOTHING
        self._leaving = False
        self.view = View()
        self.transcript = Transcript(look, id="transcript")
        self.spinner = Spinner(look, clock=now, id="spinner")
        self.agents = Agents(look, id="agents")
        self.queue = Queue(look, id="queue")
        self.panel = AskPanel(look, clock=monotonic, id="panel")
        self.menu = Menu(look, id="menu")
        self.box = Box(id="box")
        self.reply = Box(id="reply")
        self.status = Status(look, id="status")
        transcript = self.transcript
        self._keys: dict[str, Callable[[], object]] = {
            "escape": self._escape,
            "pageup": partial(transcript.page, -1),
            "pagedown": partial(transcript.page, 1),
            "shift+up": partial(transcript.scroll_rows, -1),
            "shift+down": partial(transcript.scroll_rows, 1),
            "ctrl+home": transcript.home,
            "ctrl+end": transcript.follow,
            "ctrl+d": actions.leave,
            "question_mark": partial(actions.send, "/keys"),
        }

    def compose(self) -> ComposeResult:
        yield self.transcript
        yield self.spinner
        yield self.agents
        yield self.queue
        yield self.panel
        with Horizontal(id="reply-line", classes="line"):
            yield Static(MARK, classes="mark", markup=False)
            yield self.reply
        yield self.menu
        with Horizontal(id="prompt-line", classes="line"):
            yield Static(MARK, classes="mark", markup=False)
            yield self.box
        yield self.status

    def on_mount(self) -> None:
        self.set_class(self._look.palette.flat, "flat")

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.height < SHORT, "short")
        self.panel.room = event.size.height - (4 if event.size.height < SHORT else 12)

    def repaint(self) -> None:
        """The theme changed."""
        self.set_class(self._look.palette.flat, "flat")
        self.transcript.repaint()
        for rows in self.query(Rows):
            rows.repaint()

    def show(self, view: View, changes: Sequence[Change]) -> None:
        """Bring everything up to a new view."""
        before, self.view = self.view, view
        apply(self.transcript, changes)
        waiting = bool(view.asks)
        if (before.busy_since, before.doing, bool(before.asks)) != (
            view.busy_since,
            view.doing,
            waiting,
        ):
            self.spinner.show(view.busy_since, view.doing, waiting=waiting)
        self.agents.show(view.agents)
        self.queue.show(view.queue)
        if before.asks != view.asks:
            self._show_asks()
        self.status.show(view)

    # questions

    def _show_asks(self) -> None:
        fresh = self.panel.show(self.view.asks)
        self.set_class(bool(self.view.asks), "asking")
        if not self.view.asks:
            self._close_reply()
            self.box.focus()
        elif fresh:
            self._close_reply()
            self.menu.close()
            self.panel.focus()

    def on_ask_panel_answered(self, message: AskPanel.Answered) -> None:
        self._actions.answer(message.id, message.answer)

    def on_ask_panel_wants_text(self) -> None:
        self.query_one("#reply-line").display = True
        self.reply.focus()

    def _close_reply(self) -> None:
        self.query_one("#reply-line").display = False
        self.reply.put("")

    # the prompt

    def on_box_submitted(self, message: Box.Submitted) -> None:
        if message.box is self.reply:
            pending = self.panel.pending
            if pending is not None:
                self._actions.answer(pending.id, Answer(text=message.text.strip()))
            self._close_reply()
            return
        self.menu.close()
        self.box.menu_open = False
        self.box.take()
        self.box.history_.add(message.text)
        self.transcript.follow()
        self._actions.send(message.text)

    def on_text_area_changed(self, message: TextArea.Changed) -> None:
        if message.text_area is self.box:
            self._leaving = False
            self._complete()

    def _complete(self) -> None:
        row, column = self.box.cursor_location
        self._word = word_at(self.box.document.get_line(row), column, row)
        if self._word.kind == "command":
            self.menu.offer(command_choices(self._actions.commands(), self._word.text))
        else:
            self.menu.close()
        self.box.menu_open = self.menu.open

    def on_box_pressed(self, message: Box.Pressed) -> None:
        if message.box is self.reply:
            if message.key == "escape":
                self._close_reply()
                self.panel.focus()
            return
        if self.menu.open and self._menu_key(message.key):
            return
        action = self._keys.get(message.key)
        if action is not None:
            action()

    def _menu_key(self, key: str) -> bool:
        match key:
            case "up" | "down":
                self.menu.step(-1 if key == "up" else 1)
            case "tab" | "enter":
                self._pick(run=key == "enter")
            case "escape":
                self.menu.close()
                self.box.menu_open = False
            case _:
                return False
        return True

    def _pick(self, *, run: bool) -> None:
        choice = self.menu.chosen()
        if choice is None:
            return
        row, column = self.box.cursor_location
        self.menu.close()
        self.box.menu_open = False
        takes = " " in choice.label
        if run and self._word.kind == "command" and (not takes or self._word.text):
            self.box.put(choice.insert)
            self.box.post_message(Box.Submitted(self.box, choice.insert))
            return
        self.box.replace(choice.insert + " ", (row, self._word.start), (row, column))

    # keys of the screen

    def key_shift_tab(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        self._actions.cycle_mode()

    def _escape(self) -> None:
        queued = self._actions.recall()
        if queued:
            draft = [self.box.text] if self.box.text.strip() else []
            self.box.put("\n".join([*queued, *draft]))
        self._actions.stop()

    def action_cancel(self) -> None:
        """Ctrl+C: stop what runs, else empty the prompt, else leave at the second time."""
        if self._actions.stop():
            self._leaving = False
            return
        if self.box.text:
            self.box.history_.add(self.box.take())
            return
        if self._leaving:
            self._actions.leave()
            return
        self._leaving = True
        self.status.tell("ctrl+c again to leave")
        self.set_timer(2.0, self._stay)

    def _stay(self) -> None:
        self._leaving = False
        self.status.tell("")

    def action_open(self) -> None:
        self.transcript.toggle_last()

    def action_redraw(self) -> None:
        self.refresh(repaint=True, layout=True)
