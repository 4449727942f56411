"""What a project's definitions of agents would do once it is trusted, for the question whether."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gatewright.agent.agents.definitions.builtin import NAMES
from gatewright.agent.agents.definitions.found import Standing
from gatewright.agent.agents.definitions.places import Ground, files_of, places_of
from gatewright.agent.agents.definitions.reading import COMMAND, read_file
from gatewright.agent.agents.kind import AgentKind
from gatewright.agent.settings import modes
from gatewright.agent.settings.hook_layers import HookLayer, said
from gatewright.agent.settings.traits import Source
from gatewright.tools.system.untyped_json import items, obj


def would_act(ground: Ground) -> Iterator[str]:
    """One line for each thing."""
    builtin = {name.casefold() for name in NAMES}
    for place in places_of(ground):
        if place.standing.origin != "project":
            continue
        for seen in files_of(place):
            found = read_file(seen.path, Standing("project"))
            if found is None or found.kind is None:
                continue
            if found.kind.name.casefold() in builtin:
                yield f"agent {found.kind.name} in place of the built-in (in {seen.path})"
            yield from _of(found.kind, seen.path)


def _of(kind: AgentKind, path: Path) -> Iterator[str]:
    where = f"of agent {kind.name} (in {path})"
    if kind.hooks:
        layer = HookLayer(source=Source.PROJECT, where=str(path), raw=kind.hooks)
        yield from (f"hook {text} of agent {kind.name}" for text in said(layer))
    for name, entry in kind.inline_servers.items():
        table = obj(entry)
        words = [table.get("command", table.get("url", "")), *items(table.get("args"))]
        yield f"MCP server {name}: {' '.join(map(str, words))} {where}"
    if modes.freedom(kind.mode) > modes.freedom("default"):
        yield f"permissionMode = {kind.mode} {where}"
    if kind.initial_prompt.lstrip().startswith(COMMAND):
        yield f"initialPrompt = {kind.initial_prompt} {where}"
