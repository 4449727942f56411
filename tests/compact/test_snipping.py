"""/snip: rounds leave the view of the model and nothing else; what is sent stays valid."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatewright.agent.commands.outcome import Outcome, Pick, Problem, Say
from gatewright.agent.compact.estimate import turns_tokens
from gatewright.agent.compact.snipping import rounds_of, snipped
from gatewright.agent.errors import GatewrightError, SessionError
from gatewright.agent.record import codec as wire
from gatewright.agent.record.conversation import Conversation
from gatewright.agent.record.events import (
    AnyEvent,
    AssistantMessage,
    Cleared,
    Compacted,
    Envelope,
    ImagesDropped,
    ResultsCleared,
    Snipped,
    ToolFinished,
    TurnEnded,
    UserMessage,
)
from gatewright.agent.record.messages import AssistantPart, CallPart, ResultTurn, TextPart
from gatewright.agent.turn.stop import Stop
from gatewright.tools.blocks import plain
from gatewright.tools.protocol import ImageContent, TextContent, ToolCall, ToolResult
from tests.agent.test_conversation import defects
from tests.compact.test_sessions import fold
from tests.compact.windowed import Windowed, is_summary, texts
from tests.fakes.examples import many, some
from tests.fakes.executor import FakeExecutor
from tests.fakes.house import house
from tests.fakes.recorder import Recorder


def said(text: str, *, hidden: bool = False) -> UserMessage:
    return UserMessage(content=(TextContent(text),), hidden=hidden)


def answered(text: str, *calls: str) -> AssistantMessage:
    made: list[AssistantPart] = [CallPart(id, "Read", {}) for id in calls]
    parts = (TextPart(text), *made)
    return AssistantMessage(id=text, model="m", parts=parts)


def ended(call: str, text: str = "result") -> ToolFinished:
    return ToolFinished(call_id=call, ok=True, content=(TextContent(f"{text} of {call}"),))


STORY: tuple[AnyEvent, ...] = (
    said("notice one", hidden=True),
    said("first"),
    answered("look", "a"),
    ended("a", "long " * 500),
    answered("done one"),
    said("notice two", hidden=True),
    said("second"),
    answered("look again", "b", "c"),
    ended("c"),
    ended("b"),
    answered("done two"),
    said("third"),
    answered("done three"),
)


def told(*events: AnyEvent) -> Conversation:
    talk = Conversation()
    for event in events:
        talk.apply(event)
    return talk


def stored(event: AnyEvent) -> AnyEvent:
    line = Envelope(seq=1, uuid="u", parent="", timestamp=1.0, agent="main", event=event)
    return wire.decode(wire.encode(line, "s")).event


def seen(talk: Conversation) -> str:
    return texts(talk.view())


def test_rounds_are_what_the_person_began() -> None:
    rounds = rounds_of(told(*STORY))
    assert [(each.number, each.text) for each in rounds] == [
        (1, "first"), (2, "second"), (3, "third"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("wish", "gone", "kept"),
    [
        ("2", ["second", "notice two", "done two", "of b"], ["first", "notice one", "third"]),
        ("1-2", ["first", "second", "of a"], ["third", "2 rounds"]),
        ("1\u20132", ["first", "second"], ["third"]),
        ("last 2", ["second", "third"], ["first", "of a"]),
        ("last 9", ["first", "second", "third"], ["3 rounds"]),
        ("tool results", ["long long"], ["first", "second", "of b", "an old result, cleared"]),
    ],
)
def test_what_is_meant_is_cut_and_comes_back(wish: str, gone: list[str], kept: list[str]) -> None:
    talk = told(*STORY)
    before, tokens, words = talk.view(), talk.tokens, talk.words
    event = snipped(talk, wish)
    talk.apply(event)
    assert event.tokens == turns_tokens(before) - turns_tokens(talk.view())
    assert not [word for word in gone if word in seen(talk)]
    assert not [word for word in kept if word not in seen(talk)]
    assert defects(talk.view()) == []
    assert not {*gone} & {*talk.words}
    talk.apply(snipped(talk, "undo"))
    assert (talk.view(), talk.tokens, talk.words) == (before, tokens, words)
    with pytest.raises(SessionError, match="Nothing was cut"):
        snipped(talk, "undo")


@pytest.mark.parametrize(
    ("wish", "why"),
    [
        ("0", "rounds 1 to 3"), ("4", "rounds 1 to 3"), ("3-1", "rounds 1 to 3"),
        ("x", "Usage"), ("last", "Usage"), ("last 0", "Usage"), ("1-2-3", "Usage"),
        ("1-", "Usage"), ("9" * 30, "Usage"), ("tool", "Usage"), ("undo", "Nothing was cut"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_said(wish: str, why: str) -> None:
    with pytest.raises(SessionError, match=why):
        snipped(told(*STORY), wish)


def test_nothing_is_cut_twice_and_nothing_that_waits() -> None:
    talk = told(*STORY)
    talk.apply(snipped(talk, "1"))
    with pytest.raises(SessionError, match="cut out already"):
        snipped(talk, "1")
    with pytest.raises(SessionError, match="No result of a tool is large enough"):
        snipped(told(said("first"), answered("the first")), "tool results")
    open_ = told(*STORY, said("fourth"), answered("look", "d"))
    assert [each.number for each in rounds_of(open_)] == [1, 2, 3]
    put_off = CallPart("d", "Read", {})
    open_.apply(TurnEnded(stop=Stop.COMPLETED, waits=put_off))
    with pytest.raises(SessionError, match="rounds 1 to 3"):
        snipped(open_, "4")
    with pytest.raises(SessionError, match="no finished round"):
        snipped(told(), "1")


def test_cuts_are_taken_back_one_by_one() -> None:
    talk = told(*STORY)
    views = [talk.view()]
    for wish in ("1", "tool results", "3"):
        talk.apply(snipped(talk, wish))
        views.append(talk.view())
    while len(views) > 1:
        assert talk.view() == views.pop()
        talk.apply(snipped(talk, "undo"))
    assert talk.view() == views.pop()


def test_a_summary_stays_and_ends_what_can_be_taken_back() -> None:
    talk = told(*STORY)
    talk.apply(snipped(talk, "2"))
    talk.apply(Compacted(summary="so far", trigger="manual", tokens_before=9, words=("first",)))
    with pytest.raises(SessionError, match="no finished round"):
        snipped(talk, "1")
    talk.apply(said("behind it"))
    talk.apply(answered("yes"))
    talk.apply(snipped(talk, "1"))
    assert "so far" in seen(talk)
    assert "behind it" not in seen(talk)
    assert talk.words == ["first"]


def test_what_is_cleared_or_dropped_stays_so_when_a_cut_is_taken_back() -> None:
    picture = ImageContent("image/png", "eA==")
    talk = told(*STORY, UserMessage(content=(picture,)), answered("seen"))
    talk.apply(snipped(talk, "1"))
    talk.apply(ResultsCleared(call_ids=("a", "b")))
    talk.apply(ImagesDropped())
    talk.apply(snipped(talk, "undo"))
    assert "of b" not in seen(talk)
    assert "of a" not in seen(talk)
    assert not talk.has_images()


def test_a_stored_cut_of_rounds_to_come_cuts_nothing_to_come() -> None:
    talk = told(*STORY, Snipped(rounds=(0, 2, 4, 99)), said("fourth"), answered("done four"))
    assert "fourth" in seen(talk)
    assert "second" not in seen(talk)
    assert defects(talk.view()) == []


def test_what_is_said_after_a_cut_is_of_no_round() -> None:
    talk = told(*STORY)
    talk.apply(snipped(talk, "3"))
    for event in (said("a job has ended", hidden=True), answered("I see")):
        talk.apply(event)
    talk.apply(snipped(talk, "1"))
    assert "a job has ended" in seen(talk)


IDS = st.sampled_from(["a", "b", "c", "d", ""])
EVENTS = st.lists(
    st.one_of(
        st.builds(said, st.sampled_from(["x", "y", " "]), hidden=st.booleans()),
        st.builds(answered, st.sampled_from(["t", ""]), IDS, IDS),
        st.builds(ended, IDS),
        st.builds(
            Snipped,
            rounds=st.lists(st.integers(-1, 6), max_size=3).map(tuple),
            results=st.lists(IDS, max_size=2).map(tuple),
            undo=st.booleans(),
        ),
        st.builds(ResultsCleared, call_ids=st.lists(IDS, max_size=2).map(tuple)),
        st.just(Cleared()),
        st.just(Compacted(summary="s", trigger="auto", tokens_before=1)),
    ),
    max_size=25,
)


@settings(max_examples=many(400), deadline=None)
@given(EVENTS)
def test_whatever_is_cut_the_view_is_valid_and_a_file_tells_the_same(events: list[Any]) -> None:
    talk = told(*events)
    assert defects(talk.view()) == []
    again = told(*map(stored, events))
    assert (again.view(), again.words, again.tokens) == (talk.view(), talk.words, talk.tokens)
    for number in talk.rounds.cut.rounds:
        own = {t.call_id for t in talk.rounds.of_round(number) if isinstance(t, ResultTurn)}
        assert not [t for t in talk.view() if isinstance(t, ResultTurn) and t.call_id in own]
    uncut = told(*(event for event in events if not isinstance(event, Snipped)))
    talk.apply(Snipped())
    assert talk.view() == uncut.view()


async def test_the_command_lists_cuts_and_takes_back() -> None:
    provider = Windowed(60_000, calls=0)
    async with (
        house("", open_model=provider.open) as built,
        Recorder(built.session) as recorded,
    ):
        run = built.session.run_command
        assert "no finished round" in shown(await run("/snip"))
        for number, text in enumerate(("the red one", "the blue one"), start=1):
            built.session.submit(text)
            await recorded.until(TurnEnded, count=number)
        await built.session.idle()
        offered = await run("/snip")
        assert isinstance(offered, Pick)
        assert [each.label for each in offered.choices] == ["1. the red one", "2. the blue one"]
        assert "Cut: about" in shown(await offered.choose("1"))
        built.session.submit("and now")
        await recorded.until(TurnEnded, count=3)
        await built.session.idle()
        assert "red" not in texts(provider.requests[-1].turns)
        assert "blue" in texts(provider.requests[-1].turns)
        assert "red" in str(built.journal.hub().kept())
        assert isinstance(await run("/snip 9"), Problem)
        assert "taken back" in shown(await run("/snip undo"))
        assert "red" in texts(built.talk.view())


def shown(outcome: Outcome) -> str:
    assert isinstance(outcome, Say), outcome
    return "\n".join(plain(each) for each in outcome.blocks)


@pytest.mark.parametrize("seed", some(range(60), 6))
async def test_random_stories_of_snip_rewind_compact_and_resume(seed: int) -> None:
    """What the next request sends is valid, and what a resume reads is what was live."""
    rng = random.Random(seed)
    provider = Windowed(60_000, calls=rng.randrange(3))

    def result(call: ToolCall) -> ToolResult:
        return ToolResult.text("r" * rng.choice([10, 2_000]))

    executor = FakeExecutor({"Read": result})
    async with (
        house("", executor=executor, open_model=provider.open) as built,
        Recorder(built.session) as recorded,
    ):
        past, turns = built.session.past, 0
        for _ in range(8):
            act = rng.choice(["say", "say", "snip", "undo", "results", "rewind", "compact"])
            try:
                if act == "say" or not turns:
                    turns += 1
                    built.session.submit(f"message {turns} " + "p" * rng.choice([5, 900]))
                    await recorded.until(TurnEnded, count=turns)
                    await built.session.idle()
                elif act == "snip":
                    await past.snip(rng.choice(["last 1", "1", "1-2", "2"]))
                elif act == "undo":
                    await past.snip("undo")
                elif act == "results":
                    await past.snip("tool results")
                elif act == "rewind" and (points := past.points()):
                    await past.go_back(rng.choice(points).id, "talk")
                elif act == "compact":
                    await past.compact()
            except GatewrightError:
                continue
            assert defects(built.talk.view()) == []
        asked = [request for request in provider.requests if not is_summary(request)]
        assert [defects(request.turns) for request in asked] == [[]] * len(asked)
        branch = [each for each in built.journal.hub().kept() if each.event.durable]
        again = fold([wire.decode(wire.encode(each, "s")) for each in branch])
        assert again.view() == built.talk.view()
        assert again.words == built.talk.words
