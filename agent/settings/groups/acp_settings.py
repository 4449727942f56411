"""The settings of editors that speak the Agent Client Protocol: what they may choose."""

from __future__ import annotations

from typing import Annotated

from gatewright.agent.settings.traits import Section, owned


class Acp(Section, frozen=True):
    full_access: Annotated[
        bool, owned("Offer editors a mode in which only what is dangerous asks.")
    ] = False
    terminal: Annotated[
        bool,
        owned("Run commands that nothing confines in the editor's own terminal, if it has one."),
    ] = False
