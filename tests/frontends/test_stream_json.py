"""Events in the public JSON dialect, as golden lists."""

from __future__ import annotations

import io
import json
from itertools import count
from typing import Any

import jsonschema

from gatewright.agent.frontends.json_lines import encode
from gatewright.agent.frontends.sdk import stream
from gatewright.agent.frontends.sdk.stream_json import Dialect
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.record.events import (
    AnyEvent,
    AssistantMessage,
    Compacted,
    Decided,
    Envelope,
    InputDelta,
    MessageDropped,
    Noticed,
    RetryScheduled,
    SessionStarted,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    UserMessage,
)
from gatewright.agent.record.messages import CallPart, TextPart, ThinkingPart, Usage
from gatewright.agent.servers.server_command import ServerRow
from gatewright.agent.subcommands.schema import Name, document
from gatewright.agent.turn.stop import Stop
from gatewright.tools.protocol import ImageContent, TextContent
from tests.fakes.house import house

PUBLISHED: Any = jsonschema.Draft202012Validator(document(Name.OUTPUT))
CALL = CallPart("c1", "Bash", {"command": "rm x"})
STARTED = ToolStarted(call_id="c1", name="Bash", input=CALL.input, verb="", target="")
MESSAGE = AssistantMessage(
    id="m1",
    model="model-a",
    parts=(ThinkingPart("Hmm.", "sig"), TextPart("Hi."), CALL),
    usage=Usage(10, 5, 3, 2),
    cost=0.25,
)


def lines(*events: AnyEvent, partial: bool = False, replay: bool = False) -> list[dict[str, Any]]:
    numbers = count(1)
    dialect = Dialect(
        "s",
        new_id=lambda: f"new{next(numbers)}",
        commands=lambda: ("help",),
        partial=partial,
        replay=replay,
    )
    found = [
        line
        for seq, event in enumerate(events)
        for line in dialect.lines(
            Envelope(
                seq=seq,
                uuid=f"e{seq}" if event.durable else "",
                parent="",
                timestamp=0.0,
                agent="main",
                event=event,
            )
        )
    ]
    for line in found:
        PUBLISHED.validate(line)
    return found


def test_the_first_object_says_what_there_is() -> None:
    started = SessionStarted(model="m", mode="plan", cwd="/w", app="0.1.0", tools=("Read",))
    assert lines(started) == [
        {
            "type": "system",
            "subtype": "init",
            "cwd": "/w",
            "model": "m",
            "permissionMode": "plan",
            "tools": ["Read"],
            "mcp_servers": [],
            "slash_commands": ["help"],
            "agents": [],
            "skills": [],
            "plugins": [],
            "apiKeySource": "none",
            "output_style": "default",
            "app": "0.1.0",
            "trusted": True,
            "session_id": "s",
            "uuid": "e0",
        }
    ]


def test_servers_are_listed_and_again_before_a_turn_in_which_they_changed() -> None:
    dialect = Dialect("s", new_id=lambda: "u")
    rows = [ServerRow(name="a", source="user", state="pending")]
    dialect.servers = lambda: rows
    started = SessionStarted(model="m", mode="plan", cwd="/w", app="0.1.0", tools=("Read",))

    def said(event: AnyEvent) -> list[Any]:
        envelope = Envelope(seq=0, uuid="e", parent="", timestamp=0.0, agent="main", event=event)
        found = dialect.lines(envelope)
        for line in found:
            PUBLISHED.validate(line)
        return [
            (line["mcp_servers"], line["tools"], line.get("mcp_server_errors")) for line in found
        ]

    assert said(started) == [([{"name": "a", "status": "pending"}], ["Read"], None)]
    assert said(TurnStarted()) == []
    rows[0] = ServerRow(name="a", source="user", state="connected", tools=("mcp__a__b",))
    now = [{"name": "a", "status": "connected"}]
    assert said(TurnStarted()) == [(now, ["Read", "mcp__a__b"], None)]
    assert said(TurnStarted()) == []
    rows[0] = ServerRow(name="a", source="user", state="failed", error="it ended")
    failed = [{"name": "a", "error": "it ended"}]
    assert said(TurnStarted()) == [([{"name": "a", "status": "failed"}], ["Read"], failed)]


def test_skills_and_commands_are_said_again_before_a_turn_in_which_they_changed() -> None:
    dialect = Dialect("s", new_id=lambda: "u")
    skills: list[str] = ["tdd"]
    dialect.skills = lambda: skills
    dialect.menu = lambda: [
        {"name": name, "description": "x", "argumentHint": ""} for name in skills
    ]
    started = SessionStarted(model="m", mode="plan", cwd="/w", app="0.1.0", tools=("Read",))

    def said(event: AnyEvent) -> list[str]:
        envelope = Envelope(seq=0, uuid="e", parent="", timestamp=0.0, agent="main", event=event)
        found = dialect.lines(envelope)
        for line in found:
            PUBLISHED.validate(line)
        return [line["subtype"] for line in found]

    assert said(started) == ["init"]
    assert said(TurnStarted()) == []
    skills.append("deploy")
    assert said(TurnStarted()) == ["init", "commands_changed"]
    assert said(TurnStarted()) == []


