"""How many examples a property is tried with: some in every run, all of them with the proofs."""

from __future__ import annotations

from hypothesis import settings

FEW, ALL = 25, 100  # of a hundred
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
