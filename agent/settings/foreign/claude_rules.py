"""What Claude Code's settings files deny and ask about, as rules of ours. They never allow.

Where a text means something else here, it becomes every rule that forbids what it may have meant:
what is read of another program only tightens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import msgspec

from gatewright.agent.settings.paths import CLAUDE, Places, claude_home, folders_down
from gatewright.agent.settings.traits import Source
from gatewright.tools.system.untyped_json import obj

FORBIDDING = ("deny", "ask")
TIGHTENING = (*FORBIDDING, "disableBypassPermissionsMode")
NAMES = {Source.PROJECT: "settings.json", Source.LOCAL: "settings.local.json"}
LABEL = "claude"
# Compiled at their first use: most people have no such files.
_RULE = r"(?s)\s*([A-Za-z_]\w*)\((.*)\)\s*"
_GLOB = r"([*?\[\]{}\\])"
_PATHS = frozenset({"read", "edit", "write", "multiedit", "notebookedit", "glob", "grep"})
_WRITES = frozenset({"write", "multiedit"})  # here Edit stands for every tool that changes files


class TheirFile(msgspec.Struct, frozen=True):
    """`roots` are what may stand before the `/x` of a rule: nothing is our own reading, the
    project's root, and `/` the file system's."""

    path: Path
    roots: tuple[str, ...]
    floats: bool  # a project's: x/y may be meant from its root, too
    hooks: bool = False  # its hooks run here as well


def label(source: Source) -> str:
    """How rules from there are shown."""
    return LABEL if source is Source.USER else f"{LABEL}-{source}"


def files(places: Places, env: Mapping[str, str], cwd: Path, source: Source) -> Iterator[TheirFile]:
    """Its files of one layer, whether they exist or not."""
    own = claude_home(env)
    if source is Source.MANAGED:
        folder = places.claude_managed
        yield TheirFile(folder / "managed-settings.json", ("", "/", _below(folder)), floats=False)
    elif source is Source.USER:
        yield TheirFile(own / "settings.json", ("", _below(own)), floats=False, hooks=True)
    elif name := NAMES.get(source):
        down = folders_down(places.root, cwd) if cwd.is_relative_to(places.root) else (places.root,)
        for folder in down:
            if folder / CLAUDE != own:  # started in the home directory: that file is the user's
                roots = ("",) if folder == places.root else (_below(folder),)
                hooks = folder == places.root
                yield TheirFile(folder / CLAUDE / name, roots, floats=True, hooks=hooks)


def says_more(raw: Mapping[str, Any]) -> bool:
    """Whether there is something in it besides what counts."""
    inside = obj(raw.get("permissions"))
    return bool(
        raw.keys() - {"$schema", "permissions", "hooks", "disableAllHooks"}
        or inside.keys() - set(TIGHTENING)
    )


def translated(raw: Mapping[str, Any], file: TheirFile) -> dict[str, Any]:
    """The part that tightens, as settings of ours. What is of a wrong shape stays: it is named."""
    section = raw.get("permissions")
    if not isinstance(section, dict):
        return {} if section is None else {"permissions": section}
    theirs = cast("dict[str, Any]", section)
    found: dict[str, Any] = {key: theirs[key] for key in TIGHTENING if key in theirs}
    for key in FORBIDDING:
        given = [found[key]] if isinstance(found.get(key), str) else found.get(key)
        if isinstance(given, list):
            entries = cast("list[object]", given)
            found[key] = [rule for entry in entries for rule in _meant(entry, file)]
    return {"permissions": found} if found else {}


def _meant(entry: object, file: TheirFile) -> Iterator[object]:
    match = re.fullmatch(_RULE, entry) if isinstance(entry, str) else None
    if match is None:
        yield entry
        return
    tool, text = match[1], match[2].strip()
    if text == "*":
        yield tool
    elif tool.lower() in _PATHS:
        tools = [tool, "Edit"] if tool.lower() in _WRITES else [tool]
        yield from dict.fromkeys(f"{tool}({path})" for path in _paths(text, file) for tool in tools)
    else:
        yield entry
        if text.endswith(" *") and "*" not in text[:-1]:  # there the command alone is meant, too
            yield f"{tool}({text[:-2]}:*)"


def _paths(text: str, file: TheirFile) -> Iterator[str]:
    """Every place that a pattern may mean, which there is written as for git's ignore files."""
    for path in _anchored(text, file):
        yield path
        if "{" in path or "}" in path:  # there it is no choice but a character
            yield path.replace("{", "\\{").replace("}", "\\}")


def _anchored(text: str, file: TheirFile) -> Iterator[str]:
    if text.startswith(("//", "~/")) or text == "~":
        yield text
    elif text.startswith("/"):
        yield from (f"{root}{text}" for root in file.roots)
    else:
        rest = text.removeprefix("./") or text
        yield rest  # without its ./ a bare name is meant at any depth, as there
        if file.floats and "/" in rest.rstrip("/") and not rest.startswith("**/"):
            yield from (f"{root}/{rest}" for root in file.roots)


def _below(folder: Path) -> str:
    """A directory as rules write it, with nothing in it that means more than itself."""
    return "/" + re.sub(_GLOB, r"\\\1", str(folder))