def test_an_assistant_message() -> None:
    assert lines(MESSAGE) == [
        {
            "type": "assistant",
            "message": {
                "id": "m1",
                "type": "message",
                "role": "assistant",
                "model": "model-a",
                "content": [
                    {"type": "thinking", "thinking": "Hmm.", "signature": "sig"},
                    {"type": "text", "text": "Hi."},
                    {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "rm x"}},
                ],
                "stop_reason": None,
                "stop_sequence": None,
                "usage": {
                    "input_tokens": 10,
                    "cache_creation_input_tokens": 2,
                    "cache_read_input_tokens": 3,
                    "output_tokens": 5,
                },
            },
            "parent_tool_use_id": None,
            "session_id": "s",
            "uuid": "e0",
        }
    ]


def test_hidden_thinking_is_opaque() -> None:
    hidden = AssistantMessage(id="m", model="m", parts=(ThinkingPart("", "blob", redacted=True),))
    (line,) = lines(hidden)
    assert line["message"]["content"] == [{"type": "redacted_thinking", "data": "blob"}]


def test_a_tool_result_is_a_user_message() -> None:
    finished = ToolFinished(call_id="c1", ok=False, content=(TextContent("no"),), data={"exit": 1})
    assert lines(finished) == [
        {
            "type": "user",
            "message": {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "c1",
                        "content": "no",
                        "is_error": True,
                    }
                ],
            },
            "parent_tool_use_id": None,
            "tool_use_result": {"exit": 1},
            "session_id": "s",
            "uuid": "e0",
        }
    ]
    pictures = (TextContent("a"), ImageContent("image/png", "AA=="))
    (line,) = lines(ToolFinished(call_id="c", ok=True, content=pictures))
    assert line["message"]["content"][0]["content"] == [
        {"type": "text", "text": "a"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}},
    ]


def test_a_result_sums_up_the_turn() -> None:
    denied = Decided(
        call_id="c1", tool="Bash", target="rm x", behavior="deny", stage="deny", reason="a rule"
    )
    ended = TurnEnded(
        stop=Stop.COMPLETED, usage=Usage(10, 5, 3, 2), cost=0.25, requests=2, ms=30, api_ms=20
    )
    *_, result = lines(MESSAGE, STARTED, denied, ended)
    assert result == {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "duration_ms": 30,
        "duration_api_ms": 20,
        "num_turns": 2,
        "result": "Hi.",
        "stop_reason": "end_turn",
        "terminal_reason": "completed",
        "total_cost_usd": 0.25,
        "usage": {
            "input_tokens": 10,
            "cache_creation_input_tokens": 2,
            "cache_read_input_tokens": 3,
            "output_tokens": 5,
        },
        "modelUsage": {
            "model-a": {
                "inputTokens": 10,
                "outputTokens": 5,
                "cacheReadInputTokens": 3,
                "cacheCreationInputTokens": 2,
                "webSearchRequests": 0,
                "costUSD": 0.25,
            }
        },
        "permission_denials": [
            {
                "tool_name": "Bash",
                "tool_use_id": "c1",
                "tool_input": {"command": "rm x"},
                "reason": "a rule",
            }
        ],
        "warnings": ["Refused: Bash(rm x). a rule"],
        "session_id": "s",
        "uuid": "e3",
    }


def test_the_next_turn_starts_clean_but_costs_add_up() -> None:
    ended = TurnEnded(stop=Stop.COMPLETED)
    results = [
        line for line in lines(MESSAGE, ended, MESSAGE, ended, ended) if line["type"] == "result"
    ]
    assert [result["total_cost_usd"] for result in results] == [0.25, 0.5, 0.5]
    assert [result["result"] for result in results] == ["Hi.", "Hi.", ""]
    assert [r["modelUsage"]["model-a"]["inputTokens"] for r in results] == [10, 20, 20]


def test_ends_have_their_subtypes() -> None:
    for stop, subtype in (
        (Stop.MAX_TURNS, "error_max_turns"),
        (Stop.BUDGET_EXHAUSTED, "error_max_budget_usd"),
        (Stop.MODEL_ERROR, "error_during_execution"),
        (Stop.LOOP_GUARD, "error_during_execution"),
    ):
        (line,) = lines(TurnEnded(stop=stop, message="why"))
        assert (line["subtype"], line["is_error"], line["errors"]) == (subtype, True, ["why"])


