"""Read every layer of settings and join them.

Nothing here raises for what a file holds: a broken layer is a problem in the result, and the
other layers count.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

import msgspec

from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.settings.foreign import claude_rules, legacy
from gatewright.agent.settings.hook_layers import HookLayer, layer_of
from gatewright.agent.settings.layers.coerce import Fault, coerce
from gatewright.agent.settings.layers.depth import nested_deeply
from gatewright.agent.settings.layers.flag_values import from_flags
from gatewright.agent.settings.layers.key import spelled
from gatewright.agent.settings.layers.merge import Ignored, Merged, Provenance, merge, restricting
from gatewright.agent.settings.layers.repeated import repeats
from gatewright.agent.settings.layers.settled import MAX_BYTES, read_settled
from gatewright.agent.settings.paths import Places
from gatewright.agent.settings.schema import Settings
from gatewright.agent.settings.traits import COMMITTED, Source
from gatewright.tools.system.regular import NotRegular, TooLarge

NO_OPTIONS = LaunchOptions()
HELD = "is not read while the sandbox could still write there: it counts once nothing is in it"
GONE = "is gone: what it forbade still counts in this session; put it back, or write {} there"


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """Something wrong in one layer. `line` is 0 where there is no file or no such line."""

    source: Source
    where: str
    key: str
    message: str
    level: Literal["error", "warning", "untrusted"] = "error"
    line: int = 0
    value: str = ""  # what an untrusted key would be set to, as JSON

    def text(self) -> str:
        place = f"{self.where}:{self.line}" if self.line else self.where
        return f"{place}: {self.key} {self.message}" if self.key else f"{place}: {self.message}"


class RuleTexts(msgspec.Struct, frozen=True):
    """The permission rules of one source, as written."""

    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    def plus(self, other: RuleTexts) -> RuleTexts:
        return RuleTexts(self.allow + other.allow, self.ask + other.ask, self.deny + other.deny)


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """Settings in force; `rules` keeps rules apart by source, because their weight differs."""

    settings: Settings
    provenance: Provenance
    problems: tuple[Problem, ...]
    rules: Mapping[Source, RuleTexts]
    files: tuple[Path, ...]  # the files looked for: what a watcher watches
    legacy: Mapping[Source, RuleTexts] = {}  # from old files beside those of the layers
    claude: Mapping[Source, RuleTexts] = {}  # what Claude Code's files deny and ask about
    offered: tuple[Path, ...] = ()  # those of its files that say more, which is only offered
    directories: Mapping[Source, tuple[str, ...]] = {}  # added ones, as written
    valid: Mapping[Path, dict[str, Any]] = {}  # what each file said when it last could be read
    held: tuple[Path, ...] = ()  # files not looked at, which a command may be writing
    hooks: tuple[HookLayer, ...] = ()  # what each file says of hooks
    unread: tuple[Path, ...] = ()  # files that are there and could not be read

    @property
    def named_rules(self) -> Mapping[str, RuleTexts]:
        """Every source's rules, those of other agents' files under names of their own."""
        named = {str(source): texts for source, texts in self.rules.items()}
        named |= {legacy.label(source): texts for source, texts in self.legacy.items()}
        named |= {claude_rules.label(source): texts for source, texts in self.claude.items()}
        return named


class _Layer(msgspec.Struct, frozen=True):
    source: Source
    where: str
    raw: dict[str, Any]
    text: str = ""
    path: Path | None = None
    kind: Literal["", "legacy", "claude"] = ""


class _Reading(msgspec.Struct, frozen=True):
    """What is read, and what is found on the way; `before` is how files were that worked."""

    places: Places
    options: LaunchOptions
    env: Mapping[str, str]
    before: Mapping[Path, dict[str, Any]]
    settled: Callable[[Path], bool]
    problems: list[Problem] = []
    files: list[Path] = []
    held: list[Path] = []
    broken: dict[Path, Source] = {}
    offered: list[Path] = []
    hooks: list[HookLayer] = []

    def fresh(self, path: Path | None) -> bool:
        """Whether what there is of the file was read just now."""
        return path not in self.broken and path not in self.held

    def heard(self, layer: _Layer, *, claude: bool = False) -> None:
        """Keep what it says of hooks, as it says it."""
        place = (layer.source, layer.where, layer.path)
        if (found := layer_of(layer.raw, layer.text, place, claude=claude)) is not None:
            self.hooks.append(found)

    def complain(self, source: Source, path: Path, message: str, line: int = 0) -> list[_Layer]:
        """The file cannot be read as a whole; nothing of it is taken."""
        self.broken[path] = source
        found = Problem(source=source, where=str(path), key="", message=message, line=line)
        self.problems.append(found)
        return []


def load(
    places: Places,
    options: LaunchOptions = NO_OPTIONS,
    *,
    env: Mapping[str, str],
    trusted: bool = False,
    before: Mapping[Path, dict[str, Any]] | None = None,
    settled: Callable[[Path], bool] = lambda _: True,
) -> Loaded:
    """Of a file that cannot be read, all that it forbade `before` still counts.

    One that is not `settled`, as a command may be writing it, stays what it was before.
    """
    reading = _Reading(places, options, env, before or {}, settled)
    checked: list[tuple[Source, dict[str, Any]]] = []
    kinds: dict[str, list[tuple[Source, dict[str, Any]]]] = {"": [], "legacy": [], "claude": []}
    valid: dict[Path, dict[str, Any]] = {}
    layers = _layers(reading)
    for layer in layers:
        if layer.path is not None and not reading.fresh(layer.path):
            values = layer.raw
        else:
            result = coerce(layer.raw, Settings, layer.source, trusted=trusted, home=places.home)
            reading.problems.extend(_problem(layer, fault) for fault in result.faults)
            values = result.values
            if not layer.kind:
                reading.heard(layer)
        if layer.path is not None:
            valid[layer.path] = values
        checked.append((layer.source, values))
        kinds[layer.kind].append(checked[-1])
    merged = merge(checked)
    reading.problems.extend(_ignored(layers, merged))
    return Loaded(
        settings=merged.settings(),
        provenance=merged.provenance,
        problems=tuple(reading.problems),
        rules=_rules(kinds[""], places.root),
        files=tuple(reading.files),
        legacy=_rules(kinds["legacy"], places.root),
        claude=_rules(kinds["claude"], places.root),
        offered=tuple(reading.offered),
        directories=_directories(checked),
        valid=valid,
        held=tuple(reading.held),
        hooks=tuple(reading.hooks),
        unread=tuple(path for path in (*reading.broken, *reading.held) if _there(path)),
    )


def _there(path: Path) -> bool:
    """What we may not look at is there."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def _layers(reading: _Reading) -> list[_Layer]:
    """Strongest first."""
    found: list[_Layer] = []
    places, options = reading.places, reading.options
    for source in Source:
        if source is Source.CLI:
            found.append(_Layer(source, "command line", from_flags(options, reading.env)))
        elif source is Source.FLAG:
            found += _flag_layer(reading)
        elif _wanted(source, options) and (path := places.file(source)) is not None:
            if source in COMMITTED and path == places.file(Source.USER):
                continue  # started in the home directory: that file is the user's
            found += _file_layer(reading, source, path)
            found += _legacy_layer(reading, source, path)
            found += _claude_layers(reading, source)
    return found


