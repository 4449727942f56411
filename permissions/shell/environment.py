"""Commands that print the variables they were given."""

from __future__ import annotations

from gatewright.permissions.shell.line import Part

_SHELL = frozenset({"set", "export", "declare", "typeset", "readonly"})


def shows_environment(part: Part) -> bool:
    """Whether a simple command prints its environment, or all of the shell's variables."""
    words = part.texts[1:]
    if part.program == "env":
        return all(word.startswith("-") or "=" in word for word in words)
    if part.program in _SHELL:
        return not words or any(word.startswith("-") and "p" in word for word in words)
    return part.program == "printenv"