def test_system_messages() -> None:
    bodies = lines(
        Compacted(summary="s", trigger="auto", tokens_before=9), Noticed(text="t", tone="warning")
    )
    assert bodies[0]["compact_metadata"] == {"trigger": "auto", "pre_tokens": 9}
    assert (bodies[1]["subtype"], bodies[1]["text"]) == ("notice", "t")
    (retry,) = lines(RetryScheduled(attempt=1, attempts=10, seconds=1.5, reason="Busy."))
    assert (retry["attempt"], retry["max_retries"], retry["retry_delay_ms"]) == (1, 10, 1500)


def test_what_was_sent_comes_back_only_when_asked_for() -> None:
    said = UserMessage(content=(TextContent("hi"),))
    hidden = UserMessage(content=(TextContent("x"),), hidden=True)
    assert lines(said, hidden) == []
    (line,) = lines(said, hidden, replay=True)
    assert line["isReplay"] is True
    assert line["message"]["content"] == [{"type": "text", "text": "hi"}]


def test_pieces_are_silent_unless_asked_for() -> None:
    assert lines(TextDelta(text="a"), ThinkingDelta(text="b"), MessageDropped()) == []


def test_pieces_are_well_formed_stream_events() -> None:
    events: list[AnyEvent] = [
        ThinkingDelta(text="Hm"),
        ThinkingDelta(text="m."),
        TextDelta(text="Hi."),
        InputDelta(call_id="c1", name="Bash", json=""),
        InputDelta(call_id="c1", name="Bash", json='{"command"'),
        InputDelta(call_id="c2", name="Read", json="{}"),
        MESSAGE,
    ]
    raw = [line["event"] for line in lines(*events, partial=True)[:-1]]
    assert [(event["type"], event.get("index")) for event in raw] == [
        ("message_start", None),
        ("content_block_start", 0),
        ("content_block_delta", 0),
        ("content_block_delta", 0),
        ("content_block_stop", 0),
        ("content_block_start", 1),
        ("content_block_delta", 1),
        ("content_block_stop", 1),
        ("content_block_start", 2),
        ("content_block_delta", 2),
        ("content_block_stop", 2),
        ("content_block_start", 3),
        ("content_block_delta", 3),
        ("content_block_stop", 3),
        ("message_delta", None),
        ("message_stop", None),
    ]
    assert raw[-2]["delta"]["stop_reason"] == "tool_use"


def test_a_dropped_message_is_closed_and_the_next_starts_anew() -> None:
    raw = lines(TextDelta(text="a"), MessageDropped(), TextDelta(text="b"), partial=True)
    assert [line["event"]["type"] for line in raw] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_stop",
        "message_start",
        "content_block_start",
        "content_block_delta",
    ]


SCRIPT = """
say: I will look first.
call: Read {"file_path": "a.py"}
---
say: Done.
"""


async def printed(**options: Any) -> tuple[int, list[Any]]:
    out, err = io.StringIO(), io.StringIO()
    async with house(SCRIPT) as built:
        given = LaunchOptions(prompt="go", print_mode=True, **options)
        code = await stream.run(built.session, given, out, err)
    return code, [json.loads(line) for line in out.getvalue().splitlines()]


async def test_a_whole_run_as_a_stream() -> None:
    code, found = await printed(output_format="stream-json")
    assert code == 0
    assert [line["type"] for line in found] == ["assistant", "user", "assistant", "result"]
    assert len({line["uuid"] for line in found}) == len(found)


async def test_a_whole_run_as_one_object() -> None:
    code, found = await printed(output_format="json")
    assert code == 0
    assert [line["type"] for line in found] == ["result"]
    assert found[0]["result"] == "Done."
    _, verbose = await printed(output_format="json", verbose=True)
    assert [line["type"] for line in verbose[0]] == ["assistant", "user", "assistant", "result"]


def test_a_lone_surrogate_can_be_written() -> None:
    assert json.loads(encode({"text": "\ud83d"})) == {"text": "\ud83d"}


def test_inputs_of_calls_that_ended_are_let_go() -> None:
    dialect = Dialect("s", new_id=lambda: "n")
    events = (
        ToolStarted(call_id="c1", name="Read", input={"file_path": "a.py"}, verb="", target=""),
        ToolFinished(call_id="c1", ok=True, content=()),
    )
    held: list[dict[str, object]] = []
    for event in events:
        dialect.lines(
            Envelope(seq=1, uuid="u", parent="", timestamp=0.0, agent="main", event=event)
        )
        held.append(dialect.input_of("c1"))
    assert held == [{"file_path": "a.py"}, {}]
