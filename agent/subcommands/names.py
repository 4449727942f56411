"""The sub-commands by name: a first word that is none of these is a prompt."""

from __future__ import annotations

SUBCOMMANDS: dict[str, str] = {
    "doctor": "Check this machine and say what to do",
    "trust": "Trust a project, or stop trusting it",
    "config": "Show and change settings",
}


def is_subcommand(word: str) -> bool:
    return word in SUBCOMMANDS
