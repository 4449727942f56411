from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing

import pytest

from gatewright.agent.errors import FailureKind, GatewrightError, ProviderError, SettingsError
from gatewright.agent.providers.presets import endpoint, load_presets
from gatewright.agent.providers.protocol import Request
from gatewright.agent.providers.registry import (
    FACTORIES,
    Chosen,
    active_provider,
    choose,
    default_model,
    open_provider,
)
from gatewright.agent.providers.settings import ModelSettings, ProviderSettings
from gatewright.agent.record.messages import UserTurn
from gatewright.tools.protocol import TextContent
from tests.fakes.model_server import ModelServer

ANTHROPIC = {"ANTHROPIC_API_KEY": "k"}
OPENAI = {"OPENAI_API_KEY": "k"}
ELSEWHERE = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
OWN = {
    "mine": ProviderSettings(
        type="openai",
        base_url="http://127.0.0.1:9/v1",
        api_key_env="MINE_KEY",
        models={"big": ModelSettings(window=64_000)},
    )
}
NONE: dict[str, ProviderSettings] = {}


@pytest.mark.parametrize(
    ("model", "settings", "env", "chosen"),
    [
        ("anthropic/claude-opus-5-5", NONE, {}, Chosen("anthropic", "claude-opus-5-5")),
        ("anthropic/some-new-model", NONE, {}, Chosen("anthropic", "some-new-model")),
        ("anthropic/opus", NONE, {}, Chosen("anthropic", "claude-opus-5-5")),
        ("opus", NONE, ANTHROPIC, Chosen("anthropic", "claude-opus-5-5")),
        ("large", NONE, OPENAI, Chosen("openai", "gpt-6.1-sol")),
        ("small", NONE, {**ANTHROPIC, **OPENAI}, Chosen("anthropic", "claude-haiku-5-5")),
        ("claude-opus-5-5", NONE, OPENAI, Chosen("anthropic", "claude-opus-5-5")),
        ("gpt-oss-120b", NONE, {"CEREBRAS_API_KEY": "k"}, Chosen("cerebras", "gpt-oss-120b")),
        (
            "openrouter/anthropic/claude-opus-5.5",
            NONE,
            {},
            Chosen("openrouter", "anthropic/claude-opus-5.5"),
        ),
        ("ollama/qwen3:8b", NONE, {}, Chosen("ollama", "qwen3:8b")),
        ("mine/big", OWN, {}, Chosen("mine", "big")),
        ("big", OWN, {}, Chosen("mine", "big")),
        ("demo", NONE, {}, Chosen("demo", "demo")),
        ("default", NONE, ANTHROPIC, Chosen("anthropic", "claude-sonnet-5-5")),
        ("default", NONE, OPENAI, Chosen("openai", "gpt-6.1-terra")),
        ("opusplan", NONE, ANTHROPIC, Chosen("anthropic", "claude-sonnet-5-5")),
        ("sonnet[1m]", NONE, ANTHROPIC, Chosen("anthropic", "claude-sonnet-5-5", wide=True)),
        (
            "anthropic/claude-sonnet-4-5[1m]",
            NONE,
            {},
            Chosen("anthropic", "claude-sonnet-4-5", wide=True),
        ),
        (
            "claude-sonnet-4-5-20250929",
            NONE,
            ANTHROPIC,
            Chosen("anthropic", "claude-sonnet-4-5-20250929"),
        ),
        ("claude-opus-5.5", NONE, ANTHROPIC, Chosen("anthropic", "claude-opus-5-5")),
        ("claude-opus-9", NONE, {**ANTHROPIC, **OPENAI}, Chosen("anthropic", "claude-opus-9")),
        ("claude-opus-9", NONE, {}, Chosen("anthropic", "claude-opus-9")),
        ("gpt-9", NONE, {**ANTHROPIC, **OPENAI}, Chosen("openai", "gpt-9")),
        ("wombat-3", NONE, {"MISTRAL_API_KEY": "k"}, Chosen("mistral", "wombat-3")),
        ("google/gemini-9", NONE, {}, Chosen("gemini", "gemini-9")),
        ("qwen3-8b", NONE, ELSEWHERE, Chosen("openai", "qwen3-8b")),
        ("meta/llama-4", NONE, ELSEWHERE, Chosen("openai", "meta/llama-4")),
        ("llama", NONE, {**ANTHROPIC, **ELSEWHERE}, Chosen("openai", "llama")),
        ("claude-opus-5-5", NONE, ELSEWHERE, Chosen("openai", "claude-opus-5-5")),
        (
            "claude-opus-9",
            NONE,
            {**ANTHROPIC, **ELSEWHERE},
            Chosen("anthropic", "claude-opus-9"),
        ),
        ("demo", NONE, ANTHROPIC, Chosen("demo", "demo")),
    ],
)
def test_model_strings(
    model: str, settings: Mapping[str, ProviderSettings], env: Mapping[str, str], chosen: Chosen
) -> None:
    assert choose(model, settings=settings, env=env) == chosen


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("antropic/claude-opus-5-5", "Did you mean anthropic/claude-opus-5-5"),
        ("sonet", "Did you mean sonnet"),
        ("wombat", "provider/model"),
    ],
)
def test_unknown_names_get_a_hint(model: str, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        choose(model, settings=NONE, env=ANTHROPIC)


def test_an_alias_without_any_key_names_the_ways_out() -> None:
    with pytest.raises(GatewrightError, match=r"ANTHROPIC_API_KEY.*--model demo"):
        choose("opus", settings=NONE, env={})


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("anthropic/x", "ANTHROPIC_API_KEY"),
        ("openai/x", "OPENAI_API_KEY"),
        ("groq/x", "GROQ_API_KEY"),
    ],
)
def test_a_missing_key_is_one_sentence(model: str, variable: str) -> None:
    with pytest.raises(ProviderError) as caught:
        open_provider(model, settings=NONE, env={})
    assert caught.value.kind is FailureKind.AUTH
    assert variable in str(caught.value)
    assert "--model demo" in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "env", "name"),
    [
        (NONE, {}, None),
        (NONE, ANTHROPIC, "anthropic/claude-sonnet-5-5"),
        (NONE, {"ANTHROPIC_AUTH_TOKEN": "t"}, "anthropic/claude-sonnet-5-5"),
        (NONE, OPENAI, "openai/gpt-6.1-terra"),
        (NONE, {"GROQ_API_KEY": "k"}, "groq/openai/gpt-oss-120b"),
        (OWN, {"MINE_KEY": "k", **ANTHROPIC}, "mine/big"),
        (OWN, ANTHROPIC, "anthropic/claude-sonnet-5-5"),
        (NONE, {"VLLM_API_KEY": "k"}, None),
    ],
)
def test_default_model(
    settings: Mapping[str, ProviderSettings], env: Mapping[str, str], name: str | None
) -> None:
    assert default_model(settings, env) == name


