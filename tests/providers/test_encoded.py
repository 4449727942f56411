"""A body encoded piece by piece is the body encoded at once."""

from __future__ import annotations

import random
from typing import cast

import msgspec
import pytest

from gatewright.agent.providers.sending.encoded import FEW, Encoded
from tests.fakes.examples import many


def message(number: int) -> dict[str, object]:
    return {"role": "user", "content": [{"type": "text", "text": f"\u00fc {number}"}]}


@pytest.mark.parametrize("name", ["messages", "input", "other"])
def test_a_history_that_grows_changes_its_end_and_goes_back(name: str) -> None:
    chance = random.Random(3)
    for _ in range(many(40)):
        encoded, items = Encoded(), [message(n) for n in range(chance.randrange(2 * FEW))]
        for step in range(20):
            match chance.randrange(5):
                case 0 if items:
                    del items[chance.randrange(len(items)) :]
                case 1 if items:
                    items[-1] = {**items[-1], "cache_control": {"type": "ephemeral"}}
                case 2:
                    items = list(items)
                case _:
                    items = items + [message(100 * step + n) for n in range(chance.randrange(9))]
            before: dict[str, object] = {"model": "m"} if chance.random() < 0.7 else {}
            after: dict[str, object] = {"stream": True} if chance.random() < 0.7 else {}
            body = {**before, name: list(items), **after}
            assert encoded.encode(body) == msgspec.json.encode(body)


def test_what_is_there_is_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded, items = Encoded(), [message(n) for n in range(500)]
    encoded.encode({"messages": list(items)})
    encoded.encode({"messages": list(items)})
    made: list[object] = []
    encode = msgspec.json.encode

    def counted(value: object) -> bytes:
        made.append(value)
        return encode(value)

    monkeypatch.setattr(msgspec.json, "encode", counted)
    encoded.encode({"messages": [*items, message(500)]})
    assert [len(cast("list[object]", value)) for value in made if isinstance(value, list)] == [1]
