"""Every setting explains itself, and the published schema knows all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import msgspec
from msgspec import structs

from gatewright.agent.settings.layers.coerce import help_of, strip
from gatewright.agent.settings.schema import RuleEntry, Settings
from gatewright.agent.settings.traits import Section


def keys(kind: type[Section], at: str = "") -> Iterator[tuple[str, Any]]:
    for field in structs.fields(kind):
        yield f"{at}{field.encode_name}", field.type
        bare = strip(field.type)
        for inner in (bare, *get_args(bare)):
            if isinstance(inner, type) and issubclass(inner, Section) and inner is not RuleEntry:
                yield from keys(inner, f"{at}{field.encode_name}.")


def test_every_key_has_help_in_one_sentence() -> None:
    for key, kind in keys(Settings):
        help = help_of(kind)
        assert help, f"{key} has no help"
        assert help[0].isupper() or help[0] == '"', key
        assert help.endswith("."), key


def test_the_schema_names_every_key() -> None:
    document = msgspec.json.schema(Settings)
    assert set(document["$defs"]["Settings"]["properties"]) == {
        field.encode_name for field in structs.fields(Settings)
    }
    assert document["$defs"]["Settings"]["properties"]["model"]["description"]
