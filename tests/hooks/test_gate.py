"""No answer of a hook makes a call run that would be denied without it."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatewright.agent.hooks.answered.answers import understood
from gatewright.agent.hooks.answered.merging import Ran, merged
from gatewright.permissions.rulebook.rules import RuleTexts
from gatewright.tools.interact import Answer
from gatewright.tools.moments import CallPrepared, Moment, PersonNeeded, Verdict
from gatewright.tools.protocol import ToolCall
from tests.fakes.executor import executed
from tests.hooks.making import handler, output
from tests.hooks.scripts import part
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
        return merged(event, [Ran(handler=by, output=said, answer=understood(said, by))])


def written(path: str) -> dict[str, str]:
    return {"file_path": path}


WORDS = st.sampled_from(["allow", "deny", "ask", "defer", "yes"])
INPUTS = st.none() | st.sampled_from(PATHS).map(written) | st.just({"other": 1})


def before(word: str, input: dict[str, object] | None) -> str:
    return json.dumps(part("PreToolUse", permissionDecision=word, updatedInput=input))


def asked(word: str, input: dict[str, object] | None, rule: str) -> str:
    update = {"type": "addRules", "behavior": "allow", "rules": [{"toolName": rule}]}
    decision = {"behavior": word, "updatedInput": input, "updatedPermissions": [update]}
    return json.dumps(part("PermissionRequest", decision=decision))


BEFORE = st.builds(before, WORDS, INPUTS)
ASKED = st.builds(asked, WORDS, INPUTS, st.sampled_from(["Edit", "*", "Write(secret/**)"]))
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
