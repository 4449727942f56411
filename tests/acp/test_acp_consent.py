"""What a person would be asked is asked of the editor, and its answer is the person's: no more."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.record.events import Asked, Decided, TurnEnded
from gatewright.permissions.modes import MODES
from gatewright.tools.interact import Answer
from tests.acp.fake_editor import FORMS, MODEL, Editor, Refused, editor, said
from tests.fakes.model_server import ModelServer
from tests.fakes.scripted_provider import read_script
from tests.fakes.waiting import PATIENCE
from tests.permissions.composed import Desk, desk

TOUCH = 'call: Bash {"command": "touch made"}'
CALLS = {
    "a command": TOUCH,
    "a safe command": 'call: Bash {"command": "ls"}',
    "a dangerous command": 'call: Bash {"command": "rm -rf ~"}',
    "an edit inside": 'call: Write {"file_path": "new.txt", "content": "x"}',
    "an edit outside": 'call: Write {"file_path": "../new.txt", "content": "x"}',
    "a read outside": 'call: Read {"file_path": "../outside.txt"}',
    "a page": 'call: WebFetch {"url": "http://127.0.0.1:9/", "prompt": "x"}',
}
OFFERED = ("default", "acceptEdits", "autoInProject", "plan", "dontAsk", "work", "fullAccess")


def record(ed: Editor, session: str) -> list[tuple[str, str, str]]:
    """What the gate decided in a session of an editor."""
    assert ed.agent is not None
    live = ed.agent.opened(session).session
    subscription = live.subscribe()
    found = [each.event for each in subscription.waiting()]
    subscription.close()
    return [(e.behavior, e.stage, e.answer) for e in found if isinstance(e, Decided)]


async def refused(made: Desk, turns: int) -> None:
    """Say no to all that is asked until so many turns have ended."""
    answered = 0
    async with asyncio.timeout(PATIENCE):
        while sum(isinstance(e, TurnEnded) for e in made.seen.events) < turns:
            asked = [e for e in made.seen.events if isinstance(e, Asked)]
            for each in asked[answered:]:
                made.session.answer(each.id, Answer.of("no"))
            answered = len(asked)
            await asyncio.sleep(0)


JUDGED = "<account>"  # begins what a classifier is asked
NO = 'say: {"why": "Not asked for.", "label": "routine", "verdict": "deny"}'


def turns_asked(server: ModelServer) -> int:
    """Requests of the conversation, without those of a classifier."""
    return sum(JUDGED not in json.dumps(each["messages"][:1]) for each in server.bodies)


def judging(server: ModelServer) -> None:
    server.tasks[JUDGED] = list(read_script("\n---\n".join([NO] * 20)))


@pytest.mark.parametrize("mode", [*OFFERED, "auto"])
async def test_every_mode_asks_what_it_asks_on_the_screen(tmp_path: Path, mode: str) -> None:
    """The same calls, answered no: decisions and questions are those of a session without us."""
    script = [each for call in CALLS.values() for each in (call, "say: So.")]
    auto = {"unmeasured": True, "model": MODEL, "stages": "thinking"}
    own = {"acp": {"fullAccess": True}, "autoMode": auto}
    (tmp_path / "a").mkdir()
    async with desk(tmp_path / "a", script, own=own, options={"mode": mode}) as made:
        judging(made.server)
        turns = 0
        while turns_asked(made.server) < len(script):
            made.session.submit("go")
            await refused(made, turns := turns + 1)
    usual = [(e.behavior, e.stage, e.answer) for e in made.seen.events if isinstance(e, Decided)]
    asked = [e.ask.title for e in made.seen.events if isinstance(e, Asked)]
    assert bool(asked) or mode == "dontAsk"
    assert mode != "auto" or any(stage == "classifier" for _, stage, _ in usual)
    (tmp_path / "b").mkdir()
    async with editor(tmp_path / "b", *script, own=own) as ed:
        judging(ed.server)
        ed.answers("no")
        session = await ed.new(_meta={"permissionMode": mode})
        while turns_asked(ed.server) < len(script):
            await ed.turn(session, "go")
        questions = ed.asked("session/request_permission")
        titles = [each["toolCall"]["title"] for each in questions]
        assert [each.replace(f"{tmp_path}/b", f"{tmp_path}/a") for each in titles] == asked
        assert record(ed, session) == usual


async def test_a_question_says_all_that_is_at_stake(tmp_path: Path) -> None:
    async with editor(tmp_path, TOUCH, "say: Done.") as ed:
        ed.answers("once")
        session = await ed.new()
        await ed.turn(session, "go")
        (asked,) = ed.asked("session/request_permission")
        call = ed.updates(session, "tool_call")[0]
        assert asked["toolCall"]["toolCallId"] == call["toolCallId"]
        assert asked["toolCall"]["rawInput"] == {"command": "touch made"}
        assert "touch made" in json.dumps(asked["toolCall"]["content"])
        kinds = {each["optionId"]: each["kind"] for each in asked["options"]}
        assert kinds == {"once": "allow_once", "always": "allow_always", "no": "reject_once"}
        always = next(each["name"] for each in asked["options"] if each["optionId"] == "always")
        assert "Bash(touch" in always
        assert "kept in" in always
        assert (ed.project / "made").exists()


async def test_always_is_kept_where_it_says(tmp_path: Path) -> None:
    async with editor(tmp_path, TOUCH, TOUCH, "say: Done.") as ed:
        ed.answers("always")
        session = await ed.new()
        await ed.turn(session, "go")
        assert len(ed.asked("session/request_permission")) == 1


@pytest.mark.parametrize(
    "answer",
    [
        {"outcome": {"outcome": "selected", "optionId": "forged"}},
        {"outcome": {"outcome": "selected"}},
        {"outcome": {"outcome": "cancelled", "optionId": "once"}},
        {"outcome": "selected"},
        {"optionId": "once"},
        {},
        None,
        "once",
        [],
    ],
)
async def test_an_answer_that_is_none_is_no(tmp_path: Path, answer: Any) -> None:
    async with editor(tmp_path, TOUCH, "say: Done.") as ed:

        async def permission(params: dict[str, Any]) -> Any:
            return answer

        ed.handlers["session/request_permission"] = permission
        await ed.turn(await ed.new(), "go")
        assert not (ed.project / "made").exists()


async def test_an_answer_under_an_id_of_nobody_answers_nothing(tmp_path: Path) -> None:
    """Nor does one that comes before the question, or again for another one."""
    async with editor(tmp_path, TOUCH, "say: Done.") as ed:
        yes = {"outcome": {"outcome": "selected", "optionId": "once"}}
        session = await ed.new()
        for id in (*range(-1, 20), "1", 1.5, None, [1], {"a": 1}, True):
            ed.send(id=id, result=yes)
        blocked = asyncio.Event()

        async def permission(params: dict[str, Any]) -> Any:
            await blocked.wait()
            return {"outcome": {"outcome": "selected", "optionId": "no"}}

        ed.handlers["session/request_permission"] = permission
        end = ed.prompt(session, "go")
        await ed.until(lambda: ed.asked("session/request_permission"))
        ed.send(id=77, result=yes)
        ed.send(id="1", result=yes)
        blocked.set()
        await said(end)
        assert not (ed.project / "made").exists()


QUESTION = {
    "questions": [
        {
            "question": "Which way?",
            "header": "Way",
            "options": [
                {"label": "Left", "description": "l"},
                {"label": "Right", "description": "r"},
            ],
            "multiSelect": False,
        }
    ]
}


@pytest.mark.parametrize("forms", [True, False])
async def test_a_question_of_the_model(tmp_path: Path, *, forms: bool) -> None:
    script = (f"call: AskUserQuestion {json.dumps(QUESTION)}", "say: Done.")
    async with editor(tmp_path, *script, can=FORMS if forms else {}) as ed:

        async def form(params: dict[str, Any]) -> Any:
            ways = params["requestedSchema"]["properties"]["answer"]["oneOf"]
            right = next(each["const"] for each in ways if each["title"].startswith("Right"))
            return {"action": "accept", "content": {"answer": right}}

        async def buttons(params: dict[str, Any]) -> Any:
            right = next(each for each in params["options"] if each["name"].startswith("Right"))
            return {"outcome": {"outcome": "selected", "optionId": right["optionId"]}}

        ed.handlers["elicitation/create"] = form
        ed.handlers["session/request_permission"] = buttons
        await ed.turn(await ed.new(), "go")
        assert "Right" in json.dumps(ed.server.bodies[1]["messages"][-1])
        assert bool(ed.asked("elicitation/create")) == forms


async def test_choices_and_words_of_a_form_both_count(tmp_path: Path) -> None:
    several = {"questions": [{**QUESTION["questions"][0], "multiSelect": True}]}
    script = (f"call: AskUserQuestion {json.dumps(several)}", "say: Done.")
    async with editor(tmp_path, *script, can=FORMS) as ed:

        async def form(params: dict[str, Any]) -> Any:
            ways = params["requestedSchema"]["properties"]["answer"]["items"]["anyOf"]
            return {
                "action": "accept",
                "content": {"answer": [each["const"] for each in ways], "other": "and green"},
            }

        ed.handlers["elicitation/create"] = form
        await ed.turn(await ed.new(), "go")
        told = json.dumps(ed.server.bodies[1]["messages"][-1])
        assert all(each in told for each in ("Left", "Right", "and green"))


@pytest.mark.parametrize("action", ["decline", "cancel", "nonsense"])
async def test_a_form_that_is_declined_answers_nothing(tmp_path: Path, action: str) -> None:
    script = (f"call: AskUserQuestion {json.dumps(QUESTION)}", "say: Done.")
    async with editor(tmp_path, *script, can=FORMS) as ed:

        async def form(params: dict[str, Any]) -> Any:
            return {"action": action, "content": {"answer": "1"}}

        ed.handlers["elicitation/create"] = form
        await ed.turn(await ed.new(), "go")
        assert "Right" not in json.dumps(ed.server.bodies[-1]["messages"][-1])


PROJECT = {"permissions": {"allow": ["Bash(touch made)"]}}


def untrusted(folder: Path) -> None:
    place = folder / "project" / ".gatewright"
    place.mkdir(parents=True)
    (place / "settings.json").write_text(json.dumps(PROJECT), encoding="utf-8")


@pytest.mark.parametrize("answer", ["trust", "continue", "forged", ""])
async def test_trust_is_a_form_or_nothing(tmp_path: Path, answer: str) -> None:
    untrusted(tmp_path)
    async with editor(tmp_path, TOUCH, "say: Done.", can=FORMS) as ed:

        async def form(params: dict[str, Any]) -> Any:
            assert "touch made" in params["message"]
            return {"action": "accept", "content": {"answer": answer}}

        ed.handlers["elicitation/create"] = form
        ed.answers("no")
        session = await ed.new()
        await ed.turn(session, "go")
        assert (ed.project / "made").exists() == (answer == "trust")


async def test_without_forms_a_project_is_not_trusted_and_that_is_said_once(tmp_path: Path) -> None:
    untrusted(tmp_path)
    async with editor(tmp_path, TOUCH, "say: Done.") as ed:
        ed.answers("no")
        session = await ed.new()
        await ed.turn(session, "go")
        assert not (ed.project / "made").exists()
        assert ed.text(session).count("not trusted") == 1
        assert len(ed.asked("session/request_permission")) == 1  # of the call


async def test_modes_and_options_go_both_ways(tmp_path: Path) -> None:
    async with editor(tmp_path, "say: Yes.") as ed:
        result = await ed.ask("session/new", cwd=str(ed.project), mcpServers=[])
        session = result["sessionId"]
        assert result["modes"]["currentModeId"] == "default"
        offered = [each["id"] for each in result["modes"]["availableModes"]]
        assert offered == [each for each in OFFERED if each != "fullAccess"]
        assert {each["id"] for each in result["configOptions"]} >= {"mode", "model", "effort"}
        await ed.ask("session/set_mode", sessionId=session, modeId="plan")
        await ed.until(lambda: ed.updates(session, "current_mode_update"))
        told = await ed.until(
            lambda: [
                each
                for each in ed.updates(session, "config_option_update")
                if each["configOptions"][0]["currentValue"] == "plan"
            ]
        )
        assert told
        for option, value in (("mode", "default"), ("effort", "high")):
            done = await ed.ask(
                "session/set_config_option", sessionId=session, configId=option, value=value
            )
            found = {each["id"]: each["currentValue"] for each in done["configOptions"]}
            assert found[option] == value
        await ed.turn(session, "/mode acceptEdits")
        modes = ed.updates(session, "current_mode_update")
        assert modes[-1]["currentModeId"] == "acceptEdits"


async def test_an_output_style_is_the_sessions_alone_and_counts_at_once(tmp_path: Path) -> None:
    async with editor(tmp_path, "say: One.", "say: Two.") as ed:
        session = await ed.new()
        await ed.turn(session, "one")
        done = await ed.ask(
            "session/set_config_option",
            sessionId=session, configId="output_style", value="concise",
        )  # fmt: skip
        found = {each["id"]: each["currentValue"] for each in done["configOptions"]}
        assert found["output_style"] == "concise"
        await ed.turn(session, "two")
        systems = [json.dumps(body["system"]) for body in ed.server.bodies]
        assert ["Style: concise" in each for each in systems] == [False, True]
    settings = tmp_path / "home" / ".gatewright" / "settings.json"
    assert "outputStyle" not in settings.read_text(encoding="utf-8")


async def test_a_question_of_an_agent_says_whose_it_is(tmp_path: Path) -> None:
    given = {"description": "d", "prompt": "BELOW", "subagent_type": "general-purpose"}
    async with editor(tmp_path, f"call: Agent {json.dumps(given)}", "say: Done.") as ed:
        ed.server.tasks["BELOW"] = list(read_script(f"{TOUCH}\n---\nsay: So."))
        ed.answers("once")
        session = await ed.new()
        await ed.turn(session, "go")
        (asked,) = ed.asked("session/request_permission")
        titles = {each["title"] for each in ed.updates(session, "tool_call")}
        assert asked["toolCall"]["title"] == "general-purpose: Run touch made"
        assert asked["toolCall"]["title"] in titles


@pytest.mark.parametrize("mode", ["bypassPermissions", "delegate", "fullAccess", "auto", "", "x"])
async def test_a_mode_that_is_not_offered_is_refused(tmp_path: Path, mode: str) -> None:
    async with editor(tmp_path) as ed:
        session = await ed.new()
        with pytest.raises(Refused):
            await ed.ask("session/set_mode", sessionId=session, modeId=mode)
        with pytest.raises(Refused):
            await ed.ask(
                "session/set_config_option", sessionId=session, configId="mode", value=mode
            )
        if mode:
            with pytest.raises(Refused):
                await ed.new(_meta={"permissionMode": mode})


async def test_full_access_is_nobodys_where_bypass_is_disabled(tmp_path: Path) -> None:
    own = {
        "acp": {"fullAccess": True},
        "permissions": {"disableBypassPermissionsMode": "disable"},
    }
    async with editor(tmp_path, own=own) as ed:
        session = await ed.new()
        with pytest.raises(Refused):
            await ed.ask("session/set_mode", sessionId=session, modeId="fullAccess")


@pytest.mark.parametrize(
    ("option", "value"),
    [("model", "no/such"), ("effort", "mad"), ("x", "y"), ("mode", True), ("output_style", "no")],
)
async def test_a_choice_that_is_none_is_refused(tmp_path: Path, option: str, value: Any) -> None:
    async with editor(tmp_path) as ed:
        session = await ed.new()
        with pytest.raises(Refused):
            await ed.ask(
                "session/set_config_option", sessionId=session, configId=option, value=value
            )


def test_every_mode_we_offer_is_one() -> None:
    assert set(OFFERED) | {"auto"} <= set(MODES)
    assert LaunchOptions(model=MODEL).mode == ""


@pytest.mark.parametrize("offered", [False, True])
async def test_what_asks_nothing_is_entered_by_a_prompt_only_where_it_is_offered(
    tmp_path: Path, *, offered: bool
) -> None:
    own = {"acp": {"fullAccess": offered}}
    async with editor(tmp_path, own=own) as ed:
        session = await ed.new()
        for name in ("bypassPermissions", "fullAccess", "BYPASS"):
            await ed.turn(session, f"/mode {name} yes")
        modes = [each["currentModeId"] for each in ed.updates(session, "current_mode_update")]
        assert bool(modes) == offered
        assert ("acp.fullAccess" in ed.text(session)) != offered
