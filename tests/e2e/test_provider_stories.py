"""Every provider that has a preset works from end to end, against a server of its own shape."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from gatewright.agent.api import Client
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.providers.presets import load_presets
from gatewright.agent.record.events import AnyEvent, TextDelta, ToolFinished, TurnEnded
from gatewright.agent.turn.stop import Stop
from tests.e2e.program import Program
from tests.e2e.provider_stories import KEY, STORIES, WITHOUT_A_SERVER, Story
from tests.fakes.model_server import ModelServer, Recorded, ServerThread

CALLED = 'call[call00001]: Read {"file_path": "notes.txt"}\nusage: in=11 out=7\n'
ANSWERED = "say: The second line says beta.\nusage: in=20 out=5\n"
OF_EACH_SHAPE = ("anthropic", "openai-chat", "openai-responses")

pytestmark = pytest.mark.e2e


def script(story: Story) -> str:
    status, body = story.refused
    refusal = f"status: {status} body={json.dumps(body)}\n"
    return f"{story.stream}{CALLED}---\n{ANSWERED}---\n{refusal}"


def set_up(name: str, server: ModelServer, program: Program) -> dict[str, str]:
    """The preset as it is, but for its host; and the environment with its key."""
    story, preset = STORIES[name], load_presets()[name]
    base = server.url + (story.base or urlsplit(preset.base_url).path)
    own: dict[str, Any] = {"baseUrl": base, **story.settings}
    if story.key:
        own["apiKeyEnv"] = story.key
    settings = {"smallModel": "demo", "providers": {name: own}}
    file = program.home / ".gatewright" / "settings.json"
    file.write_text(json.dumps(settings), encoding="utf-8")
    variable = story.key or preset.api_key_env
    return {**({variable: KEY} if variable else {}), **story.env}


def check_requests(name: str, requests: list[Recorded]) -> None:
    story, preset = STORIES[name], load_presets()[name]
    posts = [request for request in requests if request.method == "POST"]
    header, value = story.auth
    for request in posts:
        assert request.path == story.path
        given = request.headers.get(header, "")
        assert given.startswith(value) if value else not given
        assert request.body.get("model", "") == story.named
    first, second, *_ = posts
    assert "notes.txt" in json.dumps(first.body)
    assert "alpha" in json.dumps(second.body), "the model did not get what its call gave"
    if back := preset.quirks.get("reasoningBack"):
        (said,) = [m for m in second.body["messages"] if m["role"] == "assistant"]
        carrier = said["tool_calls"][0] if back == "extra_content" else said
        assert carrier[back], f"{name} wants its reasoning back as {back}"


def test_every_preset_has_a_story() -> None:
    assert set(load_presets()) == {*STORIES, *WITHOUT_A_SERVER}


@pytest.mark.parametrize("name", STORIES)
async def test_story(name: str, program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    story = STORIES[name]
    if name == "bedrock" and find_spec("botocore") is None:
        pytest.skip("who reads Amazon's stream is in the extra `clouds`")
    held = script(story).replace("line says", "line\nwait: begun\nsay:  says")
    async with ModelServer(held) as server:
        env = set_up(name, server, program)
        for variable, value in story.env.items():  # the vendor's package looks for it itself
            monkeypatch.setenv(variable, value)
        options = LaunchOptions(cwd=str(program.project), model=f"{name}/{story.model}")
        async with Client(options, env=program.env(**env)) as client:
            events: list[AnyEvent] = []
            async for event in client.ask("What does notes.txt say?"):
                events.append(event)
                if isinstance(event, TextDelta):
                    server.release("begun")
            refused = await client.answer("And now?")
    (ended,) = [event for event in events if isinstance(event, TurnEnded)]
    assert (ended.stop, ended.message) == (Stop.COMPLETED, "")
    assert (ended.usage.input, ended.usage.output, ended.requests) == (31, 12, 2)
    (tool,) = [event for event in events if isinstance(event, ToolFinished)]
    assert tool.ok
    pieces = [event.text for event in events if isinstance(event, TextDelta)]
    assert "".join(pieces) == "The second line says beta."
    assert len(pieces) > 1, "the answer was not streamed"
    check_requests(name, server.requests)
    assert refused.ended.stop is not Stop.COMPLETED
    assert story.told in refused.ended.message
    assert KEY not in refused.ended.message


@pytest.mark.parametrize("name", OF_EACH_SHAPE)
def test_story_of_the_program(name: str, program: Program) -> None:
    story = STORIES[name]
    model = f"{name}/{story.model}"
    with ServerThread(script(story)) as server:
        env = set_up(name, server, program)
        done = program.run(
            "-p", "See notes.txt", "--model", model, "--output-format", "json", env=env
        )
        refused = program.run("-p", "And now?", "--model", model, env=env)
    assert done.returncode == 0, done.stderr
    result: Mapping[str, Any] = json.loads(done.stdout)
    assert result["result"] == "The second line says beta."
    assert (result["usage"]["input_tokens"], result["usage"]["output_tokens"]) == (31, 12)
    check_requests(name, server.requests)
    assert refused.returncode == 1
    assert story.told in refused.stderr


def test_a_provider_at_its_variables_address(program: Program, tmp_path: Path) -> None:
    """Ollama's own variable, which names a host without path and scheme."""
    story = STORIES["ollama"]
    with ServerThread(script(story)) as server:
        host = {"OLLAMA_HOST": f"127.0.0.1:{server.port}"}
        done = program.run("-p", "See notes.txt", "--model", f"ollama/{story.model}", env=host)
    assert (done.returncode, done.stdout) == (0, "The second line says beta.\n"), done.stderr
    check_requests("ollama", server.requests)
