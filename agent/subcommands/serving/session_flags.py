"""Flags of the agent itself behind a subcommand that opens sessions: those that mean something."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec.structs import asdict

from gatewright.agent.launch.argv import parse
from gatewright.agent.launch.exits import UsageError
from gatewright.agent.launch.flags import FLAGS
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.launch.starting import require_known_tools, settled
from gatewright.permissions.modes import flag_mode
from gatewright.permissions.rulebook.known_tools import is_known, unknown
from gatewright.permissions.rulebook.rules import tool_of
from gatewright.tools.registry import PRESETS

NONE = asdict(LaunchOptions())


def session_options(
    words: Sequence[str], command: str, taken: Collection[str], *, prompts: str
) -> LaunchOptions:
    """`taken` are fields of flags, `prompts` says who sends those. Raises UsageError."""
    given = parse(words, is_known)
    values = asdict(given)
    for flag in FLAGS:
        if flag.field not in taken and values[flag.field] != NONE[flag.field]:
            raise UsageError(f"agent {command} has no {flag.names[0]}.")
    if given.prompt:
        raise UsageError(f"agent {command} takes no prompt: {prompts}.")
    options = settled(given, flag_mode)
    require_known_tools(
        options,
        lambda rule: unknown(tool_of(rule)),
        lambda name: "" if name in PRESETS else unknown(tool_of(name)),
    )
    return options
