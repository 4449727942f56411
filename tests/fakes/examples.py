"""How many examples a property is tried with: some in every run, all of them with the proofs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings

FEW, ALL = 25, 100  # of a hundred
PROVED = pytest.mark.proof
QUICK, PROOF = "quick", "proof"

# A property holds on a busy machine too: what must be quick is measured elsewhere.
settings.register_profile(QUICK, deadline=None, max_examples=FEW)
settings.register_profile(PROOF, deadline=None, max_examples=ALL)


def begin(*, proof: bool) -> None:
    """Before the first module of tests is read."""
    settings.load_profile(PROOF if proof else QUICK)


def many(examples: int) -> int:
    """So many with the proofs."""
    return examples * settings().max_examples // ALL


def some(rows: Iterable[Any], every: int) -> list[Any]:
    """Of rows that say the same of another size or seed each so-manieth; the rest is proof."""
    return [
        row if n % every == 0 else pytest.param(row, marks=PROVED) for n, row in enumerate(rows)
    ]


def proof(*row: Any) -> Any:
    """A row that is looked at with the proofs only."""
    return pytest.param(*row, marks=PROVED)
