"""Text out of a project's files, made fit for a terminal: what would act there is spelled out."""

from __future__ import annotations


def printable(text: str) -> str:
    """The text with every character that prints nothing (but line ends and tabs) as its escape."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in "\n\t" else char.encode("unicode_escape").decode()
        for char in text
    )
