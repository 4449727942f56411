from __future__ import annotations

import pytest

from gatewright.agent.providers.catalog import LADDER, ModelFacts, load_catalog
from gatewright.agent.providers.settings import ModelSettings
from gatewright.agent.record.messages import Usage

CATALOG = load_catalog()


@pytest.mark.parametrize("key", sorted(CATALOG.models))
def test_every_entry_is_plausible(key: str) -> None:
    facts = CATALOG.models[key]
    assert facts.window >= 32_000
    assert 1_000 < facts.max_output < facts.window
    assert facts.output >= facts.input > 0
    if facts.cache_read is not None:
        assert facts.cache_read < facts.input
    if facts.cache_write is not None:
        assert facts.cache_write >= facts.input
    assert list(facts.efforts) == sorted(facts.efforts, key=LADDER.index)
    assert facts.thinking in ("", "adaptive", "budget", "reasoning")


def test_every_tier_names_a_described_model() -> None:
    for provider, tiers in CATALOG.tiers.items():
        assert tiers.keys() == {"small", "medium", "large"}
        if provider != "demo":
            assert all(f"{provider}/{model}" in CATALOG.models for model in tiers.values())


@pytest.mark.parametrize(
    ("provider", "model", "same_as"),
    [
        ("anthropic", "claude-haiku-4-5-20251001", "anthropic/claude-haiku-4-5"),
        ("anthropic", "us.anthropic.claude-opus-4-6-v1", "anthropic/claude-opus-4-6"),
        ("anthropic", "anthropic.claude-sonnet-4-5-20250929-v1:0", "anthropic/claude-sonnet-4-5"),
        ("anthropic", "claude-haiku-4-5@20251001", "anthropic/claude-haiku-4-5"),
        ("openai", "gpt-5-2025-08-07", "openai/gpt-5"),
        ("openrouter", "anthropic/claude-opus-5.5", "anthropic/claude-opus-5-5"),
        ("openrouter", "openai/gpt-oss-120b:free", "groq/openai/gpt-oss-120b"),
    ],
)
def test_names_of_the_same_model(provider: str, model: str, same_as: str) -> None:
    assert CATALOG.facts(provider, model).window == CATALOG.models[same_as].window
    assert CATALOG.facts(provider, model).input == CATALOG.models[same_as].input


def test_unknown_models_get_safe_defaults_and_can_be_described() -> None:
    facts = CATALOG.facts("ollama", "my-model")
    assert (facts.known, facts.thinking, facts.efforts, facts.cost(Usage(input=9))) == (
        False,
        "",
        (),
        0.0,
    )
    extra = {"my-model": ModelSettings(window=32_000, input=1.0, images=False)}
    facts = CATALOG.facts("ollama", "my-model", extra)
    assert (facts.window, facts.images, facts.max_output) == (32_000, False, 8_192)
    assert facts.cost(Usage(input=2_000_000, cache_read=1_000_000)) == 3.0


def test_cost_counts_the_cache_and_long_requests() -> None:
    facts = CATALOG.facts("anthropic", "claude-opus-5-5")
    usage = Usage(input=1_000, output=2_000, cache_read=100_000, cache_write=10_000)
    expected = (1_000 * 4 + 2_000 * 20 + 100_000 * 0.2 + 10_000 * 5) / 1e6
    assert facts.cost(usage) == pytest.approx(expected)
    long = CATALOG.facts("openai", "gpt-6.1-sol")
    assert long.long is not None
    assert long.cost(Usage(input=300_000)) == pytest.approx(0.3 * long.long.input)
    assert long.cost(Usage(input=100_000)) == pytest.approx(0.1 * long.input)


@pytest.mark.parametrize(
    ("levels", "wanted", "got"),
    [
        (("low", "medium", "high"), "max", "high"),
        (("low", "medium", "high"), "none", "low"),
        (("none", "low", "high"), "medium", "low"),
        (("low", "max"), "max", "max"),
        ((), "high", ""),
        (("low",), "", ""),
        (("low",), "loud", ""),
    ],
)
def test_effort_takes_the_nearest_level(levels: tuple[str, ...], wanted: str, got: str) -> None:
    assert ModelFacts(efforts=levels).effort(wanted) == got


def test_aliases_are_tiers() -> None:
    assert CATALOG.tier("anthropic", "opus") == CATALOG.tier("anthropic", "large")
    assert CATALOG.tier("openai", "haiku") == CATALOG.tier("openai", "small")
    assert CATALOG.tier("openai", "gpt-5") is None
