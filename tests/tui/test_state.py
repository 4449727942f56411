"""The screen's fold over events, without a terminal."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from gatewright.agent.record import events as ev
from gatewright.agent.record.events_of_past import Carried
from gatewright.agent.record.events_of_schedules import ScheduledJob
from gatewright.agent.record.messages import CallPart, TextPart, ThinkingPart, Usage
from gatewright.agent.turn.stop import Stop
from gatewright.tools.blocks import Output, Text
from gatewright.tools.interact import Answer, Ask, Option
from gatewright.tools.protocol import ImageContent, TextContent, ToolResult
from gatewright.tui.reduce import reduce
from gatewright.tui.state import (
    Appended,
    Change,
    Emptied,
    Marked,
    Patched,
    Removed,
    Returned,
    View,
)
from gatewright.tui.status.status import status_row
from gatewright.tui.transcript.agent import rows
from gatewright.tui.transcript.draw import chunks_of
from gatewright.tui.transcript.items import (
    AgentBlock,
    Ending,
    Item,
    Note,
    Prose,
    Rule,
    Said,
    Thought,
    ToolRun,
)

ASK = Ask(kind="permission", title="Run ls", body=(), options=(Option("once", "Yes", "y"),))


def play(
    *events: ev.AnyEvent, view: View | None = None, agent: str = "main"
) -> tuple[View, list[Change]]:
    """The view and all changes after the events, one second apart."""
    view = view or View()
    changes: list[Change] = []
    for number, event in enumerate(events, 1):
        envelope = ev.Envelope(
            seq=number, uuid="", parent="", timestamp=100.0 + number, agent=agent, event=event
        )
        view, more = reduce(view, envelope)
        changes += more
    return view, changes


def items(changes: Sequence[Change]) -> list[Item]:
    """What a transcript would hold."""
    kept: dict[int, Item] = {}
    for change in changes:
        match change:
            case Appended(item=item) | Patched(item=item):
                assert isinstance(change, Appended) == (item.id not in kept)
                kept[item.id] = item
            case Removed(id=id):
                del kept[id]
            case Emptied():
                kept.clear()
            case Marked() | Returned():
                pass
    return list(kept.values())


def test_deltas_grow_one_record() -> None:
    _view, changes = play(ev.TextDelta(text="Hel"), ev.TextDelta(text="lo"))
    assert items(changes) == [Prose(1, "Hello")]


def test_a_complete_message_takes_the_place_of_what_streamed() -> None:
    view, changes = play(
        ev.ThinkingDelta(text="Hm"),
        ev.TextDelta(text="Hel"),
        ev.AssistantMessage(id="m", model="x", parts=(ThinkingPart("Hm."), TextPart("Hello"))),
    )
    thought, prose = items(changes)
    assert thought == Thought(1, "Hm.", started=101.0, ms=1000, done=True)
    assert prose == Prose(2, "Hello", done=True)
    assert view.live == ()


def test_a_stored_message_gives_the_same_records_as_a_live_one() -> None:
    message = ev.AssistantMessage(
        id="m", model="x", parts=(TextPart("One"), CallPart("c", "Read", {}), TextPart("Two"))
    )
    _view, stored = play(message)
    _view, live = play(ev.TextDelta(text="One"), message)
    assert items(stored) == items(live) == [Prose(1, "One", True), Prose(2, "Two", True)]


def test_a_dropped_message_leaves_nothing() -> None:
    view, changes = play(ev.TextDelta(text="Hel"), ev.MessageDropped(), ev.TextDelta(text="Bye"))
    assert items(changes) == [Prose(2, "Bye")]
    assert [item.id for item in view.live] == [2]


def test_streamed_records_missing_from_the_message_are_removed() -> None:
    message = ev.AssistantMessage(id="m", model="x", parts=())
    assert items(play(ev.ThinkingDelta(text="x"), message)[1]) == []


def test_a_cut_message_says_so() -> None:
    message = ev.AssistantMessage(id="m", model="x", parts=(TextPart("Hal"),), cut=True)
    assert items(play(message)[1]) == [Prose(1, "Hal", True), Note(2, "Cut off here.", "dim")]


STARTED = ev.ToolStarted(call_id="c", name="Bash", input={}, verb="Bash", target="ls")


def test_a_call_runs_and_finishes_in_one_record() -> None:
    view, changes = play(
        STARTED,
        ev.ToolProgressed(call_id="c", tail="a", size=1, seconds=2.0),
        ev.ToolFinished(
            call_id="c", ok=True, content=(), view=(Output("a"),), summary="1 line", ms=9
        ),
    )
    (item,) = items(changes)
    assert isinstance(item, ToolRun)
    assert (item.state, item.summary, item.ms, item.tail) == ("ok", "1 line", 9, "")
    assert (view.tools, view.doing) == ({}, "")


def test_a_failed_call_without_a_view_shows_what_the_model_reads() -> None:
    finished = ev.ToolFinished(call_id="c", ok=False, content=(TextContent("no such file"),))
    (item,) = items(play(STARTED, finished)[1])
    assert isinstance(item, ToolRun)
    assert (item.state, item.text) == ("failed", "no such file")


def test_a_call_whose_view_says_no_more_than_its_head_opens_what_the_model_reads() -> None:
    finished = ev.ToolFinished(
        call_id="c",
        ok=True,
        content=(TextContent("1\talpha"),),
        view=(Text("1 line", "dim"),),
        summary="1 line",
    )
    (item,) = items(play(STARTED, finished)[1])
    assert isinstance(item, ToolRun)
    assert (item.view, item.text) == ((), "1\talpha")


@pytest.mark.parametrize(
    "event",
    [
        ev.ToolFinished(call_id="other", ok=True, content=()),
        ev.ToolProgressed(call_id="other", tail="", size=0, seconds=0),
    ],
)
def test_news_of_an_unknown_call_changes_nothing(event: ev.AnyEvent) -> None:
    assert play(event) == (View(), [])


def test_an_ended_turn_stops_what_still_ran() -> None:
    ended = ev.TurnEnded(stop=Stop.ABORTED_TOOLS, usage=Usage(1, 2), ms=5)
    view, changes = play(ev.TurnStarted(), STARTED, ended)
    tool, ending = items(changes)
    assert isinstance(tool, ToolRun)
    assert tool.state == "stopped"
    assert ending == Ending(2, Stop.ABORTED_TOOLS, "", Usage(1, 2), 0.0, 5)
    assert not view.busy


def test_questions_queue_and_leave_in_any_order() -> None:
    view, _ = play(ev.Asked(id=1, ask=ASK), ev.Asked(id=2, ask=ASK))
    assert [p.id for p in view.asks] == [1, 2]
    view, _ = play(ev.Answered(id=1, answer=Answer(choices=("once",))), view=view)
    assert [p.id for p in view.asks] == [2]


def blocks(changes: Sequence[Change]) -> list[AgentBlock]:
    """What the records of agents became."""
    found = [c.item for c in changes if isinstance(c, Patched | Appended)]
    return [item for item in found if isinstance(item, AgentBlock)]


def test_a_child_agent_asks_by_name_and_shows_in_the_strip() -> None:
    view, _ = play(ev.AgentStarted(child="main/a3", kind="explore", prompt="look"))
    doing = ev.AgentProgressed(child="main/a3", state="Bash", target="ls")
    view, changes = play(doing, ev.Asked(id=1, ask=ASK), view=view, agent="main/a3")
    (shown,) = blocks(changes)
    assert (shown.label, shown.task, shown.doing) == ("explore", "look", "Bash ls")
    assert (view.asks[0].agent, view.asks[0].task) == ("explore", "look")
    view, changes = play(ev.AgentFinished(child="main/a3", ok=True, report="Found."), view=view)
    (shown,) = blocks(changes)
    assert (shown.state, shown.report) == ("done", "Found.")
    assert not view.agents["main/a3"].lives


def test_the_call_of_an_agent_is_its_record() -> None:
    call = ev.ToolStarted(call_id="c", name="Agent", input={}, verb="Agent", target="look")
    begun = ev.AgentStarted(child="main/a", kind="explore", prompt="look", call_id="c")
    view, changes = play(call, begun)
    assert [type(item) for item in items(changes)] == [AgentBlock]
    told = ev.ToolFinished(call_id="c", ok=True, content=(TextContent("launched"),))
    view, changes = play(told, view=view)
    assert changes == []
    assert view.agents["main/a"].background, "its call has ended, and it has not"
    view, _ = play(ev.TurnEnded(stop=Stop.COMPLETED), view=view)
    assert view.agents["main/a"].lives


def test_an_agent_that_belonged_to_a_turn_ends_with_it_and_is_revived_by_a_word() -> None:
    view, _ = play(ev.AgentStarted(child="main/a", kind="explore", prompt="look"))
    view, changes = play(ev.TurnEnded(stop=Stop.ABORTED_TOOLS), view=view)
    assert [block.state for block in blocks(changes)] == ["interrupted"]
    view, _ = play(ev.AgentProgressed(child="main/a", state="Bash"), view=view, agent="main/a")
    assert view.agents["main/a"].lives
    view, _ = play(ev.AgentFinished(child="main/a", ok=False, report=""), view=view)
    view, changes = play(ev.AgentProgressed(child="main/a", state="Bash"), view=view)
    assert view.agents["main/a"].state == "failed", "what comes late changes nothing"
    assert changes == []


def test_what_people_sent_is_shown_and_hidden_text_is_not() -> None:
    picture = ImageContent("image/png", "AAAA")
    shown = ev.UserMessage(content=(TextContent("look"), picture))
    hidden = ev.UserMessage(content=(TextContent("secret"),), hidden=True)
    assert items(play(shown, hidden)[1]) == [Said(1, "look\n[image image/png]")]


def test_clearing_starts_the_screen_again() -> None:
    changes = play(ev.Noticed(text="old"), ev.Cleared())[1]
    assert items(changes) == [Rule(2, "new conversation")]


def test_the_status_follows_the_session() -> None:
    view, _ = play(
        ev.SessionStarted(model="m", mode="default", cwd="/p", app="1"),
        ev.ModeChanged(mode="plan", by="user"),
        ev.ModelChanged(model="n"),
        ev.UsageChanged(usage=Usage(5, 6), cost=0.5, context=50, window=100),
        ev.QueueChanged(texts=("next",)),
        ev.TasksChanged(running=("t",)),
        ev.RetryScheduled(attempt=1, attempts=3, seconds=4, reason="Busy"),
    )
    assert (view.mode, view.model, view.cwd) == ("plan", "n", "/p")
    assert (view.cost, view.context, view.window) == (0.5, 50, 100)
    assert (view.queue, view.tasks) == (("next",), ("t",))
    assert (view.doing, view.tries) == ("Busy", "1 of 3")
    assert view.until == 107.0 + 4


def test_a_turn_that_a_no_ended_says_so_and_what_it_cost() -> None:
    ended = ev.TurnEnded(stop=Stop.USER_REFUSED, usage=Usage(1, 2), ms=5)
    assert items(play(ev.TurnStarted(), ended)[1]) == [
        Ending(1, Stop.USER_REFUSED, "", Usage(1, 2), 0.0, 5)
    ]


def test_the_end_of_background_work_is_told_before_the_turn_it_wakes() -> None:
    view, changes = play(
        ev.TasksChanged(running=("shell_1: make all\nmake more", "shell_2: serve")),
        ev.TasksChanged(
            running=("shell_2: serve",), ended="shell_1", status="exit 2", title="make all\nmore"
        ),
        ev.TurnStarted(),
        ev.TextDelta(text="It failed."),
    )
    told, prose = items(changes)
    assert told == Note(1, "Background shell_1 has ended, exit 2: make all", "dim")
    assert isinstance(prose, Prose)
    assert view.tasks == ("shell_2: serve",)


def test_ends_that_follow_each_other_are_one_note_and_agents_have_their_names() -> None:
    ends = (
        ev.TasksChanged(running=(), ended=id, status="completed", title="one: Explore, Look")
        for id in ("a1", "a2")
    )
    _, changes = play(
        ev.AgentStarted(
            child="main/a1", kind="Explore", prompt="p", name="one", description="Look"
        ),
        ev.AgentStarted(child="main/a2", kind="Explore", prompt="p", description="Look too"),
        *ends,
        ev.TurnStarted(),
        ev.TextDelta(text="Both."),
        ev.TasksChanged(running=(), ended="shell_1", status="exit 0", title="make"),
    )
    notes = [item for item in items(changes) if isinstance(item, Note)]
    both = "one has ended, completed: Look\nExplore has ended, completed: Look too"
    assert both in [note.text for note in notes]
    assert notes[-1].text == "Background shell_1 has ended, exit 0: make"
    assert len({note.id for note in notes}) == 2


def test_an_agent_that_failed_says_why_in_its_record_and_its_row() -> None:
    view, changes = play(
        ev.AgentStarted(child="main/a1", kind="Explore", prompt="p", name="one"),
        ev.AgentFinished(
            child="main/a1", ok=False, report="", status="failed", why="It refused (400): no."
        ),
    )
    (block,) = items(changes)
    assert isinstance(block, AgentBlock)
    shown = "\n".join(row.plain for row in rows(block, expanded=False, width=80))
    assert "failed" in shown
    assert "It refused (400): no." in shown
    (row,) = view.agents.values()
    assert row.doing == "It refused (400): no."


def test_the_status_line_says_when_nothing_confines() -> None:
    view, _ = play(ev.SessionStarted(model="m", mode="default", cwd="/p", app="1"))
    assert "no sandbox" not in status_row(view, 80).plain
    view, _ = play(ev.Unconfined(why="Bubblewrap is missing."), view=view)
    assert "no sandbox" in status_row(view, 80).plain


def test_a_hint_stays_in_the_status_line_and_long_names_give_way() -> None:
    usage = Usage(4100, 512, 32000)
    view = View(mode="autoInProject", model="anthropic/claude-sonnet-5-5", usage=usage, cost=0.5)
    branch = "feature/a-branch-of-many-letters"
    for width in (120, 80, 60, 40):
        hint = "ctrl+c again to leave"
        told = status_row(view, width, branch=branch, hint=hint).plain
        assert hint in told, told
        assert len(told) == width
    told = status_row(view, 80, branch=branch, hint="ctrl+c again to leave").plain
    assert "$0.50" in told
    quiet = status_row(view, 80, branch=branch).plain
    assert "$0.50" in quiet
    assert "nnet-5-5" in quiet
    assert "letters" in quiet
    view = View(mode="default", model=view.model, context=20_000, window=1_000_000)
    narrow = status_row(view, 38, branch=branch).plain
    assert "2% context" in narrow and "letters" not in narrow


def test_jobs_that_will_begin_by_themselves_stand_in_the_status_line() -> None:
    def told(view: View) -> str:
        return status_row(view, 80).plain

    first, second = (ScheduledJob(id=id, prompt="look", every=600.0) for id in "ab")
    view, _ = play(ev.JobChanged(job=first), ev.JobChanged(job=second))
    assert "2 jobs to come" in told(view)
    view, _ = play(ev.JobChanged(job=replace(first, paused="it failed")), view=view)
    assert "1 job to come" in told(view)
    view, _ = play(ev.JobChanged(job=second, gone="removed"), view=view)
    assert "to come" not in told(view)


def test_the_status_line_gives_up_tokens_before_what_still_runs() -> None:
    usage = Usage(4100, 512, 32000)
    view = View(mode="default", model="scripted-1", tasks=("a",), usage=usage, cost=0.5)
    assert "tokens" in status_row(view, 80).plain
    narrow = status_row(view, 55).plain
    assert "in background" in narrow
    assert "tokens" not in narrow


def test_a_remark_on_the_cache_is_no_row() -> None:
    missed = ev.Noticed(text="50,000 tokens were not served.", tone="dim", brief="cache missed")
    view, changes = play(ev.TurnStarted(), missed)
    assert items(changes) == []
    assert "cache missed" in status_row(view, 80).plain
    used = ev.UsageChanged(usage=Usage(input=90_000), cost=1.0, context=9, window=10)
    view, _ = play(used, view=view)
    narrow = status_row(view, 45).plain
    assert "tokens" in narrow
    assert "cache" not in narrow
    view, _ = play(ev.TurnStarted(), view=view)
    assert "cache missed" not in status_row(view, 80).plain


def test_going_back_returns_to_an_event() -> None:
    back = ev.Rewound(to="u1", left="u9", text="again")
    _view, changes = play(back)
    assert changes[0] == Returned("u1")


def test_stored_events_are_marked() -> None:
    envelope = ev.Envelope(
        seq=1, uuid="u1", parent="", timestamp=0.0, agent="main", event=ev.Noticed(text="x")
    )
    _view, changes = reduce(View(), envelope)
    assert changes[-1] == Marked("u1")


def test_a_tool_being_written_is_named() -> None:
    view, _ = play(ev.InputDelta(call_id="c", name="Edit", json="{"))
    assert (view.doing, view.busy) == ("Preparing Edit", True)


@pytest.mark.parametrize(
    "event",
    [
        ev.UnknownEvent(raw={"type": "later"}),
        ev.Decided(
            call_id="c", tool="Bash", target="ls", behavior="allow", stage="rule", reason="x"
        ),
        ev.HookRan(hook_event="Stop", command="x", outcome="ok"),
    ],
)
def test_events_nobody_looks_at_change_nothing(event: ev.AnyEvent) -> None:
    assert play(event) == (View(), [])


def test_a_finished_view_is_kept_as_it_is() -> None:
    finished = ev.ToolFinished(call_id="c", ok=False, content=(), view=(Text("why", "error"),))
    (item,) = items(play(STARTED, finished)[1])
    assert isinstance(item, ToolRun)
    assert item.view == (Text("why", "error"),)


def test_the_title_outlives_a_summary() -> None:
    done = ev.Compacted(
        summary="s", trigger="auto", tokens_before=9, carried=Carried(title="Mend it")
    )
    assert play(done)[0].title == "Mend it"
    assert play(ev.TitleChanged(title="Mine"), ev.Compacted("s", "auto", 9))[0].title == "Mine"


def test_the_wait_for_another_try_is_over_once_an_answer_comes_or_the_turn_ends() -> None:
    waiting, _ = play(
        ev.TurnStarted(), ev.RetryScheduled(attempt=1, attempts=3, seconds=4, reason="Busy.")
    )
    for event in (ev.TextDelta(text="a"), ev.TurnEnded(stop=Stop.ABORTED_STREAMING)):
        assert play(event, view=waiting)[0].until == 0


def test_the_status_line_says_where_commands_run() -> None:
    view, _ = play(ev.SessionStarted(model="m", mode="default", cwd="/p", app="1"))
    view, _ = play(ev.Moved(where="src/"), view=view)
    assert status_row(view, 80, branch="main").plain.startswith("default   m   in src/   main")
    view, _ = play(ev.Moved(where=""), view=view)
    assert "in src/" not in status_row(view, 80).plain


def test_what_was_refused_is_no_failure_and_its_words_no_alarm() -> None:
    refused = ToolResult.refused("The person said: use pnpm.")
    ended = ev.ToolFinished(
        call_id="c", ok=False, content=refused.content, view=refused.view, summary=refused.summary
    )
    (item,) = items(play(STARTED, ended)[1])
    roles = {
        s.role for c in chunks_of(item) for row in c.rows(60) for s in row.spans if s.text.strip()
    }
    assert not [role for role in roles if role.startswith(("error", "warning"))]
    failed = ev.ToolFinished(call_id="c", ok=False, content=(TextContent("no such file"),))
    (item,) = items(play(STARTED, failed)[1])
    assert "error" in {s.role for c in chunks_of(item) for row in c.rows(60) for s in row.spans}


def test_a_summary_can_be_read() -> None:
    compacted = ev.Compacted(summary="# Goal\n\nMend the lease.", trigger="auto", tokens_before=9)
    before, _ = play(ev.UserMessage(content=(TextContent("hello"),)))
    (item,) = items(play(compacted, view=before)[1])

    def shown(*, expanded: bool) -> list[str]:
        made = [row for c in chunks_of(item, expanded=expanded) for row in c.rows(60)]
        return [row.plain.strip() for row in made if row.plain.strip()]

    assert "ctrl+o" in shown(expanded=False)[0]
    assert len(shown(expanded=False)) == 1
    assert shown(expanded=True)[1:] == ["Goal", "Mend the lease."]


def test_a_session_that_was_summarised_begins_with_what_was_said() -> None:
    compacted = ev.Compacted(summary="# Goal\n\nMend the lease.", trigger="auto", tokens_before=9)
    (item,) = items(play(compacted)[1])
    rows = [row.plain.strip() for c in chunks_of(item) for row in c.rows(60)]
    assert [row for row in rows if row][1:] == ["Goal", "Mend the lease."]
    assert "ctrl+o" not in rows[0]


def test_where_the_session_works_follows_it_into_a_work_tree_and_back() -> None:
    view, _ = play(ev.SessionStarted(model="m", mode="default", cwd="/p", app="1"))
    view, _ = play(ev.WorktreeChanged(path="/p/t", name="t", branch="b", cwd="/p/t/src"), view=view)
    assert view.cwd == "/p/t/src"
    view, _ = play(ev.WorktreeChanged(path="", cwd="/p/src"), view=view)
    assert view.cwd == "/p/src"
    view, _ = play(ev.WorktreeChanged(path="/stored/before/it/had/one"), view=view)
    assert view.cwd == "/p/src"


def test_the_time_of_a_stored_turn_lacks_only_what_the_person_took_in_it() -> None:
    """Of a stored session nothing says when a turn began."""
    asked = (ev.Asked(id=1, ask=ASK), ev.Answered(id=1, answer=Answer(choices=("once",))))
    ended = ev.TurnEnded(stop=Stop.COMPLETED, ms=5000)
    _, changes = play(*asked, ended, ended, *asked, ended)
    assert [item.ms for item in items(changes) if isinstance(item, Ending)] == [4000, 5000, 4000]
