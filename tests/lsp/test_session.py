"""Language servers in a whole session: who starts one, what a model is sent, what the gate says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.commands.outcome import Listing
from gatewright.agent.record.events import (
    DiagnosticsTold,
    LanguageServerStarted,
    ToolFinished,
    TurnEnded,
)
from gatewright.agent.settings.paths import places
from gatewright.agent.settings.trust import TrustStore
from tests.fakes.plugin_trees import bare_plugin, write_json
from tests.fakes.waiting import PATIENCE
from tests.lsp.known_server import entry, inside
from tests.permissions.composed import Desk, desk


def writes(call: str, path: str, text: str) -> str:
    return f"call[{call}]: Write {json.dumps({'file_path': path, 'content': text})}"


def asks(call: str, operation: str, **more: Any) -> str:
    return f"call[{call}]: LSP {json.dumps({'operation': operation, **more})}"


def own(*options: str, sandbox: bool = False, **settings: Any) -> dict[str, Any]:
    servers = {"scripted": entry(*options)}
    return {"lspServers": servers, "sandbox": {"enabled": sandbox}, **settings}


async def ended(made: Desk, count: int = 1) -> None:
    await made.seen.until(TurnEnded, count=count, within=PATIENCE)


async def finished(made: Desk, call: str) -> str:
    await made.seen.until(ToolFinished, where=lambda one: one.call_id == call, within=PATIENCE)
    return await made.finished(call)


def started(made: Desk) -> list[LanguageServerStarted]:
    return [each for each in made.seen.events if isinstance(each, LanguageServerStarted)]


READY = asks("ready", "diagnostics", filePath="a.x")


@pytest.mark.parametrize("sandbox", [False, True], ids=["bare", "sandbox"])
async def test_an_error_is_in_the_very_next_request_once(tmp_path: Path, sandbox: bool) -> None:
    script = (
        writes("1", "a.x", "fine\n"), READY,
        writes("2", "a.x", "BAD it\n"),
        'call: Bash {"command": "true"}',
        writes("3", "a.x", "fine\n"),
        "say: done",
    )  # fmt: skip
    server = entry(program=inside(tmp_path / "project"))
    given = own(sandbox=sandbox, lsp={"waitMs": 20_000}, lspServers={"scripted": server})
    async with desk(tmp_path, script, mode="bypassPermissions", own=given) as made:
        made.session.submit("go")
        await ended(made)
        said = [[text for text in made.words(n) if "diagnostics of" in text] for n in range(6)]
        assert said[:3] == [[], [], []]
        assert len(said[3]) == len(said[4]) == 1 and "1:5 error [E1]: it is bad" in said[3][0]
        assert len(said[5]) == 2 and "1 solved in a.x; no errors left" in said[5][1]
        told = [each for each in made.seen.events if isinstance(each, DiagnosticsTold)]
        assert [each.summary for each in told] == ["1 error", "1 solved"]
        (start,) = started(made)
        assert start.name == "scripted" and start.root == str(made.project)
        assert start.confined is sandbox
        shown = await made.session.run_command("/lsp")
        assert "scripted" in str(shown) and "ready" in str(shown)


async def test_the_panel_is_live_and_restarts_one(tmp_path: Path) -> None:
    script = (writes("1", "a.x", "fine\n"), READY, "say: done")
    given = own()
    given["lspServers"]["lacking"] = {"command": "no-such", "extensionToLanguage": {".y": "y"}}
    async with desk(tmp_path, script, mode="bypassPermissions", own=given) as made:
        panel = await made.session.run_command("/lsp")
        assert isinstance(panel, Listing) and panel.follows
        assert panel.rows()[0].cells == ("scripted", "", "", "", "not needed yet", "")
        made.session.submit("go")
        await ended(made)
        running, lacking, *_ = panel.rows()
        assert running.cells[:2] == ("scripted", "1") and running.cells[3:5] == ("0", "ready")
        assert running.cells[2].endswith(" MB")
        assert lacking.cells[4] == "off: there is no program no-such"
        assert "Process" in str(await panel.read(running.id))
        assert "scripted is starting anew" in str(await panel.acts[0].run(running.id))
        assert "restart NAME" in str(panel.fallback)
        await made.seen.until(LanguageServerStarted, count=2, within=PATIENCE)


async def test_a_project_that_is_not_trusted_has_no_server(tmp_path: Path) -> None:
    asked = asks("2", "hover", filePath="a.x", symbol="it")
    script = (writes("1", "a.x", "BAD it\n"), asked, "say: done")
    async with desk(
        tmp_path, script, own=own(), trust=False, settings=own(), interactive=False
    ) as made:
        made.session.submit("go")
        await ended(made)
        assert not started(made)
        assert "error [E1]" not in json.dumps(made.server.bodies)
        assert "LSP" not in str(made.server.bodies[0]["tools"])


async def test_reading_and_being_off_start_nothing(tmp_path: Path) -> None:
    script = ('call: Read {"file_path": "a.x"}', writes("1", "b.txt", "BAD\n"), "say: done")
    async with desk(tmp_path, script, mode="bypassPermissions", own=own()) as made:
        (made.project / "a.x").write_text("BAD it\n", encoding="utf-8")
        made.session.submit("go")
        await ended(made)
        assert not started(made)
    off = own(lsp={"use": "off"})
    edit = (writes("1", "a.x", "BAD it\n"), "say: done")
    async with desk(tmp_path / "off", edit, mode="bypassPermissions", own=off) as made:
        made.session.submit("go")
        await ended(made)
        assert not started(made)


async def test_fed_or_not_the_tool_answers(tmp_path: Path) -> None:
    script = (writes("1", "a.x", "BAD it\n"), READY, writes("2", "a.x", "BAD me\n"), "say: done")
    given = own(lsp={"diagnostics": False})
    async with desk(tmp_path, script, mode="bypassPermissions", own=given) as made:
        made.session.submit("go")
        assert "1:5 error [E1]: it is bad" in await finished(made, "ready")
        await ended(made)
        assert "diagnostics of language servers" not in json.dumps(made.server.bodies)


async def test_every_operation_answers(tmp_path: Path) -> None:
    here: dict[str, Any] = {"filePath": "a.x", "line": 2, "symbol": "twice"}
    script = (
        asks("d", "goToDefinition", filePath="a.x", line=2, character=4),
        asks("r", "findReferences", **here),
        asks("h", "hover", **here),
        asks("s", "documentSymbol", filePath="a.x"),
        asks("w", "workspaceSymbol", query="twice"),
        asks("p", "prepareCallHierarchy", **here),
        asks("i", "incomingCalls", **here),
        asks("t", "goToTypeDefinition", **here),
        asks("n", "hover", filePath="a.x", symbol="nowhere"),
        asks("m", "hover", filePath="a.x"),
        asks("o", "hover", filePath="README", line=1, character=1),
        "say: done",
    )  # fmt: skip
    async with desk(tmp_path, script, mode="default", own=own()) as made:
        text = "one\r\n\U0001f600 twice\r\ntwice\r\n"
        (made.project / "a.x").write_bytes(text.encode())
        (made.project / "b.x").write_text("twice\n", encoding="utf-8")
        (made.project / "README").write_text("x\n", encoding="utf-8")
        made.session.submit("go")
        await ended(made)
        found = {call: await finished(made, call) for call in "drhswpitnmo"}
    assert found["d"].startswith("a.x:2:3\n") and "2  \U0001f600 twice" in found["d"]
    assert "3 in 2 files" in found["r"] and "2:3 (declaration)" in found["r"]
    assert "  3:1" in found["r"] and "b.x (1):\n  1:1  twice" in found["r"]
    assert found["h"] == "word twice" and found["s"] == "function one 1"
    assert "function twice a.x:2:3" in found["w"] and "a.x:2:3  function twice" in found["p"]
    assert "function caller at line 2" in found["i"]
    assert "cannot goToTypeDefinition" in found["t"] and "no 'nowhere'" in found["n"]
    assert "needs line and character" in found["m"] and "No language server serves" in found["o"]


async def test_a_denied_file_is_in_no_result_and_is_not_asked_about(tmp_path: Path) -> None:
    script = (
        asks("r", "findReferences", filePath="a.x", line=1, symbol="word"),
        asks("w", "workspaceSymbol", query="word"),
        asks("n", "rename", filePath="a.x", line=1, symbol="word", newName="other"),
        asks("f", "hover", filePath="kept/b.x", line=1, character=1),
        "say: done",
    )
    rules = {"permissions": {"deny": ["Read(kept/**)"]}}
    async with desk(tmp_path, script, mode="default", own=own(), settings=rules) as made:
        (made.project / "a.x").write_text("word\n", encoding="utf-8")
        (made.project / "kept").mkdir()
        (made.project / "kept" / "b.x").write_text("word secret\n", encoding="utf-8")
        made.session.submit("go")
        await ended(made)
        found = {call: await finished(made, call) for call in "rwnf"}
        assert (await made.decided("f")).behavior == "deny"
    assert "1 in 1 file" in found["r"] and "(1 in files that a Read rule denies" in found["r"]
    assert "Read rule denies" in found["n"]
    assert not any("secret" in text or "b.x" in text for text in (found["r"], found["w"]))


async def test_a_rename_is_shown_asked_about_as_an_edit_and_done_whole(tmp_path: Path) -> None:
    plan = asks("p", "rename", filePath="a.x", line=1, symbol="word", newName="other")
    script = (plan, "say: done", asks("y", "applyRename", plan="p1"), "say: done")
    async with desk(tmp_path, script, mode="default", own=own()) as made:
        (made.project / "a.x").write_bytes(b"\xf0\x9f\x98\x80 word\r\nword\r\n")
        (made.project / "b.x").write_text("word\n", encoding="utf-8")
        made.session.submit("go")
        told = await finished(made, "p")
        await ended(made)
        assert (
            "3 changes in 2 files" in told
            and (made.project / "b.x").read_text(encoding="utf-8") == "word\n"
        )
        made.session.submit("do it")
        asked = await made.asked()
        assert "+other" in str(asked.ask.body) and asked.ask.tool == "LSP"
        made.answer(asked, asked.ask.options[0].id)
        assert "Renamed to other" in await finished(made, "y")
        await ended(made, 2)
        assert (made.project / "a.x").read_bytes() == b"\xf0\x9f\x98\x80 other\r\nother\r\n"
        assert (made.project / "b.x").read_text(encoding="utf-8") == "other\n"


async def test_a_plan_whose_file_changed_changes_nothing(tmp_path: Path) -> None:
    plan = asks("p", "rename", filePath="a.x", line=1, symbol="word", newName="other")
    script = (plan, "say: done", asks("y", "applyRename", plan="p1"), "say: done")
    async with desk(tmp_path, script, mode="bypassPermissions", own=own()) as made:
        for name in ("a.x", "b.x"):
            (made.project / name).write_text("word\n", encoding="utf-8")
        made.session.submit("go")
        assert "Plan p1: 2 changes" in await finished(made, "p")
        await ended(made)
        (made.project / "b.x").write_text("word and more\n", encoding="utf-8")
        made.session.submit("do it")
        assert "b.x changed since the plan was made" in await finished(made, "y")
        await ended(made, 2)
        assert (made.project / "a.x").read_text(encoding="utf-8") == "word\n"


async def test_a_rename_is_an_edit_to_the_rules(tmp_path: Path) -> None:
    plan = asks("p", "rename", filePath="a.x", line=1, symbol="word", newName="other")
    script = (plan, asks("y", "applyRename", plan="p1"), "say: done")
    rules = {"permissions": {"deny": ["Edit(b.x)"]}}
    async with desk(tmp_path, script, mode="bypassPermissions", own=own(), settings=rules) as made:
        for name in ("a.x", "b.x"):
            (made.project / name).write_text("word\n", encoding="utf-8")
        made.session.submit("go")
        await ended(made)
        assert (await made.decided("y")).behavior == "deny"
        assert (made.project / "a.x").read_text(encoding="utf-8") == "word\n"


@pytest.mark.parametrize(
    ("rule", "behavior"),
    [("Read", "deny"), ("Read(**)", "deny"), ("LSP", "deny"), ("LSP(**)", "deny"),
     ("LSP(operation:applyRename)", "deny"), ("Edit", "allow"), ("Edit(**)", "allow")],
)  # fmt: skip
async def test_who_may_read_may_not_rename(tmp_path: Path, rule: str, behavior: str) -> None:
    plan = asks("p", "rename", filePath="a.x", line=1, symbol="word", newName="other")
    script = (plan, asks("y", "applyRename", plan="p1"), "say: done")
    given = own(permissions={"allow": [rule]})
    async with desk(tmp_path, script, mode="dontAsk", own=given) as made:
        (made.project / "a.x").write_text("word\n", encoding="utf-8")
        made.session.submit("go")
        await ended(made)
        assert "Plan p1" in await finished(made, "p")
        assert (await made.decided("y")).behavior == behavior
        changed = (made.project / "a.x").read_text(encoding="utf-8") == "other\n"
        assert changed is (behavior == "allow")


@pytest.mark.parametrize("trusted", [False, True])
async def test_an_added_directory_has_a_server_once_it_is_trusted_itself(
    tmp_path: Path, trusted: bool
) -> None:
    clone = tmp_path / "clone"
    clone.mkdir()
    given = own(permissions={"additionalDirectories": [str(clone)]})
    script = (
        "say: hello",
        writes("1", str(clone / "a.x"), "fine\n"),
        asks("2", "hover", filePath=str(clone / "a.x"), line=1, character=1),
        "say: done",
    )
    async with desk(tmp_path, script, mode="bypassPermissions", own=given) as made:
        made.session.submit("hi")
        await ended(made)
        if trusted:
            env = {"HOME": str(tmp_path / "home")}
            TrustStore(places(clone, env), env).add(clone)
        made.session.submit("go")
        told = await finished(made, "2")
        await ended(made, 2)
        assert ("No language server serves" in told) is not trusted
        assert [each.root for each in started(made)] == ([str(clone)] if trusted else [])


async def test_a_projects_server_can_name_no_secret(tmp_path: Path) -> None:
    server = entry("${ANTHROPIC_API_KEY}", "${HOME}")
    given = {"sandbox": {"enabled": False}}
    script = (writes("1", "a.x", "fine\n"), READY, "say: done")
    async with desk(
        tmp_path,
        script,
        mode="bypassPermissions",
        own=given,
        settings={"lspServers": {"s": server}},
    ) as made:
        made.session.submit("go")
        await ended(made)
        (start,) = started(made)
        assert start.command.endswith(f" ${{ANTHROPIC_API_KEY}} {tmp_path}/home")


@pytest.mark.parametrize(
    ("tools", "behavior"), [("Read, LSP", "deny"), ("Read, LSP, Edit", "allow")]
)
async def test_an_agent_that_may_only_look_may_not_rename(
    tmp_path: Path, tools: str, behavior: str
) -> None:
    folder = tmp_path / "home" / ".gatewright" / "agents"
    folder.mkdir(parents=True)
    text = f"---\nname: looker\ndescription: looks\ntools: {tools}\n---\nLook.\n"
    (folder / "looker.md").write_text(text, encoding="utf-8")
    given = {"subagent_type": "looker", "prompt": "look", "description": "look"}
    script = (
        f"call: Agent {json.dumps(given)}",
        asks("p", "rename", filePath="a.x", line=1, symbol="word", newName="other"),
        asks("y", "applyRename", plan="p1"),
        "say: done",
        "say: done",
    )
    async with desk(tmp_path, script, mode="acceptEdits", own=own()) as made:
        (made.project / "a.x").write_text("word\n", encoding="utf-8")
        made.session.submit("go")
        assert (await made.decided("y")).behavior == behavior
        await ended(made)


async def test_a_question_may_be_the_first_use_of_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bin = tmp_path / "bin"
    bin.mkdir()
    server = entry()
    line = " ".join((server["command"], *server["args"]))
    (bin / "ty").write_text(f"#!/bin/sh\nexec {line}\n", encoding="utf-8")
    (bin / "ty").chmod(0o755)
    monkeypatch.setenv("PATH", f"{bin}:/usr/bin:/bin")
    script = (asks("1", "hover", filePath="src/a.py", line=1, symbol="word"), "say: done")
    given: dict[str, Any] = {"lsp": {"use": ["ty"]}}
    async with desk(tmp_path, script, mode="default", own=given) as made:
        (made.project / "src").mkdir()
        (made.project / "src" / "a.py").write_text("word\n", encoding="utf-8")
        made.session.submit("go")
        assert await finished(made, "1") == "word word"
        await ended(made)


async def test_a_plugins_server_serves_a_session(tmp_path: Path) -> None:
    plugin = bare_plugin(tmp_path / "tidy")
    write_json(plugin / ".lsp.json", {"scripted": entry()})
    script = (asks("1", "hover", filePath="a.x", line=1, symbol="word"), "say: done")
    options = {"plugin_dirs": (str(plugin),)}
    given = {"sandbox": {"enabled": False}}
    async with desk(tmp_path, script, mode="default", own=given, options=options) as made:
        (made.project / "a.x").write_text("word\n", encoding="utf-8")
        made.session.submit("go")
        assert await finished(made, "1") == "word word"
        await ended(made)
        assert [each.name for each in started(made)] == ["tidy:scripted"]
