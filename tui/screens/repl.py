"""The one screen of a session: transcript, what waits, the prompt, the status line."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Static

from gatewright.agent.commands.registry import Commands, always
from gatewright.tools.system.gitfiles import branch_of
from gatewright.tui.agents.strip import Strip
from gatewright.tui.agents.watching import Watching
from gatewright.tui.apply import apply
from gatewright.tui.ask import messages as said
from gatewright.tui.ask.asking import SHORT, TINY, Asking
from gatewright.tui.ask.panel import AskPanel
from gatewright.tui.command_effects import Reach
from gatewright.tui.commands import screen_commands
from gatewright.tui.early.frame import MARK
from gatewright.tui.line import Line
from gatewright.tui.panels.sheet import Sheet
from gatewright.tui.picker import Picker
from gatewright.tui.prompt.attached import Attachment, attached_rows
from gatewright.tui.prompt.box import Box
from gatewright.tui.prompt.desk import Desk
from gatewright.tui.prompt.editor import Edited
from gatewright.tui.prompt.menu import Menu
from gatewright.tui.prompt.search import history_search
from gatewright.tui.rows import Drawn, Rows
from gatewright.tui.screens.leaving import WayOut
from gatewright.tui.screens.patient import Patient
from gatewright.tui.screens.reader import Reader
from gatewright.tui.screens.room import LOW, fit_lists
from gatewright.tui.screens.welcome import Welcome
from gatewright.tui.secret import SecretField
from gatewright.tui.session_calls import Talk
from gatewright.tui.state import Change, View
from gatewright.tui.status.spinner import Spinner
from gatewright.tui.status.status import Status
from gatewright.tui.status.steps import Steps
from gatewright.tui.status.waiting import Queued, queued_rows
from gatewright.tui.style.look import Look
from gatewright.tui.transcript.items import Item
from gatewright.tui.transcript.view import Transcript

if TYPE_CHECKING:
    from gatewright.tui.app import AgentApp  # it makes this

TWICE = 2.0  # seconds within which a second Ctrl+C leaves


class Repl(Patient, inherit_bindings=False):
    """Routes keys; what they lead to is decided by `Talk` and `Desk`."""

    AUTO_FOCUS = "#box"
    BINDINGS = [
        ("ctrl+c", "cancel", ""),
        ("ctrl+b", "background", ""),
        ("ctrl+o", "open", ""),
        ("ctrl+t", "read", ""),
        ("ctrl+l", "redraw", ""),
    ]

    def __init__(
        self,
        look: Look,
        talk: Talk,
        host: AgentApp,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        super().__init__()
        self._look = look
        self._talk = talk
        self._host = host
        self.view = View()
        self.transcript = Transcript(look, id="transcript")
        self.welcome = Welcome(self, talk, host)
        self.transcript.greeting = self.welcome.rows
        self.spinner = Spinner(look, clock=now, id="spinner")
        self.steps = Steps(look, id="steps")
        self.agents = Strip(look, now=now, clock=monotonic, id="agents")
        self.queue = Drawn[Queued](look, queued_rows, Queued(), id="queue")
        self.panel = AskPanel(
            look, clock=monotonic, now=now, draft=lambda: self.box.text, id="panel"
        )
        self.picker = Picker(look, id="picker")
        self.sheet = Sheet(look, spawn=host.spawn, clock=monotonic, id="sheet")
        self.secret = SecretField(look, id="secret")
        self.menu = Menu(look, id="menu")
        self.attached = Drawn[tuple[Attachment, ...]](look, attached_rows, (), id="attached")
        self.box = Box(id="box")
        self.box.keyword.style = lambda: look.style("accent")
        self.box.keyword.there = lambda: talk.commands().find("workflows") is not None
        self.reply = Box("say it, or esc goes back", id="reply")
        self.box.told = self.reply.told = self.on_box_pressed
        self.status = Status(look, id="status")
        self.desk = Desk(self.box, self.menu, self.attached, talk, host)
        self.reach = Reach(self, look, talk, host)
        self.asking = Asking(self, talk)
        self.watching = Watching(self, look, talk, host)
        self.way_out = WayOut(self, talk, monotonic)
        self._keys = self._key_table()

    def _key_table(self) -> dict[str, Callable[[], object]]:
        return {
            "escape": self.way_out.escape,
            "up": self.desk.take_back,
            "down": self.agents.enter,
            "pageup": lambda: self.front.page(-1),
            "pagedown": lambda: self.front.page(1),
            "shift+up": lambda: self.front.scroll_rows(-1),
            "shift+down": lambda: self.front.scroll_rows(1),
            "ctrl+home": lambda: self.front.home(),
            "ctrl+end": lambda: self.front.follow(),
            "ctrl+c": self.way_out.cancel,
            "ctrl+d": self.way_out.delete_or_leave,
            "ctrl+o": self.action_open,
            "ctrl+t": self.action_read,
            "ctrl+l": self.action_redraw,
            "question_mark": self._list_keys,
            "shift+tab": self._talk.cycle_mode,
            "ctrl+r": self._search_history,
            "ctrl+s": lambda: self.tell(self.desk.stash()),
            "ctrl+b": self.action_background,
            "ctrl+g": self._edit,
            "ctrl+x": self.steps.fold,
            "ctrl+z": self.way_out.suspend,
        }

    def compose(self) -> ComposeResult:
        yield self.transcript
        yield self.spinner
        yield self.steps
        yield self.agents
        yield self.queue
        yield self.panel
        with Horizontal(id="reply-line", classes="line"):
            yield Static("Instead:", classes="mark", markup=False)
            yield self.reply
        yield self.picker
        yield self.sheet
        yield self.secret
        yield self.menu
        yield self.attached
        with Horizontal(id="prompt-line", classes="line"):
            yield Static(MARK, id="prompt-mark", classes="mark", markup=False)
            yield self.box
        yield self.status

    def on_mount(self) -> None:
        self.set_class(self._look.palette.flat, "flat")

    def on_resize(self, event: events.Resize) -> None:
        short = event.size.height < SHORT
        self.set_class(short, "short")
        self.set_class(event.size.height < TINY, "tiny")
        self.set_class(event.size.height < LOW, "low")
        self.box.fit(event.size.height)
        self.reply.fit(event.size.height)
        fit_lists(self)
        self.asking.fit()

    def repaint(self) -> None:
        """The theme changed, maybe while another screen lies over this one."""
        self.set_class(self._look.palette.flat, "flat")
        stack = self.app.screen_stack if self.is_attached else ()  # pyright: ignore[reportUnknownMemberType]
        for screen in {self, *stack}:
            for transcript in screen.query(Transcript):
                transcript.repaint()
            for rows in screen.query(Rows):
                rows.repaint()

    def join(self, known: Commands) -> None:
        """The session is there: its commands, and ours among them."""
        known.add(always(*screen_commands(self.reach)))
        self.welcome.begin()

    def show(self, view: View, changes: Sequence[Change]) -> None:
        """Bring everything up to a new view."""
        before, self.view = self.view, view
        apply(self.transcript, changes)
        self.steps.show(view)
        self.agents.show(view)
        self.watching.update(view)
        self.box.waiting = bool(view.tools)
        fit_lists(self)
        if before.asks != view.asks:
            self.asking.show()
        elif view.asks:
            self.asking.fit()
        if before.cwd != view.cwd or (before.busy and not view.busy):
            self.status.branch = branch_of(self._host.folder())
            self.transcript.sync()
        self.status.show(view)

    @property
    def front(self) -> Transcript:
        """The transcript that is seen."""
        return self.watching.transcript or self.transcript

    def on_strip_chosen(self, message: Strip.Chosen) -> None:
        self.watching.act(message.row, message.act)

    def on_strip_typed(self, message: Strip.Typed) -> None:
        self.box.add(message.text)

    def on_sheet_typed(self, message: Sheet.Typed) -> None:
        if message.text == "?" and not self.box.text:
            self._list_keys()
        else:
            self.box.add(message.text)

    # questions

    def on_screen_resume(self) -> None:
        """Something covered the screen: a question below it is seen only now."""
        self.panel.seen()

    def on_answer_given(self, message: said.AnswerGiven) -> None:
        self.asking.answered(message.pending, message.answer)

    def on_told_draft(self, message: said.ToldDraft) -> None:
        self.asking.told(message.pending)

    def on_stop_asking(self, message: said.StopAsking) -> None:
        self.asking.stopped(message.pending)

    def on_typed_draft(self, message: said.TypedDraft) -> None:
        self.box.add(message.text, message.key)

    def on_key_unclear(self, message: said.KeyUnclear) -> None:
        self.tell(message.hint)

    def on_key_passed(self, message: said.KeyPassed) -> None:
        self._keys[message.key]()

    def on_show_whole(self, message: said.ShowWhole) -> None:
        self.asking.show_whole(message.pending)

    def on_weigh_rules(self, message: said.WeighRules) -> None:
        self.asking.weigh(message.pending, message.rules)

    def on_wants_text(self, message: said.WantsText) -> None:
        self.asking.open_reply(message.pending)

    # the prompt

    def on_box_submitted(self, message: Box.Submitted) -> None:
        if message.box is self.reply:
            self.asking.replied(message.text)
            return
        self.desk.send(message.text)
        self.box.afterwards.then(self.front.follow)

    def on_box_pressed(self, message: Box.Pressed | Box.Submitted) -> None:
        if isinstance(message, Box.Submitted):
            self.on_box_submitted(message)
            return
        if message.box is self.reply:
            if message.key in ("escape", "ctrl+c"):
                self.asking.leave_reply()
            return
        if message.key != "escape":
            self.way_out.other_key()
        if self.desk.menu_key(message.key):
            return
        if message.key == "enter":  # the menu it was meant for has closed meanwhile
            message.box.send()
            return
        action = self._keys.get(message.key)
        if action is not None:
            action()

    def on_text_area_changed(self) -> None:
        self.way_out.typed()
        self.panel.draft_changed()
        self.asking.fit()
        fit_lists(self)
        self.desk.complete(offer=not self.view.asks)

    # keys of the screen

    def action_cancel(self) -> None:
        self.way_out.cancel()

    def copy(self, text: str) -> None:
        self._host.copy(text)

    def action_background(self) -> None:
        if self._talk.to_background():
            self.tell("in the background")
        elif self.box.has_focus:
            self.box.action_cursor_left()

    def tell(self, hint: str) -> None:
        """A word beside the mode, for a moment."""
        self.status.tell(hint)
        self.set_timer(TWICE, lambda: self._untell(hint))

    def _untell(self, hint: str) -> None:
        self.way_out.stay()
        if self.status.hint == hint:  # else a later one has its own moment
            self.status.tell("")

    def action_open(self) -> None:
        self.front.open_more()

    def action_redraw(self) -> None:
        if self._terminal is not None:
            self._terminal.canvas.forget()
        self.refresh(repaint=True, layout=True)

    def action_read(self) -> None:
        self.read(self.front.records.all())

    def read(
        self,
        items: Sequence[Item],
        then: Callable[[], None] = lambda: None,
        *,
        from_top: bool = False,
        start: Callable[[Line], bool] | None = None,
    ) -> Reader:
        """A second screen with these records; `then` is called once it is closed."""

        def edit(text: str) -> None:
            self._host.edit(text, lambda edited: self._tell_problem(edited.problem))

        return Reader(self._look, items, edit, from_top=from_top, start=start).over(self, then)

    def _list_keys(self) -> None:
        self.watching.close()
        self.transcript.follow()
        self._talk.call("keys")

    def _edit(self) -> None:
        def done(edited: Edited) -> None:
            self.box.put(edited.text)
            self._tell_problem(edited.problem)
            self.return_focus()

        self._host.edit(self.box.text, done)

    def _tell_problem(self, problem: str) -> None:
        if problem:
            self._talk.note(problem, "warning")

    def _search_history(self) -> None:
        self.reach.pick(history_search(self.box))

    def on_rows_closed(self) -> None:
        """A second Enter may still be on its way: it answers no question below."""
        self.panel.draft_changed()
        fit_lists(self)
        self.return_focus()

    def on_secret_field_given(self, message: SecretField.Given) -> None:
        self._talk.give(message.asked, message.text)

    def return_focus(self) -> None:
        self._next().focus()

    def _next(self) -> Widget:
        """Who has the keys; a secret that is being typed goes nowhere else."""
        if self.secret.open:
            return self.secret
        if self.picker.open:
            return self.picker
        if self.view.asks:
            return self.panel
        if self.sheet.open:
            return self.sheet
        return self.agents if self.agents.entered else self.box

    def set_focus(
        self, widget: Widget | None, scroll_visible: bool = True, from_app_focus: bool = False
    ) -> None:
        """Somebody always has the keys, also when the mouse is beyond the edge."""
        super().set_focus(widget or self._next(), scroll_visible, from_app_focus)

    def on_transcript_selected(self, message: Transcript.Selected) -> None:
        self._host.copy(message.text)
        lines = message.text.count("\n") + 1
        self.tell(f"copied {lines} lines" if lines > 1 else "copied")

    def on_box_empty(self) -> None:
        self.tell("no picture in the clipboard")

    def on_box_turned(self, message: Box.Turned) -> None:
        self.status.turn("" if message.inserting else "NORMAL")
