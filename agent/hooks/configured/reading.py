"""From what a source says about hooks to handlers: each entry is checked alone.

What is wrong costs only itself and is told with file, line and the nearest name. A strict entry
whose rest is wrong becomes a handler that always fails: it was meant to forbid something.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias, cast, get_args

import msgspec

from gatewright.agent.hooks.configured.matchers import (
    BadMatcher,
    compiled,
    looks_like_rule,
    names_of,
)
from gatewright.agent.hooks.events import ENDING, EVENTS, TIMEOUTS, Kind, Row
from gatewright.agent.hooks.handlers import Fault, Handler, Origin, Place, Written
from gatewright.agent.settings.hook_layers import HOOKS, NEEDED, HookLayer
from gatewright.agent.settings.layers.coerce import coerce, found_kind, meant
from gatewright.agent.settings.traits import Source
from gatewright.tools.system.untyped_json import items, obj

Key: TypeAlias = tuple[str | int, ...]
CheckRule: TypeAlias = Callable[[str], str]  # a permission rule: what is wrong with it
FILES: tuple[Kind, ...] = tuple(kind for kind in get_args(Kind) if kind != "callback")
OBJECT, LIST = "an object", "a list"
LONG = 1_000  # a timeout in seconds that was probably meant in milliseconds
DEPTH = 6  # hooks, event, number, hooks, number, field
MOST = 5_000  # handlers of one source

_ORIGINS: dict[tuple[Source, bool], Origin] = {
    (Source.MANAGED, False): "managed",
    (Source.FLAG, False): "flag",
    (Source.USER, False): "user",
    (Source.LOCAL, False): "local",
    (Source.PROJECT, False): "project",
    (Source.USER, True): "claude",
    (Source.LOCAL, True): "claude-local",
    (Source.PROJECT, True): "claude-project",
}


class Read(msgspec.Struct, frozen=True):
    handlers: tuple[Handler, ...] = ()
    faults: tuple[Fault, ...] = ()


class _Wrong(ValueError):
    pass


def origin_of(layer: HookLayer) -> Origin:
    return _ORIGINS[(layer.source, layer.claude)]


def read_layer(layer: HookLayer, check: CheckRule) -> Read:
    return read(layer.raw, Place(origin_of(layer), layer.where), check, text=layer.text)


def read(raw: Any, place: Place, check: CheckRule, *, text: str = "") -> Read:
    """What `hooks` of a file, a plugin, an agent or a skill says."""
    reader = _Reader(place, check, text)
    reader.events(raw)
    return Read(tuple(reader.handlers[:MOST]), tuple(reader.faults))


class _Reader:
    def __init__(self, place: Place, check: CheckRule, text: str) -> None:
        self._place, self._check, self._text = place, check, text
        self._lines: dict[Key, int] | None = None
        self.handlers: list[Handler] = []
        self.faults: list[Fault] = []

    def events(self, raw: Any) -> None:
        if raw is not None and not self._is_object(raw, (), "any"):
            return
        for event, groups in obj(raw).items():
            row = EVENTS.get(event)
            if row is None:
                self._fault((event,), event, f"is no event{meant(event, tuple(EVENTS))}")
                continue
            for number, group in enumerate(self._list(groups, (event,), event)):
                self._group(event, row, group, (event, number))

    def _group(self, event: str, row: Row, group: Any, at: Key) -> None:
        if not self._is_object(group, at, event):
            return
        table = obj(group)
        matcher = table.get("matcher") or ""
        wrong = ""
        if not isinstance(matcher, str):
            wrong = f"has a matcher that is no text but {found_kind(matcher)}"
            matcher = ""
        elif row.matches or matcher not in ("", "*"):
            wrong = self._matcher(event, row, matcher, at)
        for number, entry in enumerate(self._list(table.get("hooks"), at, event)):
            where = (*at, "hooks", number)
            self._entry(event, row, (matcher, wrong), entry, where)

    def _matcher(self, event: str, row: Row, matcher: str, at: Key) -> str:
        """Why no handler of the group can run; what only looks wrong is told."""
        try:
            compiled(matcher, row)
        except BadMatcher as error:
            return f"has the matcher {matcher!r}, which {error}"
        here = (*at, "matcher")
        if not row.matches:
            self._warn(here, event, f"has a matcher {matcher!r}, which this event does not look at")
        elif looks_like_rule(matcher):
            told = "which is written like a rule: put that into `if`"
            self._warn(here, event, f"has the matcher {matcher!r}, {told}")
        elif row.tool:
            for name in names_of(matcher, row) or ():
                if told := self._check(name):
                    self._warn(here, event, f"names {name!r}, which never comes: {told}")
        elif row.known and (names := names_of(matcher, row)):
            for name in (name for name in names if name not in row.known):
                self._warn(
                    here, event, f"names {name!r}, which never comes{meant(name, row.known)}"
                )
        return ""

    def _entry(self, event: str, row: Row, matched: tuple[str, str], entry: Any, at: Key) -> None:
        matcher, wrong = matched
        if not self._is_object(entry, at, event):
            return
        raw = obj(entry)
        kind = raw.get("type")
        place = msgspec.structs.replace(self._place, line=self._line(at))
        try:
            if wrong:
                raise _Wrong(wrong)
            said = self._written(row, raw)
            handler = made(event, said, place, matcher)
        except _Wrong as error:
            self._fault(at, event, str(error))
            if raw.get("strict") is True or raw.get("onFailure") == "block":
                known: Kind = kind if kind in FILES else "command"
                command = str(raw.get("command", ""))
                failing = Handler(
                    event=event,
                    kind=known,
                    place=place,
                    matcher="" if wrong else matcher,
                    timeout=1.0,
                    strict=True,
                    said=Written(type=known, command=command),
                    broken=str(error),
                )
                self.handlers.append(failing)
            return
        if handler.explicit and handler.timeout >= LONG:
            told = f"may take {handler.timeout:g} s: timeouts are seconds here"
            self._warn((*at, "timeout"), event, told)
        self.handlers.append(handler)

    def _written(self, row: Row, raw: dict[str, Any]) -> Written:
        kind = raw.get("type")
        if kind not in FILES:
            near = meant(kind, FILES) if isinstance(kind, str) else ""
            told = f"has no kind {kind!r}{near}" if "type" in raw else "has no `type`"
            raise _Wrong(told)
        if kind not in row.kinds:
            raise _Wrong(f"cannot be of the kind {kind}; {', '.join(_of(row.kinds))} can be")
        said = _typed(raw)
        for name in NEEDED[kind]:
            if not str(msgspec.structs.asdict(said)[name]).strip():
                raise _Wrong(f"lacks `{name}`")
        if said.condition:
            self._condition(row, said.condition)
        if said.timeout is not None and not 0 < said.timeout < 1e7:
            raise _Wrong(f"has a timeout of {said.timeout:g} s")
        return said

    def _condition(self, row: Row, condition: str) -> None:
        if not row.tool:
            raise _Wrong("has an `if`, which only events about tools have")
        if problem := self._check(condition):
            raise _Wrong(f"has an `if` that is no rule: {problem}")

    def _list(self, value: Any, at: Key, event: str) -> Sequence[Any]:
        if value is not None and (found := found_kind(value)) != LIST:
            self._fault(at, event, f"expected a list, found {found}")
        return items(value)

    def _is_object(self, value: Any, at: Key, event: str) -> bool:
        if (found := found_kind(value)) == OBJECT:
            return True
        self._fault(at, event, f"expected an object, found {found}")
        return False

    def _line(self, at: Key) -> int:
        """Of the nearest that is written."""
        if not self._text:
            return 0
        from gatewright.agent.settings.layers.lines import lines_of, nearest  # noqa: PLC0415  only for a file

        if self._lines is None:
            self._lines = lines_of(self._text, DEPTH)
        return nearest(self._lines, (HOOKS, *at))

    def _fault(self, at: Key, event: str, message: str, *, warning: bool = False) -> None:
        place = msgspec.structs.replace(self._place, line=self._line(at))
        self.faults.append(Fault(place=place, event=event, message=message, warning=warning))

    def _warn(self, at: Key, event: str, message: str) -> None:
        self._fault(at, event, message, warning=True)


def _typed(raw: dict[str, Any]) -> Written:
    """The entry with its types; only for a mistake the slow way, which says what is wrong."""
    try:
        return msgspec.convert(raw, Written)
    except msgspec.ValidationError:
        checked = coerce(raw, Written, Source.USER, trusted=True)
    for fault in checked.faults:
        if fault.level == "error":
            key = ".".join(map(str, fault.key))
            raise _Wrong(f"has a wrong `{key}`: {fault.message}")
    return msgspec.convert(checked.values, Written)


def made(event: str, said: Written, place: Place, matcher: str) -> Handler:
    kind = cast("Kind", said.type)
    usual = 60.0 if event == ENDING else EVENTS[event].timeout or TIMEOUTS[kind]
    return Handler(
        event=event,
        kind=kind,
        place=place,
        matcher=matcher,
        timeout=float(said.timeout) if said.timeout is not None else usual,
        explicit=said.timeout is not None,
        strict=said.strict or said.on_failure == "block",
        said=said,
    )


def _of(kinds: Sequence[str]) -> Iterator[str]:
    return (kind for kind in kinds if kind in FILES)
