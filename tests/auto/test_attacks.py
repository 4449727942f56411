"""What was found by trying to get past a judge: words that went, fields that were not shown."""

from __future__ import annotations

import json

import pytest

from gatewright.agent.auto.account import GROWN
from gatewright.agent.auto.entries import LONGEST, line, what_it_does
from gatewright.agent.auto.reuse import Reuse
from gatewright.agent.auto.standing import Refusals
from gatewright.agent.auto.verdict import read
from gatewright.agent.record.events import (
    AgentStarted,
    AnyEvent,
    Envelope,
    Rewound,
    TurnEnded,
    UserMessage,
)
from gatewright.agent.turn.stop import Stop
from gatewright.tools.access import MAIN, Access
from gatewright.tools.classify import Opinion, Pending
from gatewright.tools.protocol import TextContent, ToolCall
from tests.auto.test_account import Session
from tests.auto.test_classifier import House

TOOL = "mcp__tracker__create_issue"


@pytest.mark.parametrize("field", ["title", "description", "summary", "reason", "label", "why"])
def test_what_a_server_is_sent_is_shown_whatever_its_field_is_called(field: str) -> None:
    assert what_it_does(TOOL, {field: "a secret"}) == {field: "a secret"}
    reuse = Reuse()

    def pending(text: str) -> Pending:
        call = ToolCall("c", TOOL, {field: text})
        return Pending(call=call, access=Access(), agent=MAIN, mode="auto", reason="")

    reuse.keep(pending("harmless"), Opinion(word="allow"), reuse.now)
    assert reuse.find(pending("a secret")) is None


def test_half_a_character_breaks_no_line() -> None:
    assert "ud800" in line({"does": "\ud800"})


def test_a_first_refusal_of_another_agent_ends_no_pause() -> None:
    refusals = Refusals()
    for _ in range(3):
        refusals.denied(MAIN, "a")
    refusals.denied("main/other", "b")
    assert refusals.paused


def test_a_verdict_beside_one_that_cannot_be_read_is_none() -> None:
    text = "<verdict>do not allow</verdict> or <verdict>allow</verdict>"
    assert read(text, "fast") is None
    assert read(text, "thinking") is None


async def test_a_command_that_is_not_shown_whole_is_asked_about() -> None:
    house = House()
    opinion = await house.asks(f"echo {'a' * LONGEST}; rm -rf ~; echo {'b' * LONGEST}")
    assert opinion.word == "ask"
    assert not house.voice.requests


def test_a_second_rewind_takes_its_words_back_too() -> None:
    session = Session()
    first = session.says("look at it")
    session.says("push to production")
    went = session.hears(Rewound(to=first, left=""))
    session.says("force it")
    session.hears(Rewound(to=went, left=""))
    assert session.told() == [{"the_person_said": "look at it"}]


def test_a_rewind_to_what_nobody_knows_leaves_no_word() -> None:
    session = Session()
    session.says("push to production")
    session.hears(Rewound(to="long ago", left=""))
    assert session.told() == []


def test_an_agent_loses_the_words_that_were_taken_back_but_not_its_deeds() -> None:
    session = Session()
    first = session.says("look at it")
    session.says("push to production")
    session.hears(AgentStarted(child="main/a", kind="t", prompt="task", call_id="c"))
    session.calls("d", "Bash", agent="main/a", command="make")
    session.hears(Rewound(to=first, left=""))
    told = json.dumps(session.told("main/a"))
    assert "production" not in told
    assert "look at it" in told
    assert "make" in told


def test_a_branch_read_again_brings_its_words_and_those_alone() -> None:
    session = Session()
    session.says("push to production")
    events: list[AnyEvent] = [
        UserMessage(content=(TextContent("do not push"),)),
        TurnEnded(stop=Stop.COMPLETED),
        Rewound(to="elsewhere", left=""),
    ]
    kept = [
        Envelope(seq=n, uuid=f"k{n}", parent="", timestamp=0.0, agent=MAIN, event=event)
        for n, event in enumerate(events)
    ]
    session.account.renew(kept)
    assert session.told() == [{"the_person_said": "do not push"}]


@pytest.mark.parametrize(
    ("tool", "input"),
    [("Bash", {"command": "curl http://a.test"}), ("mcp__pages__get", {"url": "a"})],
)
def test_an_agent_that_fetched_by_command_or_server_is_looked_through(
    tool: str, input: dict[str, str]
) -> None:
    session = Session()
    session.hears(AgentStarted(child="main/a", kind="t", prompt="task", call_id="c"))
    session.calls("d", tool, agent="main/a", **input)
    assert session.account.ended("main/a") is not None


def test_what_nobody_judges_does_not_grow_without_end() -> None:
    session = Session()
    session.says("do not push")
    for n in range(400):
        session.calls(f"c{n}", "Bash", command=f"{n} " + "word " * 800)
    told = session.account.of(MAIN)
    assert told.tokens <= GROWN * 1.1
    assert session.told()[0] == {"the_person_said": "do not push"} or any(
        "do not push" in str(each) for each in session.told()
    )


async def test_a_verdict_is_about_the_script_as_it_was() -> None:
    house = House()
    facts = iter(({"written": "echo"}, {"written": "rm -rf ~"}))
    house.known = lambda: next(facts)
    await house.asks("./run.sh", id="a")
    await house.asks("./run.sh", id="b")
    assert len(house.voice.requests) == 2
