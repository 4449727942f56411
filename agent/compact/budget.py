"""One formula for how full the window may get, and what a new history may hold.

From 100,000 tokens on the margins are fixed; a smaller window gets its share of them. In every
window warning < auto < block holds.
"""

from __future__ import annotations

import msgspec

ANSWER = 20_000  # kept free for the answer
AUTO_MARGIN = 13_000
BLOCK_MARGIN = 3_000
WARN_MARGIN = 20_000
FREED = 20_000  # what clearing results must free to be worth the cached prefix


class Budget(msgspec.Struct, frozen=True):
    """Tokens of context at which something happens, and the sizes of what a summary keeps."""

    window: int
    effective: int
    warning: int
    auto: int
    block: int
    summary: int
    words: int  # what the person said, verbatim
    recent_least: int
    recent_most: int
    state: int  # everything put back besides
    files: int  # one file put back
    freed: int

    @classmethod
    def of(cls, window: int, max_output: int) -> Budget:
        effective = window - min(max_output, ANSWER, window // 3)
        auto = effective - min(AUTO_MARGIN, effective // 6)
        return cls(
            window=window,
            effective=effective,
            warning=auto - min(WARN_MARGIN, auto // 3),
            auto=auto,
            block=effective - min(BLOCK_MARGIN, effective // 20),
            summary=min(8_000, auto // 5),
            words=min(20_000, auto // 8),
            recent_least=min(10_000, auto // 10),
            recent_most=min(40_000, auto // 4),
            state=min(50_000, auto // 5),
            files=min(5_000, auto // 25),
            freed=min(FREED, auto // 6),
        )