def _claude_layers(reading: _Reading, source: Source) -> list[_Layer]:
    """What Claude Code's files of a layer forbid: that counts; all else they say does not."""
    layers: list[_Layer] = []
    cwd = Path(os.path.realpath(reading.options.cwd or "."))
    for file in claude_rules.files(reading.places, reading.env, cwd, source):
        for layer in _file_layer(reading, source, file.path):
            raw = layer.raw
            if reading.fresh(file.path):
                if file.hooks:
                    reading.heard(layer, claude=True)
                if claude_rules.says_more(raw):
                    reading.offered.append(file.path)
                raw = claude_rules.translated(raw, file)
            layers.append(_Layer(source, layer.where, raw, path=file.path, kind="claude"))
    return layers


def _legacy_layer(reading: _Reading, source: Source, settings: Path) -> list[_Layer]:
    """What an older agent's file beside a layer's says, weaker than the layer."""
    path = legacy.beside(settings, source)
    if path is None:
        return []

    def complain(key: str, message: str) -> None:
        found = Problem(source=source, where=str(path), key=key, message=message, level="warning")
        reading.problems.append(found)

    layers: list[_Layer] = []
    for layer in _file_layer(reading, source, path):
        raw = layer.raw
        if reading.fresh(path):
            raw = legacy.translated(raw, complain)
        layers.append(_Layer(source, layer.where, raw, path=path, kind="legacy"))
    return layers


def _wanted(source: Source, options: LaunchOptions) -> bool:
    if source is Source.MANAGED:
        return True
    if options.bare and source in COMMITTED:
        return False
    return options.setting_sources is None or source in options.setting_sources


def _flag_layer(reading: _Reading) -> list[_Layer]:
    options, given = reading.options, reading.options.settings.strip()
    if not given:
        return []
    if given.startswith("{"):
        return _parse(reading, Source.FLAG, Path("--settings"), given.encode())
    path = Path(given)
    if given.startswith("~/"):
        path = Path(reading.env.get("HOME", "~")) / given[2:]
    path = Path(options.cwd) / path if options.cwd else path
    found = _file_layer(reading, Source.FLAG, path)
    if not found and path not in reading.broken and not path.exists():
        reading.complain(Source.FLAG, path, "there is no such file")
    return found


