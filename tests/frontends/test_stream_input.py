"""The control protocol and streamed messages, over pipes, without any client library."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import jsonschema
import pytest

from gatewright.agent.frontends import reader
from gatewright.agent.frontends.sdk.stream_input import message_of, parse
from gatewright.agent.launch.exits import BadInput
from gatewright.agent.session.session import Session
from gatewright.agent.subcommands.schema import Name, document
from gatewright.tools.interact import Ask, Option
from gatewright.tools.protocol import ImageContent, ToolCall, ToolContext, ToolResult
from tests.fakes.executor import FakeExecutor
from tests.fakes.house import house
from tests.fakes.waiting import PATIENCE
from tests.frontends.wire import Wire

ASK = Ask(
    kind="permission",
    title="Run make",
    body=(),
    options=(Option("once", "Yes", "y"), Option("no", "No", "n")),
    tool="Bash",
    free_text=True,
)
CALL = 'call: Bash {"command": "make"}\n---\nsay: Done.'


class Asking(FakeExecutor):
    """Its tools ask first and answer with what they were told."""

    async def act(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        return ToolResult.text(repr(await ctx.ask(ASK)))


@asynccontextmanager
async def wired(script: str, *, asks: bool = True) -> AsyncGenerator[Wire]:
    async with house(script, executor=Asking()) as built:
        wire = Wire(built.session, asks=asks)
        try:
            yield wire
        finally:
            wire.end()
            await asyncio.wait([wire.task], timeout=PATIENCE)


def told(wire: Wire) -> str:
    """What the call was answered with."""
    (line,) = (line for line in wire.lines if line["type"] == "user")
    return str(line["message"]["content"][0]["content"])


async def test_messages_sent_at_once_get_a_result_each() -> None:
    async with wired("say: One.\n---\nsay: Two.") as wire:
        wire.say("first")
        wire.say("second")
        assert await wire.code() == 0
        results = [line["result"] for line in wire.lines if line["type"] == "result"]
    assert results == ["One.", "Two."]


async def test_what_wakes_the_session_by_itself_is_told_at_once() -> None:
    """As a background command that ends: nobody sends a message for it."""
    async with wired("say: First.\n---\nsay: By itself.") as wire:
        wire.say("go")
        await wire.until("result")
        wire.session.submit("the background command has ended")
        woken = await wire.until("result", 2)
        assert woken["result"] == "By itself."
        assert await wire.code() == 0


async def test_a_command_is_run_unless_the_client_means_the_text() -> None:
    async with wired("say: To the model.") as wire:
        wire.say("/status")
        assert "Mode" in (await wire.until("result"))["result"]
        message = {"role": "user", "content": "/status"}
        wire.send({"type": "user", "message": message, "client_composed": True})
        assert (await wire.until("result", 2))["result"] == "To the model."


@pytest.mark.parametrize("line", ["[" * 100_000, '{"type": ' * 100_000, "{", "7"])
def test_a_line_of_any_shape_is_input_that_is_wrong(line: str) -> None:
    with pytest.raises(BadInput, match="is not stream-json"):
        parse(line)


async def test_no_message_is_no_turn() -> None:
    async with wired("") as wire:
        assert await wire.code() == 0
        assert [line["type"] for line in wire.lines if line["type"] == "result"] == []


async def test_initialize_lists_commands() -> None:
    async with wired("") as wire:
        wire.ask("r1", "initialize")
        response = (await wire.until("control_response"))["response"]
    assert (response["subtype"], response["request_id"]) == ("success", "r1")
    assert "help" in {command["name"] for command in response["response"]["commands"]}


@pytest.mark.parametrize(
    ("subtype", "more", "error"),
    [
        ("initialize", {"hooks": {"PreToolUse": []}}, "no hooks"),
        ("set_permission_mode", {"mode": "nonsense"}, "no mode"),
        ("stop_task", {"task_id": "shell_9"}, "no task shell_9"),
        ("fly_to_the_moon", {}, "no control request 'fly_to_the_moon'"),
    ],
)
async def test_what_cannot_be_done_is_an_error(subtype: str, more: Any, error: str) -> None:
    async with wired("") as wire:
        wire.ask("r1", subtype, **more)
        response = (await wire.until("control_response"))["response"]
    assert (response["subtype"], response["request_id"]) == ("error", "r1")
    assert error in response["error"]


async def test_the_mode_changes_while_nothing_runs() -> None:
    async with wired("") as wire:
        wire.ask("r1", "set_permission_mode", mode="plan")
        response = (await wire.until("control_response"))["response"]
    assert response["response"] == {"mode": "plan"}


async def test_consent_is_asked_with_everything_at_stake() -> None:
    async with wired(CALL) as wire:
        wire.say("go")
        request = await wire.until("control_request")
        assert request["request"]["subtype"] == "can_use_tool"
        assert request["request"]["tool_name"] == "Bash"
        assert request["request"]["input"] == {"command": "make"}
        assert request["request"]["tool_use_id"]
        wire.verdict(request, behavior="allow", updatedInput={"command": "make"})
        assert await wire.code() == 0
        assert "choices=('once',)" in told(wire)
        assert "input=None" in told(wire)


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ({"behavior": "allow", "updatedInput": {"command": "x"}}, "input={'command': 'x'}"),
        ({"behavior": "allow"}, "choices=('once',)"),
        ({"behavior": "deny", "message": "Never."}, "text='Never.'"),
        ({"behavior": "deny", "message": "m", "interrupt": True}, "choices=('no',)"),
        ({"behavior": "nonsense"}, "text='The person denied this call.'"),
        ({}, "text='The person denied this call.'"),
    ],
)
async def test_verdicts(body: dict[str, Any], answer: str) -> None:
    async with wired(CALL) as wire:
        wire.say("go")
        wire.verdict(await wire.until("control_request"), **body)
        assert await wire.code() == 0
        assert answer in told(wire)


async def test_an_error_is_no_consent() -> None:
    async with wired(CALL) as wire:
        wire.say("go")
        request = await wire.until("control_request")
        response = {"subtype": "error", "request_id": request["request_id"], "error": "boom"}
        wire.send({"type": "control_response", "response": response})
        assert await wire.code() == 0
        assert "No consent: boom" in told(wire)


async def test_a_client_that_leaves_is_no_consent() -> None:
    async with wired(CALL) as wire:
        wire.say("go")
        await wire.until("control_request")
        assert await wire.code() == 0
        assert "closed its end" in told(wire)
        assert wire.lines[-1]["type"] == "result"


async def test_an_answer_written_before_the_question_is_none() -> None:
    async with wired(CALL) as wire:
        wire.say("go")
        for number in range(3):
            wire.verdict({"request_id": f"ask-{number}"}, behavior="allow", updatedInput={})
        request = await wire.until("control_request")
        wire.verdict({"request_id": "ask-1"}, behavior="allow", updatedInput={})
        wire.verdict(request, behavior="deny", message="not this")
        assert await wire.code() == 0
        assert "not this" in told(wire)


async def test_without_consent_nobody_is_asked() -> None:
    async with wired(CALL, asks=False) as wire:
        wire.say("go")
        assert await wire.code() == 0
        assert "cancelled=True" in told(wire)


async def test_interrupting_withdraws_the_question() -> None:
    async with wired(CALL) as wire:
        wire.say("go")
        request = await wire.until("control_request")
        wire.ask("r1", "interrupt")
        cancelled = await wire.until("control_cancel_request")
        assert cancelled["request_id"] == request["request_id"]
        ended = await wire.until("result")
        assert (ended["subtype"], ended["is_error"]) == ("error_during_execution", True)
        assert await wire.code() == 0, "the client asked for it: no failure"


async def test_a_late_or_foreign_answer_is_dropped() -> None:
    async with wired("say: Hi.") as wire:
        wire.verdict({"request_id": "nobody"}, behavior="allow")
        wire.send({"type": "keep_alive"})
        wire.send("")
        wire.say("go")
        assert await wire.code() == 0


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        "[]",
        "{",
        '{"type": "user"}',
        '{"type": "user", "message": {"content": []}}',
    ],
)
async def test_a_line_that_is_no_message_ends_it(line: str) -> None:
    async with wired("say: Hi.") as wire:
        wire.send(line)
        with pytest.raises(BadInput):
            await wire.code()


async def test_a_line_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_LINE", 1000)
    async with wired("say: Hi.") as wire:
        os.write(wire.stdin, b"x" * 5000)
        with pytest.raises(BadInput):
            await wire.code()


def test_pictures_and_texts() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "AA=="}
    content = [
        {"type": "text", "text": "a"},
        {"type": "image", "source": source},
        {"type": "text", "text": "b"},
        {"type": "unknown"},
    ]
    message = message_of({"message": {"content": content}})
    assert message.text == "a\n\nb"
    assert message.attachments == (ImageContent("image/png", "AA=="),)


def test_long_input_in_an_error_is_cut() -> None:
    with pytest.raises(BadInput) as raised:
        parse("x" * 10_000)
    assert len(str(raised.value)) < 250


@pytest.mark.parametrize(
    ("line", "valid"),
    [
        ({"type": "user", "message": {"role": "user", "content": "hi"}}, True),
        ({"type": "user", "message": {"content": [{"type": "text", "text": "hi"}]}}, True),
        ({"type": "user", "message": {"content": []}}, False),
        ({"type": "user"}, False),
        (
            {
                "type": "control_request",
                "request_id": "1",
                "request": {"subtype": "set_permission_mode", "mode": "plan"},
            },
            True,
        ),
    ],
)
def test_the_published_schema_of_input(line: dict[str, Any], valid: bool) -> None:
    validator: Any = jsonschema.Draft202012Validator(document(Name.INPUT))
    assert validator.is_valid(line) is valid
    if line["type"] == "user" and not valid:
        with pytest.raises(BadInput):
            message_of(line)


@pytest.mark.parametrize(
    "updates",
    [
        [{"type": "setMode", "mode": "no such mode"}],
        [{"type": "addRules", "behavior": "always", "rules": [{"toolName": "Bash"}]}],
        [{"type": "addRules", "rules": [{"toolName": 7}, "?"]}],
        ["?", {"type": "?"}, {}],
    ],
)
async def test_updates_that_cannot_be_made_do_not_hold_the_answer_up(updates: list[Any]) -> None:
    async with wired(CALL) as wire:
        wire.say("go")
        asked = await wire.until("control_request")
        wire.verdict(asked, behavior="allow", updatedPermissions=updates)
        await wire.until("result")
        assert "once" in told(wire)
        assert await wire.code() == 0


@pytest.mark.parametrize("behavior", ["deny", "nonsense", "allow"])
async def test_only_a_yes_widens_what_runs(behavior: str, monkeypatch: pytest.MonkeyPatch) -> None:
    updates = [
        {"type": "setMode", "mode": "acceptEdits"},
        {"type": "addRules", "behavior": "allow", "rules": [{"toolName": "Write"}]},
        {"type": "addRules", "rules": [{"toolName": "Write"}]},
        {"type": "addRules", "behavior": "deny", "rules": [{"toolName": "Edit"}]},
    ]
    added: list[tuple[str, str]] = []

    def restrict(self: Session, rules: Sequence[tuple[str, str]]) -> None:
        added.extend(rules)

    monkeypatch.setattr(Session, "restrict", restrict)
    async with wired(CALL) as wire:
        wire.say("go")
        asked = await wire.until("control_request")
        wire.verdict(asked, behavior=behavior, message="no", updatedPermissions=updates)
        await wire.until("result")
        widened = behavior == "allow"
        assert (wire.session.mode == "acceptEdits") is widened
        assert (("allow", "Write") in added) is widened
        assert ("deny", "Edit") in added
        assert await wire.code() == 0


@pytest.mark.parametrize("updated", [5, "touch x", ["touch x"], True])
async def test_a_yes_to_another_input_that_is_none_runs_nothing(updated: Any) -> None:
    async with wired(CALL) as wire:
        wire.say("go")
        asked = await wire.until("control_request")
        wire.verdict(asked, behavior="allow", updatedInput=updated)
        await wire.until("result")
        assert "once" not in told(wire)
        assert "its updatedInput is no object" in told(wire)
        assert await wire.code() == 0


async def test_a_rule_that_does_not_say_what_it_does_allows_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    added: list[tuple[str, str]] = []

    def restrict(self: Session, rules: Sequence[tuple[str, str]]) -> None:
        added.extend(rules)

    monkeypatch.setattr(Session, "restrict", restrict)
    async with wired(CALL) as wire:
        wire.say("go")
        asked = await wire.until("control_request")
        update = {"type": "addRules", "rules": [{"toolName": "Write"}]}
        wire.verdict(asked, behavior="allow", updatedPermissions=[update])
        await wire.until("result")
        assert ("allow", "Write") not in added
        assert await wire.code() == 0
