"""No answer of a hook makes a call run that would be denied without it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatewright.agent.hooks.answered.answers import understood
from gatewright.agent.hooks.answered.merging import Ran, merged
from gatewright.agent.hooks.listening import of_request
from gatewright.permissions.rulebook.rules import RuleTexts
from gatewright.tools.interact import Answer
from gatewright.tools.moments import CallPrepared, Moment, PersonNeeded, Verdict
from gatewright.tools.protocol import ToolCall
from tests.fakes.executor import executed
from tests.hooks.making import handler, output
from tests.hooks.scripts import command, hooks, part, says
from tests.permissions.composed import desk
from tests.permissions.test_gated import House

NO = Answer(("no",))
RULES = {"user": RuleTexts(deny=("Edit(secret/**)",), ask=("Edit(asked/**)",))}
PATHS = ("secret/a", "./secret/../secret/a", "asked/a", "fine.txt", ".git/hooks/pre-commit")


class Says:
    """Whatever the moment, the same output of one hook."""

    def __init__(self, before: str, asked: str) -> None:
        self.texts: dict[type[Moment], str] = {CallPrepared: before, PersonNeeded: asked}

    async def at(self, moment: Moment) -> Verdict:
        event = "PreToolUse" if isinstance(moment, CallPrepared) else "PermissionRequest"
        text = self.texts.get(type(moment), "")
        by = handler(event, command="x")
        said = output(text)
        run = Ran(handler=by, output=said, answer=understood(said, by))
        verdict = merged(event, [run])
        return of_request(verdict, [run], ()) if isinstance(moment, PersonNeeded) else verdict


def written(path: str) -> dict[str, str]:
    return {"file_path": path}


WORDS = st.sampled_from(["allow", "deny", "ask", "defer", "yes"])
INPUTS = st.none() | st.sampled_from(PATHS).map(written) | st.just({"other": 1})


def before(word: str, input: dict[str, object] | None) -> str:
    return json.dumps(part("PreToolUse", permissionDecision=word, updatedInput=input))


def asked(word: str, input: dict[str, object] | None, rule: str, mode: str) -> str:
    updates = [
        {"type": "addRules", "behavior": "allow", "rules": [{"toolName": rule}]},
        {"type": "setMode", "mode": mode},
    ]
    decision = {"behavior": word, "updatedInput": input, "updatedPermissions": updates}
    return json.dumps(part("PermissionRequest", decision=decision))


TO_MODES = st.sampled_from(["acceptEdits", "bypassPermissions", "fullAccess", "work"])
BEFORE = st.builds(before, WORDS, INPUTS)
ASKED = st.builds(
    asked, WORDS, INPUTS, st.sampled_from(["Edit", "*", "Write(secret/**)"]), TO_MODES
)
ROUGH = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
MODES = st.sampled_from(["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"])
SAID = (st.sampled_from(PATHS), BEFORE | st.just(""), ASKED | st.just(""), MODES)


@settings(max_examples=25, deadline=None, suppress_health_check=ROUGH)
@given(*SAID)
async def test_nothing_forbidden_runs_whatever_hooks_say(
    tmp_path: Path, path: str, before: str, asked: str, mode: str
) -> None:
    await nothing_forbidden(tmp_path, path, (before, asked), mode)


@pytest.mark.proof
@pytest.mark.timeout(600)
@settings(max_examples=2_000, deadline=None, suppress_health_check=ROUGH)
@given(*SAID)
async def test_nothing_forbidden_runs_whatever_hooks_say_often(
    tmp_path: Path, path: str, before: str, asked: str, mode: str
) -> None:
    await nothing_forbidden(tmp_path, path, (before, asked), mode)


async def nothing_forbidden(root: Path, path: str, said: tuple[str, str], mode: str) -> None:
    house = House(root, NO, rules=RULES, mode=mode)
    house.ctx = msgspec.structs.replace(house.ctx, moments=Says(*said))
    await executed(house.executor, ToolCall("c1", "Write", written(path)), house.ctx)
    for ran in house.write.ran:
        assert "secret" not in ran, "a deny rule holds"
        assert "asked" not in ran, "an ask rule is a person's, who says no"
        assert mode != "plan", "a plan writes nothing"
    assert house.policy.current() in (mode, "acceptEdits"), "no further than Shift+Tab"


# An allow of a hook against what stands: rules, mode, call, and the stage that has the last word.
Vector: TypeAlias = tuple[dict[str, Any], str, str, str]
DENIED: dict[str, Vector] = {
    "a deny rule": ({"deny": ["Bash(touch *)"]}, "", "touch made", "deny"),
    "a part of a line": ({"deny": ["Bash(touch *)"]}, "", "true && touch made", "deny"),
    "an ask rule": ({"ask": ["Bash(touch *)"]}, "", "touch made", "non_interactive"),
    "the floor": ({}, "bypassPermissions", "rm -rf ~", "non_interactive"),
    "the floor in a line": ({}, "", "cd / && rm -rf /", "non_interactive"),
    "strict plan": ({}, "plan", "touch made", "mode_gate"),
    "our own keys": ({}, "", "cat ~/.gatewright/state/keys.json", "deny"),
}


@pytest.mark.parametrize("name", DENIED)
@pytest.mark.parametrize("rewrites", [False, True], ids=["allow", "rewrite"])
async def test_an_allow_never_beats_what_stands(
    tmp_path: Path, name: str, *, rewrites: bool
) -> None:
    """Nobody is there: what would ask a person is a denial. A rewrite is judged like the call."""
    rules, mode, line, stage = DENIED[name]
    more = {"updatedInput": {"command": line}} if rewrites else {}
    allow = command(says(part("PreToolUse", permissionDecision="allow", **more)))
    asked = command(says(part("PermissionRequest", decision={"behavior": "allow"})))
    own = hooks("PreToolUse", allow)
    own["hooks"] |= hooks("PermissionRequest", asked)["hooks"]
    own["permissions"] = rules
    call = f"call[c1]: Bash {json.dumps({'command': 'echo fine' if rewrites else line})}"
    async with desk(tmp_path, [call, "say: done"], own=own, mode=mode, interactive=False) as made:
        made.session.submit("go")
        assert "Not run" in await made.finished("c1")
        decided = await made.decided("c1")
        assert (decided.behavior, decided.stage) == ("deny", stage), decided.reason
        await made.ended()


async def test_what_is_unknown_in_a_strict_plan_is_a_persons_to_say(tmp_path: Path) -> None:
    allow = command(says(part("PreToolUse", permissionDecision="allow")))
    call = 'call[c1]: Bash {"command": "python3 made.py"}'
    async with desk(
        tmp_path,
        [call, "say: done"],
        own=hooks("PreToolUse", allow),
        mode="plan",
        interactive=False,
    ) as made:
        made.session.submit("go")
        await made.ended()
        assert (await made.decided("c1")).stage == "non_interactive"