def test_local_servers_are_never_chosen_on_their_own() -> None:
    assert active_provider(NONE, {}) is None


def test_environment_and_settings_decide_the_address() -> None:
    env = {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}
    assert endpoint("openai", NONE, {}).type == "openai-responses"
    assert endpoint("openai", NONE, env).type == "openai"
    assert endpoint("openai", NONE, env).base_url == "http://127.0.0.1:1/v1"
    own = {"openai": ProviderSettings(base_url="http://b/v1", type="openai-responses")}
    assert endpoint("openai", own, env).base_url == "http://b/v1"
    assert endpoint("openai", own, env).type == "openai-responses"


def test_quirks_are_laid_over_the_presets() -> None:
    own = {"mistral": ProviderSettings(quirks={"images": False})}
    quirks = endpoint("mistral", own, {}).quirks
    assert (quirks.images, quirks.call_ids, quirks.max_tokens) == (False, "nine", "max_tokens")
    wrong = {"mistral": ProviderSettings(quirks={"imgs": False})}
    with pytest.raises(SettingsError, match=r"providers\.mistral\.quirks"):
        endpoint("mistral", wrong, {})


def test_every_preset_is_complete() -> None:
    for name, preset in load_presets().items():
        assert preset.type in FACTORIES
        server = endpoint(name, NONE, {})
        assert server.base_url or server.transport == "sdk" or name == "demo"


def test_an_own_provider_needs_an_address_and_a_known_type() -> None:
    with pytest.raises(SettingsError, match="baseUrl"):
        open_provider("x/y", settings={"x": ProviderSettings(type="openai")}, env={})
    with pytest.raises(SettingsError, match="none of"):
        open_provider(
            "x/y", settings={"x": ProviderSettings(type="nope", base_url="http://h")}, env={}
        )


async def test_opening_says_what_is_known_of_the_model() -> None:
    opened = open_provider("anthropic/opus", settings=NONE, env=ANTHROPIC)
    assert (opened.name, opened.model) == ("anthropic/claude-opus-5-5", "claude-opus-5-5")
    assert opened.facts.window == 1_000_000
    await opened.provider.close()


BEDROCK = {"CLAUDE_CODE_USE_BEDROCK": "1"}


