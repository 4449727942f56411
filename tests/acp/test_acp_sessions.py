"""Sessions of an editor: opened, worked in, cancelled, found again, copied, held by one process."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.providers.keys.stored_keys import key_store
from tests.acp.fake_editor import Editor, Refused, editor, said
from tests.fakes.waiting import PATIENCE

LOOK = 'say: I look.\ncall: Read {"file_path": "notes.txt"}'
RUN = 'call: Bash {"command": "touch made"}'
HANGS = "say: Well\nwait: gate"


def notes(folder: Path) -> None:
    (folder / "project").mkdir(exist_ok=True)
    (folder / "project" / "notes.txt").write_text("alpha\nbeta\n", encoding="utf-8")


async def test_what_is_advertised(tmp_path: Path) -> None:
    async with editor(tmp_path) as ed:
        told = await ed.ask("initialize", protocolVersion=7)
    assert told["protocolVersion"] == 1
    able = told["agentCapabilities"]
    assert able["promptCapabilities"] == {"image": True, "audio": False, "embeddedContext": True}
    assert set(able["sessionCapabilities"]) == {
        "list", "resume", "fork", "close", "additionalDirectories",
    }  # fmt: skip
    assert {each["type"] for each in told["authMethods"]} == {"env_var"}


async def test_a_turn(tmp_path: Path) -> None:
    notes(tmp_path)
    async with editor(tmp_path, LOOK, "think: Hm.\nsay: Two lines.") as ed:
        session = await ed.new()
        end = await ed.turn(session, "how long is it?")
        assert end["stopReason"] == "end_turn"
        assert end["usage"]["totalTokens"] == 30
        assert ed.text(session) == "I look.Two lines."
        (call,) = ed.updates(session, "tool_call")
        assert (call["kind"], call["title"]) == ("read", "Read notes.txt")
        assert call["locations"] == [{"path": str(ed.project / "notes.txt")}]
        assert call["rawInput"] == {"file_path": "notes.txt"}
        (done,) = ed.updates(session, "tool_call_update")
        assert (done["toolCallId"], done["status"]) == (call["toolCallId"], "completed")
        assert (
            "".join(each["content"]["text"] for each in ed.updates(session, "agent_thought_chunk"))
            == "Hm."
        )
        assert ed.updates(session, "usage_update")
        assert not ed.updates(session, "user_message_chunk")


async def test_prompts_sent_at_once_get_a_turn_each(tmp_path: Path) -> None:
    async with editor(tmp_path, "say: One.", "say: Two.", "say: Three.") as ed:
        session = await ed.new()
        ends = [ed.prompt(session, text) for text in ("a", "b", "c")]
        assert [(await said(end))["stopReason"] for end in ends] == ["end_turn"] * 3
        assert [len(body["messages"]) for body in ed.server.bodies] == [1, 3, 5]


async def test_two_sessions_side_by_side(tmp_path: Path) -> None:
    async with editor(tmp_path, HANGS, "say: Here.") as ed:
        one, two = await ed.new(), await ed.new()
        first = ed.prompt(one, "slow")
        await ed.server.reached("gate")
        assert (await ed.turn(two, "quick"))["stopReason"] == "end_turn"
        assert not first.done()
        ed.server.release("gate")
        await said(first)
        assert ed.text(two) == "Here."


async def test_cancel_ends_the_turn_and_what_waits_behind_it(tmp_path: Path) -> None:
    async with editor(tmp_path, HANGS, "say: Again.") as ed:
        session = await ed.new()
        ends = [ed.prompt(session, text) for text in ("a", "b")]
        await ed.server.reached("gate")
        began = time.monotonic()
        ed.notify("session/cancel", sessionId=session)
        assert [(await said(end))["stopReason"] for end in ends] == ["cancelled"] * 2
        assert time.monotonic() - began < PATIENCE  # the model hangs for longer
        assert (await ed.turn(session, "c"))["stopReason"] == "end_turn"


async def test_cancel_while_the_editor_is_asked(tmp_path: Path) -> None:
    async with editor(tmp_path, RUN, "say: Again.") as ed:
        _never(ed)
        session = await ed.new()
        end = ed.prompt(session, "go")
        await ed.until(lambda: ed.asked("session/request_permission"))
        ed.notify("session/cancel", sessionId=session)
        assert (await said(end))["stopReason"] == "cancelled"
        assert not (ed.project / "made").exists()
        assert (await ed.turn(session, "go on"))["stopReason"] == "end_turn"


def _never(ed: Editor) -> None:
    async def hang(params: dict[str, Any]) -> Any:
        await asyncio.Event().wait()

    ed.handlers.setdefault("session/request_permission", hang)


async def test_a_cancel_behind_its_prompt_finds_it(tmp_path: Path) -> None:
    """Both lines are there at once: the order of lines is the order of things."""
    async with editor(tmp_path, HANGS) as ed:
        session = await ed.new()
        end = ed.prompt(session, "go")
        ed.notify("session/cancel", sessionId=session)
        assert (await said(end))["stopReason"] == "cancelled"


async def test_a_command_answers_by_itself(tmp_path: Path) -> None:
    async with editor(tmp_path) as ed:
        session = await ed.new()
        commands = await ed.until(lambda: ed.updates(session, "available_commands_update"))
        names = {each["name"] for each in commands[0]["availableCommands"]}
        assert {"help", "status", "compact"} <= names
        assert (await ed.turn(session, "/status"))["stopReason"] == "end_turn"
        assert "Mode" in ed.text(session)
        assert (await ed.turn(session, "/statsu"))["stopReason"] == "end_turn"
        assert "Did you mean /stat" in ed.text(session)
        assert not ed.server.bodies


async def test_loaded_again_it_says_the_same(tmp_path: Path) -> None:
    notes(tmp_path)
    edit = {"file_path": "notes.txt", "old_string": "beta", "new_string": "gamma"}
    script = (LOOK, f"say: I change it.\ncall: Edit {json.dumps(edit)}", "say: Done.")
    async with editor(tmp_path, *script) as ed:
        ed.answers("once")
        session = await ed.new()
        await ed.turn(session, "change it")
        live = story(ed.updates(session))
    async with editor(tmp_path) as ed:
        await ed.ask("session/load", sessionId=session, cwd=str(ed.project), mcpServers=[])
        stored = ed.updates(session)
        before = len(ed.heard)
        await ed.ask("session/load", sessionId=session, cwd=str(ed.project), mcpServers=[])
        again = [each["params"]["update"] for each in ed.heard[before:] if "method" in each]
    assert story(stored) == live
    assert story(again) == live
    said = [each["content"]["text"] for each in stored if each["sessionUpdate"][:4] == "user"]
    assert said == ["change it"]
    (diff,) = [
        content
        for each in stored
        for content in each.get("content", ())
        if each["sessionUpdate"] == "tool_call_update" and content["type"] == "diff"
    ]
    assert (diff["oldText"], diff["newText"]) == ("alpha\nbeta\n", "alpha\ngamma\n")


def story(updates: list[dict[str, Any]]) -> list[Any]:
    """What an editor shows in the end: texts joined, calls with what they came to."""
    found: list[Any] = []
    for each in updates:
        match each["sessionUpdate"]:
            case "agent_message_chunk" | "agent_thought_chunk" as kind:
                if found and isinstance(found[-1], list) and found[-1][0] == kind:
                    found[-1][1] += each["content"]["text"]
                else:
                    found.append([kind, each["content"]["text"]])
            case "tool_call" | "tool_call_update" | "plan":
                found.append(each)
            case _:
                pass
    return found


async def test_resumed_it_says_nothing_of_before(tmp_path: Path) -> None:
    async with editor(tmp_path, "say: First.") as ed:
        session = await ed.new()
        await ed.turn(session, "one")
    async with editor(tmp_path, "say: Second.") as ed:
        await ed.ask("session/resume", sessionId=session, cwd=str(ed.project), mcpServers=[])
        assert not ed.text(session)
        await ed.turn(session, "two")
        assert ed.text(session) == "Second."
        assert len(ed.server.bodies[0]["messages"]) == 3


async def test_a_fork_is_another_session(tmp_path: Path) -> None:
    async with editor(tmp_path, "say: First.", "say: Second.") as ed:
        session = await ed.new()
        await ed.turn(session, "one")
        told = await ed.ask("session/fork", sessionId=session, cwd=str(ed.project), mcpServers=[])
        copy = told["sessionId"]
        assert copy != session
        await ed.turn(copy, "two")
        assert len(ed.server.bodies[1]["messages"]) == 3
        assert ed.text(session) == "First."


async def test_one_that_is_held_says_how_to_go_on(tmp_path: Path) -> None:
    async with editor(tmp_path, "say: First.") as ed:
        session = await ed.new()
        await ed.turn(session, "one")
        async with editor(tmp_path) as other:
            with pytest.raises(Refused, match=r"fork it \(session/fork\)"):
                await other.ask(
                    "session/load", sessionId=session, cwd=str(ed.project), mcpServers=[]
                )


async def test_the_list_is_paged_and_filtered(tmp_path: Path) -> None:
    async with editor(tmp_path, *["say: Yes."] * 3) as ed:
        other = ed.project.parent / "other"
        other.mkdir()
        mine = await ed.new()
        await ed.turn(mine, "mine")
        result = await ed.ask("session/new", cwd=str(other), mcpServers=[])
        await ed.turn(result["sessionId"], "theirs")
        await ed.ask("session/close", sessionId=mine)
        everything = await ed.ask("session/list")
        assert len(everything["sessions"]) == 2
        (here,) = (await ed.ask("session/list", cwd=str(ed.project)))["sessions"]
        assert (here["sessionId"], here["title"]) == (mine, "mine")
        assert here["updatedAt"].endswith("+00:00")
        with pytest.raises(Refused, match="cursor"):
            await ed.ask("session/list", cursor="../../etc")
        with pytest.raises(Refused, match="no session"):
            await ed.turn(mine, "gone")


@pytest.mark.parametrize(
    "cwd", ["relative", "/no/such/place", "", "~", "/etc/passwd", "/tmp/\0x", "//\ud800"]
)
async def test_a_place_that_is_none_is_refused(tmp_path: Path, cwd: str) -> None:
    async with editor(tmp_path) as ed:
        with pytest.raises(Refused):
            await ed.ask("session/new", cwd=cwd, mcpServers=[])
        with pytest.raises(Refused):
            await ed.new(additionalDirectories=[cwd])


@pytest.mark.parametrize("id", ["", "no", "*", "../../x", "a" * 99, "%", "\0"])
@pytest.mark.parametrize("method", ["load", "resume", "fork", "prompt", "close", "set_mode"])
async def test_an_id_that_is_none_of_ours(tmp_path: Path, method: str, id: str) -> None:
    async with editor(tmp_path) as ed:
        more: dict[str, Any] = {"cwd": str(ed.project), "mcpServers": [], "modeId": "plan"}
        more["prompt"] = [{"type": "text", "text": "x"}]
        with pytest.raises(Refused) as error:
            await ed.ask(f"session/{method}", sessionId=id, **more)
        assert error.value.code == -32002


async def test_without_a_model_a_prompt_says_how_to_have_one(tmp_path: Path) -> None:
    async with editor(tmp_path, key="", options=LaunchOptions()) as ed:
        session = await ed.new()
        with pytest.raises(Refused) as error:
            await ed.turn(session, "hello")
        assert error.value.code == -32000
        assert error.value.data is not None
        assert error.value.data["authMethods"]
        with pytest.raises(Refused):
            await ed.ask("authenticate", methodId="env-anthropic")


async def test_once_there_is_a_key_the_next_prompt_works(tmp_path: Path) -> None:
    async with editor(tmp_path, "say: Now.", key="", options=LaunchOptions()) as ed:
        session = await ed.new()
        with pytest.raises(Refused):
            await ed.turn(session, "hello")
        key_store({"HOME": str(tmp_path / "home")}).put("anthropic", "a-key")  # as `agent login`
        await ed.ask("authenticate", methodId="env-anthropic")
        assert (await ed.turn(session, "hello"))["stopReason"] == "end_turn"
        assert ed.text(session) == "Now."


async def test_an_error_of_the_provider_ends_the_prompt_and_not_the_session(
    tmp_path: Path,
) -> None:
    script = ("status: 400 body={}", "say: Better.")
    async with editor(tmp_path, *script) as ed:
        session = await ed.new()
        with pytest.raises(Refused) as error:
            await ed.turn(session, "one")
        assert error.value.data == {"kind": "refused"}
        assert (await ed.turn(session, "two"))["stopReason"] == "end_turn"


async def test_the_answer_that_never_ends_is_max_tokens(tmp_path: Path) -> None:
    async with editor(tmp_path, *["say: And\nstop: length"] * 9) as ed:
        session = await ed.new()
        assert (await ed.turn(session, "go"))["stopReason"] == "max_tokens"


async def test_a_client_that_leaves_stops_everything(tmp_path: Path) -> None:
    async with editor(tmp_path, RUN) as ed:
        _never(ed)
        session = await ed.new()
        ed.prompt(session, "go")
        await ed.until(lambda: ed.asked("session/request_permission"))
    assert not (ed.project / "made").exists()


async def test_prompts_keep_their_order_whatever_has_to_be_read_first(tmp_path: Path) -> None:
    """An image takes a process of its own; a cancel behind it stops it all the same."""
    made = io.BytesIO()
    Image.new("RGB", (3000, 3000), "red").save(made, "PNG")
    image = {
        "type": "image",
        "data": base64.b64encode(made.getvalue()).decode(),
        "mimeType": "image/png",
    }
    async with editor(tmp_path, "say: One.", "say: Two.", "say: Three.") as ed:
        session = await ed.new()
        ends = [ed.prompt(session, "first", image), ed.prompt(session, "second")]
        for end in ends:
            assert (await said(end))["stopReason"] == "end_turn"
        words = [json.dumps(body["messages"][-1]) for body in ed.server.bodies]
        assert ["first" in words[0], "second" in words[1]] == [True, True]
        end = ed.prompt(session, "third", image)
        ed.notify("session/cancel", sessionId=session)
        assert (await said(end))["stopReason"] == "cancelled"
        assert (await ed.turn(session, "fourth"))["stopReason"] == "end_turn"
        assert "third" not in json.dumps(ed.server.bodies[-1]["messages"])


async def test_closed_while_it_works_everything_is_answered(tmp_path: Path) -> None:
    async with editor(tmp_path, HANGS) as ed:
        session = await ed.new()
        ends = [ed.prompt(session, text) for text in ("a", "b")]
        await ed.server.reached("gate")
        closing = [ed.begin("session/close", sessionId=session) for _ in range(2)]
        await said(closing[0])
        with pytest.raises(Refused, match="no session"):
            await said(closing[1])
        assert [(await said(end))["stopReason"] for end in ends] == ["cancelled"] * 2


async def test_loaded_by_many_at_once_it_is_one_session(tmp_path: Path) -> None:
    async with editor(tmp_path, "say: First.") as ed:
        session = await ed.new()
        await ed.turn(session, "one")
    async with editor(tmp_path) as ed:
        more: dict[str, Any] = {"sessionId": session, "cwd": str(ed.project), "mcpServers": []}
        loads = [ed.begin(f"session/{how}", **more) for how in ("load", "resume", "load")]
        for load in loads:
            assert (await said(load))["modes"]
        texts = [each["content"]["text"] for each in ed.updates(session, "agent_message_chunk")]
        assert texts == ["First."] * 2


async def test_there_are_only_so_many_sessions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gatewright.agent.frontends.acp.editor_agent.MOST", 2)
    async with editor(tmp_path) as ed:
        opens = [ed.begin("session/new", cwd=str(ed.project), mcpServers=[]) for _ in range(5)]
        answers = [await opened for opened in opens]
        assert sum("result" in each for each in answers) == 2


async def test_a_question_that_nobody_answers_says_so_in_its_title(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gatewright.agent.frontends.acp.open_session.LATE", 0.01)
    async with editor(tmp_path, RUN, "say: Done.") as ed:
        answer = asyncio.Event()

        async def slow(params: dict[str, Any]) -> Any:
            await answer.wait()
            return {"outcome": {"outcome": "selected", "optionId": "no"}}

        ed.handlers["session/request_permission"] = slow
        session = await ed.new()
        end = ed.prompt(session, "go")

        def titles() -> list[Any]:
            return [each.get("title") for each in ed.updates(session, "tool_call_update")]

        await ed.until(lambda: "Run touch made · waits for your answer" in titles())
        answer.set()
        await said(end)
        assert "Run touch made" in titles()


FAKE = str(Path(__file__).parent.parent / "fakes" / "mcp_server.py")
SERVER: dict[str, Any] = {"name": "fake", "command": sys.executable, "args": [FAKE], "env": []}


async def test_servers_of_the_editor_are_there_and_their_tools_ask(tmp_path: Path) -> None:
    script = ("say: Hello.", 'call: mcp__fake__echo {"text": "hello"}', "say: Done.")
    async with editor(tmp_path, *script) as ed:
        ed.answers("once")
        result = await ed.ask("session/new", cwd=str(ed.project), mcpServers=[SERVER])
        session = result["sessionId"]
        await ed.turn(session, "one")
        await ed.turn(session, "two")
        (asked,) = ed.asked("session/request_permission")
        assert "echo" in asked["toolCall"]["title"]
        assert "hello" in json.dumps(ed.server.bodies[-1]["messages"][-1])
        assert ed.updates(session, "tool_call_update")[-1]["status"] == "completed"


async def test_servers_of_the_editor_find_no_more_than_a_projects(tmp_path: Path) -> None:
    script = ("say: Hello.", "call: mcp__fake__env {}", "say: Done.")
    own = {"env": {"MINE": "hunter2"}}
    pairs = {"GIVEN": "told", "NAMED": "${MINE} as it stands"}
    server = {**SERVER, "env": [{"name": name, "value": value} for name, value in pairs.items()]}
    async with editor(tmp_path, *script, own=own) as ed:
        ed.answers("once")
        result = await ed.ask("session/new", cwd=str(ed.project), mcpServers=[server])
        for _ in range(2):
            await ed.turn(result["sessionId"], "go")
        said = json.dumps(ed.server.bodies[-1]["messages"][-1])
        assert "told" in said
        assert "${MINE} as it stands" in said
        assert "PATH" in said
        assert "hunter2" not in said


@pytest.mark.parametrize(
    "servers",
    [
        [{**SERVER, "command": ""}],
        [{"name": "x", "type": "acp", "serverId": "1"}],
        [{"name": "x", "type": "http", "headers": []}],
        [SERVER, SERVER],
        [{"name": 7, "command": "x"}],
        [{**SERVER, "env": [{"name": "A"}]}],
        "no list",
    ],
)
async def test_servers_that_are_none_are_refused(tmp_path: Path, servers: Any) -> None:
    async with editor(tmp_path) as ed:
        with pytest.raises(Refused) as error:
            await ed.ask("session/new", cwd=str(ed.project), mcpServers=servers)
        assert error.value.code == -32602
