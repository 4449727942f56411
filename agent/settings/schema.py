"""Every setting there is: one tree of Structs that the loader, editors and docs all read.

A key carries its help, the layers that may set it, and whether a project must be trusted for it.
"""

from __future__ import annotations

import enum
from typing import Annotated, Literal, TypeAlias

import msgspec

from gatewright.agent.providers.settings import ProviderSettings


class Source(enum.StrEnum):
    """Where a value came from, strongest first. `cli` is a flag of its own, `flag` --settings."""

    MANAGED = "managed"
    CLI = "cli"
    FLAG = "flag"
    LOCAL = "local"
    PROJECT = "project"
    USER = "user"


ANYWHERE = frozenset(Source)
COMMITTED = frozenset({Source.PROJECT, Source.LOCAL})  # lies in the project: may be anybody's
NOT_PROJECT = ANYWHERE - COMMITTED
OWN_FILES = frozenset({Source.MANAGED, Source.USER})

Effort: TypeAlias = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]


class Trait(msgspec.Struct, frozen=True):
    """How a key behaves across layers.

    `trust`: a project's value counts only once the project is trusted. `sticky`: this value wins
    from any layer. `restricts`: a lone value where a list belongs is read as a list of one, because
    ignoring it would permit more. `nearest`: a list that replaces instead of adding up.
    """

    scopes: frozenset[Source] = ANYWHERE
    trust: bool = False
    sticky: str | bool | None = None
    restricts: bool = False
    nearest: bool = False


def setting(
    help: str,
    *,
    scopes: frozenset[Source] = ANYWHERE,
    trust: bool = False,
    sticky: str | bool | None = None,
    restricts: bool = False,
    nearest: bool = False,
) -> msgspec.Meta:
    """Describe one key; the traits are those of `Trait`."""
    trait = Trait(scopes, trust, sticky, restricts, nearest)
    return msgspec.Meta(description=help, extra={"trait": trait})