@pytest.mark.parametrize(
    ("env", "name"),
    [
        ({**ANTHROPIC, "ANTHROPIC_MODEL": "claude-x"}, "anthropic/claude-x"),
        ({**ANTHROPIC, "ANTHROPIC_MODEL": "anthropic/claude-x"}, "anthropic/claude-x"),
        ({"ANTHROPIC_MODEL": "claude-x"}, "anthropic/claude-x"),  # what lacks is told: its key
        ({**OPENAI, "ANTHROPIC_MODEL": "claude-x"}, "openai/gpt-6.1-terra"),
        ({**ANTHROPIC, "ANTHROPIC_DEFAULT_SONNET_MODEL": "mine"}, "anthropic/mine"),
        ({**BEDROCK, **ANTHROPIC, "ANTHROPIC_MODEL": "us.a.claude"}, "bedrock/us.a.claude"),
        ({"CLAUDE_CODE_USE_VERTEX": "true"}, "vertex/claude-sonnet-5-5"),
        ({**ANTHROPIC, "CLAUDE_CODE_USE_BEDROCK": "0"}, "anthropic/claude-sonnet-5-5"),
        ({"GOOGLE_API_KEY": "k"}, "gemini/gemini-3.8-flash"),
    ],
)
def test_the_environment_of_other_programs_names_the_default(
    env: Mapping[str, str], name: str
) -> None:
    assert default_model(NONE, env) == name


@pytest.mark.parametrize(
    ("model", "env", "chosen"),
    [
        ("haiku", {"ANTHROPIC_DEFAULT_HAIKU_MODEL": "h"}, Chosen("anthropic", "h")),
        ("haiku", {"ANTHROPIC_SMALL_FAST_MODEL": "f"}, Chosen("anthropic", "f")),
        (
            "small",
            {"ANTHROPIC_SMALL_FAST_MODEL": "f", "ANTHROPIC_DEFAULT_HAIKU_MODEL": "h"},
            Chosen("anthropic", "h"),
        ),
        ("anthropic/opus", {"ANTHROPIC_DEFAULT_OPUS_MODEL": "o"}, Chosen("anthropic", "o")),
        ("sonnet", {"ANTHROPIC_DEFAULT_OPUS_MODEL": "o"}, Chosen("anthropic", "claude-sonnet-5-5")),
        ("sonnet", BEDROCK, Chosen("bedrock", "claude-sonnet-5-5")),
        ("us.anthropic.claude-x-v1:0", BEDROCK, Chosen("bedrock", "us.anthropic.claude-x-v1:0")),
        ("gpt-6.1-sol", BEDROCK, Chosen("openai", "gpt-6.1-sol")),
        ("anthropic/opus", BEDROCK, Chosen("anthropic", "claude-opus-5-5")),
    ],
)
def test_the_environment_of_other_programs_names_models(
    model: str, env: Mapping[str, str], chosen: Chosen
) -> None:
    assert choose(model, settings=NONE, env={**ANTHROPIC, **env}) == chosen


@pytest.mark.parametrize(
    ("name", "env", "url"),
    [
        ("openai", {"OPENAI_API_BASE": "http://h/v1"}, "http://h/v1"),
        ("openai", {"OPENAI_API_BASE": "http://h", "OPENAI_BASE_URL": "http://b"}, "http://b"),
        ("ollama", {"OLLAMA_HOST": "box"}, "http://box:11434/v1"),
        ("ollama", {"OLLAMA_HOST": "box:8"}, "http://box:8/v1"),
        ("ollama", {"OLLAMA_HOST": ":8"}, "http://127.0.0.1:8/v1"),
        ("ollama", {"OLLAMA_HOST": "0.0.0.0"}, "http://127.0.0.1:11434/v1"),
        ("ollama", {"OLLAMA_HOST": "[::]:8"}, "http://127.0.0.1:8/v1"),
        ("ollama", {"OLLAMA_HOST": "::1"}, "http://[::1]:11434/v1"),
        ("ollama", {"OLLAMA_HOST": "https://box"}, "https://box/v1"),
        ("ollama", {"OLLAMA_HOST": "https://box:8/ollama/"}, "https://box:8/ollama/v1"),
        ("ollama", {"OLLAMA_HOST": "box", "OLLAMA_BASE_URL": "http://b/v1"}, "http://b/v1"),
    ],
)
def test_the_environment_of_other_programs_names_addresses(
    name: str, env: Mapping[str, str], url: str
) -> None:
    assert endpoint(name, NONE, env).base_url == url


