"""Style sheets read once for all screens of a process: a quarter of what opening a screen takes.

What is read of a text depends on it, on where it stands and on the theme's variables, and nobody
changes it afterwards: the framework itself keeps it for as long as a screen lives.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache
from typing import Any
from unittest.mock import patch

from textual.css.stylesheet import Stylesheet

_read: Any = Stylesheet._parse_rules  # pyright: ignore[reportPrivateUsage]


@cache
def _kept(variables: frozenset[tuple[str, str]], *where: Hashable, **more: Hashable) -> Any:
    return _read(Stylesheet(variables=dict(variables)), *where, **more)


def _parse_rules(sheet: Stylesheet, *where: Hashable, **more: Hashable) -> Any:
    return _kept(frozenset(vars(sheet)["_variables"].items()), *where, **more)


def shared() -> Any:
    return patch.object(Stylesheet, "_parse_rules", _parse_rules)
