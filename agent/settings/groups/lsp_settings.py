"""Settings of language servers: which are used, what they may reach, what a model is told."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from gatewright.agent.settings.traits import Section, chosen, personal


class Lsp(Section, frozen=True):
    use: Annotated[
        Literal["auto", "off"] | tuple[str, ...],
        chosen("Which language servers: auto, off, or a list of names."),
    ] = "auto"
    diagnostics: Annotated[
        bool, chosen("Tell the model new errors and warnings after its changes.")
    ] = True
    wait_ms: Annotated[
        Annotated[int, msgspec.Meta(ge=0, le=30_000)],
        chosen("Milliseconds that a request waits for a running server's findings."),
    ] = 1500
    network: Annotated[bool, personal("Let language servers reach the network.")] = False
