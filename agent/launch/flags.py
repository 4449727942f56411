"""Every command-line flag as one table, `flags.json`: parser, help and completion read it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

Kind: TypeAlias = Literal["switch", "text", "optional", "integer", "number", "list", "repeat"]
# list: several values in one, parted by commas or spaces; repeat: each value as it is
More: TypeAlias = Literal["", "tools", "directories", "files", "areas"]
_FILE = Path(__file__).with_name("flags.json")


class Flag(msgspec.Struct, frozen=True, kw_only=True):
    """`names[0]` is the one help shows; the other spelling (camelCase or kebab-case) is derived.

    `hidden` ones are taken, because clients and scripts of others give them, but offered to nobody.
    """

    names: tuple[str, ...]
    field: str
    kind: Kind
    help: str
    group: str = ""
    value: str | bool = True  # what a switch sets
    metavar: str = ""
    choices: tuple[str, ...] = ()
    hidden: bool = False
    more: More = ""  # what a word further behind it must be to be a value too, and no prompt
    presets: tuple[str, ...] = ()  # words that stand for several of its values

    @property
    def spellings(self) -> tuple[str, ...]:
        names = list(self.names)
        for name in self.names:
            for other in (camel(name), kebab(name)):
                if other not in names:
                    names.append(other)
        return tuple(names)


def camel(name: str) -> str:
    if not name.startswith("--"):
        return name
    first, *rest = name[2:].split("-")
    return "--" + first + "".join(part[:1].upper() + part[1:] for part in rest)


def kebab(name: str) -> str:
    if not name.startswith("--"):
        return name
    return "--" + "".join(f"-{c.lower()}" if c.isupper() else c for c in name[2:])


def _read() -> tuple[Flag, ...]:
    groups = msgspec.json.decode(_FILE.read_bytes(), type=dict[str, tuple[Flag, ...]])
    replace = msgspec.structs.replace
    return tuple(replace(flag, group=name) for name, flags in groups.items() for flag in flags)


FLAGS: tuple[Flag, ...] = _read()
BY_NAME: Mapping[str, Flag] = {name: flag for flag in FLAGS for name in flag.spellings}
