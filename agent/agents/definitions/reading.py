"""From a file, or an entry of JSON, to a kind of agent, as far as its place lets it count.

What of it may not act where it stands is taken out here, so that nobody else has to remember to.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from gatewright.agent.agents.definitions.fields import (
    BY_FOLDED,
    FIELDS,
    LOOKED_AT,
    PROMPT,
    SPELLINGS,
    folded,
    misspelt,
    nearest,
    read_fields,
)
from gatewright.agent.agents.definitions.found import Found, Standing
from gatewright.agent.agents.kind import AgentKind
from gatewright.agent.settings import modes
from gatewright.agent.text.printable import escaped
from gatewright.tools.system.patterns import later

if TYPE_CHECKING:
    from gatewright.skills.frontmatter import Front


NAME = later(r"[A-Za-z0-9](?:[A-Za-z0-9_ -]{0,62}[A-Za-z0-9])?")
USUAL = later(r"[a-z0-9-]+")
DESCRIPTION = 4_000  # characters of one
COMMAND = ("/", "!", "`")  # how an input begins that does something before a model reads it
# Fields of a kind that act by themselves, by the names that they have in a definition.
ACTING: Mapping[str, str] = {"hooks": "hooks", "inline_servers": "mcpServers"}
NOT_IN_PLUGINS: Mapping[str, str] = {
    **ACTING, "servers": "mcpServers", "required_servers": "requiredMcpServers",
    "mode": "permissionMode",
}  # fmt: skip


def read_file(path: Path, standing: Standing) -> Found | None:
    """None for a document that is no definition: it has no front matter, or says no name."""
    from gatewright.skills.frontmatter import FrontError, read_front_file  # noqa: PLC0415  lazy: 2 ms, on a read

    try:
        front = read_front_file(path, SPELLINGS)
    except FrontError as error:
        at = f"{path}:{error.line}" if error.line else str(path)
        return Found(str(path), None, (escaped(f"{at}: {error}."),))
    if front is None or not _said_name(front):
        return None
    return _read(_said_name(front), front, standing, path)


def read_entry(name: str, entry: Mapping[str, Any], source: str, standing: Standing) -> Found:
    """One of `--agents` or of a client: the same fields, with `prompt` for the text."""
    from gatewright.skills.frontmatter import Front  # noqa: PLC0415  lazy: 2 ms, on a read

    prompt = entry.get(PROMPT)
    wrong, notes = _no_fields(entry)
    if not isinstance(prompt, str):
        said = (f"{name} has no prompt, which is text", *wrong)
        return Found(source, None, (escaped(f"{source}: {'. '.join(said)}."),))
    found = _read(name, Front(entry, prompt), standing, None, source)
    problems = (*found.problems, *(escaped(f"{source}: {name}: {each}.") for each in wrong))
    noted = (*found.notes, *(escaped(f"{source}: {name} has {each}.") for each in notes))
    return msgspec.structs.replace(found, problems=problems, notes=noted)


def _no_fields(entry: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Keys that mean nothing: those that were meant to, and others. Who wrote them is there."""
    wrong, others = list[str](), list[str]()
    told = {each.key for each in misspelt(entry)}
    for key in islice(entry, LOOKED_AT):
        if folded(key) in BY_FOLDED or key == PROMPT or key in told:
            continue
        if meant := nearest(key, (*FIELDS, PROMPT)):
            wrong.append(f"there is no field {key[:60]!r}, did you mean {meant}")
        else:
            others.append(f"a field {key[:60]!r}, which means nothing: ignored")
    return wrong, others


def _said_name(front: Front) -> str:
    return front.said.get("name", front.said.get("Name", "")).strip()


def _read(
    name: str, front: Front, standing: Standing, path: Path | None, source: str = ""
) -> Found:
    source = str(path) if path is not None else source

    def at(key: str, text: str) -> str:
        where = f"{source}:{front.line(key)}" if path is not None else f"{source}: {name}"
        return escaped(f"{where}: {text}.")

    if not NAME.fullmatch(name):
        told = "is no name: letters, digits and hyphens, at most 64"
        return Found(source, None, (at("name", f"{name[:80]!r} {told}"),))
    fields, wrong = read_fields(front.values)
    problems = [at(each.key, each.text) for each in (*wrong, *misspelt(front.values))]
    if fields.get("acp"):
        from gatewright.agent.agents.definitions.programs import NOT_HERE, OWNERS  # noqa: PLC0415  rare

        if standing.origin not in OWNERS:
            return Found(source, None, (*problems, at("acp", NOT_HERE)))
    noted = (escaped(f"{source}:{note.line}: {note.text}.") for note in front.notes)
    notes = [each for each in noted if each not in problems]  # one mistake is told once
    if any(each.fatal for each in wrong):
        return Found(source, None, tuple(problems), tuple(notes))
    if not USUAL.fullmatch(name):
        notes.append(at("name", f"{name} has other characters than a-z, 0-9 and hyphens"))
    if front.values.get("tools", "") is None:
        notes.append(at("tools", "tools says nothing, so it has all tools"))
    described = _described(fields.get("description"), front.body)
    if not fields.get("description"):
        notes.append(at("name", "it has no description, so no model knows when to use it"))
    if not front.body.strip():
        notes.append(at("name", "it has no text, which would be its system prompt"))
    said = [key for field, key in NOT_IN_PLUGINS.items() if fields.get(field) and standing.plugin]
    notes += [at(key, f"{key} counts in no plugin: ignored") for key in dict.fromkeys(said)]
    values: dict[str, Any] = {
        **{key: value for key, value in fields.items() if _counts(key, standing)},
        "name": f"{standing.plugin}:{name}" if standing.plugin else name,
        "description": described,
        "prompt": front.body.strip(),
        "origin": standing.origin,
        "path": path,
        "trusted": standing.trusted,
    }
    kind = AgentKind(**values)
    kind = kind if standing.trusted else _tamed(kind, fields)
    return Found(source, kind, tuple(problems), tuple(notes))


def _counts(field: str, standing: Standing) -> bool:
    return not (standing.plugin and field in NOT_IN_PLUGINS)


def _described(text: object, body: str) -> str:
    """In one line: lists show it so."""
    said = text if isinstance(text, str) and text else body.strip().partition("\n\n")[0]
    flat = " ".join(said.replace("\\n", " ").replace("\\t", " ").split())
    return escaped(flat)[:DESCRIPTION]


def _tamed(kind: AgentKind, said: Mapping[str, object]) -> AgentKind:
    """Without what acts by itself, or loosens anything; that it says so stays known."""
    withheld = {field: key for field, key in ACTING.items() if said.get(field)}
    if modes.freedom(kind.mode) > modes.freedom("default"):
        withheld["mode"] = "permissionMode"
    if kind.initial_prompt.lstrip().startswith(COMMAND):
        withheld["initial_prompt"] = "initialPrompt"
    nothing = AgentKind(name="", description="", prompt="")
    given = msgspec.structs.asdict(nothing)
    without: dict[str, Any] = {field: given[field] for field in withheld}
    return msgspec.structs.replace(kind, withheld=tuple(withheld.values()), **without)
