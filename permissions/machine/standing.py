"""The directories that decisions are about, from what a policy is configured with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gatewright.permissions.paths import Place

if TYPE_CHECKING:
    from gatewright.permissions.policy import PolicyConfig  # it asks for this


def place_of(config: PolicyConfig) -> Place:
    own = config.own
    return Place(
        root=text_of(config.root),
        cwd=text_of(config.cwd),
        home=text_of(config.home),
        start=text_of(config.cwd),
        directories=tuple(map(text_of, config.directories)),
        spelled=tuple(map(text_of, config.spelled)),
        search=config.search,
        own=() if own is None else own.spellings,
        readable=() if own is None else own.open(),
    )


def text_of(path: Path) -> str:
    text = str(path)
    return text.rstrip("/") or "/"
