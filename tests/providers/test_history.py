from __future__ import annotations

from gatewright.agent.providers.sending.sendable_history import (
    GO_ON,
    INTERRUPTED,
    NOTHING,
    Gathering,
    Heard,
    Message,
    Result,
    Said,
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
from gatewright.tools.protocol import TextContent


def user(text: str) -> UserTurn:
    return UserTurn((TextContent(text),))


def heard(*texts: str, results: tuple[Result, ...] = ()) -> Heard:
    return Heard(results, tuple(TextContent(text) for text in texts))


def said(*texts: str) -> Said:
    return Said(tuple(TextPart(text) for text in texts))


def converted(*turns: Turn) -> list[Message]:
    return list(Gathering().messages(turns, "m"))


def test_a_simple_exchange_passes_unchanged() -> None:
    call = CallPart("c1", "Read", {"file_path": "a"})
    turns = (
        user("hi"),
        AssistantTurn((TextPart("looking"), call), "m"),
        ResultTurn("c1", True, (TextContent("text"),)),
        user("and?"),
    )
    assert converted(*turns) == [
        heard("hi"),
        Said((TextPart("looking"), call)),
        heard("and?", results=(Result("c1", True, (TextContent("text"),)),)),
    ]


def test_roles_alternate_and_the_person_begins_and_ends() -> None:
    turns = (AssistantTurn((TextPart("a"),)), AssistantTurn((TextPart("b"),)), user("c"), user("d"))
    assert converted(*turns) == [
        heard(GO_ON),
        said("a"),
        heard(GO_ON),
        said("b"),
        heard("c", "d"),
    ]
    assert converted() == [heard(GO_ON)]
    assert converted(user("q"), AssistantTurn((TextPart("a"),)))[-1] == heard(GO_ON)


def test_every_call_has_one_result_and_orphans_go() -> None:
    calls = AssistantTurn((CallPart("a", "X", {}), CallPart("b", "Y", {})))
    turns = (
        user("q"),
        calls,
        user("late words"),
        ResultTurn("b", True, ()),
        ResultTurn("zzz", True, (TextContent("orphan"),)),
    )
    assert converted(*turns)[-1] == heard(
        "late words",
        results=(
            Result("a", False, (TextContent(INTERRUPTED),)),
            Result("b", True, (TextContent(NOTHING),)),
        ),
    )


def test_repeated_and_strange_ids_become_unique_and_plain() -> None:
    first = AssistantTurn((CallPart("functions.Read:0", "Read", {}), CallPart("", "X", {})))
    again = AssistantTurn((CallPart("functions.Read:0", "Read", {}),))
    messages = converted(user("q"), first, again)
    calls = [
        p.id for m in messages if isinstance(m, Said) for p in m.parts if isinstance(p, CallPart)
    ]
    answered = [r.call_id for m in messages if isinstance(m, Heard) for r in m.results]
    assert calls == answered == ["functions_Read_0", "call", "functions_Read_0_2"]


def test_only_the_models_own_thinking_is_kept() -> None:
    mine = ThinkingPart("hm", opaque="s")
    turn = AssistantTurn((mine, TextPart("a")), "m")
    other = AssistantTurn((mine, TextPart("b")), "n")
    alone = AssistantTurn((mine,), "m")
    assert converted(user("q"), turn, user("r"), other, user("s"), alone) == [
        heard("q"),
        Said((mine, TextPart("a"))),
        heard("r"),
        said("b"),
        heard("s"),
    ]


def test_blank_text_is_dropped() -> None:
    assert converted(user("q"), AssistantTurn((TextPart(" \n"),)), user("  "), user("r")) == [
        heard("q", "r")
    ]
