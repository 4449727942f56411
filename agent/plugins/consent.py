"""What a person is shown before a plugin counts: whose it is, from where, and all that can act.

The text is exact and escaped: a plugin's own words never look like ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TypeAlias

import msgspec

from gatewright.agent.plugins.record import Act, ActKind, Record
from gatewright.agent.text.printable import as_run, visible

_TITLES: Mapping[ActKind, str] = {
    "hook": "Commands that run at points of a session (hooks)",
    "server": "MCP servers that are started or reached",
    "language server": "Language servers",
    "monitor": "Monitors",
    "program": "Programs at the end of the PATH of commands",
    "command in text": "Commands that run when a skill or command is invoked",
    "allowed-tools": "Tools that its skills and commands approve while they are used",
    "agent tools": "Tools of its agents",
    "workflow": "Workflows",
}


class Consent(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked about: `now` as it would be, `before` as it was agreed to, if ever."""

    now: Record
    description: str = ""
    before: Record | None = None
    notes: tuple[str, ...] = ()

    @property
    def new(self) -> tuple[Act, ...]:
        """What acts now and did not before."""
        known = frozenset(self.before.acts) if self.before is not None else frozenset[Act]()
        return tuple(act for act in self.now.acts if act not in known)

    @property
    def gone(self) -> tuple[Act, ...]:
        kept = frozenset(self.now.acts)
        return tuple(a for a in self.before.acts if a not in kept) if self.before else ()


# The person's word; whoever cannot ask says no.
Agreed: TypeAlias = Callable[[Consent], bool]


def consent_text(about: Consent) -> str:
    """All of it, for a question or a terminal."""
    return "\n".join(_lines(about))


def _lines(about: Consent) -> Iterator[str]:
    now, before = about.now, about.before
    version = f" {now.version}" if now.version else ""
    yield _plain(
        f"Plugin {now.name}{version}{f': {about.description}' if about.description else ''}"
    )
    yield _plain(f"Publisher: {now.publisher or 'not named'} (as it says itself)")
    yield _plain(f"Source: {now.said or now.market}")
    yield _plain(f"Resolved: {now.resolved or now.digest}")
    if now.resolved:
        yield f"Digest: {now.digest}"
    yield f"Size: {now.files:,} {'file' if now.files == 1 else 'files'}, {now.bytes:,} bytes"
    for note in about.notes:
        yield _plain(f"Note: {note}")
    if before is None:
        yield from _acts("", now.acts)
        if not now.acts:
            yield "Nothing in it acts by itself: it holds texts for the model alone."
        return
    was = before.resolved or before.digest
    yield _plain(f"In place of: {before.version or 'the version'} ({was})")
    yield from _acts("New: ", about.new)
    yield from _acts("Gone: ", about.gone)
    if not about.new and not about.gone:
        yield "What acts is the same as before."


def _kind(act: Act) -> ActKind:
    return act.kind


def _acts(lead: str, acts: Sequence[Act]) -> Iterator[str]:
    for kind, each in groupby(sorted(acts), key=_kind):
        yield f"{lead}{_TITLES[kind]}:"
        for act in each:
            where = f"  ({visible(act.where, strict=True)})" if act.where else ""
            yield f"  {as_run(act.text).replace(chr(10), chr(10) + '    ')}{where}"


def _plain(text: str) -> str:
    """On one line."""
    return visible(" ".join(text.split()), strict=True)
