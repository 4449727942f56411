"""Everything that is wrong or strange in a plugin's directory, for who writes one.

`problems` keep something from counting; `notes` do not, and a strict check takes them as problems.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from gatewright.agent.errors import GatewrightError
from gatewright.agent.hooks.configured.reading import read as read_hooks
from gatewright.agent.hooks.handlers import Place
from gatewright.agent.plugins.acting import acts_of
from gatewright.agent.plugins.installing import npm_command
from gatewright.agent.plugins.parts import Plugin
from gatewright.agent.plugins.reading_parts import FoundPlugin, read_plugin
from gatewright.agent.plugins.record import LOCAL
from gatewright.agent.plugins.tree import HISTORY, tree_of
from gatewright.skills.frontmatter import FrontError, read_front_file


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    name: str = ""
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


# What is wrong with a server's entry, by its name; empty where nothing is.
CheckServer = Callable[[str, object], str]


def check_plugin(folder: Path, rule: Callable[[str], str], server: CheckServer) -> Checked:
    try:
        tree = tree_of(folder, HISTORY)
        found = read_plugin(tree.root, market=LOCAL, data=Path())
        acts_of(found.plugin)
    except GatewrightError as error:
        return Checked(problems=(str(error),))
    problems = [*found.errors]
    notes = [*found.notes, *found.later, *_bare(found)]
    for said in found.plugin.hooks:
        for fault in read_hooks(said.entries, Place("plugin", said.where), rule).faults:
            (notes if fault.warning else problems).append(fault.text())
    for said in found.plugin.servers:
        wrong = ((name, server(name, entry)) for name, entry in said.entries.items())
        problems += [f"{said.where}: {name}: {why}" for name, why in wrong if why]
    problems += _texts(found.plugin)
    if missing := npm_command(folder):
        notes.append(missing)
    return Checked(name=found.manifest.name, problems=tuple(problems), notes=tuple(notes))


def _bare(found: FoundPlugin) -> Iterator[str]:
    """What a person would miss who looks for it."""
    said = found.manifest
    for key, value in (("version", said.version), ("description", said.description)):
        if not value:
            yield f"the manifest has no {key}"
    if not said.publisher:
        yield "the manifest names no author"
    plugin = found.plugin
    texts = (plugin.skills, plugin.commands, plugin.agents, plugin.styles, plugin.themes)
    if not any((*texts, plugin.workflows, plugin.hooks, plugin.servers, plugin.bin, *found.later)):
        yield "it brings nothing: no skills, commands, agents, hooks, servers, styles or programs"


def _texts(plugin: Plugin) -> Iterator[str]:
    """Files with front matter that cannot be read."""
    for place in (*plugin.skills, *plugin.commands, *plugin.agents, *plugin.styles):
        named = [place] if place.is_file() else sorted(place.rglob("*.md"))
        for path in named:
            if place in plugin.skills and path.name != "SKILL.md":
                continue
            try:
                read_front_file(path)
            except FrontError as error:
                line = f":{error.line}" if error.line else ""
                yield f"{path.relative_to(plugin.root)}{line}: {error}"
