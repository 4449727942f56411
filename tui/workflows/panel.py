"""`/workflows`: runs, their phases, the agents of one, and what one of those was asked and said.

It looks at a live book of the session: shown again when a run changed, a few times a second at
most, and once a second for what only grows older.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from gatewright.agent.commands.panels import WorkflowsPanel
from gatewright.agent.record.events_of_workflows import CallNow, PhaseNow
from gatewright.agent.workflows.runs.views import RunView
from gatewright.tools.blocks import Block, Code, Markdown, Text
from gatewright.tui.line import Line, Span, line, wrap
from gatewright.tui.panels.sheet import Sheet, View
from gatewright.tui.sanitize import one_line
from gatewright.tui.workflows import words
from gatewright.tui.workflows.call_page import CallPage
from gatewright.tui.workflows.grid import Act, Grid, Table
from gatewright.tui.workflows.typing_line import Saving, Typing

if TYPE_CHECKING:
    from gatewright.tui.command_effects import Reach  # it opens these

PAUSES, STOPS = "pauses or goes on", "stops"
MARKED = re.compile(r"^(?:#{1,6} |[-*+] |\d+[.)] |> |```|\|.*\|)|\*\*\S|\]\(", re.MULTILINE)
EVERY = 1.0  # seconds between two looks where nothing is told
NOTHING = "No workflow has run here yet. Ask for one, or type the / and the name of a saved one."


def open_workflows(panel: WorkflowsPanel, screen: Reach) -> None:
    def make(sheet: Sheet) -> View:
        views = RunViews(sheet, panel, screen)
        views.follow()
        return views.runs

    screen.show_panel(make)
    if panel.first:
        screen.into_panel(lambda sheet: RunViews(sheet, panel, screen).of_run(panel.first))


class RunViews:
    """The pages, each made when it is looked at."""

    def __init__(self, sheet: Sheet, panel: WorkflowsPanel, screen: Reach) -> None:
        self._sheet, self._panel, self._screen = sheet, panel, screen
        self._book = panel.book
        self.runs: Grid[RunView] = Grid(
            sheet,
            Table(
                words.RUNS,
                self._all,
                words.run_choice,
                lambda run: run.status,
                words.RUN_STATES,
                NOTHING,
            ),
            lambda _width: [
                line(Span("Workflows", "text:b"), Span(f"   {len(self._all())}", "faint"))
            ],
            (
                Act("enter", "", self._open, changes=False),
                *(
                    Act(key, partial(self._word_here, label), _of_row(do), changes)
                    for key, label, do, changes in self._does()
                ),
            ),
        )

    # what is seen

    def follow(self) -> None:
        """For as long as the panel is there."""
        sheet, runs = self._sheet, self.runs

        def changed(run: str) -> None:
            del run
            if sheet.shows(runs):
                sheet.refresh_rows()

        leave = self._book.follow(changed)

        def again() -> bool:
            if not sheet.shows(runs):
                leave()
                return False
            if any(run.status in ("running", "pending") for run in self._book.views()):
                sheet.refresh_rows()
            return True

        self._screen.every(EVERY, again)

    def _all(self) -> Sequence[RunView]:
        """Those of other sessions do not change."""
        return (*self._book.views(), *self._panel.past)

    def _view(self, run: str) -> RunView | None:
        return next((each for each in self._all() if each.id == run), None)

    def _does(self) -> Sequence[tuple[str, str, Callable[[str], None], bool]]:
        """The keys of a run: what they say and do, and whether that changes anything."""
        return (
            ("p", PAUSES, self._pause, True),
            ("x", STOPS, self._stop, True),
            ("o", "result", self._result, False),
            ("l", "log", self._log, False),
            ("v", "script", self._script, False),
            ("s", "saves", self._save, True),
        )

    def _open(self, run: RunView) -> None:
        self._sheet.push(self.of_run(run.id))

    def of_run(self, run: str) -> View:
        """Its phases."""

        def phases() -> Sequence[PhaseNow]:
            view = self._view(run)
            return view.phases if view is not None else ()

        return Grid(
            self._sheet,
            Table(
                words.PHASES,
                phases,
                words.phase_choice,
                words.phase_state,
                ("running", "failed", "done"),
                "No agent was asked yet.",
            ),
            partial(self._head, run),
            (
                Act[PhaseNow](
                    "enter", "", lambda phase: self._phase(run, phase.title), changes=False
                ),
                *(
                    Act(key, partial(self._word, run, label), _of_all(do, run), changes)
                    for key, label, do, changes in self._does()
                ),
            ),
        )

    def _word_here(self, label: str) -> str:
        return self._word(self.runs.here, label)

    def _word(self, run: str, label: str) -> str:
        """What a key does to this run as it stands."""
        view = self._view(run)
        over = view is None or view.status in words.OVER or not view.live
        if label == PAUSES:
            paused = view is not None and view.status == "paused"
            return "resumes" if over else "goes on" if paused else "pauses"
        return "" if label == STOPS and over else label

    def _head(self, run: str, width: int) -> Sequence[Line]:
        view = self._view(run)
        if view is None:
            return [line(Span("This run is not known any more.", "warning"))]
        told = Span(one_line(view.why or view.description), "warning" if view.why else "dim")
        rows = [
            line(Span(one_line(view.title or view.name), "text:b"), Span(f"   {view.id}", "faint")),
            line(Span(words.standing(view), "dim")),
            *(wrap((told,), width)[:2] if told.text else ()),
        ]
        if view.status in words.OVER and view.result:
            rows.append(line(Span(f"result: {one_line(view.result)}", "faint")))
        return rows

    def _phase(self, run: str, phase: str) -> None:
        calls: Grid[CallNow] = Grid(
            self._sheet,
            Table(
                words.CALLS,
                lambda: self._book.calls(run, phase=phase),
                words.call_choice,
                lambda call: call.state,
                words.CALL_STATES,
                "No agent was asked yet.",
            ),
            partial(self._phase_head, run, phase),
            (
                Act[CallNow]("enter", "", lambda call: self._call(run, call.index), changes=False),
                *(
                    Act[CallNow](key, partial(self._live, run, phase, label), _of_call(do, run))
                    for key, label, do in self._does_to_calls()
                ),
                Act[CallNow]("p", partial(self._word, run, PAUSES), lambda _: self._pause(run)),
            ),
        )
        self._sheet.push(calls)

    def _does_to_calls(self) -> Sequence[tuple[str, str, Callable[[str, int], None]]]:
        """The keys of an agent of a run, as the above."""
        return (
            ("x", STOPS, self._stop_call),
            ("r", "restarts", self._restart),
            ("m", "message", self._message),
        )

    def _live(self, run: str, phase: str, label: str) -> str:
        """Nothing is offered where all have ended."""
        calls = self._book.calls(run, phase=phase)
        return label if any(call.state not in words.ENDED for call in calls) else ""

    def _phase_head(self, run: str, phase: str, width: int) -> Sequence[Line]:
        view = self._view(run)
        title = one_line(phase) or "(no phase)"
        name = one_line(view.name) if view is not None else run
        rows = [line(Span(title, "text:b"), Span(f"   {name}", "faint"))]
        if view is not None:
            rows += wrap((Span(words.standing(view), "dim"),), width)[:1]
        return rows

    def _call(self, run: str, index: int) -> None:
        page = CallPage(
            lambda: self._book.call(run, index),
            back=self._sheet.back,
            watch=self._screen.look_into,
            acts={
                key: (label, partial(do, run, index)) for key, label, do in self._does_to_calls()
            },
        )
        self._sheet.push(page)

    # what is done

    def _pause(self, run: str) -> None:
        """One that has ended goes on by the command, as it is begun anew."""
        view = self._view(run)
        if view is None:
            return
        if view.status in words.OVER or not view.live:
            self._sheet.close()
            self._screen.talk.call("workflows", f"resume {run}")
        elif view.status == "paused":
            self._sheet.tell(self._book.unpause(run))
        else:
            self._sheet.tell(self._book.pause(run))

    def _stop(self, run: str) -> None:
        self._told(partial(self._book.stop, run))

    def _stop_call(self, run: str, index: int) -> None:
        self._told(partial(self._book.stop_call, run, index))

    def _restart(self, run: str, index: int) -> None:
        self._told(partial(self._book.restart_call, run, index))

    def _message(self, run: str, index: int) -> None:
        call = self._book.call(run, index)
        if call is None or call.now.state in words.ENDED:
            self._sheet.tell(f"It has ended. {self._again(run, index)}", "warning")
            return

        async def take(text: str) -> str:
            now = self._book.call(run, index)
            if now is None or now.now.state in words.ENDED:
                self._screen.give_back(text)
                return f"It has ended: your words are in the prompt. {self._again(run, index)}"
            return self._book.message(run, index, text)

        self._sheet.push(Typing(self._sheet, f"To {one_line(call.now.label)}", take))

    def _again(self, run: str, index: int) -> str:
        call = self._book.call(run, index)
        label = f" {call.now.label}" if call is not None else ""
        return f"/workflows resume {run}{label} has it done again."

    def _told(self, work: Callable[[], Awaitable[str]]) -> None:
        async def doing() -> None:
            self._sheet.tell(await work())

        self._sheet.work(doing)

    def _save(self, run: str) -> None:
        self._sheet.push(Saving(self._sheet, self._panel.keeping, run))

    def _log(self, run: str) -> None:
        said = "\n".join(self._book.log(run)) or "Nothing was logged."
        self._read((Text(said),))

    def _script(self, run: str) -> None:
        view = self._view(run)
        path = str(view.script_path) if view is not None else ""
        self._read((Code(self._book.script(run), "javascript", path),))

    def _read(self, blocks: Sequence[Block]) -> None:
        self._screen.read(blocks, self._screen.return_focus, from_top=True)

    def _result(self, run: str) -> None:
        """What it returned."""
        view = self._view(run)
        text = view.result if view is not None else ""
        self._read((_said(text) if text else Text("Nothing was returned.", "dim"),))


def _said(text: str) -> Block:
    """Lines stay lines: only what is written as Markdown is read as that."""
    return Markdown(text) if MARKED.search(text) else Text(text)


def _of_row(work: Callable[[str], None]) -> Callable[[RunView], None]:
    return lambda run: work(run.id)


def _of_call(work: Callable[[str, int], None], run: str) -> Callable[[CallNow], None]:
    return lambda call: work(run, call.index)


def _of_all(work: Callable[[str], None], run: str) -> Callable[[PhaseNow], None]:
    return lambda _phase: work(run)
