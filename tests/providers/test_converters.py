"""One conversation with everything in it, as the body of each API: read the files when they change.

`python -m tests.providers.test_converters` writes them anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gatewright.agent.providers.catalog import ModelFacts, load_catalog
from gatewright.agent.providers.direct import api_of
from gatewright.agent.providers.presets import endpoint
from gatewright.agent.providers.protocol import Request
from gatewright.agent.providers.registry import facts_of
from gatewright.agent.providers.settings import ProviderSettings
from gatewright.agent.record.messages import (
    AssistantTurn,
    CallPart,
    ResultTurn,
    TextPart,
    ThinkingPart,
    Turn,
    UserTurn,
)
from gatewright.tools.protocol import DocumentContent, ImageContent, TextContent, ToolSpec

GOLDEN = Path(__file__).with_name("golden")
IMAGE = ImageContent("image/png", "aW1hZ2U=")
PDF = DocumentContent("application/pdf", "cGRm", "paper.pdf")
READ = ToolSpec(
    "Read",
    "Reads a file.",
    {"type": "object", "properties": {"file_path": {"type": "string"}}, "required": ["file_path"]},
)
GREP = ToolSpec("Grep", "Searches.", {"type": "object", "properties": {}})


def talk(model: str) -> tuple[Turn, ...]:
    return (
        UserTurn((TextContent("Look at these."), IMAGE, PDF)),
        AssistantTurn(
            (
                ThinkingPart("I should read.", opaque="signature", id="rs_1"),
                TextPart("Reading."),
                CallPart("call_1", "Read", {"file_path": "ä.txt"}),
                CallPart("call_2", "Grep", {}, malformed="{oops"),
            ),
            model,
        ),
        ResultTurn("call_1", True, (TextContent("content"), IMAGE)),
        ResultTurn("call_2", False, (TextContent("The arguments are no JSON object."),)),
        AssistantTurn((ThinkingPart("", opaque="sealed", redacted=True), TextPart("Done.")), model),
        UserTurn((TextContent("Thanks."),)),
        UserTurn((TextContent("And now?"),)),
        AssistantTurn((ThinkingPart("Not mine.", opaque="foreign"), TextPart("Well.")), "other"),
        UserTurn((TextContent("Go on."),)),
    )


CASES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "anthropic": ("anthropic", "claude-opus-5-5", {}),
    "anthropic-budget": ("anthropic", "claude-sonnet-4-5", {}),
    "chat": ("openai-chat", "gpt-6.1-sol", {}),
    "responses": ("openai", "gpt-6.1-sol", {}),
    "openrouter": ("openrouter", "anthropic/claude-opus-5.5", {}),
    "groq": ("groq", "openai/gpt-oss-120b", {}),
    "cerebras": ("cerebras", "gpt-oss-120b", {}),
    "mistral": ("mistral", "mistral-large-4", {}),
    "xai": ("xai", "grok-4.7", {}),
    "deepseek": ("deepseek", "deepseek-v4-pro", {}),
    "gemini": ("gemini", "gemini-3.8-flash", {}),
    "ollama": ("ollama", "qwen3:8b", {}),
    "llamacpp": ("llamacpp", "some.gguf", {}),
    "own-quirks": (
        "vllm",
        "some",
        {"omit": ["stream_options"], "extra": {"seed": 1}, "bridge": "Understood."},
    ),
}


def body(name: str) -> Mapping[str, Any]:
    provider, model, quirks = CASES[name]
    settings = {provider: ProviderSettings(quirks=quirks)}
    server = endpoint(provider, settings, {})
    request = Request(
        model=model,
        system=("You are careful.", "It is Monday."),
        tools=(GREP, READ),
        turns=talk(model),
        max_output=32_000,
        effort="high",
        session="s-1",
        schema={"type": "object", "properties": {}, "additionalProperties": False},
    )
    return api_of(server, facts_of(server, {}), server.type).body(request)


def text(name: str) -> str:
    return json.dumps(body(name), indent=1, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("name", CASES)
def test_bodies_are_as_they_were(name: str) -> None:
    assert text(name) == (GOLDEN / f"{name}.json").read_text(encoding="utf-8")


def test_nothing_else_lies_among_the_golden_files() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == CASES.keys()


@pytest.mark.parametrize("name", CASES)
def test_the_same_request_has_the_same_bytes(name: str) -> None:
    assert msgspec.json.encode(body(name)) == msgspec.json.encode(body(name))


def test_output_is_limited_by_what_the_model_can_write() -> None:
    facts = load_catalog().facts("anthropic", "claude-haiku-4-5")
    assert facts.max_output < 1_000_000
    server = endpoint("anthropic", {}, {})
    request = Request(model="m", system=(), tools=(), turns=(), max_output=1_000_000)
    assert api_of(server, lambda _: facts, "anthropic").body(request)["max_tokens"] == 64_000
    unknown = ModelFacts(known=False)
    assert api_of(server, lambda _: unknown, "anthropic").body(request)["max_tokens"] == 1_000_000


if __name__ == "__main__":
    for case in CASES:
        (GOLDEN / f"{case}.json").write_text(text(case), encoding="utf-8")
