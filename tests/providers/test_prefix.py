"""A session's requests grow at their end only: what was cached once is found again."""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
from pathlib import Path

import pytest

from tests.fakes.model_server import ModelServer
from tests.fakes.prefix import cache_points, cached_prefix
from tests.fakes.waiting import PATIENCE

TURNS = 20
CALLS = (
    'call: Read {"file_path": "a.txt"}',
    'think: Now to the others.\nsay: Let me look.\ncall: Grep {"pattern": "o"}\n'
    'call: Glob {"pattern": "*.txt"}',
    'call: TodoWrite {"todos": [{"content": "x", "activeForm": "y", "status": "pending"}]}',
    'call: Read {"file_path": "missing.txt"}',
    "badcall: Read {oops",
    'call: Read {"file_path": "ä.txt"}',
)
MODELS = {
    "anthropic": "anthropic/claude-opus-5-5",
    "chat": "openai-chat/gpt-6.1-sol",
    "responses": "openai-responses/gpt-6.1-sol",
}


@pytest.mark.e2e
@pytest.mark.parametrize("api", MODELS)
async def test_twenty_turns_with_tools(api: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    (tmp_path / "ä.txt").write_text("größer\n", encoding="utf-8")
    answers = [CALLS[turn % len(CALLS)] for turn in range(TURNS)]
    async with ModelServer("\n---\n".join([*answers, "say: Done."])) as server:
        env = {
            **os.environ,
            "HOME": str(tmp_path / "home"),
            "ANTHROPIC_API_KEY": "k",
            "ANTHROPIC_BASE_URL": server.url,
            "OPENAI_API_KEY": "k",
            "OPENAI_BASE_URL": server.openai_url,
        }
        program = Path(sys.executable).with_name("agent")
        process = await asyncio.create_subprocess_exec(
            program,
            "-p",
            "Go through the files.",
            "--model",
            MODELS[api],
            cwd=tmp_path,
            env=env,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
        )
        out, _ = await asyncio.wait_for(process.communicate(), PATIENCE)
    assert out.decode().strip() == "Done."
    bodies = server.bodies
    assert len(bodies) == TURNS + 1
    for before, after in itertools.pairwise(bodies):
        assert cached_prefix(after).startswith(cached_prefix(before))
        assert len(cached_prefix(after)) > len(cached_prefix(before))
    if api == "anthropic":
        assert {cache_points(body) for body in bodies[1:]} == {4}
    if api == "responses":
        assert all(body["prompt_cache_key"] for body in bodies)
