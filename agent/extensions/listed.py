"""What plugs into a session, in the order it is opened: adding a system is adding its line."""

from __future__ import annotations

EXTENSIONS = (
    "gatewright.agent.extensions.plugins.plugin_extension:PLUGINS",  # brings what the others load
    "gatewright.agent.extensions.plugins.panel_extension:PLUGIN_PANEL",
    "gatewright.agent.extensions.overviews:OVERVIEWS",
    "gatewright.agent.extensions.confining:SANDBOX",
    "gatewright.agent.extensions.checkpointing:HISTORY",
    "gatewright.agent.extensions.instructions:MEMORY",
    "gatewright.agent.extensions.auto_mode.auto_extension:AUTO",
    "gatewright.agent.extensions.titles:TITLES",
    "gatewright.agent.extensions.status_line:STATUS_LINE",
    "gatewright.agent.extensions.upkeep:UPKEEP",
    "gatewright.agent.extensions.hooks:HOOKS",
    "gatewright.agent.extensions.worktrees:WORKTREES",
    "gatewright.agent.extensions.lsp.lsp_extension:LSP",
    "gatewright.agent.extensions.servers.plugging:MCP",
    "gatewright.agent.extensions.foreign.foreign_extension:FOREIGN",
    "gatewright.agent.extensions.agent_types.plugging:AGENT_TYPES",
    "gatewright.agent.extensions.styles.style_session:STYLES",
    "gatewright.agent.extensions.agents.agent_tools:AGENTS",
    "gatewright.agent.extensions.skills.skill_session:SKILLS",
    "gatewright.agent.extensions.teams.team_tools:TEAMS",
    "gatewright.agent.extensions.project.project_extension:PROJECT",
    "gatewright.agent.extensions.workflows.saved_extension:SAVED",
    "gatewright.agent.extensions.workflows.run_extension:WORKFLOWS",
    "gatewright.agent.extensions.autonomy.autonomy_extension:AUTONOMY",
    "gatewright.agent.extensions.autonomy.memory_extension:AUTO_MEMORY",
)
