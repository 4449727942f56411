"""From the words behind `agent acp` to its process: flags of the agent itself, and a log."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from msgspec.structs import replace

from gatewright.agent.client.brought import Brought
from gatewright.agent.frontends.acp.acp_process import run as serve
from gatewright.agent.frontends.acp.auth_methods import LOGIN
from gatewright.agent.frontends.acp.editor_agent import Ports
from gatewright.agent.frontends.acp.protocol_log import ProtocolLog
from gatewright.agent.launch.cli import Starting, run_subcommand
from gatewright.agent.launch.defect_log import keep_defects
from gatewright.agent.launch.exits import UsageError
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.session.session import Session
from gatewright.agent.settings.paths import own_home
from gatewright.agent.subcommands.serving.session_flags import session_options
from gatewright.tools.files.disk import DISK

LOG = "--log-protocol"
# What the first session of every editor needs beside the core: an editor opens it at once.
USED = (
    "gatewright.agent.session.own_commands",
    "gatewright.agent.extensions.agent_types.session_kinds",
    "gatewright.agent.extensions.agents.agent_tools",
    "gatewright.agent.extensions.skills.skill_session",
    "gatewright.agent.extensions.skills.skills_command",
    "gatewright.agent.extensions.styles.style_session",
    "gatewright.agent.extensions.servers.plugging",
    "gatewright.agent.extensions.checkpointing",
    "gatewright.agent.extensions.confining",
    "gatewright.agent.extensions.instructions",
    "gatewright.agent.history.shadow",
)
TAKEN = frozenset(
    {"model", "effort", "fallback_model", "mode", "allow_bypass", "allowed_tools"}
    | {"disallowed_tools", "tools", "add_dirs", "mcp_config", "strict_mcp_config", "settings"}
    | {"setting_sources", "append_system_prompt", "append_system_prompt_file", "plugin_dirs"}
    | {"max_turns", "max_budget_usd", "no_session", "trust", "bare", "debug", "replay", "team"}
)


def run(words: Sequence[str], starting: Starting) -> int:
    """Raises UsageError."""
    if list(words[:1]) == [LOGIN]:  # how editors start it in a terminal, to be given a key
        return run_subcommand(words, starting)
    file, rest = log_of(words)
    options = options_of(rest)
    log = ProtocolLog(file, os.environ) if file is not None else None
    _keep_log(options)
    return starting.leave(serve(options, lambda: _ports(starting), log))


def log_of(words: Sequence[str]) -> tuple[Path | None, list[str]]:
    """The file of the log, and the other words. Raises UsageError."""
    rest = list(words)
    for at, word in enumerate(words):
        name, joined, value = word.partition("=")
        if name == LOG:
            taken = 1 if joined else 2
            value = value if joined else "".join(rest[at + 1 : at + 2])
            if not value:
                raise UsageError(f"{LOG} takes a file.")
            del rest[at : at + taken]
            return Path(value).expanduser(), rest
    return None, rest


def options_of(words: Sequence[str]) -> LaunchOptions:
    """Raises UsageError for a flag that means nothing here."""
    options = session_options(words, "acp", TAKEN, prompts="an editor sends them")
    return replace(options, print_mode=True)


def _ports(starting: Starting) -> Ports:
    async def open_(options: LaunchOptions, client: Brought) -> Session:
        return await starting.opener(options, interactive=True, client=client)()

    async def loaded() -> None:
        await starting.load()
        await asyncio.to_thread(lambda: [*map(import_module, USED)])

    return Ports(open=open_, disk=DISK, env=os.environ, loaded=loaded)


def _keep_log(options: LaunchOptions) -> None:
    folder = own_home(os.environ) / "logs"
    if options.debug is None:
        keep_defects(folder)
        return
    from gatewright.agent.launch import log  # noqa: PLC0415  lazy: 8 ms

    log.start(folder, options.debug, env=os.environ)
