"""The saved workflows of a session: its places, trust and plugins as they are at a moment."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gatewright.agent.extensions.host import Host
from gatewright.agent.extensions.plugins.plugins_now import plugins_of
from gatewright.agent.plugins.parts import Plugin
from gatewright.agent.settings.workspace import Surroundings
from gatewright.agent.workflows.saved.saved_book import SavedBook
from gatewright.agent.workflows.saved.script_places import Ground, PluginScripts


def ground_of(around: Surroundings, plugins: Iterable[Plugin] = ()) -> Ground:
    options = around.options
    return Ground(
        places=around.places,
        where=around.where,
        env=around.env,
        trusted=around.trusted,
        bare=options.bare,
        sources=options.setting_sources,
        plugins=tuple(
            PluginScripts(each.name, each.root, each.workflows)
            for each in plugins
            if each.workflows
        ),
    )


def book_of(host: Host, off: Callable[[], bool]) -> SavedBook:
    """Of a session; `off` says whether there are workflows at all."""
    return SavedBook(lambda: ground_of(host.around, plugins_of(host.brought)), off=off)
