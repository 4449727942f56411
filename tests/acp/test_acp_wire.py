"""Lines that are none, too long, forged or too many: each is answered, and the connection lives."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.frontends.acp.intake import Skipping
from tests.acp.fake_editor import Editor, Refused, editor, said
from tests.fakes.examples import many
from tests.fakes.waiting import eventually

DEEP = 100_000
BROKEN = (
    b"{", b"7", b"[]", b'"x"', b"null", b"\xff\xfe", b"\0", b"{}" * 3, b"[" * DEEP,
    b'{"a":' * DEEP, b'{"jsonrpc":"2.0"}', b'{"id":1.5,"method":"x"}', b'{"method":7,"id":1}',
    b'[{"jsonrpc":"2.0","id":1,"method":"session/list"}]', b'{"id":[1],"result":{}}',
    b'{"id":{"a":1},"error":"no"}', b'{"id":true,"result":1}',
    b'{"id":99999999999999999999999999,"result":1}',
    b"Content-Length: 20\r\n\r",
)  # fmt: skip


async def alive(ed: Editor) -> None:
    assert "sessions" in await ed.ask("session/list")


def errors(ed: Editor) -> list[int]:
    return [each["error"]["code"] for each in ed.heard if "error" in each and each["id"] is None]


@pytest.mark.parametrize("line", BROKEN, ids=lambda line: repr(line[:24]))
async def test_garbage_is_answered_and_forgotten(tmp_path: Path, line: bytes) -> None:
    async with editor(tmp_path) as ed:
        ed.raw(line + b"\n")
        await alive(ed)
        assert set(errors(ed)) <= {-32700, -32600}


async def test_a_line_that_is_too_long_is_skipped(tmp_path: Path) -> None:
    limit = 200_000
    async with editor(tmp_path, "say: Yes.", limit=limit) as ed:
        session = await ed.new()
        await asyncio.to_thread(ed.raw, b'{"x":"' + b"a" * limit + b'"}\n')
        await alive(ed)
        assert errors(ed) == [-32600]
        assert (await ed.turn(session, "go"))["stopReason"] == "end_turn"


async def test_a_real_one_of_sixteen_megabytes(tmp_path: Path) -> None:
    async with editor(tmp_path) as ed:
        await asyncio.to_thread(ed.raw, b"x" * (17 * 1024 * 1024) + b"\n")
        await alive(ed)
        assert errors(ed) == [-32600]


def test_lines_are_the_same_however_they_are_cut() -> None:
    data = b"one\n\n" + b"x" * 30 + b"\ntwo\n" + b"y" * 10 + b"\nend"
    whole = Skipping(10)
    wanted = [*whole.add(data), whole.rest()]
    assert [each.too_long for each in wanted] == [False, False, True, False, False, False]
    for size in range(1, many(40)):
        cut = Skipping(10)
        found = [line for at in range(0, len(data), size) for line in cut.add(data[at : at + size])]
        assert [*found, cut.rest()] == wanted


async def test_methods_that_are_none(tmp_path: Path) -> None:
    async with editor(tmp_path) as ed:
        for method in ("session/delete", "logout", "_own/thing", "nes/start", "x" * 9999, ""):
            with pytest.raises(Refused) as error:
                await ed.ask(method)
            assert error.value.code == -32601
        for method in ("$/cancel_request", "_own/thing", "session/nothing"):
            ed.notify(method, requestId=1)
        ed.notify("session/cancel", sessionId="nobody's")
        ed.notify("session/cancel", sessionId=[1])
        await alive(ed)


@pytest.mark.parametrize("params", [None, 7, [], "x", {"sessionId": 7}, {"cwd": {}}, {"cwd": None}])
@pytest.mark.parametrize("method", ["session/new", "session/prompt", "session/load", "initialize"])
async def test_params_of_another_shape(tmp_path: Path, method: str, params: Any) -> None:
    async with editor(tmp_path) as ed:
        future = ed.begin(method)
        ed.send(id=7000, method=method, params=params)
        with pytest.raises(Refused) as error:
            await said(future)
        assert error.value.code == -32602
        answer = await ed.until(lambda: [m for m in ed.heard if m.get("id") == 7000])
        assert answer[0]["error"]["code"] == -32602


async def test_meta_stands_in_for_no_field(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    async with editor(tmp_path) as ed:
        meta = {"cwd": str(elsewhere), "mcp_servers": 7, "session_id": "x", "self": 1}
        session = await ed.new(_meta=meta)
        assert ed.agent is not None
        assert ed.agent.opened(session).where.cwd == ed.project


async def test_half_a_pair_of_surrogates_is_text(tmp_path: Path) -> None:
    async with editor(tmp_path, "say: Yes.") as ed:
        session = await ed.new()
        assert (await ed.turn(session, "half \ud83d of it"))["stopReason"] == "end_turn"
        assert "half ? of it" in json.dumps(ed.server.bodies[0]["messages"])


async def test_nothing_is_answered_before_hello(tmp_path: Path) -> None:
    async with editor(tmp_path) as ed:
        assert ed.agent is not None
        ed.agent.greeted = False
        with pytest.raises(Refused, match="initialize"):
            await ed.new()


async def test_an_id_of_a_stored_session_is_no_open_one(tmp_path: Path) -> None:
    async with editor(tmp_path, "say: Yes.") as ed:
        session = await ed.new()
        await ed.turn(session, "go")
    async with editor(tmp_path) as ed:
        for method, more in (
            ("session/prompt", {"prompt": [{"type": "text", "text": "x"}]}),
            ("session/set_mode", {"modeId": "plan"}),
            ("session/close", {}),
        ):
            with pytest.raises(Refused) as error:
                await ed.ask(method, sessionId=session, **more)
            assert error.value.code == -32002


def held() -> tuple[int, int, int]:
    gc.collect()
    files = len([*Path("/proc/self/fd").iterdir()])
    return len(asyncio.all_tasks()), threading.active_count(), files


@pytest.mark.parametrize("pairs", [20, pytest.param(200, marks=pytest.mark.proof)])
async def test_prompts_and_cancels_leave_nothing_behind(tmp_path: Path, pairs: int) -> None:
    async with editor(tmp_path, *["say: Well\nwait: gate"] * (pairs + 1)) as ed:
        session = await ed.new()
        assert ed.agent is not None
        live = ed.agent.opened(session).session
        halfway: tuple[int, int, int] | None = None
        for at in range(pairs):
            end = ed.prompt(session, f"prompt {at}")
            if at % 3 == 0:
                await ed.server.reached("gate")
            if at % 3 == 1:
                await asyncio.sleep(0)
            ed.notify("session/cancel", sessionId=session)
            assert (await said(end))["stopReason"] == "cancelled"
            if at == pairs // 2:
                await live.idle()
                await ed.server.hang_up()
                ed.heard.clear()
                halfway = held()
        await live.idle()
        await ed.server.hang_up()
        ed.heard.clear()
        assert halfway is not None
        most = [then + more for then, more in zip(halfway, (2, 2, 3), strict=True)]
        # What is being given back may take some rounds of the loop; what is kept stays.
        await eventually(lambda: all(now <= to for now, to in zip(held(), most, strict=True)))


@pytest.mark.parametrize(
    "state", ["nothing", "new", "prompt", "permission", "form", "file", "queue", "half a line"]
)
async def test_a_client_may_vanish_at_any_time(tmp_path: Path, state: str) -> None:
    """The end of `editor` waits for everything, within its patience."""
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "notes.txt").write_text("x", encoding="utf-8")
    calls = {
        "permission": 'call: Bash {"command": "touch made"}',
        "form": 'call: AskUserQuestion {"questions": [{"question": "Q?", "header": "H",'
        ' "options": [{"label": "A", "description": ""}, {"label": "B", "description": ""}],'
        ' "multiSelect": false}]}',
        "file": 'call: Read {"file_path": "notes.txt"}',
    }
    can: dict[str, Any] = {
        "fs": {"readTextFile": True, "writeTextFile": True},
        "elicitation": {"form": {}},
    }
    asks = {"permission": "session/request_permission", "form": "elicitation/create"}
    asks["file"] = "fs/read_text_file"
    script = [calls.get(state, "say: Well\nwait: gate")] * 3
    async with editor(tmp_path, *script, can=can) as ed:
        if state == "half a line":
            ed.raw(b'{"jsonrpc": "2.0", "id"')
        if state in ("nothing", "half a line"):
            return

        async def hang(params: dict[str, Any]) -> Any:
            await asyncio.Event().wait()

        ed.handlers = dict.fromkeys(asks.values(), hang)
        if state == "new":
            ed.begin("session/new", cwd=str(ed.project), mcpServers=[])
            return
        session = await ed.new()
        for _ in range(3 if state == "queue" else 1):
            ed.prompt(session, "go")
        if state in asks:
            await ed.until(lambda: ed.asked(asks[state]))
        else:
            await ed.server.reached("gate")
    assert not (tmp_path / "project" / "made").exists()


async def test_an_answer_that_is_no_utf8_ends_nothing(tmp_path: Path) -> None:
    async with editor(tmp_path, 'call: Bash {"command": "touch x"}', "say: So.", "say: On.") as ed:
        session = await ed.new()

        async def permission(params: dict[str, Any]) -> Any:
            ed.raw(b'{"jsonrpc": "2.0", "id": 1, "result": {"outcome": "\xff\xed\xa0\x80"}}\n')
            await asyncio.Event().wait()

        ed.handlers["session/request_permission"] = permission
        await ed.turn(session, "go")
        assert not (ed.project / "x").exists()
        assert (await ed.turn(session, "on"))["stopReason"] == "end_turn"
