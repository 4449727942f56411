"""How many tokens an answer may have: the usual, the most, and what the person says."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from gatewright.agent.models.opener import OUTPUT_ENV, USUAL_OUTPUT, output_limits
from gatewright.agent.providers.catalog import ModelFacts

KNOWN = ModelFacts(max_output=64_000)
UNKNOWN = ModelFacts(known=False)


@pytest.mark.parametrize(
    ("facts", "env", "limits"),
    [
        (KNOWN, {}, (USUAL_OUTPUT, 64_000)),
        (KNOWN, {OUTPUT_ENV: "1000"}, (1000, 1000)),
        (KNOWN, {OUTPUT_ENV: "50000"}, (50_000, 50_000)),
        (KNOWN, {OUTPUT_ENV: "100000"}, (64_000, 64_000)),
        (UNKNOWN, {OUTPUT_ENV: "20000"}, (20_000, 20_000)),
        *((KNOWN, {OUTPUT_ENV: bad}, (USUAL_OUTPUT, 64_000)) for bad in ("", "0", "-5", "many")),
    ],
)
def test_the_person_may_name_the_limit(
    facts: ModelFacts, env: Mapping[str, str], limits: tuple[int, int]
) -> None:
    assert output_limits(facts, env) == limits