@pytest.mark.parametrize(
    ("env", "variable"),
    [
        ({}, "GEMINI_API_KEY"),
        ({"GOOGLE_API_KEY": "k"}, "GOOGLE_API_KEY"),
        ({"GOOGLE_API_KEY": "k", "GEMINI_API_KEY": "k"}, "GEMINI_API_KEY"),
    ],
)
def test_a_key_may_be_in_a_second_variable(env: Mapping[str, str], variable: str) -> None:
    assert endpoint("gemini", NONE, env).api_key_env == variable


@pytest.mark.parametrize("model", ["opus", "default", "opusplan"])
def test_what_needs_a_key_says_so(model: str) -> None:
    with pytest.raises(GatewrightError, match="ANTHROPIC_API_KEY"):
        choose(model, settings=NONE, env={})


async def test_an_undescribed_model_is_passed_on_with_one_note() -> None:
    opened = open_provider("claude-opus-5-9", settings=NONE, env=ANTHROPIC)
    assert (opened.name, opened.facts.known) == ("anthropic/claude-opus-5-9", False)
    assert opened.note.startswith("claude-opus-5-9 is not in the catalogue and is sent")
    assert "128k" in opened.note
    assert "Did you mean claude-opus-5" in opened.note
    await opened.provider.close()


@pytest.mark.parametrize(
    ("model", "near"), [("claude-opus-5-9", "Did you mean claude-opus-5"), ("nope/none", "")]
)
async def test_behind_another_address_who_names_one_is_told(model: str, near: str) -> None:
    env = {**ANTHROPIC, "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
    opened = open_provider(model, settings=NONE, env=env)
    assert opened.note == ""
    assert f"{model} is in no list here" in opened.aside
    assert "What it costs is not known" in opened.aside
    assert near in opened.aside
    await opened.provider.close()
    known = open_provider("claude-opus-5-5", settings=NONE, env=env)
    assert known.aside == ""
    await known.provider.close()


@pytest.mark.parametrize(
    ("model", "settings", "env"),
    [
        ("anthropic/claude-opus-5-5", NONE, ANTHROPIC),
        ("claude-sonnet-4-5-20250929", NONE, ANTHROPIC),
        ("ollama/whatever", NONE, {}),
        ("mine/other", OWN, {"MINE_KEY": "k"}),
        ("qwen3-8b", NONE, ELSEWHERE),
        ("sonnet[1m]", NONE, ANTHROPIC),
    ],
)
async def test_nothing_is_noted_where_nothing_is_odd(
    model: str, settings: Mapping[str, ProviderSettings], env: Mapping[str, str]
) -> None:
    opened = open_provider(model, settings=settings, env=env)
    assert opened.note == ""
    await opened.provider.close()


@pytest.mark.parametrize(
    ("model", "window", "name", "note"),
    [
        ("sonnet[1m]", 1_000_000, "anthropic/claude-sonnet-5-5", ""),
        ("claude-sonnet-4-5[1m]", 1_000_000, "anthropic/claude-sonnet-4-5[1m]", ""),
        ("claude-sonnet-4-5", 200_000, "anthropic/claude-sonnet-4-5", ""),
        ("claude-haiku-4-5[1m]", 200_000, "anthropic/claude-haiku-4-5", "no larger window"),
        ("claude-nova-9[1m]", 1_000_000, "anthropic/claude-nova-9[1m]", "not in the catalogue"),
    ],
)
async def test_a_window_of_a_million(model: str, window: int, name: str, note: str) -> None:
    opened = open_provider(model, settings=NONE, env=ANTHROPIC)
    assert (opened.facts.window, opened.name) == (window, name)
    assert note in opened.note
    assert bool(note) == bool(opened.note)
    await opened.provider.close()
    again = open_provider(opened.name, settings=NONE, env=ANTHROPIC)
    assert (again.facts.window, again.name) == (window, name), "the name says it all"
    await again.provider.close()


async def test_a_larger_window_is_asked_for_by_its_beta() -> None:
    request = Request(
        model="claude-sonnet-4-5",
        system=(),
        tools=(),
        turns=(UserTurn((TextContent("hi"),)),),
        max_output=100,
    )
    sent: list[str] = []
    async with ModelServer("say: hi", repeat=True) as server:
        for model in ("claude-sonnet-4-5[1m]", "claude-sonnet-4-5", "sonnet[1m]"):
            own = {
                "anthropic": ProviderSettings(
                    base_url=server.url, headers={"Anthropic-Beta": "mine-1"}
                )
            }
            opened = open_provider(model, settings=own, env=ANTHROPIC)
            async with aclosing(opened.provider.stream(request)) as pieces:
                async for _ in pieces:
                    pass
            await opened.provider.close()
            sent.append(server.requests[-1].headers["anthropic-beta"])
    assert sent == ["mine-1,context-1m-2025-08-07", "mine-1", "mine-1"]