def _file_layer(reading: _Reading, source: Source, path: Path) -> list[_Layer]:
    reading.files.append(path)
    return (_read if reading.settled(path) else _held)(reading, source, path)


def _read(reading: _Reading, source: Source, path: Path) -> list[_Layer]:
    before = reading.before.get(path)
    try:
        data = read_settled(path, known=before is not None)
    except NotRegular:
        reading.complain(source, path, "is no regular file")
    except TooLarge:
        reading.complain(source, path, f"is larger than {MAX_BYTES // 1024**2} MiB")
    except (FileNotFoundError, NotADirectoryError):
        if not before or not restricting(before):
            return []
        reading.complain(source, path, GONE)
    except OSError as error:
        reading.complain(source, path, f"cannot be read: {error.strerror}")
    else:
        if data.strip():
            found = _parse(reading, source, path, data)
            if path not in reading.broken:
                return found
        elif not before:
            return []
        else:
            reading.complain(
                source, path, "is empty: what it forbade still counts; write {} to empty it"
            )
    return [_Layer(source, str(path), restricting(before), path=path)] if before else []


def _held(reading: _Reading, source: Source, path: Path) -> list[_Layer]:
    """The file is not looked at: what it said last counts."""
    reading.held.append(path)
    if os.path.lexists(path):
        problem = Problem(source=source, where=str(path), key="", message=HELD, level="warning")
        reading.problems.append(problem)
    before = reading.before.get(path)
    return [_Layer(source, str(path), before, path=path)] if before else []


def _parse(reading: _Reading, source: Source, path: Path, data: bytes) -> list[_Layer]:
    try:
        raw: Any = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raw = None
    if not isinstance(raw, dict) or nested_deeply(raw) or repeats(data, raw):
        from gatewright.agent.settings.layers.broken import explain  # noqa: PLC0415  lazy: 3 ms, json

        broken = explain(data)
        return reading.complain(source, path, broken.message, broken.line)
    text = data.decode("utf-8", "replace")
    return [_Layer(source, str(path), cast("dict[str, Any]", raw), text, path)]


def _ignored(layers: Sequence[_Layer], merged: Merged) -> list[Problem]:
    """What a project said that would have loosened a limit or a guard."""
    return [_told(layers, each) for each in merged.ignored]


def _told(layers: Sequence[_Layer], ignored: Ignored) -> Problem:
    layer = next(
        each for each in layers if each.source is ignored.source and _holds(each.raw, ignored.key)
    )
    return _problem(layer, Fault(ignored.key, ignored.message, "warning"))


def _holds(raw: Any, key: Sequence[str]) -> bool:
    for part in key:
        if not isinstance(raw, dict) or part not in raw:
            return False
        raw = cast("dict[str, Any]", raw)[part]
    return True


def _problem(layer: _Layer, fault: Fault) -> Problem:
    from gatewright.agent.settings.layers.lines import line_of  # noqa: PLC0415  only with a mistake

    return Problem(
        source=layer.source,
        where=layer.where,
        key=dotted(fault.key),
        message=fault.message,
        level=fault.level,
        line=line_of(layer.text, fault.key) if layer.text else 0,
        value=_value_at(layer.raw, fault.key) if fault.level == "untrusted" else "",
    )


def _value_at(raw: Any, key: Sequence[str | int]) -> str:
    for part in key:
        raw = raw[part]
    return msgspec.json.encode(raw).decode()


def dotted(key: tuple[str | int, ...]) -> str:
    text = ""
    for part in key:
        name = f"[{part}]" if isinstance(part, int) else spelled((part,))
        text += name if isinstance(part, int) or not text else f".{name}"
    return text


def _directories(checked: list[tuple[Source, dict[str, Any]]]) -> dict[Source, tuple[str, ...]]:
    found: dict[Source, tuple[str, ...]] = {}
    for source, values in checked:
        added = values.get("permissions", {}).get("additionalDirectories", ())
        found[source] = (*found.get(source, ()), *added)
    return {source: added for source, added in found.items() if added}


def _rules(checked: list[tuple[Source, dict[str, Any]]], root: Path) -> dict[Source, RuleTexts]:
    rules: dict[Source, RuleTexts] = {}
    for source, values in checked:
        found = _rule_texts(values.get("permissions", {}))
        projects = values.get("projects", {})
        for spelling in {str(root), str(root.resolve())} & set(projects):
            found = found.plus(_rule_texts(projects[spelling].get("permissions", {})))
        if found != RuleTexts():
            rules[source] = rules.get(source, RuleTexts()).plus(found)
    return rules


def _rule_texts(permissions: Mapping[str, Any]) -> RuleTexts:
    def texts(behavior: str) -> tuple[str, ...]:
        entries = permissions.get(behavior, ())
        return tuple(entry if isinstance(entry, str) else entry["rule"] for entry in entries)

    return RuleTexts(texts("allow"), texts("ask"), texts("deny"))
