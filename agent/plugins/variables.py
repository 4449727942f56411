"""What programs of a plugin find in their environment, and what `${…}` of it means.

A value that the person gave goes into arguments and variables, never into the text of a shell.
"""

from __future__ import annotations

from gatewright.agent.plugins.parts import Plugin

OPTION = "CLAUDE_PLUGIN_OPTION_"
USER = "user_config."
# Python's own files beside a program would make another tree of it.
_QUIET = {"PYTHONDONTWRITEBYTECODE": "1"}


def places_of(plugin: Plugin) -> dict[str, str]:
    """Where the installed version is, and where it keeps what is its own."""
    return {
        f"{prefix}_PLUGIN_{name}": str(path)
        for name, path in (("ROOT", plugin.root), ("DATA", plugin.data))
        for prefix in ("CLAUDE", "GATEWRIGHT")
    }


def found(plugin: Plugin) -> dict[str, str]:
    """What every program of it finds."""
    return {**places_of(plugin), **_QUIET}


def options_of(plugin: Plugin) -> dict[str, str]:
    """Its userConfig as variables."""
    return {option(key): value for key, value in plugin.options.items()}


def option(key: str) -> str:
    return f"{OPTION}{key.upper()}"


def given(plugin: Plugin) -> tuple[tuple[str, str], ...]:
    """All that its hooks find."""
    return tuple({**found(plugin), **options_of(plugin)}.items())


def fills(plugin: Plugin) -> tuple[tuple[str, str], ...]:
    """`${user_config.KEY}` in arguments."""
    return tuple((f"{USER}{key}", value) for key, value in plugin.options.items())
