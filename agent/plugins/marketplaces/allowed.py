"""Which marketplaces an administrator allows: `strictKnownMarketplaces`, `blockedMarketplaces`.

Looked at before anything is fetched from one, and before anything of one is shown. What cannot be
understood allows nothing and blocks all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from gatewright.agent.plugins.sources.limits import SourceError
from gatewright.agent.plugins.sources.source import (
    FileSource,
    GitSource,
    LocalSource,
    NpmSource,
    Source,
    host_of,
    read,
)
from gatewright.agent.settings.schema import Settings

PATTERNS = ("hostPattern", "pathPattern")
_USUAL_PORT = re.compile(r":(?:22|80|443)$")
REFUSED = "Your administrator allows no plugins from {0}."


class Allowed(msgspec.Struct, frozen=True):
    """`only` is None where every marketplace may be used that is not in `never`."""

    only: tuple[Mapping[str, Any], ...] | None = None
    never: tuple[Mapping[str, Any], ...] = ()

    @classmethod
    def by(cls, settings: Settings) -> Allowed:
        return cls(settings.strict_known_marketplaces, settings.blocked_marketplaces)

    def refusal(self, source: Source, env: Mapping[str, str]) -> str:
        """Why nothing is taken from there; empty where it may be."""
        if any(_is(source, each, env, exact=False) for each in self.never):
            return REFUSED.format(source.said())
        if self.only is None or any(_is(source, each, env, exact=True) for each in self.only):
            return ""
        return REFUSED.format(source.said())


def _is(source: Source, said: Mapping[str, Any], env: Mapping[str, str], *, exact: bool) -> bool:
    """`exact`: branch and path count as well, for what permits; what forbids forbids all of it."""
    kind = said.get("source")
    if kind in PATTERNS:
        text = host_of(source) if kind == "hostPattern" else _path(source)
        return _matches(said.get(kind, said.get("pattern")), text, broken=not exact)
    if kind == "settings":
        return False
    try:
        other = read(dict(said), env)
    except SourceError:
        return not exact
    if isinstance(source, GitSource) and isinstance(other, GitSource):
        same = plain(source.url) == plain(other.url)
        return same and (not exact or (source.ref, source.path) == (other.ref, other.path))
    if isinstance(source, NpmSource) and isinstance(other, NpmSource):
        same = source.package == other.package
        return same and (not exact or source.registry == other.registry)
    return source.said().rstrip("/") == other.said().rstrip("/")


def plain(url: str) -> str:
    """host/path: a repository is the same by https and by ssh."""
    _, mark, rest = url.partition("://")
    if not mark:
        host, mark, path = url.partition(":")
        rest = f"{host}/{path}" if mark else url
    host, _, path = rest.partition("/")
    host = _USUAL_PORT.sub("", host.rpartition("@")[2]).rstrip(".")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return f"{host}/{'/'.join(parts).removesuffix('.git')}".lower()


def _path(source: Source) -> str:
    match source:
        case LocalSource(path=path) | FileSource(where=path) if "://" not in path:
            return path
        case _:
            return ""


def _matches(pattern: object, text: str, *, broken: bool) -> bool:
    if not isinstance(pattern, str):
        return broken
    try:
        return bool(text) and re.search(pattern, text) is not None
    except re.error:
        return broken
