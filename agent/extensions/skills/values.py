"""What `${NAME}` stands for in the text of a skill, under all the names it goes by."""

from __future__ import annotations

from collections.abc import Mapping

from gatewright.agent.extensions.contribution import part_of
from gatewright.agent.extensions.host import Host
from gatewright.agent.plugins.parts import PluginParts
from gatewright.skills.model import Skill

SPELLINGS = ("", "CLAUDE_", "GATEWRIGHT_")


def values_of(host: Host, skill: Skill, effort: str) -> Mapping[str, str]:
    around = host.around
    own = {
        "SKILL_DIR": str(skill.folder),
        "SESSION_ID": host.base.start.id,
        "PROJECT_DIR": str(around.where.root),
        "EFFORT": effort or around.settings.effort,
    }
    parts = part_of(host.brought, PluginParts) if skill.origin == "plugin" else None
    plugin = parts.find(skill.whose) if parts is not None else None
    if plugin is not None:
        own |= {"PLUGIN_ROOT": str(plugin.root), "PLUGIN_DATA": str(plugin.data)}
    return {f"{lead}{name}": value for lead in SPELLINGS for name, value in own.items()}
