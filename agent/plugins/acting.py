"""All of a plugin that can act by itself, or permits something: what a person says yes to.

Better too much than too little: what only looks like a command is shown as one.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gatewright.agent.plugins.manifest import BadManifest
from gatewright.agent.plugins.parts import Plugin, Said
from gatewright.agent.plugins.record import Act, ActKind
from gatewright.skills.frontmatter import FILE_LIMIT
from gatewright.skills.reading import read_data
from gatewright.skills.template import commands_of
from gatewright.tools.system.regular import read_regular
from gatewright.tools.system.untyped_json import items, obj

MOST = 500
MOST_TEXT = 200_000  # characters of all of them
_INLINE = re.compile(r"(?:^|(?<=\s))!`([^`\n]+)`", re.MULTILINE)
_FENCED = re.compile(r"^[ \t]*(`{3,}|~{3,})!.*?\n(.*?)(?:^[ \t]*\1|\Z)", re.MULTILINE | re.DOTALL)
# Without one of them a file holds neither a command nor front matter, in UTF-16 either.
SIGNS = (b"!", b"---", b"-\0-")


def acts_of(plugin: Plugin, plain: frozenset[str] = frozenset()) -> tuple[Act, ...]:
    """Each once, in an order that depends on nothing but what is there. Raises BadManifest.

    `plain` are files, by their paths in it, that are known to hold none of the signs.
    """
    found = dict.fromkeys(_all(plugin, plain))
    if len(found) > MOST:
        raise BadManifest(f"It holds {len(found):,} things that act: nobody can agree to so many.")
    if sum(len(act.text) + len(act.where) for act in found) > MOST_TEXT:
        raise BadManifest("What acts in it is too long for anybody to read and agree to.")
    return tuple(sorted(found))


def _all(plugin: Plugin, plain: frozenset[str]) -> Iterator[Act]:
    for said in plugin.hooks:
        yield from _hooks(said)
    yield from _programs("server", plugin.servers)
    yield from _programs("language server", plugin.language_servers)
    for said in plugin.monitors:
        for entry in items(said.entries.get("monitors", [said.entries])):
            yield _act("monitor", _command(obj(entry)), said.where)
    if plugin.bin is not None:
        for name in sorted(os.listdir(plugin.bin)):  # noqa: PTH208  names alone
            yield _act("program", name, f"bin/{name}")
    for path in _files((*plugin.skills, *plugin.commands), ".md", ".MD"):
        if (where := str(path.relative_to(plugin.root))) not in plain:
            yield from _text(path, where)
    for path in _files(plugin.workflows, ".js"):
        yield _act("workflow", path.name, str(path.relative_to(plugin.root)))


def _hooks(said: Said) -> Iterator[Act]:
    for event, groups in said.entries.items():
        for group in items(groups):
            matcher = str(obj(group).get("matcher") or "")
            on = f"{event} {matcher}".strip()
            for entry in items(obj(group).get("hooks")):
                yield _act("hook", f"{on}: {_command(obj(entry))}", said.where)


def _programs(kind: ActKind, every: tuple[Said, ...]) -> Iterator[Act]:
    for said in every:
        for name, entry in said.entries.items():
            yield _act(kind, f"{name}: {_command(obj(entry))}", said.where)


def _command(entry: Mapping[str, Any]) -> str:
    """What would run or be reached, then whatever else is written there."""
    words = [str(entry[key]) for key in ("command", "url", "prompt") if entry.get(key)]
    words += map(str, items(entry.get("args")))
    taken = {"command", "url", "prompt", "args", "description"}
    rest = {key: value for key, value in entry.items() if key not in taken and value}
    if set(rest) <= {"type", "timeout"}:
        rest.pop("timeout", None)
        if rest.get("type") in ("command", "stdio", None):
            rest = {}
    if rest:
        words.append(json.dumps(rest, ensure_ascii=False, sort_keys=True))
    return " ".join(words)


def _files(places: Iterable[Path], *endings: str) -> Iterator[Path]:
    """However deep they lie, behind links too: each directory once."""
    seen: set[str] = set()
    for place in places:
        if place.is_file():
            yield place
            continue
        for folder, below, names in os.walk(place, followlinks=True):
            if (real := os.path.realpath(folder)) in seen:
                below.clear()
                continue
            seen.add(real)
            yield from (Path(folder, name) for name in sorted(names) if name.endswith(endings))


def _text(path: Path, where: str) -> Iterator[Act]:
    """As whoever invokes it reads it, and whatever else looks like a command."""
    try:
        data = read_regular(path, FILE_LIMIT)
    except OSError:
        return  # whoever loads it says so
    if not any(sign in data for sign in SIGNS):
        return
    read = read_data(data, path, "x", "skill")
    body = read.body or data.decode(errors="replace")
    commands = list(commands_of(body))
    for text in commands:
        yield _act("command in text", text, where)
    loose = [match[1] for match in _INLINE.finditer(body)]
    loose += [match[2].strip() for match in _FENCED.finditer(body)]
    many = len(loose) + len(commands) > 2 * MOST  # so many that it will be refused
    for text in loose:
        if many or not any(text in command for command in commands):
            yield _act("command in text", text, where)
    if read.said is not None:
        if rules := read.said.allowed_tools:
            yield _act("allowed-tools", ", ".join(rules), where)
        yield from _hooks(Said(where, read.said.hooks))


def _act(kind: ActKind, text: str, where: str) -> Act:
    """Whole: what is cut off is what nobody agreed to."""
    return Act(kind, text, where)
