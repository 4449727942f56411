"""Check one layer's JSON against the schema, key by key.

A bad value costs only itself: it is left out and reported, everything beside it is kept.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping
from pathlib import Path as Folder
from typing import Annotated, Any, Literal, TypeAlias, Union, cast, get_args, get_origin

import msgspec

from gatewright.agent.settings import modes, themes
from gatewright.agent.settings.layers.known_fields import known_fields
from gatewright.agent.settings.traits import COMMITTED, Source, Trait

Path: TypeAlias = tuple[str | int, ...]
Level: TypeAlias = Literal["error", "warning", "untrusted"]
NULL = "holds a null character, which no path, name or command can"
NO_VARIABLE = "cannot be the name of a variable"
WORDS: Mapping[Any, str] = {
    str: "text", int: "a whole number", float: "a number", bool: "true or false",
}  # fmt: skip
MODE_KEYS = ("defaultMode", "subagentPermissionMode")


class Fault(msgspec.Struct, frozen=True):
    key: Path
    message: str
    level: Level = "error"


class Checked(msgspec.Struct, frozen=True):
    """`values` holds what may be used, keyed as in the file."""

    values: dict[str, Any]
    faults: tuple[Fault, ...]


def coerce(
    raw: Mapping[str, Any],
    kind: type[msgspec.Struct],
    source: Source,
    *,
    trusted: bool,
    home: Folder | None = None,
) -> Checked:
    """`home` is our own directory: what is named may lie there."""
    walk = _Walk(source, trusted or source not in COMMITTED, home)
    return Checked(walk.section(raw, kind, ()), tuple(walk.faults))


class _Walk:
    def __init__(self, source: Source, trusted: bool, home: Folder | None) -> None:
        self._source = source
        self._home = home
        self._trusted = trusted
        self.faults: list[Fault] = []

    def section(
        self, raw: Mapping[str, Any], kind: type[msgspec.Struct], at: Path
    ) -> dict[str, Any]:
        fields = {field.encode_name: field for field in known_fields(kind)}
        kept: dict[str, Any] = {}
        for key, value in raw.items():
            here = (*at, key)
            field = fields.get(key)
            if field is None:
                if key != "$schema":
                    self._fault(here, unknown(key, fields), "warning")
                continue
            if value is None or not self._admitted(field.type, here):
                continue
            found = self.value(value, field.type, here)
            if found is not MISSING and self._meant(here, found):
                kept[key] = found
        for field in fields.values():
            if field.required and field.encode_name not in kept:
                self._fault((*at, field.encode_name), "is missing")
                return {}
        return kept

    def value(self, value: Any, kind: Any, at: Path) -> Any:
        """The value with its bad parts left out, or MISSING."""
        bare = strip(kind)
        origin = get_origin(bare)
        if is_section(bare):
            if isinstance(value, dict):
                return self.section(cast("dict[str, Any]", value), bare, at)
        elif origin is dict:
            if isinstance(value, dict):
                return self._table(cast("dict[str, Any]", value), get_args(bare)[1], at)
        elif origin is tuple:
            return self._list(value, kind, at)
        else:
            return self._leaf(value, kind, at)
        self._fault(at, f"expected {describe(bare)}, found {found_kind(value)}")
        return MISSING

    def _table(self, value: dict[str, Any], kind: Any, at: Path) -> dict[str, Any]:
        names = [key for key in value if self._named(key, at)]
        found = ((key, self.value(value[key], kind, (*at, key))) for key in names)
        return {key: item for key, item in found if item is not MISSING}

    def _named(self, name: str, at: Path) -> bool:
        wrong = NULL if "\0" in name else ""
        if at == ("env",) and (not name or "=" in name):
            wrong = NO_VARIABLE
        if wrong:
            self._fault((*at, name), wrong)
        return not wrong

    def _list(self, value: Any, kind: Any, at: Path) -> Any:
        item_kind = get_args(strip(kind))[0]
        if not isinstance(value, list):
            message = f"expected {describe(strip(kind))}, found {found_kind(value)}"
            if not (trait_of(kind).restricts and isinstance(value, str)):
                self._fault(at, message)
                return MISSING
            self._fault(at, f"{message}: read as a list of one", "warning")
            value = [value]
        items = cast("list[Any]", value)
        found = (self.value(item, item_kind, (*at, index)) for index, item in enumerate(items))
        return [item for item in found if item is not MISSING]

    def _leaf(self, value: Any, kind: Any, at: Path) -> Any:
        try:
            msgspec.convert(value, kind)
        except msgspec.ValidationError:
            self._fault(at, f"expected {describe(kind)}, found {found_kind(value)}")
            return MISSING
        if _holds_null(value):
            self._fault(at, NULL)
            return MISSING
        return value

    def _admitted(self, kind: Any, at: Path) -> bool:
        trait = trait_of(kind)
        if self._source not in trait.scopes:
            places = ", ".join(source for source in Source if source in trait.scopes)
            self._fault(at, f"is ignored here: it counts only in {places} settings", "warning")
            return False
        if trait.needs_trust and not self._trusted:
            self._fault(at, "is ignored until you trust this project", "untrusted")
            return False
        return True

    def _meant(self, at: Path, value: Any) -> bool:
        """Whether there is what a text names."""
        if at != themes.KEY:
            return self._mode_admitted(at, value)
        if wrong := themes.wrong(value, self._home):
            self._fault(at, wrong)
        return not wrong

    def _mode_admitted(self, at: Path, value: Any) -> bool:
        if len(at) < 2 or at[-2] != "permissions" or at[-1] not in MODE_KEYS:
            return True
        if wrong := modes.named(value, subagent=at[-1] != "defaultMode"):
            self._fault(at, wrong)
            return False
        if self._source not in COMMITTED:
            return True
        name = modes.folded(value)
        if name in modes.PERSONAL:
            self._fault(at, f'"{value}" counts only in your own settings', "warning")
            return False
        if name and not self._trusted and name not in modes.TIGHT:
            self._fault(at, f'"{value}" is ignored until you trust this project', "untrusted")
            return False
        return True

    def _fault(self, at: Path, message: str, level: Level = "error") -> None:
        self.faults.append(Fault(at, message, level))


MISSING: Any = object()


def _holds_null(value: Any) -> bool:
    """Of a leaf: a text, or a rule with its notes."""
    texts = cast("dict[str, Any]", value).values() if isinstance(value, dict) else (value,)
    return any(isinstance(text, str) and "\0" in text for text in texts)


def is_section(kind: Any) -> bool:
    """Whether other keys stand below it."""
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def strip(kind: Any) -> Any:
    """The type without its annotations."""
    while get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    return kind


def _metas(kind: Any) -> list[msgspec.Meta]:
    """What a type is annotated with."""
    notes = get_args(kind)[1:] if get_origin(kind) is Annotated else ()
    return [note for note in notes if isinstance(note, msgspec.Meta)]


def trait_of(kind: Any) -> Trait:
    found = (meta.extra["trait"] for meta in _metas(kind) if meta.extra and "trait" in meta.extra)
    return next(found, Trait())


def help_of(kind: Any) -> str:
    return next((meta.description for meta in _metas(kind) if meta.description), "")


def describe(kind: Any) -> str:
    """What belongs there, in words."""
    limits = ""
    for meta in _metas(kind):
        if meta.ge is not None:
            limits = f" of at least {meta.ge}"
        elif meta.gt is not None:
            limits = f" above {meta.gt}"
    kind = strip(kind)
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        parts = [describe(arg) for arg in args if arg is not type(None) and arg != Literal[""]]
        return " or ".join(parts)
    if origin is Literal:
        return "one of " + ", ".join(f'"{arg}"' for arg in args if arg)
    if origin is tuple:
        return "a list of " + describe(args[0]).removeprefix("a ").replace("text", "texts", 1)
    if origin is dict or is_section(kind):
        return "an object"
    return WORDS.get(kind, "another value") + limits


def found_kind(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return f'the text "{value[:40]}"'
        case int() | float():
            return f"the number {value}"
        case list():
            return "a list"
        case dict():
            return "an object"
        case _:
            return "null"


def unknown(key: str, known: Mapping[str, Any]) -> str:
    return f"is no setting{meant(key.replace('_', ''), known)}"


def meant(name: str, known: Iterable[str]) -> str:
    """The nearest of the known names, as the end of a sentence; empty where none is near."""
    from difflib import get_close_matches  # noqa: PLC0415  lazy: 3 ms, only with a mistake

    folded = {each.lower(): each for each in known}
    near = get_close_matches(name.lower(), folded, n=1, cutoff=0.6)
    return f"; did you mean {folded[near[0]]}?" if near else ""
