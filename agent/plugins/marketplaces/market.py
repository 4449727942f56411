"""A marketplace as its marketplace.json says: who keeps it, and which plugins are where.

Read as people write it: an entry that cannot be used is named with the reason and hides no other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from gatewright.agent.errors import GatewrightError
from gatewright.agent.plugins.record import RESERVED_MARKETS
from gatewright.agent.plugins.sources.limits import SourceError
from gatewright.agent.plugins.sources.source import LocalSource, Source, read
from gatewright.tools.system.regular import TooLarge, read_regular
from gatewright.tools.system.untyped_json import items, obj

FILES: Final = (".claude-plugin/marketplace.json", ".gatewright-plugin/marketplace.json")
BYTES: Final = 8 * 1024 * 1024
ENTRIES: Final = 5_000
TEXT: Final = 1_000
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_PLUGIN: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_HOPS: Final = 8


class BadMarket(GatewrightError):
    """It is no list of plugins; its text says why."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One plugin of a market. `problem` says why it cannot be installed; empty where it can."""

    name: str
    market: str
    description: str = ""
    version: str = ""
    publisher: str = ""
    category: str = ""
    words: tuple[str, ...] = ()  # keywords and tags
    homepage: str = ""
    source: Source | None = None
    said: Mapping[str, Any] = {}  # the entry as written, but for its source
    problem: str = ""

    @property
    def id(self) -> str:
        return f"{self.name}@{self.market}"


class Market(msgspec.Struct, frozen=True, kw_only=True):
    """`renames` leads from old names to new ones; one that leads to nothing was taken out."""

    name: str
    owner: str = ""
    description: str = ""
    entries: tuple[Entry, ...] = ()
    renames: Mapping[str, str] = {}
    warnings: tuple[str, ...] = ()

    def find(self, name: str) -> Entry | None:
        """By its name, or by one that it had before."""
        for _ in range(_HOPS):
            found = next((entry for entry in self.entries if entry.name == name), None)
            if found is not None:
                return found
            name = self.renames.get(name, "")
        return None


def market_in(folder: Path, env: Mapping[str, str], file: str = "") -> Market:
    """What a directory says of itself; `file` names another place in it. Raises BadMarket."""
    for name in (file,) if file else FILES:
        path = (folder / name).resolve()
        if not path.is_relative_to(folder.resolve()):
            raise BadMarket(f"{name} leads out of the marketplace.")
        if path.is_file():
            return read_market(path, env)
    raise BadMarket(f"It is no marketplace: it has no {file or FILES[0]}.")


def read_market(path: Path, env: Mapping[str, str]) -> Market:
    """Raises BadMarket."""
    try:
        return market_of(read_regular(path, BYTES), env)
    except TooLarge as error:
        raise BadMarket(f"{path.name} has more than {BYTES:,} bytes.") from error
    except OSError as error:
        raise BadMarket(f"{path} cannot be read: {error.strerror or error}.") from error


def market_of(data: bytes, env: Mapping[str, str]) -> Market:
    """Raises BadMarket."""
    try:
        said = obj(msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf")))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadMarket(f"Its marketplace.json is no JSON: {error}.") from error
    if not isinstance(said.get("plugins"), list):
        raise BadMarket("Its marketplace.json has no list of plugins.")
    listed = items(said["plugins"])
    name = _text(said, "name")
    if why := wrong_market(name):
        raise BadMarket(f"Its name {name!r} {why}.")
    warnings: list[str] = []
    about = obj(said.get("metadata"))
    entries = tuple(_entries(listed, name, _root(about, warnings), env, warnings))
    renames = {str(old): str(new or "") for old, new in obj(said.get("renames")).items()}
    return Market(
        name=name,
        owner=_named(said.get("owner")),
        description=_text(said, "description") or _text(about, "description"),
        entries=entries,
        renames=renames,
        warnings=tuple(warnings),
    )


def wrong_market(name: str) -> str:
    """Why nothing may be called so; empty where it may."""
    if not _NAME.fullmatch(name) or ".." in name:
        return "is no name of a marketplace: letters, digits, dots and dashes"
    if name.lower() in RESERVED_MARKETS:
        return "is taken: it means something else"
    return ""


def _entries(
    listed: Sequence[object], market: str, root: str, env: Mapping[str, str], warnings: list[str]
) -> Iterator[Entry]:
    seen = set[str]()
    if len(listed) > ENTRIES:
        warnings.append(f"it lists {len(listed):,} plugins; the first {ENTRIES:,} count")
    for at, raw in enumerate(listed[:ENTRIES]):
        name = obj(raw).get("name")
        if not isinstance(name, str) or not _PLUGIN.fullmatch(name) or len(name) > 64:
            warnings.append(f"plugin {at + 1} has no name in small letters, digits and dashes")
        elif name in seen:
            warnings.append(f"{name} is listed twice; the first counts")
        else:
            seen.add(name)
            yield _entry(name, obj(raw), market, root, env)


def _entry(
    name: str, raw: Mapping[str, Any], market: str, root: str, env: Mapping[str, str]
) -> Entry:
    source, problem = None, ""
    try:
        source = read(_rooted(raw.get("source"), root), env)
        if isinstance(source, LocalSource) and ".." in source.path.split("/"):
            source, problem = None, "Its source leads out of its marketplace."
    except SourceError as error:
        problem = str(error)
    words = (*_words(raw.get("keywords")), *_words(raw.get("tags")))
    return Entry(
        name=name,
        market=market,
        description=_text(raw, "description"),
        version=_text(raw, "version"),
        publisher=_named(raw.get("author")),
        category=_text(raw, "category"),
        words=words,
        homepage=_text(raw, "homepage"),
        source=source,
        said={key: value for key, value in raw.items() if key != "source"},
        problem=problem,
    )


def _root(about: Mapping[str, Any], warnings: list[str]) -> str:
    """`metadata.pluginRoot`: where sources lie that are a bare name."""
    root = _text(about, "pluginRoot").removeprefix("./").strip("/")
    if root.startswith(("~", "\\")) or ".." in root.split("/"):
        warnings.append("metadata.pluginRoot leads out of it and is not used")
        return ""
    return root


def _rooted(source: Any, root: str) -> Any:
    if isinstance(source, str) and root and not source.startswith((".", "/", "~")):
        return f"./{root}/{source}"
    return source


def _named(raw: Any) -> str:
    """An owner or author: an object with a name, or the name itself."""
    return raw[:TEXT] if isinstance(raw, str) else _text(obj(raw), "name")


def _text(raw: Mapping[str, Any], key: str) -> str:
    value = raw.get(key)
    return value[:TEXT] if isinstance(value, str) else ""


def _words(raw: Any) -> tuple[str, ...]:
    return tuple(word[:64] for word in items(raw)[:32] if isinstance(word, str))
