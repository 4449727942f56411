"""Claude Code's settings as ours: what is copied, what is left out and why. Reads, never writes.

What we have already stays as it is: lists grow, and a value is copied only where there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias, cast

import msgspec

from gatewright.agent.settings.edit import edit
from gatewright.agent.settings.layers.broken import Broken, parse_object
from gatewright.agent.settings.layers.coerce import coerce
from gatewright.agent.settings.layers.settled import MAX_BYTES
from gatewright.agent.settings.layers.sources import dotted
from gatewright.agent.settings.paths import Places, claude_home
from gatewright.agent.settings.rulefile import BEHAVIORS, Behavior, text_of
from gatewright.agent.settings.schema import Settings
from gatewright.agent.settings.traits import Source
from gatewright.agent.text.redact import Redactor
from gatewright.tools.system.regular import read_regular

NOTHING = "nothing here corresponds"
OWN_MODELS = ("haiku", "sonnet", "opus")
COPIED = (
    "permissions", "env", "model", "cleanupPeriodDays", "statusLine", "disableAllHooks", "hooks",
    "mcpServers", "enabledMcpjsonServers", "disabledMcpjsonServers", "enableAllProjectMcpServers",
    "enabledPlugins", "extraKnownMarketplaces",
)  # fmt: skip
NAMED: Mapping[str, str] = {
    "apiKeyHelper": "keys are kept by agent login, or found in the environment",
    "sandbox": "compare it with the keys of `agent config schema` and set what you want",
}
Check: TypeAlias = Callable[
    [str, Behavior, Source], str
]  # rule, behavior, source: why it is no rule


class Left(msgspec.Struct, frozen=True):
    what: str
    why: str


class Copy(msgspec.Struct, frozen=True):
    """One file of theirs; `values` is what our file would have more of, as in that file."""

    origin: Path
    target: Path
    values: dict[str, Any]
    left: tuple[Left, ...]


def survey(places: Places, env: Mapping[str, str], check: Check) -> Iterator[Copy]:
    """Of each file there is."""
    own = claude_home(env)
    project = places.root / ".claude"
    for source, folder, name in (
        (Source.USER, own, "settings.json"),
        (Source.PROJECT, project, "settings.json"),
        (Source.LOCAL, project, "settings.local.json"),
    ):
        path, target = folder / name, places.file(source)
        if target is None or (source is not Source.USER and folder == own):
            continue  # started in the home directory: that file is the user's
        if (copy := _copy(path, target, source, check)) is not None:
            yield copy


def apply(copy: Copy) -> None:
    """Add to our file what it does not have. Raises SettingsError."""
    edit(copy.target, lambda values: _join(values, copy.values))


def rows(values: Mapping[str, Any], at: str = "") -> Iterator[tuple[str, str]]:
    """Key and value, one by one, for people."""
    for key, value in values.items():
        if isinstance(value, dict):
            yield from rows(cast("dict[str, Any]", value), f"{at}{key}.")
        elif isinstance(value, list):
            yield from ((f"{at}{key}", _text(item)) for item in cast("list[object]", value))
        else:
            yield f"{at}{key}", str(value)


def _copy(path: Path, target: Path, source: Source, check: Check) -> Copy | None:
    try:
        theirs = _read(path)
        ours = _read(target) or {}
    except Broken as broken:
        return Copy(path, target, {}, (Left(broken.message, "repair that file first"),))
    if theirs is None:
        return None
    left: list[Left] = []
    wanted = dict(_translated(theirs, left))
    _drop_no_rules(wanted, source, check, left)
    checked = coerce(wanted, Settings, source, trusted=True)
    left += [Left(dotted(fault.key), fault.message) for fault in checked.faults]
    new = _missing(ours, checked.values, "", left)
    return Copy(path, target, new, tuple(left))


def _read(path: Path) -> dict[str, Any] | None:
    """None where there is no file. Raises Broken, with the file in its words."""
    try:
        text = read_regular(path, MAX_BYTES).decode("utf-8-sig")
        return parse_object(text) if text.strip() else {}
    except (FileNotFoundError, NotADirectoryError):
        return None
    except Broken as broken:
        place = f"{path}:{broken.line}" if broken.line else str(path)
        raise Broken(f"{place} {broken.message}", broken.line) from broken
    except UnicodeDecodeError as error:
        raise Broken(f"{path} is not valid UTF-8") from error
    except OSError as error:
        raise Broken(f"{path} cannot be read: {error.strerror or error}") from error


def _translated(theirs: dict[str, Any], left: list[Left]) -> Iterator[tuple[str, Any]]:
    unfit: dict[str, list[str]] = {}
    for key, value in theirs.items():
        if key == "model":
            yield from _model(value, left)
        elif key == "env" and isinstance(value, dict):
            yield key, dict(_variables(cast("dict[str, Any]", value), left))
        elif key in COPIED:
            yield key, value
        elif key != "$schema":
            unfit.setdefault(NAMED.get(key, NOTHING), []).append(key)
    left += [Left(", ".join(keys), why) for why, keys in unfit.items()]


def _model(value: object, left: list[Left]) -> Iterator[tuple[str, str]]:
    if value in OWN_MODELS or (isinstance(value, str) and value.startswith("claude-")):
        yield "model", f"anthropic/{value}"
    else:
        left.append(Left(f"model {value}", "no model here has that name; /model lists them"))


def _variables(env: dict[str, Any], left: list[Left]) -> Iterator[tuple[str, Any]]:
    for name, value in env.items():
        if name.startswith(("CLAUDE_", "ANTHROPIC_", "DISABLE_")):
            left.append(
                Left(
                    f"env.{name}", "steers Claude Code; what we need of it belongs into your shell"
                )
            )
        elif isinstance(value, str) and Redactor({name: value}).text(value) != value:
            left.append(Left(f"env.{name}", "looks like a secret, which is not copied into files"))
        else:
            yield name, value


def _drop_no_rules(wanted: dict[str, Any], source: Source, check: Check, left: list[Left]) -> None:
    permissions = wanted.get("permissions")
    if not isinstance(permissions, dict):
        return
    kept = dict(cast("dict[str, Any]", permissions))
    for behavior in BEHAVIORS:
        rules = kept.get(behavior)
        if isinstance(rules, list):
            known: list[object] = []
            for rule in cast("list[object]", rules):
                if why := check(rule, behavior, source) if isinstance(rule, str) else "":
                    left.append(Left(f"permissions.{behavior} {rule}", why))
                else:
                    known.append(rule)
            kept[behavior] = known
    wanted["permissions"] = kept


def _missing(
    ours: Mapping[str, Any], theirs: Mapping[str, Any], at: str, left: list[Left]
) -> dict[str, Any]:
    """What of theirs is not in ours; where both say something else, ours stays."""
    found: dict[str, Any] = {}
    for key, value in theirs.items():
        mine: Any = ours.get(key)
        name = f"{at}{key}"
        new: object = None
        if isinstance(value, dict) and isinstance(mine, dict | None):
            inside = cast("dict[str, Any]", mine or {})
            new = _missing(inside, cast("dict[str, Any]", value), f"{name}.", left)
        elif isinstance(value, list) and isinstance(mine, list | None):
            new = _unknown(cast("list[object]", mine or []), cast("list[object]", value))
        elif mine is None:
            new = cast("object", value)
        elif mine != value:
            left.append(Left(name, "yours is set already and stays"))
        if new not in (None, [], {}):
            found[key] = new
    return found


def _unknown(ours: list[object], theirs: list[object]) -> list[object]:
    known = set(map(_text, ours))
    return [item for item in theirs if _text(item) not in known]


def _text(item: object) -> str:
    """A rule, or whatever else a list holds, so that two that are the same are one."""
    return text_of(item) or msgspec.json.encode(item, order="sorted").decode()


def _join(ours: dict[str, Any], new: Mapping[str, Any]) -> None:
    for key, value in new.items():
        mine = ours.get(key)
        if isinstance(value, dict) and isinstance(mine, dict):
            _join(cast("dict[str, Any]", mine), cast("dict[str, Any]", value))
        elif isinstance(value, list) and isinstance(mine, list):
            have = cast("list[object]", mine)
            have += _unknown(have, cast("list[object]", value))
        elif mine is None:
            ours[key] = value
