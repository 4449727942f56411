"""What a summarised conversation begins with: the summary, the person's words, and the state."""

from __future__ import annotations

from collections.abc import Sequence

from gatewright.agent.compact.estimate import text_tokens

LEAD = (
    "This conversation was longer. What follows is a summary of the part that was taken out, "
    "then what still holds. Go on from here as if nothing had been taken out: do not mention "
    "it, do not repeat what was done."
)


def opening(summary: str, words: Sequence[str], state: Sequence[str]) -> str:
    parts = [LEAD, summary]
    if words:
        quoted = "\n\n".join(f"<message>\n{text}\n</message>" for text in words)
        parts.append(f"# What the person said, word for word, oldest first\n\n{quoted}")
    parts += state
    return "\n\n".join(parts)


def fitting(sections: Sequence[str], limit: int) -> tuple[str, ...]:
    """The sections that fit, in order of importance; one too large for what is left is skipped."""
    kept: list[str] = []
    for text in sections:
        size = text_tokens(text)
        if size <= limit:
            kept.append(text)
            limit -= size
    return tuple(kept)