class Section(msgspec.Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    pass


class RuleEntry(Section, frozen=True):
    """A rule with a note of who added it and when."""

    rule: str
    description: str = ""
    added_at: str = ""
    added_by: str = ""


Rules: TypeAlias = tuple[str | RuleEntry, ...]


class Skip(Section, frozen=True):
    edits: Annotated[bool, setting("Edit inside the project without asking.")] = False
    bash: Annotated[bool, setting("Run commands that are not dangerous without asking.")] = False
    skills: Annotated[bool, setting("Run every skill without asking.")] = False
    mcp: Annotated[bool, setting("Call MCP tools without asking.")] = False


class Permissions(Section, frozen=True):
    allow: Annotated[Rules, setting("What may run without asking, such as Bash(npm test).")] = ()
    ask: Annotated[Rules, setting("What always asks first.", restricts=True)] = ()
    deny: Annotated[Rules, setting("What never runs.", restricts=True)] = ()
    default_mode: Annotated[str, setting("The permission mode a session starts in.")] = ""
    additional_directories: Annotated[
        tuple[str, ...], setting("Directories that count as inside the project.", trust=True)
    ] = ()
    disable_bypass_permissions_mode: Annotated[
        Literal["", "disable"],
        setting('"disable" takes the bypass mode away.', sticky="disable"),
    ] = ""
    disable_auto_mode: Annotated[
        Literal["", "disable"], setting('"disable" takes the auto mode away.', sticky="disable")
    ] = ""
    plan_enforcement: Annotated[
        Literal["strict", "delegate", "block"],
        setting("How strictly plan mode keeps to planning.", trust=True),
    ] = "strict"
    use_auto_mode_during_plan: Annotated[
        bool, setting("Let the classifier judge unknown commands in plan mode.", trust=True)
    ] = True
    subagent_permission_mode: Annotated[
        str, setting("The mode subagents start in.", scopes=OWN_FILES)
    ] = ""
    harmless_env: Annotated[
        tuple[str, ...],
        setting("Variables a command may set in front of itself.", scopes=NOT_PROJECT),
    ] = ()
    skip: Annotated[Skip, setting("Kinds of calls that do not ask.", scopes=NOT_PROJECT)] = Skip()


class SandboxFiles(Section, frozen=True):
    allow_write: Annotated[
        tuple[str, ...], setting("More directories commands may write, such as ~/.npm.", trust=True)
    ] = ()
    deny_write: Annotated[
        tuple[str, ...], setting("Paths commands may not change.", restricts=True)
    ] = ()
    deny_read: Annotated[
        tuple[str, ...], setting("Path globs commands may not read.", restricts=True)
    ] = ()
    allow_read: Annotated[
        tuple[str, ...],
        setting("Exceptions from what commands may not read.", scopes=NOT_PROJECT),
    ] = ()


class SandboxNetwork(Section, frozen=True):
    allowed_domains: Annotated[
        tuple[str, ...], setting("Domains commands may reach: example.com, *.h.", trust=True)
    ] = ()
    denied_domains: Annotated[
        tuple[str, ...], setting("Domains commands never reach.", restricts=True)
    ] = ()
    allow_all: Annotated[
        bool, setting("Do not confine the network at all.", scopes=NOT_PROJECT)
    ] = False
    allow_private: Annotated[
        bool, setting("Allow addresses of private networks.", scopes=NOT_PROJECT)
    ] = False
    allow_local_binding: Annotated[
        bool, setting("Let commands listen on local ports (macOS).", trust=True)
    ] = False
    allow_unix_sockets: Annotated[
        tuple[str, ...], setting("Socket files commands may use; * is any.", scopes=NOT_PROJECT)
    ] = ()


class Sandbox(Section, frozen=True):
    enabled: Annotated[
        bool | Literal["auto"],
        setting("Confine commands: auto (where it works), true or false.", trust=True),
    ] = "auto"
    fail_if_unavailable: Annotated[
        bool, setting("Run no command where the sandbox does not work.")
    ] = False
    auto_allow_bash_if_sandboxed: Annotated[
        bool, setting("Run confined commands without asking.", scopes=NOT_PROJECT)
    ] = False
    allow_unsandboxed_commands: Annotated[
        bool, setting("Let a command ask to leave the sandbox.", scopes=NOT_PROJECT)
    ] = True
    excluded_commands: Annotated[
        tuple[str, ...], setting("Commands that run outside, such as docker.", scopes=NOT_PROJECT)
    ] = ()
    filesystem: Annotated[SandboxFiles, setting("What may be written and read.")] = SandboxFiles()
    network: Annotated[SandboxNetwork, setting("What may be reached.")] = SandboxNetwork()
    limits: Annotated[
        dict[str, int | str],
        setting("What a command may use: nproc, memory, fsize, nofile, cpu, tmp.", trust=True),
    ] = {}
    keep_env: Annotated[
        tuple[str, ...], setting("Variables kept although they look secret.", scopes=NOT_PROJECT)
    ] = ()


class Ui(Section, frozen=True):
    theme: Annotated[str, setting("Colour theme.")] = "dark"
    vim: Annotated[bool, setting("Vim keys in the prompt.")] = False
    reduced_motion: Annotated[bool, setting("No spinner, no animation.")] = False
    notify: Annotated[
        bool | Literal["bell", "desktop"],
        setting("How to call you when a question waits or a turn ended: true is both ways."),
    ] = True
    show_thinking: Annotated[bool, setting("Show the model's thinking unfolded.")] = False


class StatusLine(Section, frozen=True):
    type: Annotated[Literal["command"], setting("How the line is made.")] = "command"
    command: Annotated[
        str,
        setting("Shell command; it reads the session as JSON and prints the line.", trust=True),
    ] = ""
    padding: Annotated[
        Annotated[int, msgspec.Meta(ge=0)], setting("Blank columns at both sides of the line.")
    ] = 0
    refresh_interval: Annotated[
        Annotated[int, msgspec.Meta(ge=1)] | None,
        setting("Seconds after which it runs again although nothing changed."),
    ] = None


class Web(Section, frozen=True):
    search: Annotated[
        Literal["duckduckgo", "brave", "searxng", "provider"],
        setting("Who answers web searches; provider: the search of the model's own provider."),
    ] = "duckduckgo"
    search_key_env: Annotated[
        str, setting("Variable that holds the search service's key.", scopes=NOT_PROJECT)
    ] = "BRAVE_API_KEY"
    search_url: Annotated[
        str, setting("Address of the search service, for SearXNG.", scopes=NOT_PROJECT)
    ] = ""
    private_hosts: Annotated[
        tuple[str, ...],
        setting("Host names that may answer with a private address.", scopes=NOT_PROJECT),
    ] = ()


class ProjectSection(Section, frozen=True):
    permissions: Annotated[Permissions, setting("Your own rules for this project alone.")] = (
        Permissions()
    )


class Settings(Section, frozen=True):
    model: Annotated[str, setting("Model as provider/model, or an alias.")] = ""
    small_model: Annotated[str, setting("Model for titles and summaries.")] = ""
    fallback_models: Annotated[
        tuple[str, ...], setting("Models to try in order when one is overloaded.", nearest=True)
    ] = ()
    effort: Annotated[Effort | Literal[""], setting("How much the model thinks.")] = ""
    output_style: Annotated[
        Literal["default", "concise", "explanatory"], setting("How answers are written.")
    ] = "default"
    auto_compact: Annotated[
        bool, setting("Summarise the conversation when the model's window is nearly full.")
    ] = True
    checkpoints: Annotated[
        bool, setting("Keep what is changed, so that /rewind can put it back.")
    ] = True
    sync_sessions: Annotated[
        bool, setting("Wait until the disk itself has what is said, against power cuts.")
    ] = False
    cleanup_period_days: Annotated[
        Annotated[int, msgspec.Meta(ge=0)],
        setting("Delete sessions unused for so many days; 0 keeps them.", scopes=OWN_FILES),
    ] = 30
    max_turns: Annotated[
        Annotated[int, msgspec.Meta(ge=1)] | None,
        setting("Requests to the model a turn may take."),
    ] = None
    max_budget_usd: Annotated[
        Annotated[float, msgspec.Meta(gt=0)] | None, setting("Dollars a session may cost.")
    ] = None
    permissions: Annotated[Permissions, setting("What may run, asks, or never runs.")] = (
        Permissions()
    )
    providers: Annotated[
        dict[str, ProviderSettings],
        setting("Model servers by name: type, baseUrl, apiKeyEnv, headers.", trust=True),
    ] = {}
    env: Annotated[
        dict[str, str], setting("Environment variables for the session.", trust=True)
    ] = {}
    sandbox: Annotated[Sandbox, setting("How commands are confined.")] = Sandbox()
    web: Annotated[Web, setting("Searching and fetching.")] = Web()
    ui: Annotated[Ui, setting("The screen.")] = Ui()
    status_line: Annotated[
        StatusLine, setting("A command that makes the status line.", trust=True)
    ] = StatusLine()
    disable_all_hooks: Annotated[bool, setting("Run no statusLine command.", sticky=True)] = False
    projects: Annotated[
        dict[str, ProjectSection],
        setting("Your own settings by project path.", scopes=frozenset({Source.USER})),
    ] = {}
