"""The person's word about a plugin, asked for in their terminal."""

from __future__ import annotations

import sys

import typer

from gatewright.agent.plugins.consent import Agreed, Consent, consent_text
from gatewright.agent.subcommands.tell import tell


def asking(*, yes: bool) -> Agreed:
    """Shows all of it, then asks; `yes` is an answer that was given beforehand."""

    def agreed(about: Consent) -> bool:
        tell(consent_text(about))
        if yes:
            return True
        if not sys.stdin.isatty():
            tell("Nobody can be asked here; in a terminal it asks, and --yes agrees.", err=True)
            return False
        question = "Install it?" if about.before is None else "Take it in place of the old one?"
        return typer.confirm(question)

    return agreed
