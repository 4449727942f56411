"""The settings in force for people: each with its source and meaning, a change to one's own.

Nothing is changed for a model: inside a command of a session every change is refused.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from gatewright.agent.errors import SettingsError
from gatewright.agent.settings.live_settings import LiveSettings
from gatewright.agent.settings.schema import Ui
from gatewright.agent.settings.traits import Source
from gatewright.agent.text.redact import Redactor

if TYPE_CHECKING:
    from gatewright.agent.commands.panels import Check, Option
    from gatewright.agent.settings.workspace import Surroundings

DEFAULT = "default"
AT_ONCE = ("permissions.", "web.", "env.")  # read again for every call
NEXT = ("skillOverrides.", "skills.disabled", "autoMemory")
ELSEWHERE = ("permissions.additionalDirectories",)  # has a panel of its own


class Setting(msgspec.Struct, frozen=True):
    """`value` is JSON without secrets; `source` names the layers it comes from."""

    key: str
    value: str
    source: str


class About(msgspec.Struct, frozen=True):
    """What one key means; a group of settings shows those below it."""

    settings: tuple[Setting, ...]
    help: str
    belongs: str


class SettingsBook:
    """Looks at the disk where it is not told otherwise."""

    def __init__(self, live: LiveSettings) -> None:
        self._live = live

    def rows(self) -> Sequence[Setting]:
        """All that are set anywhere."""
        self._live.refresh()
        return [self._setting(key) for key in sorted(self._live.around.loaded.provenance)]

    @property
    def around(self) -> Surroundings:
        """What is in force now."""
        return self._live.around

    def problems(self) -> Sequence[str]:
        return [problem.text() for problem in self._live.around.loaded.problems]

    def about(self, key: str) -> About:
        """Raises SettingsError with the nearest name."""
        from gatewright.agent.settings.dotted_key import facts  # noqa: PLC0415  only when asked for

        self._live.refresh()
        found = facts(key)
        shown = tuple(self._setting(each, None) for each in found.inside)
        single = (self._setting(key, found.default),)
        return About(shown or single, found.help, "" if shown else found.belongs)

    @property
    def ui(self) -> Ui:
        """What the settings say about the screen."""
        return self._live.around.settings.ui

    def value(self, key: str) -> str:
        """Of a setting that holds a text; empty for any other."""
        from gatewright.agent.settings.dotted_key import value_at  # noqa: PLC0415

        found = value_at(msgspec.to_builtins(self._live.around.settings), key)
        return found if isinstance(found, str) else ""

    def options(self) -> Sequence[Option]:
        """What a form can change, in the schema's order."""
        from gatewright.agent.settings.fields import fields_of  # noqa: PLC0415  only for a form

        self._live.refresh()
        now = msgspec.to_builtins(self._live.around.settings)
        return [self._in_force(each, now) for each in fields_of() if each.key not in ELSEWHERE]

    def problem(self, key: str, text: str) -> str:
        """Why a text is no value of a setting; empty where it is one."""
        from gatewright.agent.settings.dotted_key import check, typed  # noqa: PLC0415

        try:
            check(key, typed(text), Source.USER, self._live.around.places.home)
        except SettingsError as error:
            return str(error)
        return ""

    async def problem_of(self, key: str, text: str) -> str:
        return self.problem(key, text)

    async def set(self, key: str, text: str) -> str:
        """Change one's own settings; returns what to tell. Raises SettingsError."""
        from gatewright.agent.settings.dotted_key import check, facts, typed  # noqa: PLC0415

        facts(key)
        value = typed(text)
        check(key, value, Source.USER, self._live.around.places.home)
        path = await self._write(key, value)
        now = self._setting(key)
        if str(Source.USER) not in now.source.split(", "):
            return f"{key} is set in {path}, but {now.source} settings have the say: {now.value}."
        return f"{key} = {now.value} in {path}. {self._when(key)}"

    async def unset(self, key: str) -> str:
        """Take one's own value away. Raises SettingsError."""
        path = await self._write(key, None)
        now = self._setting(key)
        return f"{key} is no longer set in {path}; it is {now.value} ({now.source})."

    def checks(self) -> Sequence[Check]:
        """What is right and wrong on this machine."""
        from gatewright.agent.subcommands.doctor import (  # noqa: PLC0415  lazy: 60 ms, typer
            checks,
        )

        around = self._live.around
        env = {**around.env, "PATH": around.search.given}
        return checks(around.places, around.loaded, env, trusted=around.trusted)

    def _in_force(self, option: Option, settings: Any) -> Option:
        now = self._setting(option.key, settings=settings)
        sources = now.source.split(", ")
        managed = str(Source.MANAGED) in sources and option.kind != "list"
        return msgspec.structs.replace(
            option,
            value=now.value,
            source=now.source,
            own=str(Source.USER) in sources,
            fixed="Your administrator manages this setting." if managed else "",
        )

    async def _write(self, key: str, value: Any) -> str:
        """Where it is now, as people write it."""
        from gatewright.agent.settings.edit import set_value  # noqa: PLC0415  lazy: 9 ms
        from gatewright.agent.subcommands.place import refuse_inside_session  # noqa: PLC0415

        refuse_inside_session()
        path = self._live.around.places.file(Source.USER)
        if path is None:
            raise SettingsError("There is no file for your own settings.")
        await asyncio.to_thread(set_value, path, key, value)
        self._live.refresh(ours=True)
        return self._live.around.where.shown(path)

    def _setting(self, key: str, default: Any = None, *, settings: Any = None) -> Setting:
        """`settings` are those in force as plain values, for who asks for many."""
        from gatewright.agent.settings.dotted_key import facts, value_at  # noqa: PLC0415

        loaded = self._live.around.loaded
        settings = msgspec.to_builtins(loaded.settings) if settings is None else settings
        value = value_at(settings, key)
        if value is None:
            value = facts(key).default if default is None else default
        sources = loaded.provenance.get(key) or _below(loaded.provenance, key)
        text = json.dumps(value, ensure_ascii=False)
        shown = Redactor({key: text}, self._live.around.secrets).text(text)
        return Setting(key, shown, ", ".join(sources) or DEFAULT)

    @staticmethod
    def _when(key: str) -> str:
        if key.startswith(AT_ONCE) and key != "permissions.defaultMode":
            return "It counts from the next call on."
        if key.startswith(NEXT):
            return "It counts from the next message on."
        if key == "outputStyle":
            return "It counts from the next conversation on: /clear begins one."
        if key.startswith("ui."):
            return "A screen has it from now on."
        return "A session that is open keeps what it was started with; a new one has it."


def _below(provenance: dict[str, tuple[Source, ...]], key: str) -> list[Source]:
    """The layers that have a say in a table such as env."""
    found = {
        source for each, have in provenance.items() if each.startswith(f"{key}.") for source in have
    }
    return [source for source in Source if source in found]
