"""docs/settings.md from the schema: `python -m tests.pages.settings > docs/settings.md`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from msgspec import structs

from gatewright.agent.settings.layers.coerce import strip, trait_of
from gatewright.agent.settings.schema import RuleEntry, Settings
from gatewright.agent.settings.traits import ANYWHERE, TIGHTENING, Section, Source

HEAD = """# Settings

Settings are JSON files, without comments: one that has some is named and neither read nor
overwritten. From strong to weak, these layers are joined:

| Layer | Where |
|---|---|
| managed | `/etc/gatewright/settings.json`, for the administrator |
| flags | the flags of this start, then `--settings FILE` or `--settings '{...}'` |
| local | `.gatewright/settings.local.json` in the project: yours, keep it out of git |
| project | `.gatewright/settings.json` in the project: shared by committing it |
| user | `~/.gatewright/settings.json`; `GATEWRIGHT_HOME` names another directory |

The strongest layer that has a value wins; lists and tables add up. `agent config list` says from
which layer a value comes, and `agent doctor` what is wrong where: a file that is broken in one
place counts in all others.

A value in a project may be anybody's: it counts only once you have trusted the project, but for
keys marked *anybody's*. Limits and guards, marked *stricter*, a project can only make stricter than
your own settings and flags do, trusted or not; what would loosen them is ignored and told.

A key that stands twice in one object makes a file broken: nobody can say which of the two is meant.

A file that changes while a session runs counts from the next call on; one that a command in the
sandbox could be writing, once that has ended. One that is broken, empty or gone at that moment
keeps what it forbade and limited, and loses all else, until it can be read or the session ends: to
take back all that a file said, write `{}`.

```json
{
  "model": "anthropic/claude-sonnet-5-5",
  "permissions": {
    "allow": ["Bash(npm test)", "Edit(/src/**)"],
    "deny": ["Read(.env)"]
  }
}
```

## All keys

| Key | Type | Meaning |
|---|---|---|
"""


def page() -> str:
    return HEAD + "".join(f"{row}\n" for row in _rows(Settings, ""))


def _rows(kind: type[Section], at: str) -> Iterator[str]:
    for field in structs.fields(kind):
        key = f"{at}{field.encode_name}"
        bare = strip(field.type)
        if isinstance(bare, type) and issubclass(bare, Section):
            yield from _rows(bare, f"{key}.")
            continue
        meaning = f"{_help(field.type)}{_limits(field.type)}{_default(field.default)}"
        yield f"| `{key}` | {_type(bare)} | {meaning} |"


def _help(kind: Any) -> str:
    return next((text for meta in kind.__metadata__ if (text := meta.description)), "")


def _limits(kind: Any) -> str:
    trait = trait_of(kind)
    said: list[str] = []
    if trait.scopes != ANYWHERE:
        files = [s for s in Source if s in trait.scopes and s not in {Source.CLI, Source.FLAG}]
        said.append("only in " + ", ".join(files))
    if trait.untrusted:
        said.append("anybody's")
    if trait.merge in TIGHTENING:
        said.append("stricter")
    if trait.merge == "within":
        said.append("a project cannot loosen yours")
    if trait.merge == "mode":
        said.append("a project cannot choose a freer one than yours")
    if trait.merge == "replace" and get_origin(strip(kind)) is tuple:
        said.append("replaces weaker layers")
    if trait.merge == "tightest":
        said.append(f"`{str(trait.order[0]).lower()}` wins from any layer")
    return f" *{'; '.join(said)}.*" if said else ""


def _default(value: object) -> str:
    match value:
        case bool():
            return f" Default: {'true' if value else 'false'}."
        case str() if value:
            return f' Default: `"{value}"`.'
        case _:
            return ""


def _type(kind: Any) -> str:
    kind = strip(kind)
    arguments = get_args(kind)
    match get_origin(kind):
        case _ if kind is Literal or get_origin(kind) is Literal:
            return _choices(arguments)
        case origin if origin is tuple:
            return f"list of {_type(arguments[0])}"
        case origin if origin is dict:
            return "table"
        case origin if origin in {UnionType, Union}:
            parts = [_type(part) for part in arguments if part is not type(None)]
            return " or ".join(dict.fromkeys(part for part in parts if part))
        case _:
            names = {str: "text", bool: "true or false", int: "whole number", float: "number"}
            return "rule with notes" if kind is RuleEntry else names.get(kind, "table")


def _choices(values: tuple[Any, ...]) -> str:
    return ", ".join(f'`"{value}"`' for value in values if value)


if __name__ == "__main__":
    sys.stdout.write(page())
