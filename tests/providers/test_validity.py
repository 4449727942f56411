"""Whatever a conversation went through, each API gets a body that it accepts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatewright.agent.providers.api import Api
from gatewright.agent.providers.catalog import ModelFacts
from gatewright.agent.providers.direct import api_of
from gatewright.agent.providers.presets import endpoint
from gatewright.agent.providers.protocol import Request
from gatewright.agent.providers.settings import ProviderSettings
from gatewright.agent.record.messages import (
    AssistantPart,
    AssistantTurn,
    CallPart,
    ResultTurn,
    TextPart,
    ThinkingPart,
    Turn,
    UserTurn,
)
from gatewright.tools.protocol import (
    Content,
    DocumentContent,
    ImageContent,
    TextContent,
    ToolSpec,
)
from tests.fakes.examples import many
from tests.fakes.rules import anthropic, chat, responses

CHECKERS: dict[str, Callable[[dict[str, Any]], list[str]]] = {
    "anthropic": anthropic.check,
    "openai": chat.check,
    "openai-responses": responses.check,
}
MODELS = ("one", "two")
FACTS = {
    "adaptive": ModelFacts(thinking="adaptive", efforts=("low", "high"), documents=True),
    "budget": ModelFacts(thinking="budget", max_output=20_000, documents=True),
    "reasoning": ModelFacts(thinking="reasoning", efforts=("low", "high"), structured=True),
    "plain": ModelFacts(images=False, known=False),
}
QUIRKS: tuple[dict[str, Any], ...] = (
    {},
    {"documents": True, "cacheKey": True, "store": True, "phases": True},
    {"callIds": "nine", "bridge": "Understood.", "maxTokens": "max_tokens"},
    {"reasoningBack": "reasoning_content", "cachePoints": True, "systemRole": "developer"},
)

blank = st.sampled_from(["", " ", "\n", "\u2003"])
words = st.one_of(blank, st.text(min_size=1, max_size=12), st.just("hello"))
ids = st.sampled_from(["a", "b", "c", "", "functions.Read:0", "ü/x", "x" * 90, "x" * 89 + "y"])
contents: st.SearchStrategy[tuple[Content, ...]] = st.lists(
    st.one_of(
        st.builds(TextContent, words),
        st.sampled_from([ImageContent("image/png", "aGk="), ImageContent("image/tiff", "aGk=")]),
        st.sampled_from(
            [DocumentContent("application/pdf", "aGk=", "a.pdf"), DocumentContent("text/x", "aGk=")]
        ),
    ),
    max_size=3,
).map(tuple)
parts: st.SearchStrategy[AssistantPart] = st.one_of(
    st.builds(TextPart, words),
    st.builds(ThinkingPart, words, st.sampled_from(["", "[]", "sig"]), st.just(""), st.booleans()),
    st.builds(
        CallPart,
        ids,
        st.sampled_from(["Read", "Bash"]),
        st.sampled_from([{}, {"a": "ü"}]),
        st.sampled_from(["", "{oops"]),
    ),
)
turns: st.SearchStrategy[Turn] = st.one_of(
    st.builds(UserTurn, contents),
    st.builds(
        AssistantTurn, st.lists(parts, max_size=4).map(tuple), st.sampled_from([*MODELS, ""])
    ),
    st.builds(ResultTurn, ids, st.booleans(), contents),
)


def api_for(kind: str, facts: ModelFacts, quirks: dict[str, Any]) -> Api:
    settings = {"x": ProviderSettings(type=kind, base_url="http://h", quirks=quirks)}
    lookup: Callable[[str], ModelFacts] = lambda _: facts  # noqa: E731
    return api_of(endpoint("x", settings, {}), lookup, kind)


def request(history: list[Turn], model: str, effort: str = "", tools: int = 2) -> Request:
    specs = [ToolSpec(name, "d", {"type": "object", "properties": {}}) for name in ("Bash", "Read")]
    return Request(
        model=model,
        system=("Be kind.", " ", "Be brief."),
        tools=tuple(specs[:tools]),
        turns=tuple(history),
        max_output=4_000,
        effort=effort,
        session="s",
    )


@pytest.mark.parametrize("kind", CHECKERS)
@settings(max_examples=many(300), deadline=None)
@given(
    history=st.lists(turns, max_size=12),
    model=st.sampled_from(MODELS),
    facts=st.sampled_from(sorted(FACTS)),
    quirks=st.sampled_from(QUIRKS),
    effort=st.sampled_from(["", "low", "high", "max"]),
    tools=st.integers(0, 2),
)
def test_random_histories_convert_to_valid_requests(
    kind: str,
    history: list[Turn],
    model: str,
    facts: str,
    quirks: dict[str, Any],
    effort: str,
    tools: int,
) -> None:
    body = api_for(kind, FACTS[facts], quirks).body(request(history, model, effort, tools))
    assert CHECKERS[kind](body) == []


@pytest.mark.parametrize("kind", CHECKERS)
@settings(max_examples=many(100), deadline=None)
@given(
    steps=st.lists(
        st.tuples(st.lists(turns, max_size=4), st.integers(0, 6), st.sampled_from(MODELS)),
        min_size=1,
        max_size=6,
    ),
    quirks=st.sampled_from(QUIRKS),
)
def test_what_was_asked_before_never_shows(
    kind: str, steps: list[tuple[list[Turn], int, str]], quirks: dict[str, Any]
) -> None:
    """One provider asked again and again, the history growing, cut and switched, or a new one."""
    kept = api_for(kind, FACTS["adaptive"], quirks)
    history: list[Turn] = []
    for added, cut, model in steps:
        history = [*history[: max(0, len(history) - cut)], *added]
        fresh = api_for(kind, FACTS["adaptive"], quirks)
        asked = request(history, model)
        assert kept.body(asked) == fresh.body(asked)


REAL: tuple[Turn, ...] = (
    UserTurn((TextContent("look"), ImageContent("image/png", "aGk="))),
    AssistantTurn(
        (ThinkingPart("hm", "sig"), TextPart("reading"), CallPart("c1", "Read", {"p": 1})), "one"
    ),
    ResultTurn("c1", True, (TextContent("text"), ImageContent("image/png", "aGk="))),
    AssistantTurn((CallPart("c2", "Bash", {}), CallPart("c3", "Bash", {})), "one"),
    ResultTurn("c2", True, (TextContent("a"),)),
    ResultTurn("c3", False, (TextContent("b"),)),
    AssistantTurn((TextPart("done"),), "one"),
    UserTurn((TextContent("go on"),)),
    AssistantTurn((ThinkingPart("hm", "sig"), CallPart("c4", "Read", {})), "two"),
    ResultTurn("c4", True, ()),
)


@pytest.mark.parametrize("kind", CHECKERS)
@pytest.mark.parametrize("facts", FACTS)
@pytest.mark.parametrize("model", MODELS)
def test_a_real_history_cut_anywhere_and_switched(kind: str, facts: str, model: str) -> None:
    for quirks in QUIRKS:
        api = api_for(kind, FACTS[facts], quirks)
        for cut in range(len(REAL) + 1):
            for start in range(cut + 1):
                history = list(REAL[start:cut])
                assert CHECKERS[kind](api.body(request(history, model, "high"))) == []


def test_the_checkers_find_faults() -> None:
    faults: list[tuple[str, dict[str, Any]]] = [
        ("anthropic", {"model": "m", "max_tokens": 9, "messages": []}),
        (
            "anthropic",
            {
                "model": "m",
                "max_tokens": 9,
                "messages": [{"role": "assistant", "content": [{"type": "text", "text": " "}]}],
            },
        ),
        ("openai", {"model": "m", "messages": [{"role": "assistant", "content": None}]}),
        (
            "openai",
            {"model": "m", "messages": [{"role": "tool", "tool_call_id": "x", "content": "y"}]},
        ),
        (
            "openai-responses",
            {
                "model": "m",
                "store": False,
                "input": [{"type": "function_call_output", "call_id": "x", "output": "y"}],
            },
        ),
    ]
    for kind, body in faults:
        assert CHECKERS[kind](body)
