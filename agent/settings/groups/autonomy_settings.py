"""Settings of work that nobody typed: how much of it, how long, in which mode."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from gatewright.agent.settings.traits import Section, owned, personal, setting

Positive = Annotated[float, msgspec.Meta(gt=0)]


class Autonomy(Section, frozen=True):
    enabled: Annotated[
        bool,
        setting("Let work begin that nobody typed: schedules, watches, wake-ups.", "tightest",
                order=(False, True)),
    ] = True  # fmt: skip
    max_mode: Annotated[
        str, owned("Work that nobody typed may do no more than this mode lets run.")
    ] = "acceptEdits"
    ask_wait: Annotated[
        Annotated[float, msgspec.Meta(ge=0)] | Literal["forever"],
        personal("Minutes that its questions wait for you; then the call is refused."),
    ] = 10.0
    max_turns_per_hour: Annotated[
        Annotated[int, msgspec.Meta(ge=1)],
        setting("Turns an hour that begin by themselves in a session.", "lower"),
    ] = 30
    max_budget_usd_per_day: Annotated[
        Positive, setting("Dollars a day that such turns of a session may cost.", "lower")
    ] = 20.0
    max_hours: Annotated[
        Positive, setting("Hours that a session works by itself after you last typed.", "lower")
    ] = 12.0


class Schedules(Section, frozen=True):
    expire_days: Annotated[
        Positive, personal("Days after which a recurring job is over.")
    ] = 7.0  # fmt: skip
    jitter: Annotated[
        bool, personal("Begin recurring jobs a little late, each always by the same.")
    ] = True
    catch_up: Annotated[
        Annotated[float, msgspec.Meta(ge=0)],
        personal("Hours after which a durable job that was missed is not made up for."),
    ] = 24.0


class Bg(Section, frozen=True):
    max: Annotated[
        Annotated[int, msgspec.Meta(ge=1)],
        owned("Sessions in the background that may run at once."),
    ] = 8
    idle_minutes: Annotated[
        Positive,
        personal("Minutes after which one ends that has nothing to do and that nobody looks at."),
    ] = 60.0
