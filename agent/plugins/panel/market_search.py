"""What plugins of added marketplaces words find, for who searches for something else: skills."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from gatewright.agent.errors import GatewrightError
from gatewright.agent.settings.schema import Settings
from gatewright.tools.blocks import Block, Table, Text

MOST = 15


def in_markets(
    home: Path, env: Mapping[str, str], settings: Settings, words: str
) -> Sequence[Block]:
    """Nothing where no marketplace was added; nobody is asked."""
    if not (home / "plugins" / "markets.json").exists():
        return ()
    from gatewright.agent.plugins.marketplaces.allowed import Allowed  # noqa: PLC0415  lazy: 15 ms
    from gatewright.agent.plugins.marketplaces.finding import offered, searched  # noqa: PLC0415
    from gatewright.agent.plugins.panel.plugin_rows import line  # noqa: PLC0415

    try:
        entries = searched(offered(home, env, Allowed.by(settings)).entries, words)
    except GatewrightError as error:
        return (Text(str(error), "warning"),)
    if not entries:
        return ()
    rows = tuple((each.id, each.version, line(each.description)) for each in entries[:MOST])
    hint = "/plugin install NAME installs one; it shows what acts, and asks."
    return Table(("Plugin", "Version", "For"), rows), Text(hint, "dim")
