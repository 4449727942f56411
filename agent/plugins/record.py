"""What is known of an installed plugin: one entry of `plugins/lock.json`, as data.

An entry stands only for what the person agreed to: this tree, from there, with these acts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import msgspec

LOCAL = "local"  # the market of what was installed from a directory or archive of its own
DIRECT = "direct"  # of what was installed from an address of its own
RESERVED_MARKETS = frozenset({LOCAL, DIRECT, "flag", "builtin"})

# What can do something by itself, or permit it.
ActKind: TypeAlias = Literal[
    "hook", "server", "language server", "monitor", "program", "command in text", "allowed-tools",
    "agent tools", "workflow",
]  # fmt: skip
Answer: TypeAlias = Literal["yes", "never"]


class Act(msgspec.Struct, frozen=True, order=True):
    """One thing of a plugin that acts, as the person is shown it: exactly what would run."""

    kind: ActKind
    text: str
    where: str = ""  # the file, relative to the plugin


class Record(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One installed plugin. `source` is as a market writes it, to be fetched again from there."""

    name: str
    market: str
    version: str = ""
    publisher: str = ""
    source: Mapping[str, Any] = {}  # {"source": "github", "repo": ..., "ref": ...}
    said: str = ""  # the source in a few words, for people
    resolved: str = ""  # the commit, or the digest of the archive
    digest: str = ""  # of the tree as it was agreed to
    folder: str = ""  # below `plugins/store`; of a linked one where it really is
    linked: bool = False  # it runs from a directory of the person's own
    acts: tuple[Act, ...] = ()
    settings: Mapping[str, str] = {}  # what it says where the person says nothing
    files: int = 0
    bytes: int = 0
    installed_at: float = 0.0
    entry: Mapping[str, Any] = {}  # what the market's own entry adds to the manifest

    @property
    def id(self) -> str:
        return f"{self.name}@{self.market}"


class Lock(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """All of the file. `projects`: what was said of plugins that a project names, by its root."""

    plugins: Mapping[str, Record] = {}
    projects: Mapping[str, Mapping[str, Answer]] = {}


def id_of(text: str) -> tuple[str, str]:
    """Name and market of `name@market`; the market is empty where none is named."""
    name, _, market = text.strip().partition("@")
    return name, market
