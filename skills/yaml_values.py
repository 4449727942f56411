"""YAML of a stranger as plain values: texts, numbers, booleans, lists and maps of texts.

Nothing is made but those: no dates, no objects. Built from the parser's events and not from its
tree, because its recursion ends the process where somebody nests a hundred thousand brackets.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias

from gatewright.tools.system.patterns import later

Value: TypeAlias = "str | int | float | bool | list[Value] | dict[str, Value] | None"

DEPTH = 64
NODES = 20_000
REPEATED = 1_000  # nodes in all, once something stands for a copy of something else
_TAG = "tag:yaml.org,2002:"
_WHOLE = later(r"[-+]?(?:0|[1-9][0-9]*)")
_DECIMAL = later(r"[-+]?[0-9]+\.[0-9]+(?:[eE][-+]?[0-9]+)?")
_SINGLE = ("str", "null", "bool", "int", "float", "timestamp", "value", "merge", "binary")


class YamlError(ValueError):
    """`line` is counted from 0."""

    def __init__(self, text: str, line: int = 0) -> None:
        super().__init__(text)
        self.line = line


class Yaml(NamedTuple):
    """The map at the top, with the line of each key, and what single values say as written."""

    values: Mapping[str, Value]
    lines: Mapping[str, int]
    said: Mapping[str, str]


def read_yaml(text: str) -> Yaml:
    """Raises YamlError where it is no YAML, no map, too deep or too large."""
    import yaml  # noqa: PLC0415  lazy: 7 ms

    with _plainly():
        return _Building(yaml.CSafeLoader(text)).document()


def events_of(text: str) -> Iterator[tuple[str, Any]]:
    """What the parser meets, by kind. Raises YamlError."""
    import yaml  # noqa: PLC0415  lazy: 7 ms

    with _plainly():
        loader: Any = yaml.CSafeLoader(text)
        while loader.check_event():
            event: Any = loader.get_event()
            yield type(event).__name__, event


@contextmanager
def _plainly() -> Generator[None]:
    """Whatever the parser raises, as YamlError."""
    import yaml  # noqa: PLC0415  it is there by now

    try:
        yield
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        raise YamlError(error.problem or "no YAML", 0 if mark is None else mark.line) from None
    except yaml.YAMLError:
        raise YamlError("a character that YAML does not take") from None
    except UnicodeEncodeError:
        raise YamlError("half a character") from None


class _Open:
    """A list or map that is not at its end yet."""

    def __init__(self, anchor: str | None, made: list[Value] | dict[str, Value]) -> None:
        self.anchor = anchor
        self.made = made
        self.key: str | None = None
        self.began = 0  # nodes that were there before


class _Building:
    def __init__(self, loader: Any) -> None:  # its annotations lack half of it
        self._loader = loader
        self._open: list[_Open] = []
        self._anchored: dict[str, tuple[Value, int]] = {}
        self._nodes = 0
        self._repeats = False
        self._top: Value = None
        self._lines: dict[str, int] = {}
        self._said: dict[str, str] = {}

    def document(self) -> Yaml:
        documents = 0
        while self._loader.check_event():
            event: Any = self._loader.get_event()
            kind = type(event).__name__
            documents += kind == "DocumentStartEvent"
            if documents > 1:
                raise YamlError("a second document", event.start_mark.line)
            self._take(kind, event)
        if self._top is None:
            return Yaml({}, {}, {})
        if not isinstance(self._top, dict):
            raise YamlError("text where `key: value` belongs")
        return Yaml(self._top, self._lines, self._said)

    def _take(self, kind: str, event: Any) -> None:
        match kind:
            case "ScalarEvent":
                self._scalar(event)
            case "AliasEvent":
                self._alias(event)
            case "SequenceStartEvent":
                self._begin(event, [])
            case "MappingStartEvent":
                self._begin(event, {})
            case "SequenceEndEvent" | "MappingEndEvent":
                self._end()
            case _:  # of the stream and the document
                pass

    def _begin(self, event: Any, made: list[Value] | dict[str, Value]) -> None:
        self._count(1, event)
        if len(self._open) >= DEPTH:
            raise YamlError("it is nested too deeply", event.start_mark.line)
        if self._wants_key():
            raise YamlError("a list or map where the name of a key belongs", event.start_mark.line)
        opened = _Open(event.anchor, made)
        opened.began = self._nodes - 1
        self._anchored.pop(event.anchor, None)
        self._open.append(opened)

    def _end(self) -> None:
        done = self._open.pop()
        if isinstance(done.made, dict) and "<<" in done.made:
            done.made = _merged(done.made)
        if done.anchor is not None:
            self._anchored[done.anchor] = (done.made, self._nodes - done.began)
        self._put(done.made)

    def _scalar(self, event: Any) -> None:
        self._count(1, event)
        text: str = event.value
        if self._wants_key():
            if len(self._open) == 1:
                self._lines[text] = event.start_mark.line
            self._open[-1].key = text
            return
        value = self._single(event)
        if len(self._open) == 1 and isinstance(self._open[0].made, dict):
            self._said[self._open[0].key or ""] = text
        if event.anchor is not None:
            self._anchored[event.anchor] = (value, 1)
        self._put(value)

    def _single(self, event: Any) -> Value:
        import yaml  # noqa: PLC0415  it is there by now

        tag, text = event.tag, event.value
        if tag in (None, "!"):
            tag = self._loader.resolve(yaml.ScalarNode, text, event.implicit)
        kind = str(tag).removeprefix(_TAG)
        if kind not in _SINGLE:
            raise YamlError(f"the tag {tag}", event.start_mark.line)
        if kind == "null":
            return None
        if kind == "bool":
            return text.lower() in ("yes", "true", "on")
        if kind == "int" and _WHOLE.fullmatch(text) and len(text) < 20:
            return int(text)
        if kind == "float" and _DECIMAL.fullmatch(text) and len(text) < 40:
            return float(text)
        return str(text)

    def _alias(self, event: Any) -> None:
        if event.anchor not in self._anchored:
            raise YamlError(f"*{event.anchor} stands for nothing", event.start_mark.line)
        value, size = self._anchored[event.anchor]
        self._repeats = True
        self._count(size, event)
        if self._wants_key():
            raise YamlError("an alias where the name of a key belongs", event.start_mark.line)
        self._put(value)

    def _count(self, more: int, event: Any) -> None:
        self._nodes += more
        if self._nodes > (REPEATED if self._repeats else NODES):
            raise YamlError("it says too much", event.start_mark.line)

    def _wants_key(self) -> bool:
        return bool(self._open) and self._open[-1].key is None and self._in_map()

    def _in_map(self) -> bool:
        return isinstance(self._open[-1].made, dict)

    def _put(self, value: Value) -> None:
        if not self._open:
            self._top = value
            return
        inside = self._open[-1]
        if isinstance(inside.made, list):
            inside.made.append(value)
        elif inside.key is not None:  # of two with one name the last counts
            inside.made[inside.key] = value
            inside.key = None


def _merged(made: dict[str, Value]) -> dict[str, Value]:
    """What `<<` brings, where the map itself does not say it."""
    brought = made.pop("<<")
    for each in brought if isinstance(brought, list) else [brought]:
        if isinstance(each, dict):
            made = {**each, **made}
    return made
