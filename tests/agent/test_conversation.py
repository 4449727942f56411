"""The history a provider may be sent is valid whatever was cut, lost or doubled."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from gatewright.agent.record.conversation import Conversation
from gatewright.agent.record.events import (
    AnyEvent,
    AssistantMessage,
    Cleared,
    ToolFinished,
    UserMessage,
)
from gatewright.agent.record.messages import (
    AssistantTurn,
    CallPart,
    ResultTurn,
    TextPart,
    ThinkingPart,
    Turn,
    UserTurn,
)
from gatewright.agent.turn.valid_history import paired
from gatewright.tools.protocol import INTERRUPTED, TextContent

IDS = st.sampled_from(["", "a", "b", "c", "d"])
TEXTS = st.sampled_from(["", "  ", "hello", "more"])
CONTENT = st.lists(st.builds(TextContent, TEXTS), max_size=2).map(tuple)
PARTS = st.lists(
    st.one_of(
        st.builds(TextPart, TEXTS),
        st.builds(ThinkingPart, TEXTS),
        st.builds(CallPart, IDS, st.just("Read"), st.just({})),
    ),
    max_size=4,
).map(tuple)
TURNS = st.lists(
    st.one_of(
        st.builds(UserTurn, CONTENT),
        st.builds(AssistantTurn, PARTS, st.sampled_from(["m1", "m2"])),
        st.builds(ResultTurn, IDS, st.booleans(), CONTENT),
    ),
    max_size=12,
)


def defects(turns: Sequence[Turn]) -> list[str]:
    """What a provider would object to."""
    found: list[str] = []
    seen: set[str] = set()
    open_calls: list[str] = []
    previous: Turn | None = None
    for turn in turns:
        match turn:
            case ResultTurn(call_id=call_id, content=content):
                if not open_calls or open_calls.pop(0) != call_id:
                    found.append(f"result {call_id} not behind its call")
                if not content:
                    found.append("empty result")
            case UserTurn(content=content):
                found += ["call without result"] * len(open_calls)
                found += ["empty input"] * (not content)
                found += ["two inputs in a row"] * isinstance(previous, UserTurn)
            case AssistantTurn(parts=parts):
                found += ["call without result"] * len(open_calls)
                found += ["answer first"] * (previous is None)
                found += ["two answers in a row"] * isinstance(previous, AssistantTurn)
                open_calls = [part.id for part in parts if isinstance(part, CallPart)]
                if len({*open_calls} | seen) != len(open_calls) + len(seen):
                    found.append("id used twice")
                seen |= {*open_calls}
                if any(isinstance(p, TextPart) and not p.text.strip() for p in parts):
                    found.append("empty text")
                if all(isinstance(part, ThinkingPart) for part in parts):
                    found.append("nothing but thinking")
        previous = turn
    return found + ["call without result"] * len(open_calls)


@given(TURNS)
def test_any_history_becomes_valid(turns: list[Turn]) -> None:
    assert defects(paired(turns)) == []


@given(TURNS)
def test_repair_of_a_valid_history_changes_nothing(turns: list[Turn]) -> None:
    once = paired(turns)
    assert paired(once) == once


@given(TURNS)
def test_nothing_the_person_said_is_lost(turns: list[Turn]) -> None:
    def said(history: Sequence[Turn]) -> list[str]:
        parts = [part for turn in history if isinstance(turn, UserTurn) for part in turn.content]
        texts = [part.text for part in parts if isinstance(part, TextContent)]
        return [text for text in texts if text.strip()]

    assert said(paired(turns)) == said(turns)


def test_a_call_without_result_gets_one() -> None:
    call = CallPart("c1", "Bash", {"command": "ls"})
    ask, answer = UserTurn((TextContent("go"),)), AssistantTurn((call,), "m")
    assert paired([ask, answer, UserTurn((TextContent("and?"),))]) == (
        ask,
        answer,
        ResultTurn("c1", ok=False, content=(TextContent(INTERRUPTED),)),
        UserTurn((TextContent("and?"),)),
    )
    talk = Conversation()
    talk.apply(AssistantMessage(id="1", model="m", parts=(call,)))
    assert talk.dangling() == (call,)


def test_results_stand_behind_their_message_in_call_order() -> None:
    one, two = CallPart("1", "Read", {}), CallPart("2", "Read", {})
    results = [ResultTurn(i, ok=True, content=(TextContent(i),)) for i in ("2", "1")]
    ask, answer = UserTurn((TextContent("go"),)), AssistantTurn((one, two), "m")
    assert paired([ask, answer, *results])[2:] == (results[1], results[0])


def test_thinking_of_two_models_is_not_mixed() -> None:
    first = AssistantTurn((ThinkingPart("t", "sig"), TextPart("a")), "m1")
    ask = UserTurn((TextContent("go"),))
    assert paired([ask, first, AssistantTurn((TextPart("b"),), "m2")])[1] == AssistantTurn(
        (TextPart("a"), TextPart("b")), "m2"
    )


def test_clear_forgets_and_goes_on() -> None:
    talk = Conversation()
    events: list[AnyEvent] = [
        UserMessage(content=(TextContent("one"),)),
        AssistantMessage(id="1", model="m", parts=(CallPart("c", "Read", {}),)),
        ToolFinished(call_id="c", ok=True, content=(TextContent("x"),)),
        Cleared(),
        UserMessage(content=(TextContent("two"),)),
    ]
    for event in events:
        talk.apply(event)
    assert talk.view() == (UserTurn((TextContent("two"),)),)
    assert talk.call_ids == {"c"}
