"""The settings of auto mode: in what words calls are judged, by which model, and how."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from gatewright.agent.settings.traits import Section, on_is_strict, owned, personal

DEFAULTS = "$defaults"  # in a list: the entries that come with the program


class AutoMode(Section, frozen=True):
    """A list takes the place of the entries that come with the program, unless it names them."""

    environment: Annotated[
        tuple[str, ...],
        personal("What is trusted here: repositories, domains, buckets, services.", "join"),
    ] = ()
    allow: Annotated[
        tuple[str, ...], personal("Exceptions from what is refused, in words.", "join")
    ] = ()
    soft_deny: Annotated[
        tuple[str, ...],
        personal("What is refused unless you asked for just that, in words.", "join"),
    ] = msgspec.field(default=(), name="soft_deny")
    hard_deny: Annotated[
        tuple[str, ...], personal("What is refused whatever you asked for, in words.", "join")
    ] = msgspec.field(default=(), name="hard_deny")
    model: Annotated[str, personal("Who judges; else a model that was measured for it.")] = ""
    stages: Annotated[
        Literal["both", "fast", "thinking"],
        personal("A quick look, one with reasons, or the second where the first refuses."),
    ] = "both"
    unmeasured: Annotated[
        bool, owned("Let a model judge that nobody measured; auto-mode eval measures one.")
    ] = False
    classify_all_shell: Annotated[
        bool, on_is_strict("In auto mode no allow rule about commands counts.")
    ] = False
