"""Read every layer of settings and join them.

Nothing here raises for what a file holds: a broken layer is a problem in the result, and the
other layers count.
"""

from __future__ import annotations

import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

import msgspec

from gatewright.agent.options import LaunchOptions
from gatewright.agent.settings import legacy
from gatewright.agent.settings.coerce import Fault, coerce
from gatewright.agent.settings.depth import nested_deeply
from gatewright.agent.settings.merge import Provenance, merge
from gatewright.agent.settings.paths import Places
from gatewright.agent.settings.schema import COMMITTED, Settings, Source

NO_OPTIONS = LaunchOptions()
MAX_BYTES = 4 * 1024 * 1024


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
    directories: Mapping[Source, tuple[str, ...]] = {}  # added ones, as written


class _Layer(msgspec.Struct, frozen=True):
    source: Source
    where: str
    raw: dict[str, Any]
    text: str = ""
    legacy: bool = False


def load(
    places: Places,
    options: LaunchOptions = NO_OPTIONS,
    *,
    env: Mapping[str, str],
    trusted: bool = False,
) -> Loaded:
    problems: list[Problem] = []
    checked: list[tuple[Source, dict[str, Any]]] = []
    old: list[tuple[Source, dict[str, Any]]] = []
    current: list[tuple[Source, dict[str, Any]]] = []
    files: list[Path] = []
    for layer in _layers(places, options, env, problems, files):
        result = coerce(layer.raw, Settings, layer.source, trusted=trusted)
        problems.extend(_problem(layer, fault) for fault in result.faults)
        checked.append((layer.source, result.values))
        (old if layer.legacy else current).append(checked[-1])
    values, provenance = merge(checked)
    return Loaded(
        settings=msgspec.convert(values, Settings),
        provenance=provenance,
        problems=tuple(problems),
        rules=_rules(current, places.root),
        files=tuple(files),
        legacy=_rules(old, places.root),
        directories=_directories(checked),
    )


def _layers(
    places: Places,
    options: LaunchOptions,
    env: Mapping[str, str],
    problems: list[Problem],
    files: list[Path],
) -> list[_Layer]:
    """Strongest first."""
    found: list[_Layer] = []
    for source in Source:
        if source is Source.CLI:
            found.append(_Layer(source, "command line", from_flags(options, env)))
        elif source is Source.FLAG:
            found += _flag_layer(options, env, problems, files)
        elif _wanted(source, options) and (path := places.file(source)) is not None:
            if source in COMMITTED and path == places.file(Source.USER):
                continue  # started in the home directory: that file is the user's
            files.append(path)
            found += _file_layer(source, path, problems)
            found += _legacy_layer(source, path, problems, files)
    return found


def _legacy_layer(
    source: Source, settings: Path, problems: list[Problem], files: list[Path]
) -> list[_Layer]:
    """What an older agent's file beside a layer's says, weaker than the layer."""
    path = legacy.beside(settings, source)
    if path is None:
        return []
    files.append(path)

    def complain(key: str, message: str) -> None:
        found = Problem(source=source, where=str(path), key=key, message=message, level="warning")
        problems.append(found)

    return [
        _Layer(source, layer.where, legacy.translated(layer.raw, complain), legacy=True)
        for layer in _file_layer(source, path, problems)
    ]


def _wanted(source: Source, options: LaunchOptions) -> bool:
    if source is Source.MANAGED:
        return True
    if options.bare and source in COMMITTED:
        return False
    return options.setting_sources is None or source in options.setting_sources


def _flag_layer(
    options: LaunchOptions, env: Mapping[str, str], problems: list[Problem], files: list[Path]
) -> list[_Layer]:
    given = options.settings.strip()
    if not given:
        return []
    if given.startswith("{"):
        return _parse(Source.FLAG, "--settings", given.encode(), problems)
    path = Path(given) if not given.startswith("~/") else Path(env.get("HOME", "~")) / given[2:]
    path = Path(options.cwd) / path if options.cwd else path
    files.append(path)
    if not path.exists():
        problems.append(
            Problem(source=Source.FLAG, where=str(path), key="", message="there is no such file")
        )
        return []
    return _file_layer(Source.FLAG, path, problems)


def _file_layer(source: Source, path: Path, problems: list[Problem]) -> list[_Layer]:
    def complain(message: str) -> list[_Layer]:
        problems.append(Problem(source=source, where=str(path), key="", message=message))
        return []

    try:
        facts = path.stat()
        if not stat.S_ISREG(facts.st_mode):
            return complain("is no regular file")
        if facts.st_size > MAX_BYTES:
            return complain(f"is larger than {MAX_BYTES // 1024**2} MiB")
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        return complain(f"cannot be read: {error.strerror}")
    return _parse(source, str(path), data, problems)


def _parse(source: Source, where: str, data: bytes, problems: list[Problem]) -> list[_Layer]:
    data = data.removeprefix(b"\xef\xbb\xbf")
    if not data.strip():
        return []
    try:
        raw: Any = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _broken(source, where, data, problems)
    if not isinstance(raw, dict) or nested_deeply(raw):
        return _broken(source, where, data, problems)
    return [_Layer(source, where, cast("dict[str, Any]", raw), data.decode("utf-8", "replace"))]


def _broken(source: Source, where: str, data: bytes, problems: list[Problem]) -> list[_Layer]:
    from gatewright.agent.settings.broken import explain  # noqa: PLC0415  lazy: 3 ms, json

    broken = explain(data)
    problems.append(
        Problem(source=source, where=where, key="", message=broken.message, line=broken.line)
    )
    return []


def _problem(layer: _Layer, fault: Fault) -> Problem:
    from gatewright.agent.settings.lines import line_of  # noqa: PLC0415  only with a mistake

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
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def from_flags(options: LaunchOptions, env: Mapping[str, str]) -> dict[str, Any]:
    """The flags that are settings, in the form of a settings file."""
    permissions: dict[str, Any] = {
        "allow": list(options.allowed_tools),
        "deny": list(options.disallowed_tools),
        "additionalDirectories": list(options.add_dirs),
        "defaultMode": options.mode,
    }
    values: dict[str, Any] = {
        "model": options.model or env.get("GATEWRIGHT_MODEL", ""),
        "fallbackModels": [m.strip() for m in options.fallback_model.split(",") if m.strip()],
        "effort": options.effort or ("none" if options.thinking == "disabled" else ""),
        "maxTurns": options.max_turns,
        "maxBudgetUsd": options.max_budget_usd,
        "permissions": {key: value for key, value in permissions.items() if value},
    }
    return {key: value for key, value in values.items() if value}


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
            rules[source] = found
    return rules


def _rule_texts(permissions: Mapping[str, Any]) -> RuleTexts:
    def texts(behavior: str) -> tuple[str, ...]:
        entries = permissions.get(behavior, ())
        return tuple(entry if isinstance(entry, str) else entry["rule"] for entry in entries)

    return RuleTexts(texts("allow"), texts("ask"), texts("deny"))
