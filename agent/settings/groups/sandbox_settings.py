"""The settings of the sandbox: whether commands are confined, and what they may write and reach."""

from __future__ import annotations

from typing import Annotated, Literal

from gatewright.agent.settings.traits import (
    Section,
    forbidding,
    group,
    on_is_strict,
    personal,
    setting,
)


class SandboxFiles(Section, frozen=True):
    allow_write: Annotated[
        tuple[str, ...], setting("More directories commands may write, such as ~/.npm.", "join")
    ] = ()
    deny_write: Annotated[tuple[str, ...], forbidding("Paths commands may not change.")] = ()
    deny_read: Annotated[tuple[str, ...], forbidding("Path globs commands may not read.")] = ()
    allow_read: Annotated[
        tuple[str, ...], personal("Exceptions from what commands may not read.", "join")
    ] = ()


class SandboxNetwork(Section, frozen=True):
    allowed_domains: Annotated[
        tuple[str, ...], setting("Domains commands may reach: example.com, *.h.", "join")
    ] = ()
    denied_domains: Annotated[tuple[str, ...], forbidding("Domains commands never reach.")] = ()
    allow_all: Annotated[bool, personal("Do not confine the network at all.")] = False
    allow_private: Annotated[bool, personal("Allow addresses of private networks.")] = False
    allow_local_binding: Annotated[
        bool, setting("Let commands listen on local ports (macOS).", "within", order=(False, True))
    ] = False
    allow_unix_sockets: Annotated[
        tuple[str, ...], personal("Socket files commands may use; * is any.", "join")
    ] = ()


class Sandbox(Section, frozen=True):
    enabled: Annotated[
        bool | Literal["auto"],
        setting(
            "Confine commands: auto (where it works), true or false.",
            "tighten",
            order=(True, "auto", False),
        ),
    ] = "auto"
    fail_if_unavailable: Annotated[
        bool,
        on_is_strict("Run no command where the sandbox does not work."),
    ] = False
    auto_allow_bash_if_sandboxed: Annotated[
        bool, personal("Run confined commands without asking.")
    ] = False
    allow_unsandboxed_commands: Annotated[
        bool, setting("Let a command ask to leave the sandbox.", "tighten", order=(False, True))
    ] = True
    excluded_commands: Annotated[
        tuple[str, ...], personal("Commands that run outside, such as docker.", "join")
    ] = ()
    filesystem: Annotated[SandboxFiles, group("What may be written and read.")] = SandboxFiles()
    network: Annotated[SandboxNetwork, group("What may be reached.")] = SandboxNetwork()
    limits: Annotated[
        dict[str, int | str],
        personal("What a command may use: nproc, memory, fsize, nofile, cpu, tmp.", "join"),
    ] = {}
    keep_env: Annotated[
        tuple[str, ...], personal("Variables kept although they look secret.", "join")
    ] = ()
