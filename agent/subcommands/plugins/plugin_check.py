"""A plugin's directory looked through with the eyes of everybody who would load its parts."""

from __future__ import annotations

from pathlib import Path

from gatewright.agent.plugins.checking import Checked, check_plugin


def checked(folder: Path) -> Checked:
    from gatewright.permissions.condition import problem_of  # noqa: PLC0415  lazy: 5 ms

    return check_plugin(folder, problem_of, _server)


def _server(name: str, entry: object) -> str:
    from gatewright.mcp.definitions import BadDefinition, read  # noqa: PLC0415  lazy: 5 ms
    from gatewright.mcp.names import of_plugin  # noqa: PLC0415

    try:
        made = read(of_plugin("plugin", name), entry, "plugin", "")
    except BadDefinition as error:
        return str(error)
    return "; ".join(made.warnings)
