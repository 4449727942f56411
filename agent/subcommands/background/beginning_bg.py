"""`agent bg` itself: its command line, checked here, and the session that begins with it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from msgspec.structs import asdict

from gatewright.agent.autonomy.running.known_sessions import SHORT
from gatewright.agent.autonomy.running.person import require_person
from gatewright.agent.autonomy.running.start_background import Manner, start
from gatewright.agent.launch.argv import parse
from gatewright.agent.launch.exits import UsageError
from gatewright.agent.launch.flags import FLAGS
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.launch.starting import require_known_tools, settled
from gatewright.agent.subcommands.place import here
from gatewright.agent.text.printable import visible

HERE = "--here"
NOT_HERE = (
    frozenset(  # fields of flags that are about a terminal, a pipe, or nothing to come back to
        {"print_mode", "output_format", "input_format", "include_partial_messages", "no_session"}
        | {
            "include_hook_events",
            "include_session_events",
            "forward_subagent_text",
            "help",
            "version",
        }
        | {"replay_user_messages", "json_schema", "no_stdin", "plain", "verbose"}
        | {"dump_system_prompt", "permission_prompt_tool"}
    )
)
NONE = asdict(LaunchOptions())
EMPTY = 'Say what it is to do: agent bg "PROMPT".'
PICK = "Say which session goes on: agent bg --resume ID."
BEGAN = (
    "{id} began in the background. agent attach {id} shows it, agent logs {id} -f prints what it "
    "says, agent stop {id} ends it."
)
BESIDE = (
    "{id} works in this checkout, so it works in a work tree of its own; --here works beside it."
)


def begin(words: Sequence[str]) -> None:
    """Raises GatewrightError, whose text is for the person."""
    require_person(os.environ)
    options = options_of([word for word in words if word != HERE])
    limits = here().loaded.settings.bg
    begun = start(options, os.environ, limits, Manner(here=HERE in words))
    if begun.beside:
        sys.stdout.write(BESIDE.format(id=begun.beside[:SHORT]) + "\n")
    sys.stdout.write(visible(BEGAN.format(id=begun.record.id[:SHORT]) + "\n"))


def options_of(words: Sequence[str]) -> LaunchOptions:
    """Raises UsageError."""
    given = parse(words, _is_tool)
    values = asdict(given)
    for flag in FLAGS:
        if flag.field in NOT_HERE and values[flag.field] != NONE[flag.field]:
            raise UsageError(f"agent bg has no {flag.names[0]}.")
    if given.resume == "":
        raise UsageError(PICK)
    if not given.prompt.strip() and given.resume is None and not given.continue_session:
        raise UsageError(EMPTY)
    options = settled(given, _mode)
    require_known_tools(options, _unknown_tool, _unknown_offer)
    return options


def _mode(name: str) -> str:
    from gatewright.permissions.modes import flag_mode  # noqa: PLC0415  lazy: 3 ms, with a flag

    return flag_mode(name)


def _is_tool(name: str) -> bool:
    from gatewright.permissions.rulebook.known_tools import is_known  # noqa: PLC0415  lazy: 5 ms, with a flag

    return is_known(name)


def _unknown_tool(rule: str) -> str:
    from gatewright.permissions.rulebook.known_tools import unknown  # noqa: PLC0415  lazy: 5 ms, with a flag
    from gatewright.permissions.rulebook.rules import tool_of  # noqa: PLC0415

    return unknown(tool_of(rule))


def _unknown_offer(name: str) -> str:
    from gatewright.tools.registry import PRESETS  # noqa: PLC0415  lazy: 5 ms, with a flag

    return "" if name in PRESETS else _unknown_tool(name)
