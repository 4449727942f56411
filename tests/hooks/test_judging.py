"""Hooks that a model answers: what it costs, and the agent that looks at files before it does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.commands.outcome import Page
from gatewright.agent.hooks.kinds.judging_model import judged
from gatewright.agent.record.events import AttemptPaid, HookRan, TurnEnded
from gatewright.agent.turn.stop import Stop
from gatewright.tools.blocks import plain
from tests.fakes.waiting import eventually
from tests.hooks.making import handler
from tests.hooks.scripts import command, hooks, part, says
from tests.permissions.composed import WITHIN, desk

SMALL = {"smallModel": "anthropic/claude-haiku-5-5"}
READ = 'call[j1]: Read {"file_path": "notes.txt"}'
BASH = 'call[c1]: Bash {"command": "touch made"}'


def asks(event: str, kind: str, *more: dict[str, Any], matcher: str = "") -> dict[str, Any]:
    entry = {"type": kind, "prompt": "Is it fine? $ARGUMENTS"}
    return {**SMALL, **hooks(event, entry, *more, matcher=matcher)}


async def test_what_a_question_costs_is_booked_as_that_of_hooks(tmp_path: Path) -> None:
    script = ["say: one", 'say: {"ok": true}']
    async with desk(tmp_path, script, own=asks("Stop", "prompt")) as made:
        made.session.submit("go")
        await made.ended()
        (paid,) = made.seen.of(AttemptPaid)
        assert (paid.by, paid.cost > 0, paid.usage.output > 0) == ("hooks", True, True)
        ended = await made.seen.until(TurnEnded, within=WITHIN)
        assert made.session.spent.cost == pytest.approx(ended.cost + paid.cost)
        said = await made.session.run_command("/cost")
        assert isinstance(said, Page)
        assert "hooks" in "\n".join(map(plain, said.fallback.blocks))


async def test_an_agent_looks_at_files_and_has_the_turn_go_on(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "notes.txt").write_text("half done", encoding="utf-8")
    script = [
        "say: one",
        READ,
        'say: The file says so.\n  {"ok": false, "reason": "it is half done"}',
        "say: two",
        'say: {"ok": true}',
    ]
    async with desk(tmp_path, script, own=asks("Stop", "agent")) as made:
        made.session.submit("go")
        await made.ended()
        bodies = made.server.bodies
        assert any("it is half done" in text for text in made.words(3))
        names = [tool["name"] for tool in bodies[1]["tools"]]
        assert sorted(names) == ["Bash", "Glob", "Grep", "Read"]
        assert "half done" in json.dumps(bodies[2]["messages"])
        assert "$ARGUMENTS" not in json.dumps(bodies[1]["messages"])
        turns = sum(ended.cost for ended in made.seen.of(TurnEnded))
        assert made.session.spent.cost > turns, "what its agents used counts, and once"
        assert made.seen.of(AttemptPaid) == []


async def test_it_changes_nothing_whatever_rules_allow(tmp_path: Path) -> None:
    write = 'call[j1]: Bash {"command": "touch judged"}'
    own = asks("Stop", "agent") | {"permissions": {"allow": ["Bash", "Write"]}}
    script = ["say: one", write, 'say: {"ok": true}']
    async with desk(tmp_path, script, own=own, mode="bypassPermissions") as made:
        made.session.submit("go")
        await made.ended()
        assert not (made.project / "judged").exists()
        assert "runs what changes nothing" in json.dumps(made.server.bodies[2]["messages"])


async def test_a_hook_that_rewrites_its_calls_gets_it_to_change_nothing(tmp_path: Path) -> None:
    rewrite = part(
        "PreToolUse", permissionDecision="allow", updatedInput={"command": "touch judged"}
    )
    own = asks("Stop", "agent")
    own["hooks"] |= hooks("PreToolUse", command(says(rewrite)), matcher="Bash")["hooks"]
    script = ["say: one", 'call[j1]: Bash {"command": "pwd"}', 'say: {"ok": true}']
    async with desk(tmp_path, script, own=own, mode="bypassPermissions") as made:
        made.session.submit("go")
        await made.ended()
        assert not (made.project / "judged").exists()
        assert str(made.project) in json.dumps(made.server.bodies[2]["messages"][-1])


async def test_its_calls_reach_hooks_but_no_agent_and_no_other_event(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "notes.txt").write_text("x", encoding="utf-8")
    log = tmp_path / "log"
    entry = {"type": "agent", "prompt": "Is it fine?"}
    own = asks("PreToolUse", "agent", command(f"cat >> {log}"))
    own["hooks"] |= hooks("SubagentStop", entry, command(f"cat >> {log}"))["hooks"]
    own["hooks"] |= hooks("Notification", command(f"cat >> {log}"))["hooks"]
    script = [BASH, READ, 'say: {"ok": true}', "say: done"]
    async with desk(tmp_path, script, own=own, mode="bypassPermissions") as made:
        made.session.submit("go")
        await made.ended()
        assert (made.project / "made").exists()
        heard = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        assert sorted((each["hook_event_name"], each["tool_name"]) for each in heard) == [
            ("PreToolUse", "Bash"), ("PreToolUse", "Read"),
        ]  # fmt: skip
        ran = [each for each in made.seen.of(HookRan) if each.kind == "agent"]
        assert [each.outcome for each in ran] == ["success"]


async def test_without_an_answer_it_failed(tmp_path: Path) -> None:
    script = ["say: one", "say: I could not say."]
    async with desk(tmp_path, script, own=asks("Stop", "agent")) as made:
        made.session.submit("go")
        await made.ended()
        (ran,) = made.seen.of(HookRan)
        assert (ran.outcome, "no `ok`" in ran.message) == ("error", True)


async def test_an_interrupt_ends_it(tmp_path: Path) -> None:
    script = [BASH, "hang:"]
    async with desk(
        tmp_path, script, own=asks("PreToolUse", "agent"), mode="bypassPermissions"
    ) as made:
        made.session.submit("go")
        await eventually(lambda: len(made.server.bodies) == 2, what="the agent of the hook")
        made.session.interrupt()
        ended = await made.seen.until(TurnEnded, within=WITHIN)
        assert ended.stop is Stop.ABORTED_TOOLS
        assert not (made.project / "made").exists()


NO = '{"ok": false, "reason": "why"}'


@pytest.mark.parametrize(
    ("event", "kind", "wanted"),
    [
        ("PreToolUse", "prompt", {"continue": False, "stopReason": "why"}),
        ("PreToolUse", "agent", {"decision": "block", "reason": "why"}),
        ("PostToolUse", "agent", {"decision": "block", "reason": "why"}),
        ("Stop", "prompt", {"decision": "block", "reason": "why"}),
    ],
)
def test_what_a_no_means(event: str, kind: str, wanted: dict[str, Any]) -> None:
    assert judged(NO, handler(event, kind=kind, prompt="p")).answer == wanted


async def test_what_hooks_use_up_counts_for_the_budget(tmp_path: Path) -> None:
    own = asks("PreToolUse", "prompt", matcher="Bash")
    script = [BASH, 'say: {"ok": true}', "say: done"]
    async with desk(
        tmp_path, script, own=own, mode="bypassPermissions", options={"max_budget_usd": 1e-9}
    ) as made:
        made.session.submit("go")
        ended = await made.seen.until(TurnEnded, within=WITHIN)
        paid = made.seen.of(AttemptPaid)[0]
        assert ended.stop is Stop.BUDGET_EXHAUSTED
        assert f"${ended.cost + paid.cost:.4f}" in ended.message
