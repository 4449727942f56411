"""The person's word about plugins and marketplaces, asked for in their terminal."""

from __future__ import annotations

import sys

import typer

from gatewright.agent.plugins.consent import Agreed, Consent, consent_text
from gatewright.agent.plugins.marketplaces.adding import Replaces
from gatewright.agent.plugins.marketplaces.known import Known
from gatewright.agent.subcommands.tell import tell


def asking(*, yes: bool) -> Agreed:
    """Shows all of it, then asks; `yes` is an answer that was given beforehand."""

    def agreed(about: Consent) -> bool:
        tell(consent_text(about))
        if yes:
            return True
        question = "Install it?" if about.before is None else "Take it in place of the old one?"
        return _asked(question)

    return agreed


def shown(agreed: Agreed) -> Agreed:
    """Like `agreed`; what needs no answer, as nothing new acts, is shown all the same."""

    def answer(about: Consent) -> bool:
        if about.before is not None and not about.new:
            tell(consent_text(about))
            return True
        return agreed(about)

    return answer


def replacing(*, yes: bool) -> Replaces:
    """Whether a marketplace takes the place of another one of its name."""

    def replaces(before: Known, now: Known) -> bool:
        tell(f"There is a marketplace {now.name} already.\n  It is from: {before.said}")
        tell(f"  This one: {now.said}\nWhat was installed from it would be updated from here.")
        return yes or _asked("Put it in the place of the other?")

    return replaces


def _asked(question: str) -> bool:
    """Nobody there means no."""
    if not sys.stdin.isatty():
        tell("Nobody can be asked here; in a terminal it asks, and --yes agrees to it.", err=True)
        return False
    return typer.confirm(question)
