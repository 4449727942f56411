"""An "always" with a rule of the person's own: stored as it was shown, or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.frontends.sdk.consent import Consent
from gatewright.agent.record.events import Asked
from gatewright.tools.interact import Answer
from tests.permissions.composed import desk

PUSH = 'call: Bash {"command": "true-push origin main"}'
AGAIN = 'call: Bash {"command": "true-push origin dev"}'
EXACT, ORIGIN = "Bash(true-push origin main)", "Bash(true-push origin:*)"


def stored(folder: Path) -> dict[str, list[str]]:
    """The allow rules of each settings file, those for this project alone among them."""
    found: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("settings*.json")):
        values: dict[str, Any] = json.loads(path.read_text("utf-8"))
        parts = [values, *values.get("projects", {}).values()]
        entries = [one for part in parts for one in part.get("permissions", {}).get("allow", [])]
        if entries:
            name = f"{path.parent.parent.name}/{path.name}"
            found[name] = [one["rule"] if isinstance(one, dict) else one for one in entries]
    return found


@pytest.mark.parametrize(
    ("place", "trust", "files"),
    [
        ("", True, {"project/settings.local.json": [ORIGIN]}),
        ("", False, {"home/settings.json": [ORIGIN]}),
        ("user", True, {"home/settings.json": [ORIGIN]}),
        ("session", True, {}),
    ],
)
async def test_what_was_shown_is_stored_and_the_next_call_is_not_asked(
    tmp_path: Path, place: Any, trust: bool, files: dict[str, list[str]]
) -> None:
    async with desk(tmp_path, [PUSH, AGAIN, "say: Done."], trust=trust) as made:
        made.session.submit("go")
        asked = await made.asked()
        always = asked.ask.always
        assert always is not None
        assert always.rules == ("Bash(true-push:*)",)
        assert always.steps[0][:2] == (EXACT, "Bash(true-push origin main:*)")
        assert ORIGIN in always.steps[0]
        weighed = await made.session.weigh(asked.id, [ORIGIN])
        assert (weighed.problem, len(weighed.rules)) == ("", 1)
        made.session.answer(asked.id, Answer(("always",), rules=(ORIGIN,), place=place))
        await made.ended()
        assert len(made.seen.of(Asked)) == 1
        assert stored(tmp_path) == files
        assert (await made.session.weigh(asked.id, [ORIGIN])).problem.startswith("That question")


@pytest.mark.parametrize("rules", [("Bash(make:*)",), ("Bash(",), (ORIGIN, "Bash(x")])
async def test_a_rule_that_could_not_be_chosen_lets_nothing_run(
    tmp_path: Path, rules: tuple[str, ...]
) -> None:
    """Whoever answers by another way than the screen gets no further."""
    async with desk(tmp_path, [PUSH, "say: Done."]) as made:
        made.session.submit("go")
        asked = await made.asked()
        made.session.answer(asked.id, Answer(("always",), rules=rules))
        await made.ended()
        assert "cannot be kept" in made.words(1)[-1]
        assert stored(tmp_path) == {}


@pytest.mark.parametrize(
    ("command", "rules"),
    [("rm -rf /", ("Bash(rm:*)",)), ("echo $(cat x) > y", ("Bash",)), ("rm $X", ("Bash(rm:*)",))],
)
async def test_what_no_rule_settles_is_no_always(
    tmp_path: Path, command: str, rules: tuple[str, ...]
) -> None:
    call = f"call: Bash {json.dumps({'command': command})}"
    async with desk(tmp_path, [call, "say: Done."]) as made:
        made.session.submit("go")
        asked = await made.asked()
        assert asked.ask.always is None
        assert (await made.session.weigh(asked.id, rules)).problem.startswith("No rule settles")
        made.session.answer(asked.id, Answer(("always",), rules=rules))
        await made.ended()
        assert stored(tmp_path) == {}
        assert len(made.server.bodies) == 1, "the answer counted as a no"


async def test_a_line_with_a_variable_can_be_kept_word_for_word(tmp_path: Path) -> None:
    call = 'call: Bash {"command": "true-make $TARGET"}'
    async with desk(tmp_path, [call, call, "say: Done."]) as made:
        made.session.submit("go")
        asked = await made.asked()
        always = asked.ask.always
        assert always is not None
        assert (always.offered, always.rules) == (False, ("Bash(true-make $TARGET)",))
        assert "always" not in [option.id for option in asked.ask.options]
        made.session.answer(asked.id, Answer(("always",), rules=always.rules))
        await made.ended()
        assert stored(tmp_path) == {"project/settings.local.json": [*always.rules]}
        assert len(made.seen.of(Asked)) == 1


class Client:
    """Answers as it was told, and keeps what it was asked."""

    def __init__(self, **verdict: Any) -> None:
        self.verdict = verdict
        self.asked: list[dict[str, Any]] = []

    async def request(self, body: Any) -> dict[str, Any]:
        self.asked.append(dict(body))
        return self.verdict


def update(rule: str, destination: str) -> dict[str, Any]:
    name, _, content = rule.partition("(")
    rules = [{"toolName": name, "ruleContent": content.removesuffix(")")}]
    return {
        "type": "addRules", "rules": rules, "behavior": "allow", "destination": destination,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "destination", "files"),
    [
        (ORIGIN, "localSettings", {"project/settings.local.json": [ORIGIN]}),
        (ORIGIN, "userSettings", {"home/settings.json": [ORIGIN]}),
        (ORIGIN, "session", {}),
        ("Bash(make:*)", "localSettings", {}),
        (ORIGIN, "projectSettings", {}),
    ],
)
async def test_a_client_gets_the_suggestions_and_may_bring_one_back(
    tmp_path: Path, rule: str, destination: str, files: dict[str, list[str]]
) -> None:
    """One that settles the call is kept where it says; all others count in the session alone."""
    async with desk(tmp_path, [PUSH, "say: Done."]) as made:
        made.session.submit("go")
        asked = await made.asked()
        client = Client(behavior="allow", updatedPermissions=[update(rule, destination)])
        answer = await Consent(client, made.session).answer(asked, {"command": "x"})
        (body,) = client.asked
        assert body["permission_suggestions"] == [update("Bash(true-push:*)", "localSettings")]
        made.session.answer(asked.id, answer)
        await made.ended()
        assert stored(tmp_path) == files
