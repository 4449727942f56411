"""Hooks in the client's process, over the wire: registered, asked, answered or not."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.record.events import HookRan, InputRefused
from tests.frontends.wire import Wire
from tests.hooks.scripts import part
from tests.permissions.composed import WITHIN, Desk, desk

BASH = 'call[c1]: Bash {"command": "touch made"}'


def group(*ids: str, **more: Any) -> list[dict[str, Any]]:
    return [{"hookCallbackIds": list(ids), **more}]


@asynccontextmanager
async def wired(
    folder: Path, script: list[str], own: dict[str, Any] | None = None
) -> AsyncGenerator[tuple[Wire, Desk]]:
    async with desk(folder, script, own=own, mode="bypassPermissions", interactive=False) as made:
        wire = Wire(made.session, hooks=True)
        try:
            yield wire, made
        finally:
            await wire.code()


async def begun(wire: Wire, hooks: dict[str, Any]) -> dict[str, Any]:
    wire.ask("r1", "initialize", hooks=hooks)
    reply: dict[str, Any] = (await wire.until("control_response"))["response"]
    return reply


async def test_registered_before_the_reply_and_asked(tmp_path: Path) -> None:
    async with wired(tmp_path, [BASH, "say: done"]) as (wire, made):
        reply = await begun(wire, {"PreToolUse": group("h0", matcher="Bash")})
        told = reply["response"]
        assert (told["hooks_applied"], told["hook_on_failure_supported"]) == (True, True)
        wire.say("go")
        request = await wire.until("control_request")
        body = request["request"]
        assert (body["subtype"], body["callback_id"], body["tool_use_id"]) == (
            "hook_callback", "h0", "c1",
        )  # fmt: skip
        assert body["input"]["tool_input"]["command"] == "touch made"
        wire.verdict(request, **part("PreToolUse", permissionDecision="deny"))
        await wire.until("result")
        assert not (made.project / "made").exists()
        found = [line for line in wire.lines if line.get("subtype", "").startswith("hook_")]
        assert [line["subtype"] for line in found] == ["hook_started", "hook_response"]
        assert found[1]["outcome"] == "success"
        assert '"deny"' in found[1]["stdout"]


@pytest.mark.parametrize("answered", ["error", "nonsense"])
async def test_an_answer_that_is_none_is_a_failure(tmp_path: Path, answered: str) -> None:
    async with wired(tmp_path, [BASH, "say: done"]) as (wire, made):
        await begun(wire, {"PreToolUse": group("h0")})
        wire.say("go")
        request = await wire.until("control_request")
        if answered == "error":
            response = {"subtype": "error", "request_id": request["request_id"], "error": "broken"}
            wire.send({"type": "control_response", "response": response})
        else:
            wire.verdict(request, **part("PreToolUse", permissionDecision="perhaps"))
        await wire.until("result")
        assert (made.project / "made").exists(), "a failure goes on"
        ran = await made.seen.until(HookRan, within=WITHIN)
        assert ran.outcome == "error"


async def test_a_failure_blocks_where_it_shall(tmp_path: Path) -> None:
    async with wired(tmp_path, [BASH, "say: done"]) as (wire, made):
        await begun(wire, {"PreToolUse": group("h0", onFailure="block")})
        wire.say("go")
        request = await wire.until("control_request")
        response = {"subtype": "error", "request_id": request["request_id"], "error": "broken"}
        wire.send({"type": "control_response", "response": response})
        await wire.until("result")
        assert not (made.project / "made").exists()


async def test_a_client_that_left_is_a_failure(tmp_path: Path) -> None:
    async with wired(tmp_path, [BASH, "say: done"]) as (wire, made):
        await begun(wire, {"PreToolUse": group("h0", onFailure="block")})
        wire.say("go")
        await wire.until("control_request")
        wire.end()
        await wire.until("result")
        assert not (made.project / "made").exists()


async def test_no_answer_in_time_blocks_a_call_and_an_input(tmp_path: Path) -> None:
    async with wired(tmp_path, [BASH, "say: done"]) as (wire, made):
        await begun(wire, {"PreToolUse": group("h0", timeout=0.1)})
        wire.say("go")
        await wire.until("control_cancel_request")
        await wire.until("result")
        assert not (made.project / "made").exists()
        wire.ask("r2", "initialize", hooks={"UserPromptSubmit": group("h1", timeout=0.1)})
        wire.say("again")
        refused = await made.seen.until(InputRefused, within=WITHIN)
        assert "timed out" in refused.reason


async def test_no_answer_in_time_elsewhere_goes_on(tmp_path: Path) -> None:
    async with wired(tmp_path, [BASH, "say: done"]) as (wire, made):
        await begun(wire, {"PostToolUse": group("h0", timeout=0.1)})
        wire.say("go")
        assert (await wire.until("result"))["result"] == "done"
        ran = await made.seen.until(HookRan, within=WITHIN)
        assert (ran.outcome, "timed out" in ran.message) == ("error", True)


async def test_asynchronous_is_no_decision(tmp_path: Path) -> None:
    async with wired(tmp_path, [BASH, "say: done"]) as (wire, made):
        await begun(wire, {"PreToolUse": group("h0")})
        wire.say("go")
        request = await wire.until("control_request")
        wire.verdict(request, **{"async": True, "decision": "block"})
        await wire.until("result")
        assert (made.project / "made").exists()


@pytest.mark.parametrize(
    ("hooks", "told"),
    [
        ({"PreToolUsed": group("h0")}, "no hook event"),
        ({"PreToolUse": group("h0", matcher="(")}, "matcher"),
        ({"PreToolUse": group("h0", timeout=-1)}, "timeout"),
    ],
)
async def test_what_cannot_be_registered_is_refused(
    tmp_path: Path, hooks: dict[str, Any], told: str
) -> None:
    async with wired(tmp_path, ["say: done"]) as (wire, _):
        reply = await begun(wire, hooks)
        assert reply["subtype"] == "error"
        assert told in reply["error"]


async def test_a_client_learns_that_hooks_are_off(tmp_path: Path) -> None:
    async with wired(tmp_path, ["say: done"], own={"disableAllHooks": True}) as (wire, _):
        reply = await begun(wire, {"PreToolUse": group("h0")})
        assert reply["response"]["hooks_applied"] is False
