"""Hooks on the screen: named once one can feel them, counted when they fail unseen."""

from __future__ import annotations

from gatewright.agent.record import events as ev
from gatewright.tui.hooking import besides
from gatewright.tui.reduce import reduce
from gatewright.tui.state import View
from gatewright.tui.status.spinner import rows_of
from gatewright.tui.status.status import right_parts
from gatewright.tui.terminal.notify import Attention
from gatewright.tui.transcript.draw import chunks_of


def told(view: View, *happened: tuple[float, ev.AnyEvent]) -> View:
    for time, event in happened:
        envelope = ev.Envelope(seq=0, uuid="", parent="", timestamp=time, agent="main", event=event)
        view, _ = reduce(view, envelope)
    return view


def row(view: View, now: float) -> str:
    (found,) = rows_of(view, now, 80, still=False)
    return found.plain


def begun(id: str, status: str = "", *, waits: bool = True) -> ev.HookStarted:
    return ev.HookStarted(
        id=id, hook_event="PreToolUse", command="lint.sh", status=status, waits=waits
    )


def ended(id: str, outcome: str = "success") -> ev.HookRan:
    return ev.HookRan(hook_event="PreToolUse", command="lint.sh", outcome=outcome, id=id)


def test_a_hook_is_named_after_300_ms() -> None:
    view = told(View(), (100.0, ev.TurnStarted()), (110.0, begun("h1")))
    assert "Working" in row(view, 110.2)
    assert "Hook: lint.sh" in row(view, 110.31)
    assert "3 s" in row(view, 113.0)
    assert "Working" in row(told(view, (113.0, ended("h1"))), 113.1)


def test_its_status_message_stands_for_its_name_before_a_turn_too() -> None:
    view = told(View(), (110.0, begun("h1", "Looking for secrets")))
    assert row(view, 110.1).strip() == ""
    assert "Hook: Looking for secrets" in row(view, 111.0)
    assert "esc" not in row(view, 111.0)


def test_one_in_the_background_is_not_named() -> None:
    view = told(View(), (100.0, ev.TurnStarted()), (110.0, begun("h1", waits=False)))
    assert "Working" in row(view, 120.0)


def test_failures_are_counted_until_somebody_looks() -> None:
    view = told(View(), *((1.0, each) for each in (begun("h1"), ended("h1", "error"))))
    assert right_parts(view)["hooks"].text == "1 hook failure"
    view = told(view, (2.0, begun("h2")), (2.0, ended("h2", "error")), (2.0, begun("h3")))
    assert right_parts(view)["hooks"].text == "2 hook failures"
    assert "hooks" not in right_parts(told(view, (3.0, ev.HooksSeen())))


def test_what_failed_in_an_earlier_run_of_the_session_is_not_counted() -> None:
    assert "hooks" not in right_parts(told(View(), (1.0, ended("h1", "error"))))


def test_what_hooks_have_for_the_terminal_is_written_and_nothing_that_does_more() -> None:
    written: list[str] = []
    attention = Attention(written.append, lambda: 0.0)
    fine = "\x1b]9;done\x07\a"
    bad = ("\x1b[2J", "\x1b]52;c;YQ==\x07", "\x1b]0;a\nb\x07", "words", "\a" * 5_000)
    batch = [
        ev.Envelope(
            seq=0, uuid="", parent="", timestamp=0.0, agent="main",
            event=ev.HookAnswered(id="h", stdout="", stderr="", terminal=text),
        )
        for text in (*bad, fine)
    ]  # fmt: skip
    besides(batch, print, print, attention.say)
    assert written == [fine]


def test_an_input_that_is_refused_is_put_back_unless_a_hook_keeps_it_or_its_person_said_no() -> (
    None
):
    back: list[str] = []
    batch = [
        ev.Envelope(seq=0, uuid="", parent="", timestamp=0.0, agent="main", event=event)
        for event in (
            ev.InputRefused(text="my words", reason="no"),
            ev.InputRefused(text="", reason="no"),
            ev.InputRefused(text="/sweep", reason="no", declined=True),
        )
    ]
    besides(batch, print, back.append, print)
    assert back == ["my words"]


def test_hooks_that_went_well_stand_below_their_call_once_it_is_opened() -> None:
    call = ev.ToolStarted(call_id="c1", name="Bash", input={}, verb="Run", target="make")
    ran = ev.HookRan(
        hook_event="PreToolUse", command="lint.sh", outcome="success", id="h1", call_id="c1", ms=12
    )
    view = told(View(), (1.0, call), (1.0, begun("h1")), (1.0, ran))
    (item,) = view.tools.values()

    def rows(*, expanded: bool) -> str:
        chunks = chunks_of(item, expanded=expanded)
        return "\n".join(row.plain for chunk in chunks for row in chunk.rows(80))

    assert "lint.sh" not in rows(expanded=False)
    assert "PreToolUse hook lint.sh: 12 ms" in rows(expanded=True)
