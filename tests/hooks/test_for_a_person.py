"""Hooks that answer in a person's place, and what a person is shown of what they change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.record.events import Asked, ModeChanged, UserMessage
from gatewright.tools.protocol import TextContent
from tests.hooks.scripts import command, hooks, part, says
from tests.permissions.composed import ID, WITHIN, Desk, desk

BASH = 'call[c1]: Bash {"command": "touch made"}'
QUESTIONS = [
    {
        "question": "Which one?",
        "header": "One",
        "options": [{"label": "Red"}, {"label": "Blue"}],
    },
    {
        "question": "Which ones?",
        "header": "Many",
        "options": [{"label": "A"}, {"label": "B"}, {"label": "C"}],
        "multiSelect": True,
    },
]
ASK = f"call[c1]: AskUserQuestion {json.dumps({'questions': QUESTIONS})}"
ANSWERS = {"Which one?": "Blue", "Which ones?": "A, C"}
ANSWERED = part(
    "PreToolUse",
    permissionDecision="allow",
    updatedInput={"questions": QUESTIONS, "answers": ANSWERS},
)


def answering(answer: dict[str, Any]) -> dict[str, Any]:
    return hooks("PreToolUse", command(says(answer)), matcher="AskUserQuestion|ExitPlanMode")


@pytest.mark.parametrize("interactive", [True, False], ids=["screen", "print"])
async def test_a_question_is_answered_by_the_persons_own_hook(
    tmp_path: Path, *, interactive: bool
) -> None:
    own, named = answering(ANSWERED), None if interactive else ("AskUserQuestion",)
    async with desk(
        tmp_path, [ASK, "say: done"], own=own, interactive=interactive, tools=named
    ) as made:
        made.session.submit("go")
        told = await made.finished("c1")
        await made.ended()
        assert "Which one?\n-> Blue" in told
        assert "Which ones?\n-> A, C" in told
        assert not made.seen.of(Asked)
        assert (await made.decided("c1")).answer == "hook"


async def test_what_a_hook_leaves_open_is_the_persons(tmp_path: Path) -> None:
    half = part(
        "PreToolUse",
        permissionDecision="allow",
        updatedInput={"questions": QUESTIONS, "answers": {"Which one?": "a green one"}},
    )
    async with desk(tmp_path, [ASK, "say: done"], own=answering(half)) as made:
        made.session.submit("go")
        asked = await made.asked()
        assert asked.ask.title == "Which ones?"
        made.answer(asked, "B")
        assert "-> a green one" in await made.finished("c1")
        await made.ended()


async def test_a_projects_hook_answers_no_question(tmp_path: Path) -> None:
    settings, named = answering(ANSWERED), ("AskUserQuestion",)
    async with desk(
        tmp_path, [ASK, "say: done"], settings=settings, interactive=False, tools=named
    ) as made:
        made.session.submit("go")
        assert "Nobody is here to answer" in await made.finished("c1")
        await made.ended()


async def test_the_model_cannot_answer_itself(tmp_path: Path) -> None:
    given = json.dumps({"questions": QUESTIONS, "answers": ANSWERS})
    script = [f"call[c1]: AskUserQuestion {given}", "say: done"]
    async with desk(tmp_path, script, interactive=False, tools=("AskUserQuestion",)) as made:
        made.session.submit("go")
        assert "Nobody is here to answer" in await made.finished("c1")
        await made.ended()


async def test_a_plan_is_approved_with_the_hooks_own_words(tmp_path: Path) -> None:
    approve = part("PreToolUse", permissionDecision="allow", updatedInput={"plan": "Step one."})
    script = ['call[c1]: ExitPlanMode {"plan": "Step zero."}', "say: done"]
    async with desk(tmp_path, script, own=answering(approve), mode="plan") as made:
        made.session.submit("go")
        told = await made.finished("c1")
        await made.ended()
        assert "Step one." in told
        assert "Step zero." not in told
        assert made.session.mode == "default"


def requested(**decision: Any) -> dict[str, Any]:
    answer = part("PermissionRequest", decision={"behavior": "allow", **decision})
    return hooks("PermissionRequest", command(says(answer)), matcher="Write|Bash")


WRITE = 'call[c1]: Write {"file_path": "a.txt", "content": "x"}'


async def mode_after(tmp_path: Path, mode: str) -> str:
    own = requested(updatedPermissions=[{"type": "setMode", "mode": mode}])
    async with desk(tmp_path, [WRITE, "say: done"], own=own) as made:
        made.session.submit("go")
        await made.ended()
        assert (made.project / "a.txt").exists()
        changed = [each.mode for each in made.seen.of(ModeChanged)]
        assert changed == ([made.session.mode] if changed else [])
        return made.session.mode


async def test_the_mode_goes_where_shift_tab_goes_and_no_further(tmp_path: Path) -> None:
    assert await mode_after(tmp_path / "1", "acceptEdits") == "acceptEdits"
    assert await mode_after(tmp_path / "2", "bypassPermissions") == "default"
    assert await mode_after(tmp_path / "3", "fullAccess") == "default"


async def kept(tmp_path: Path, **update: Any) -> tuple[bool, bool]:
    """Whether the same call runs without a question then, and whether a file says so."""
    rules = [{"toolName": "Bash", "ruleContent": "touch:*"}]
    own = requested(updatedPermissions=[{"type": "addRules", "rules": rules, **update}])
    more = 'call[c2]: Bash {"command": "touch more"}'
    async with desk(tmp_path, [BASH, more, "say: done"], own=own) as made:
        made.session.submit("go")
        await made.finished("c2")
        stage = (await made.decided("c2")).stage
        await made.ended()
        local = made.project / ".gatewright" / "settings.local.json"
        return stage != "mode", local.exists() and "Bash(touch:*)" in local.read_text("utf-8")


@pytest.mark.parametrize(
    ("update", "counts", "stored"),
    [
        ({"destination": "session"}, True, False),
        ({}, True, False),
        ({"destination": "localSettings"}, True, True),
        ({"destination": "projectSettings"}, False, False),
        ({"destination": "session", "behavior": "deny"}, False, False),
    ],
)
async def test_rules_are_kept_where_they_are_said_to_be(
    tmp_path: Path, update: dict[str, str], *, counts: bool, stored: bool
) -> None:
    assert await kept(tmp_path, **update) == (counts, stored)


async def test_the_prompt_names_the_hook_that_asks(tmp_path: Path) -> None:
    ask = part("PreToolUse", permissionDecision="ask", permissionDecisionReason="it touches things")
    own = hooks("PreToolUse", command(f"true named; {says(ask)}"), matcher="Bash")
    async with desk(tmp_path, [BASH, "say: done"], own=own, mode="bypassPermissions") as made:
        made.session.submit("go")
        asked = await made.asked()
        assert "The hook true named" in asked.ask.reason
        assert "it touches things" in asked.ask.reason
        made.answer(asked, "no")
        await made.ended()


async def test_prompt_and_record_show_what_was_rewritten(tmp_path: Path) -> None:
    rewrite = part("PreToolUse", updatedInput={"command": "touch other"})
    own = hooks("PreToolUse", command(says(rewrite)), matcher="Bash")
    async with desk(tmp_path, [BASH, "say: done"], own=own) as made:
        made.session.submit("go")
        asked = await made.asked()
        assert "touch other" in str(asked.ask.body)
        assert "touch made" in asked.ask.reason
        made.answer(asked, "once")
        await made.ended()
        decided = await made.decided("c1")
        assert (decided.target, "touch made" in decided.reason) == ("touch other", True)


def said(made: Desk) -> list[str]:
    texts = [each.content for each in made.seen.of(UserMessage) if not each.hidden]
    return ["".join(part.text for part in each if isinstance(part, TextContent)) for each in texts]


async def test_print_mode_begins_with_what_a_hook_says(tmp_path: Path) -> None:
    own = hooks("SessionStart", command(says(part("SessionStart", initialUserMessage="first"))))
    for printing, wanted in ((True, ["first", "then"]), (False, ["then"])):
        folder, options = tmp_path / str(printing), {"print_mode": printing}
        async with desk(folder, ["say: done"], own=own, options=options) as made:
            made.session.submit("then")
            await made.ended()
            assert said(made) == wanted


async def test_a_session_that_is_resumed_may_begin_with_nothing_else(tmp_path: Path) -> None:
    async with desk(tmp_path, ["say: one"]) as made:
        made.session.submit("go")
        await made.ended()
    own = hooks("SessionStart", command(says(part("SessionStart", initialUserMessage="first"))))
    options = {"print_mode": True, "resume": ID}
    async with desk(tmp_path, ["say: two"], own=own, options=options) as made:
        assert await made.session.opened(), "there is something to answer"
        await made.seen.until(UserMessage, where=lambda one: "first" in str(one), within=WITHIN)
        await made.ended(2)
