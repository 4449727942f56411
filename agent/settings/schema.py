"""Every setting there is: one tree of Structs that the loader, editors and docs all read.

A key carries its help, the layers that may set it and how they join; a project must be trusted for
what can do more than tighten.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

import msgspec

from gatewright.agent.providers.settings import ProviderSettings
from gatewright.agent.settings.groups.acp_settings import Acp
from gatewright.agent.settings.groups.auto_settings import AutoMode
from gatewright.agent.settings.groups.autonomy_settings import Autonomy, Bg, Schedules
from gatewright.agent.settings.groups.lsp_settings import Lsp
from gatewright.agent.settings.groups.sandbox_settings import Sandbox
from gatewright.agent.settings.groups.skill_settings import Show, Skills
from gatewright.agent.settings.groups.workflow_settings import Workflows
from gatewright.agent.settings.traits import (
    NOT_PROJECT,
    OWN_FILES,
    Section,
    Source,
    chosen,
    forbidding,
    group,
    on_is_strict,
    owned,
    personal,
    setting,
)

Effort: TypeAlias = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]


class RuleEntry(Section, frozen=True):
    """A rule with a note of who added it and when."""

    rule: str
    description: str = ""
    added_at: str = ""
    added_by: str = ""


Rules: TypeAlias = tuple[str | RuleEntry, ...]


class Skip(Section, frozen=True):
    edits: Annotated[bool, personal("Edit inside the project without asking.")] = False
    bash: Annotated[bool, personal("Run commands that are not dangerous without asking.")] = False
    skills: Annotated[bool, personal("Run every skill without asking.")] = False
    mcp: Annotated[bool, personal("Call MCP tools without asking.")] = False


class Permissions(Section, frozen=True):
    allow: Annotated[
        Rules,
        setting(
            "What may run without asking, such as Bash(npm test).",
            "join",
            untrusted="the gate weighs it as a stranger's rule",
        ),
    ] = ()
    ask: Annotated[Rules, forbidding("What always asks first.")] = ()
    deny: Annotated[Rules, forbidding("What never runs.")] = ()
    default_mode: Annotated[str, setting("The permission mode a session starts in.", "mode")] = ""
    additional_directories: Annotated[
        tuple[str, ...], setting("Directories that count as inside the project.", "join")
    ] = ()
    disable_bypass_permissions_mode: Annotated[
        Literal["", "disable"],
        setting('"disable" takes the bypass mode away.', "tightest", order=("disable", "")),
    ] = ""
    disable_auto_mode: Annotated[
        Literal["", "disable"],
        setting('"disable" takes the auto mode away.', "tightest", order=("disable", "")),
    ] = ""
    plan_enforcement: Annotated[
        Literal["strict", "delegate", "block"],
        setting(
            "How strictly plan mode keeps to planning.",
            "within",
            order=("block", "strict", "delegate"),
        ),
    ] = "strict"
    use_auto_mode_during_plan: Annotated[
        bool,
        setting(
            "Let a judge decide on unknown commands in plan mode.",
            "within",
            order=(False, True),
        ),
    ] = True
    subagent_permission_mode: Annotated[str, owned("The mode subagents start in.")] = ""
    harmless_env: Annotated[
        tuple[str, ...], personal("Variables a command may set in front of itself.", "join")
    ] = ()
    skip: Annotated[Skip, group("Kinds of calls that do not ask.", scopes=NOT_PROJECT)] = Skip()


class Ui(Section, frozen=True):
    theme: Annotated[
        str, chosen("Colour theme; auto is light where the terminal says that it is.")
    ] = "auto"
    vim: Annotated[bool, chosen("Vim keys in the prompt.")] = False
    reduced_motion: Annotated[bool, chosen("No spinner, no animation.")] = False
    notify: Annotated[
        bool | Literal["bell", "desktop"],
        chosen(
            "How to call you when a question waits or a turn ended: both ways, unless it names one."
        ),
    ] = True
    show_thinking: Annotated[bool, chosen("Show the model's thinking unfolded.")] = False
    ultracode_keyword: Annotated[
        bool, chosen("The word ultracode in a message asks for a workflow.")
    ] = True


class StatusLine(Section, frozen=True):
    type: Annotated[Literal["command"], chosen("How the line is made.")] = "command"
    command: Annotated[
        str, chosen("Shell command; it reads the session as JSON and prints the line.")
    ] = ""
    padding: Annotated[
        Annotated[int, msgspec.Meta(ge=0)], chosen("Blank columns at both sides of the line.")
    ] = 0
    refresh_interval: Annotated[
        Annotated[int, msgspec.Meta(ge=1)] | None,
        chosen("Seconds after which it runs again although nothing changed."),
    ] = None


class Web(Section, frozen=True):
    search: Annotated[
        Literal["duckduckgo", "brave", "searxng", "provider"],
        chosen("Who answers web searches; provider: the search of the model's own provider."),
    ] = "duckduckgo"
    search_key_env: Annotated[str, personal("Variable that holds the search service's key.")] = (
        "BRAVE_API_KEY"
    )
    search_url: Annotated[str, personal("Address of the search service, for SearXNG.")] = ""
    private_hosts: Annotated[
        tuple[str, ...], personal("Host names that may answer with a private address.", "join")
    ] = ()


class Mcp(Section, frozen=True):
    tool_search: Annotated[
        str, chosen("Tools found by ToolSearch: auto (beyond 10 % of the window), always, never.")
    ] = "auto"
    max_result_chars: Annotated[
        Annotated[int, msgspec.Meta(ge=1000, le=100_000)],
        personal("Characters of a result that a model reads; the rest is in a file."),
    ] = 30_000
    sampling: Annotated[
        Literal["ask", "off"], personal("Whether servers may ask for an answer of your model.")
    ] = "ask"
    sandbox: Annotated[
        Literal["off", "project", "all"],
        personal(
            "Whose programs run in the sandbox: none but those that say so, a project's, all."
        ),
    ] = "off"
    auto_background_seconds: Annotated[
        int, personal("Seconds after which a server's call goes on in the background; 0: never.")
    ] = 120
    client_metadata_url: Annotated[
        str, personal("Address of a document about us as a client, for servers that read such.")
    ] = ""


class Agents(Section, frozen=True):
    max_running: Annotated[
        Annotated[int, msgspec.Meta(ge=1, le=200)],
        personal("Agents that work at once; further ones wait for their turn."),
    ] = 20
    max_depth: Annotated[
        Annotated[int, msgspec.Meta(ge=0, le=10)],
        personal("How deep agents may start agents; 0: none are started."),
    ] = 3
    max_per_session: Annotated[
        Annotated[int, msgspec.Meta(ge=1)], personal("Agents that a session may start in all.")
    ] = 200
    max_budget_usd: Annotated[
        Annotated[float, msgspec.Meta(gt=0)] | None,
        setting("Dollars one agent may cost.", "lower"),
    ] = None
    disabled: Annotated[
        tuple[str, ...], forbidding("Types of agents that are not offered, such as Explore.")
    ] = ()
    teams: Annotated[bool, chosen("Let agents work as a team with a common task list.")] = False
    auto_background_seconds: Annotated[
        Annotated[int, msgspec.Meta(ge=0)],
        personal("Seconds after which an agent goes on in the background; 0: never."),
    ] = 0


class Worktree(Section, frozen=True):
    base_ref: Annotated[
        Literal["head", "fresh"],
        chosen("Where new work trees begin: head (your last commit), or fresh (the remote's)."),
    ] = "head"
    sparse_paths: Annotated[
        tuple[str, ...], setting("Only these directories are checked out in them.", "join")
    ] = ()
    symlink_directories: Annotated[
        tuple[str, ...], setting("Linked into them, not copied: node_modules.", "join")
    ] = ()


class Plugins(Section, frozen=True):
    auto_update: Annotated[
        Literal["notify", "off", "patch"],
        personal("Newer versions of plugins: notify, off, or patch (takes patch releases)."),
    ] = "notify"


class ProjectSection(Section, frozen=True):
    permissions: Annotated[Permissions, group("Your own rules for this project alone.")] = (
        Permissions()
    )
    mcp_servers: Annotated[dict[str, Any], personal("Your MCP servers for it alone.", "join")] = {}


class Settings(Section, frozen=True):
    model: Annotated[str, chosen("Model as provider/model, or an alias.")] = ""
    small_model: Annotated[str, chosen("Model for titles and summaries.")] = ""
    fallback_models: Annotated[
        tuple[str, ...], chosen("Models to try in order when one is overloaded.")
    ] = ()
    effort: Annotated[Effort | Literal[""], chosen("How much the model thinks.")] = ""
    output_style: Annotated[str, chosen("Output style; /output-style lists them.")] = "default"
    auto_compact: Annotated[
        bool, chosen("Summarise the conversation when the model's window is nearly full.")
    ] = True
    checkpoints: Annotated[
        bool, on_is_strict("Keep what is changed, so that /rewind can put it back.")
    ] = True
    sync_sessions: Annotated[
        bool, on_is_strict("Wait until the disk itself has what is said, against power cuts.")
    ] = False
    cleanup_period_days: Annotated[
        Annotated[int, msgspec.Meta(ge=0)],
        owned("Delete sessions unused for so many days; 0 keeps them."),
    ] = 30
    max_turns: Annotated[
        Annotated[int, msgspec.Meta(ge=1)] | None,
        setting("Requests to the model a turn may take.", "lower"),
    ] = None
    max_budget_usd: Annotated[
        Annotated[float, msgspec.Meta(gt=0)] | None, setting("Dollars a session may cost.", "lower")
    ] = None
    patience_minutes: Annotated[
        Annotated[int, msgspec.Meta(ge=1)],
        personal("Minutes of an answer in which its server only shows that it is alive."),
    ] = 30
    print_wait_seconds: Annotated[
        Annotated[int, msgspec.Meta(ge=0)],
        personal("Seconds that print mode waits for agents in the background; 0: no limit."),
    ] = 600
    permissions: Annotated[Permissions, group("What may run, asks, or never runs.")] = Permissions()
    providers: Annotated[
        dict[str, ProviderSettings],
        setting("Model servers by name: type, baseUrl, apiKeyEnv, headers, maxConcurrent.", "join"),
    ] = {}
    env: Annotated[dict[str, str], setting("Environment variables for the session.", "join")] = {}
    sandbox: Annotated[Sandbox, group("How commands are confined.")] = Sandbox()
    web: Annotated[Web, group("Searching and fetching.")] = Web()
    ui: Annotated[Ui, group("The screen.")] = Ui()
    status_line: Annotated[StatusLine, group("A command that makes the status line.")] = (
        StatusLine()
    )
    hooks: Annotated[
        dict[str, Any],
        setting("Your programs at points of a session.", "join", untrusted="it waits for trust"),
    ] = {}
    disable_all_hooks: Annotated[
        bool, setting("Run no hooks and no statusLine.", "tightest", order=(True, False))
    ] = False
    allow_managed_hooks_only: Annotated[
        bool, setting("Run managed hooks alone.", "replace", scopes=frozenset({Source.MANAGED}))
    ] = False
    read_claude_hooks: Annotated[bool, owned("Run the hooks of Claude Code's files.")] = True
    hooks_strict: Annotated[bool, owned("A hook that fails refuses the call.")] = False
    allowed_http_hook_urls: Annotated[
        tuple[str, ...], personal("Where http hooks may post.", "join")
    ] = ("*",)
    http_hook_allowed_env_vars: Annotated[
        tuple[str, ...], personal("Variables http headers may hold.", "join")
    ] = ("*",)
    agent: Annotated[str, chosen("The type of agent that the session itself is.")] = ""
    agents: Annotated[Agents, group("Agents that work for the session.")] = Agents()
    workflows: Annotated[Workflows, group("Scripts that run many agents.")] = Workflows()
    acp: Annotated[Acp, group("Editors that the agent works in.", scopes=OWN_FILES)] = Acp()
    disable_workflows: Annotated[
        bool, setting("Offer no workflows.", "tightest", order=(True, False))
    ] = False
    autonomy: Annotated[Autonomy, group("Work that nobody typed.")] = Autonomy()
    schedules: Annotated[Schedules, group("Prompts that run by the clock.")] = Schedules()
    bg: Annotated[Bg, group("Sessions in the background.")] = Bg()
    auto_memory: Annotated[
        Literal["off", "ask", "on"],
        setting(
            "Note what sessions learn for later ones: off, ask (shown to you first) or on.",
            "tighten",
            order=("off", "ask", "on"),
        ),
    ] = "off"
    auto_memory_directory: Annotated[
        str, owned("Where that is kept, a directory for each repository; outside of them.")
    ] = ""
    worktree: Annotated[Worktree, group("Work trees for sessions and agents.")] = Worktree()
    skills: Annotated[Skills, group("Skills and command files.")] = Skills()
    auto_mode: Annotated[AutoMode, group("Calls judged by a model in your place.")] = AutoMode()
    skill_overrides: Annotated[
        dict[str, Show],
        setting("How skills show: on, name-only, user-invocable-only or off.", "join"),
    ] = {}
    disable_bundled_skills: Annotated[
        bool, on_is_strict("Leave out the skills that come with the program.")
    ] = False
    disable_skill_shell_execution: Annotated[
        bool,
        setting("Run no command that a skill's text brings.", "tightest", order=(True, False)),
    ] = False
    mcp: Annotated[Mcp, group("Servers of the Model Context Protocol.")] = Mcp()
    mcp_servers: Annotated[
        dict[str, Any], personal("MCP servers by name; a project's are in .mcp.json.", "join")
    ] = {}
    allowed_mcp_servers: Annotated[
        tuple[dict[str, Any], ...],
        personal("Only these MCP servers: serverName, serverCommand or serverUrl.", "join"),
    ] = ()
    denied_mcp_servers: Annotated[
        tuple[dict[str, Any], ...], forbidding("MCP servers that are never used.")
    ] = ()
    allow_managed_mcp_servers_only: Annotated[
        bool, setting("Managed allow lists alone.", "replace", scopes=frozenset({Source.MANAGED}))
    ] = False
    enable_all_project_mcp_servers: Annotated[
        bool, personal("Use all servers of a trusted project unasked.")
    ] = False
    enabled_mcpjson_servers: Annotated[
        tuple[str, ...], personal("Servers of .mcp.json that are used without asking.", "join")
    ] = ()
    disabled_mcpjson_servers: Annotated[
        tuple[str, ...], forbidding("Servers of .mcp.json that are never used.")
    ] = ()
    lsp: Annotated[Lsp, group("Language servers.")] = Lsp()
    lsp_servers: Annotated[
        dict[str, Any], setting("Language servers by name, besides the built-in ones.", "join")
    ] = {}
    enabled_plugins: Annotated[
        dict[str, bool],
        setting("Plugins by name@marketplace: on or off; a project's are offers.", "join"),
    ] = {}
    extra_known_marketplaces: Annotated[
        dict[str, Any],
        setting("Marketplaces by name, with their source; a project's are offers.", "join"),
    ] = {}
    strict_known_marketplaces: Annotated[
        tuple[dict[str, Any], ...] | None,
        setting("Only these marketplaces.", "replace", scopes=frozenset({Source.MANAGED})),
    ] = None
    blocked_marketplaces: Annotated[
        tuple[dict[str, Any], ...],
        setting("Never these marketplaces.", "join", scopes=frozenset({Source.MANAGED})),
    ] = ()
    plugins: Annotated[Plugins, group("Plugins that are installed.")] = Plugins()
    projects: Annotated[
        dict[str, ProjectSection],
        setting("Your own settings by project path.", "join", scopes=frozenset({Source.USER})),
    ] = {}
