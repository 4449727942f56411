"""Skills and command files through Claude Code's public client."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("claude_agent_sdk")

from claude_agent_sdk import ClaudeSDKClient, SystemMessage

from tests.sdk.judging import Judge, result, tool_results


def write(judge: Judge, name: str, text: str) -> None:
    path = judge.program.home / ".claude" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def both(judge: Judge) -> None:
    write(judge, "skills/pdf/SKILL.md", "---\ndescription: Reads pages\n---\nRead $ARGUMENTS.\n")
    write(judge, "skills/docx/SKILL.md", "---\ndescription: Reads words\n---\nRead words.\n")
    write(judge, "commands/git/sync.md", "---\nargument-hint: <branch>\n---\nSync $1.\n")


def invoke(name: str) -> str:
    return f"call: Skill {json.dumps({'skill': name, 'args': 'page 3'})}\n---\n"


async def test_a_list_of_skills_is_what_the_model_has(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve(invoke("pdf") + invoke("docx") + "say: Done.\n")
    both(judge)
    messages = await judge.query("go", skills=["pdf"])
    said = [each for each in messages if isinstance(each, SystemMessage)]
    first = [each for each in said if each.subtype == "init"][-1]  # once the list was given
    assert first.data["skills"] == ["pdf"]
    assert {"pdf", "docx", "git:sync"} <= set(first.data["slash_commands"])
    told = json.dumps(judge.server.bodies[0]["system"])
    assert "Reads pages" in told and "Reads words" not in told
    (read, fine), (refused, wrong) = tool_results(messages)
    assert "Read page 3." in read and not fine
    assert "docx" in refused and wrong


async def test_all_skills_are_there_by_one_word(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve(invoke("docx") + "say: Done.\n")
    both(judge)
    messages = await judge.query("go", skills="all")
    assert {"pdf", "docx"} <= set(messages[0].data["skills"])
    assert "Read words." in tool_results(messages)[0][0]


async def test_commands_are_listed_and_run(serve: Callable[..., Any]) -> None:
    judge: Judge = await serve("say: Synced.\n")
    both(judge)
    async with ClaudeSDKClient(judge.options()) as client:
        info = await client.get_server_info()
        assert info is not None
        commands = {each["name"]: each for each in info["commands"]}
        assert commands["git:sync"]["argumentHint"] == "<branch>"
        assert commands["pdf"]["description"] == "Reads pages"
        await client.query("/git:sync main")
        messages = [message async for message in client.receive_response()]
    assert result(messages).result == "Synced."
    assert "Sync main." in json.dumps(judge.bodies()[0])
