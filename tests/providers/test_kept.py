"""What is kept from request to request never shows: bodies are those of a fresh start."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewright.agent.providers.api import Bodies
from gatewright.agent.providers.apis import (
    anthropic_request,
    openai_chat_request,
    openai_responses_request,
)
from gatewright.agent.providers.catalog import ModelFacts
from gatewright.agent.providers.protocol import Request
from gatewright.agent.providers.quirks import Quirks
from gatewright.agent.providers.sending.kept_prefix import Kept
from gatewright.agent.record.messages import (
    AssistantTurn,
    CallPart,
    ResultTurn,
    TextPart,
    ThinkingPart,
    Turn,
    UserTurn,
)
from gatewright.agent.turn.valid_history import Pairing
from gatewright.tools.protocol import TextContent

MakeBodies = Callable[[], Bodies]
APIS: tuple[MakeBodies, ...] = (
    anthropic_request.Bodies,
    openai_chat_request.Bodies,
    openai_responses_request.Bodies,
)
FACTS = ModelFacts()
QUIRKS = Quirks(cache_points=True, call_ids="nine")

TEXT = st.sampled_from(["one", "two", "three"]).map(TextContent)
PART = st.one_of(
    st.sampled_from(["a", "b"]).map(TextPart),
    st.builds(ThinkingPart, st.just("hm"), st.sampled_from(["", "sig"])),
    st.builds(CallPart, st.sampled_from(["c1", "c2", "c3", "c.4"]), st.just("Read"), st.just({})),
)
TURN = st.one_of(
    st.builds(UserTurn, st.tuples(TEXT)),
    st.builds(AssistantTurn, st.lists(PART, max_size=3).map(tuple), st.sampled_from(["m", "n"])),
    st.builds(ResultTurn, st.sampled_from(["c1", "c2", "c3"]), st.booleans(), st.tuples(TEXT)),
)


def request(turns: Sequence[Turn], model: str = "m") -> Request:
    return Request(model=model, system=("system",), tools=(), turns=tuple(turns), max_output=1000)


@pytest.mark.parametrize("make", APIS)
@given(turns=st.lists(TURN, max_size=10), other=st.integers(0, 10))
def test_a_growing_history_gives_the_bodies_of_a_fresh_start(
    make: MakeBodies, turns: list[Turn], other: int
) -> None:
    kept, pairing = make(), Pairing()
    for number, turn in enumerate(turns):
        pairing.add(turn)
        asked = request(pairing.view(), "n" if number == other else "m")
        fresh = make()
        encoded = msgspec.json.encode(kept.body(asked, FACTS, QUIRKS))
        assert encoded == msgspec.json.encode(fresh.body(asked, FACTS, QUIRKS))
        assert encoded == msgspec.json.encode(
            kept.body(asked, FACTS, QUIRKS)
        )  # nothing kept was changed


def test_only_what_is_new_is_made() -> None:
    made: list[str] = []

    def make(item: str) -> str:
        made.append(item)
        return item.upper()

    kept: Kept[str, str] = Kept()
    items = ["one", "two"]
    assert kept.map(items, make) == ["ONE", "TWO"]
    assert kept.map([*items, "three"], make) == ["ONE", "TWO", "THREE"]
    assert kept.map([items[0], "four"], make) == ["ONE", "FOUR"]
    assert made == ["one", "two", "three", "four"]
