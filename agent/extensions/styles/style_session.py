"""Plugs output styles in: the one that the setting names is part of the system prompt.

It is looked up when a conversation begins and stays until a clear, so the prompt keeps its bytes.
"""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gatewright.agent.commands.registry import Command
from gatewright.agent.context.prompt.output_style import (
    BUILT_IN,
    DEFAULT,
    NO_STYLE,
    OutputStyle,
)
from gatewright.agent.extensions.agent_types.session_kinds import ground_of
from gatewright.agent.extensions.contribution import Contribution, part_of
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.extensions.plugins.plugins_now import plugins_of
from gatewright.agent.record.events import AnyEvent, Cleared
from gatewright.agent.record.journal import of_main
from gatewright.agent.settings.overview import SettingsBook
from gatewright.agent.settings.workspace import Surroundings

if TYPE_CHECKING:
    from gatewright.agent.context.prompt.style_files import Styles


class OutputStyles:
    """What a session has of styles. `chosen` is the setting, which may name none that there is."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._now: OutputStyle | None = None
        self._own = ""  # of this session alone, in place of the setting
        self._told = ""  # the name that the person was told to be nobody's

    @property
    def chosen(self) -> str:
        """What nobody says a plugin may say."""
        if self._own:
            return self._own
        around = self._host.around
        if "outputStyle" not in around.loaded.provenance:
            plugins = plugins_of(self._host.brought)
            said = (each.settings.get("outputStyle", "") for each in plugins)
            return next(filter(None, said), DEFAULT)
        return around.settings.output_style.strip() or DEFAULT

    @property
    def name(self) -> str:
        """Of the style of this conversation."""
        return self.in_force().name

    def in_force(self) -> OutputStyle:
        """Looked up once in a conversation; no file is looked for where it is the default."""
        if self._now is None:
            named = self.chosen
            found = NO_STYLE if named.casefold() == DEFAULT else self.all().find(named)
            self._now = found or NO_STYLE
        return self._now

    def use(self, name: str) -> None:
        """One of those there are, in this session alone and from its next request on."""
        self._own, self._now = name, None
        self._host.briefing.renew()
        self._host.session.renew_model()

    def all(self) -> Styles:
        from gatewright.agent.context.prompt.style_files import styles_of  # noqa: PLC0415  lazy

        host = self._host
        return styles_of(ground_of(host.around, host.roots, plugins_of(host.brought)))

    def problem(self) -> str:
        """What to say of a setting that names no style; empty where it names one."""
        named = self.chosen
        if named.casefold() == DEFAULT or self.in_force() is not NO_STYLE:
            return ""
        return f'There is no output style "{named[:60]}": {meant(named, self.all().every)}'

    def saw(self, event: AnyEvent) -> None:
        if not isinstance(event, Cleared):
            return
        self._now = None
        if (problem := self.problem()) and self._told != self.chosen:
            self._told = self.chosen
            self._host.warn(problem)


def meant(named: str, every: Sequence[OutputStyle]) -> str:
    """The nearest name, or all."""
    from gatewright.agent.context.prompt.style_files import names_of  # noqa: PLC0415  lazy

    names = [style.name for style in every]
    near = difflib.get_close_matches(named.casefold(), names, n=1, cutoff=0.6)
    return f"did you mean {near[0]}?" if near else f"there are {names_of(every)}."


async def plug_styles(host: Host) -> Contribution:
    styles = OutputStyles(host)
    host.briefing.style = styles.in_force
    problem = ""
    if styles.chosen.casefold() not in BUILT_IN:
        problem = await asyncio.to_thread(styles.problem)

    def commands() -> Sequence[Command]:
        from gatewright.agent.extensions.styles.style_command import style_commands  # noqa: PLC0415  lazy: 1 ms

        settings = part_of(host.brought, SettingsBook)
        return style_commands(styles, settings) if settings is not None else ()

    return Contribution(
        commands=(commands,),
        folds=(of_main(styles.saw),),
        parts=(styles,),
        problems=(f"{problem} The default one is used.",) if problem else (),
    )


def wanted(around: Surroundings) -> bool:
    """Not where no turn is ever run."""
    return not around.options.served


STYLES = Extension(name="output styles", plug=plug_styles, wanted=wanted)
