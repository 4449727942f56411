"""Addresses by patterns: `*` in a host stays in the host, and both mean what a client would do."""

from __future__ import annotations

import posixpath
import re
from urllib.parse import unquote, urlsplit

_PARTS = re.compile(r"(?:([a-z*]+)://)?([^/]*)(.*)", re.DOTALL)
_USUAL = {"https": 443, "http": 80}


def address_fits(url: str, pattern: str) -> bool:
    """Whether the pattern is about this address; about one that cannot be read none is."""
    try:
        parts = urlsplit(url.strip())
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return False
    found = _PARTS.fullmatch(pattern.strip().lower())
    if not host or found is None:
        return False
    scheme, place, path = found.groups()
    name, _, wanted = place.partition(":") if not place.startswith("[") else (place, "", "")
    usual = _USUAL.get(parts.scheme)
    open_end = not path and name.endswith("*")
    return (
        _same(parts.scheme, scheme or "*", r"[a-z]*")
        and _same(host, name.strip("[]").rstrip("."), r"[^/]*")
        and (wanted == "*" or str(port or usual) == (wanted or str(usual)))
        and (open_end or _same(_path(parts.path, parts.query), _path(path, ""), r".*"))
    )


def _same(text: str, pattern: str, star: str) -> bool:
    said = star.join(map(re.escape, pattern.split("*")))
    return re.fullmatch(said, text, re.DOTALL) is not None


def _path(path: str, query: str) -> str:
    """As it arrives: without `..`, and without signs that are written in two ways."""
    plain = unquote(path).lower()
    whole = posixpath.normpath(f"/{plain.lstrip('/')}")
    whole += "/" if plain.endswith("/") and whole != "/" else ""
    return f"{whole}?{query.lower()}" if query else whole
