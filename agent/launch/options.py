"""What one start of the program was asked to do: the command line as plain values.

Nothing here is checked against the disk; `None` and empty mean "not given", so settings decide.
"""

from __future__ import annotations

import msgspec


class LaunchOptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One field per flag; `agent/launch/flags.json` says which flag fills which field."""

    prompt: str = ""
    typed: str | None = None  # what of the prompt the person wrote, None for all of it
    print_mode: bool = False

    # formats of print mode
    output_format: str = "text"  # text, json, stream-json
    input_format: str = "text"  # text, stream-json
    include_partial_messages: bool = False
    include_hook_events: bool = False
    forward_subagent_text: bool = False
    include_session_events: bool = False
    replay_user_messages: bool = False
    json_schema: str = ""
    no_stdin: bool = False  # with a prompt: whoever holds standard input open has nothing to say

    # model and limits
    model: str = ""
    carried_model: bool = False  # it was in use in the session before: no flag of this run
    fallback_model: str = ""
    effort: str = ""
    max_thinking_tokens: int | None = None
    thinking: str = ""  # adaptive, enabled, disabled
    thinking_display: str = ""
    betas: tuple[str, ...] = ()
    task_budget: int | None = None
    max_turns: int | None = None
    max_budget_usd: float | None = None
    replay: str = ""  # a recording for the demo model

    # permissions
    mode: str = ""
    auto_continue: bool = False  # it goes on by itself: the project's list, or the goal
    allow_bypass: bool = False  # bypass may be entered later in the session
    allowed_tools: tuple[str, ...] = ()
    disallowed_tools: tuple[str, ...] = ()
    tools: tuple[str, ...] | None = None  # None: the default set; (): none at all
    add_dirs: tuple[str, ...] = ()
    permission_prompt_tool: str = ""
    trust: bool = False

    # settings and extensions
    settings: str = ""  # a file, or JSON text beginning with {
    setting_sources: tuple[str, ...] | None = None  # of user, project, local
    mcp_config: tuple[str, ...] = ()
    strict_mcp_config: bool = False
    agents: str = ""  # JSON, or a file of it: more types of agents
    agent: str = ""  # the type that the session itself is
    plugin_dirs: tuple[str, ...] = ()
    bare: bool = False  # no memory files, hooks, skills, MCP or project settings

    # system prompt
    system_prompt: str | None = None
    system_prompt_file: str = ""
    append_system_prompt: str = ""
    append_system_prompt_file: str = ""
    dump_system_prompt: bool = False

    # session
    continue_session: bool = False
    resume: str | None = None  # an id, path or text; empty: the person picks
    fork_session: bool = False
    session_id: str = ""
    no_session: bool = False
    cleared: bool = False  # begun by /clear, in place of the session that was left
    served: bool = False  # another program's model calls its tools; it has no turn of its own
    name: str = ""  # its title
    team: bool = False  # agents may work as a team
    worktree: str | None = None  # a name, #number or address; empty: any name

    # the screen and the process
    plain: bool = False
    verbose: bool = False
    debug: str | None = None  # a log of these areas; empty: of all
    help: bool = False
    version: bool = False
    cwd: str = ""

    @property
    def prints(self) -> bool:
        """Whether it is print mode: asked for, or by its lines of JSON."""
        return self.print_mode or self.input_format == "stream-json"

    @property
    def has_screen(self) -> bool:
        """Whether a person looks at a screen, here or at the other end of the lines."""
        return not self.prints or self.include_session_events

    @property
    def prompt_tool(self) -> str:
        """The tool of a server that answers in print mode."""
        name = self.permission_prompt_tool
        return name if self.prints and name.startswith("mcp__") else ""

    @property
    def answers_asks(self) -> bool:
        """Whether print mode has somebody to ask: a client of the control protocol, or a tool."""
        if self.prompt_tool:
            return True
        asks = self.permission_prompt_tool == "stdio" or self.include_session_events
        return self.input_format == "stream-json" and asks
