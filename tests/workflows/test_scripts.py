"""Scripts as people and models write them: what is refused and where, what runs and what it does.

Acceptance 1 of workflows: every global and option, errors with their line, and hostile ones.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from gatewright.agent.workflows.engine.script_limits import Limits
from gatewright.agent.workflows.engine.wire import BudgetNow
from gatewright.agent.workflows.script.check import check
from gatewright.agent.workflows.script.checked import ScriptProblem
from tests.fakes.examples import some
from tests.workflows.playing import META, Played, played
from tests.workflows.scripts_of import FOLDER, Case, answered, cases

ALL = [case for file in sorted(FOLDER.glob("*.js")) for case in cases(file.name)]
QUICK = Limits(between_messages=0.5, whole_run=3.0)
BODIES = {
    "child": 'return [args, await agent("c")]',
    "broken": "let a\nconst a = 1",
    "throwing": '\nthrow new Error("no")',
    "phased": 'await agent("c1")\nphase("Inside")\nreturn await agent("c2")',
    "nesting": "return [typeof workflow, meta.name, typeof args]",
    "stuck": "await new Promise(() => {})",
    "meddling": "Array.prototype.push = null; globalThis.left = 1; return {f() {}, n: 1}",
}
SAVED = {
    name: f'export const meta = {{name: "{name}", description: "b"}}\n{body}'
    for name, body in BODIES.items()
}


def test_there_are_as_many_as_were_asked_for() -> None:
    assert len(ALL) >= 150
    assert len({case.name for case in ALL}) == len(ALL)
    known = {
        "=", "!", "?", "prompts", "call", "logs", "phases", "args", "budget", "warns", "own",
        "within", "lines",
    }  # fmt: skip
    assert {word for case in ALL for word in case.wanted} <= known


@pytest.mark.parametrize("case", some(ALL, 3), ids=lambda case: case.name)
async def test_a_script(case: Case) -> None:
    wanted = case.wanted
    source = case.source if "own" in wanted else f"{META}\n{case.source}"
    if "?" in wanted:
        with pytest.raises(ScriptProblem) as raised:
            await _played(case, source)
        words, place = case.place()
        assert words in raised.value.text
        assert [raised.value.line, raised.value.column][: len(place)] == place
        return
    _compare(case, await _played(case, source))
    if "warns" in wanted:
        assert any(wanted["warns"] in warning for warning in check(source).warnings)


async def _played(case: Case, source: str) -> Played:
    args: Any = case.data("args") if "args" in case.wanted else UNSET
    budget = (
        msgspec.convert(case.data("budget"), BudgetNow) if "budget" in case.wanted else BudgetNow()
    )
    limits = QUICK if case.wanted.get("!", "").startswith("cpu") else Limits()
    return await played(check(source), answered, args, budget, limits, SAVED)


def _compare(case: Case, found: Played) -> None:
    wanted = case.wanted
    if "=" in wanted:
        assert found.value == case.data("=")
    if "!" in wanted:
        kind, words, place = case.failure()
        assert (found.end.kind, words in found.end.message) == (kind, True), found.end
        assert [found.end.line][: len(place)] == place
    if "prompts" in wanted:
        assert found.prompts == case.data("prompts")
    if "call" in wanted:
        options = json.loads(msgspec.json.encode(found.calls[-1].options))
        call = {**options, "in": found.calls[-1].phase}
        assert {name: call.get(name) for name in case.data("call")} == case.data("call")
    if "logs" in wanted:
        assert found.logs == case.data("logs")
    if "phases" in wanted:
        assert found.phases == case.data("phases")
    if "within" in wanted:
        assert [[call.within, call.phase] for call in found.calls] == case.data("within")
    if "lines" in wanted:
        assert [call.line for call in found.calls] == case.data("lines")
