"""Tells of newer versions of installed plugins: once a day, of marketplaces that the person added.

Nothing changes by itself, but where `plugins.autoUpdate` is patch: then a release that only fixes
is taken if nothing acts in it that did not before.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.host import Host
from gatewright.agent.extensions.plugins.plugin_panel import PluginPanel
from gatewright.agent.plugins.consent import Consent
from gatewright.agent.plugins.marketplaces.updating import News
from gatewright.agent.record.events import Noticed
from gatewright.agent.text.printable import escaped
from gatewright.tools.system import private
from gatewright.tools.system.regular import head_of

DAY: Final = 86_400.0
NAMED: Final = 5
_log = logging.getLogger(__name__)


async def tell_news(host: Host, panel: PluginPanel) -> None:
    """Whatever fails is in the log: the person asked for nothing."""
    try:
        await _asked(panel)
        found = await asyncio.to_thread(panel.news)
        taken: list[str] = []
        if host.around.settings.plugins.auto_update == "patch":
            taken = await _patched(panel, found)
        left = [each for each in found if each.record.id not in taken]
        for text in await asyncio.to_thread(_told, host, left, taken):
            host.publish(Noticed(text=escaped(text)))
    except (GatewrightError, OSError) as error:
        _log.info("news of plugins: %s", error)


async def _asked(panel: PluginPanel) -> None:
    """Marketplaces of installed plugins, whose word is older than a day."""
    getting = panel.getting
    used = {record.market for record in panel.store.lock.read().plugins.values()}
    old = time.time() - DAY
    names = frozenset(
        known.name
        for known in getting.adding.markets.every().values()
        if known.name in used and not known.linked and known.updated_at < old
    )
    for name, error in (await getting.refreshed(names)).items():
        _log.info("news of plugins: %s: %s", name, error)


async def _patched(panel: PluginPanel, found: Sequence[News]) -> list[str]:
    def nothing_new(about: Consent) -> bool:
        return about.before is not None and not about.new

    records = [each.record for each in found if each.patch]
    done = await panel.updated(records, nothing_new) if records else []
    return [each.id for each in done if each.state == "updated"]


def _told(host: Host, left: Sequence[News], taken: Sequence[str]) -> list[str]:
    """What was told before is not told again."""
    told: list[str] = []
    if taken:
        told.append(
            f"Patches were taken: {', '.join(taken)}. /reload-plugins takes them up in here."
        )
    said = sorted(each.said() for each in left)
    mark = host.around.places.state / "told.plugins"
    digest = hashlib.sha256("\n".join(said).encode()).hexdigest().encode()
    if said and _before(mark) != digest:
        private.write(mark, digest)
        more = f" and {len(said) - NAMED} more" if len(said) > NAMED else ""
        told.append(f"Newer plugins: {', '.join(said[:NAMED])}{more}. /plugin update takes them.")
    return told


def _before(mark: Path) -> bytes:
    try:
        return head_of(mark, 64)
    except OSError:
        return b""
