"""How a setting behaves: which layers may say it, how they join, what a project may say of it."""

from __future__ import annotations

import enum
from typing import Literal, TypeAlias

import msgspec


class Source(enum.StrEnum):
    """Where a value came from, strongest first. `cli` is a flag of its own, `flag` --settings."""

    MANAGED = "managed"
    CLI = "cli"
    FLAG = "flag"
    LOCAL = "local"
    PROJECT = "project"
    USER = "user"


ANYWHERE = frozenset(Source)
COMMITTED = frozenset({Source.PROJECT, Source.LOCAL})  # lies in the project: may be anybody's
NOT_PROJECT = ANYWHERE - COMMITTED
OWN_FILES = frozenset({Source.MANAGED, Source.USER})

Merge: TypeAlias = Literal[
    "", "group", "replace", "join", "lower", "tighten", "tightest", "within", "mode"
]
TIGHTENING = frozenset({"lower", "tighten", "tightest"})
ORDERED = TIGHTENING | {"within"}


class Trait(msgspec.Struct, frozen=True):
    """How a key behaves across layers.

    `merge` says how layers join: `replace` takes the strongest layer's value, `join` adds lists and
    tables up. Of limits and guards a project, trusted or not, may only say something stricter than
    the person's own layers: `lower` for numbers, `tighten` for the values of `order`, strictest
    first; with `tightest` the strictest of all layers stays. With `within` a trusted project may
    loosen the default, but nothing that the person says. `mode` is the permission mode's own way,
    `group` holds other keys, and nothing is a field of a table's entry.

    A project's value counts only once the project is trusted, unless it can only tighten or
    `untrusted` says why it does no harm. `restricts`: it forbids; a lone value where a list belongs
    is read as a list of one, and a file that breaks keeps it.
    """

    merge: Merge = ""
    scopes: frozenset[Source] = ANYWHERE
    order: tuple[str | bool, ...] = ()
    untrusted: str = ""
    restricts: bool = False

    @property
    def needs_trust(self) -> bool:
        """Whether a project's value waits for the person's trust."""
        own_way = self.merge in TIGHTENING or self.merge in ("mode", "group")
        return not (own_way or self.untrusted)


def setting(
    help: str,
    merge: Merge,
    *,
    scopes: frozenset[Source] = ANYWHERE,
    order: tuple[str | bool, ...] = (),
    untrusted: str = "",
    restricts: bool = False,
) -> msgspec.Meta:
    """Describe one key; the traits are those of `Trait`."""
    trait = Trait(merge, scopes, order, untrusted, restricts)
    return msgspec.Meta(description=help, extra={"trait": trait})


def group(help: str, *, scopes: frozenset[Source] = ANYWHERE) -> msgspec.Meta:
    """Describe keys that belong together; each has its own traits."""
    return setting(help, "group", scopes=scopes)


def chosen(help: str) -> msgspec.Meta:
    """Describe a value that any layer may choose, a project once it is trusted."""
    return setting(help, "replace")


def personal(help: str, merge: Merge = "replace") -> msgspec.Meta:
    """Describe what no project may say, trusted or not."""
    return setting(help, merge, scopes=NOT_PROJECT)


def owned(help: str) -> msgspec.Meta:
    """Describe a value that only the person's own file says, or the administrator's."""
    return setting(help, "replace", scopes=OWN_FILES)


def on_is_strict(help: str) -> msgspec.Meta:
    """Describe a switch that a project may turn on, never off."""
    return setting(help, "tighten", order=(True, False))


def forbidding(help: str) -> msgspec.Meta:
    """Describe a list that only forbids: it counts from everybody, and adds up."""
    return setting(help, "join", untrusted="it can only forbid", restricts=True)


class Section(msgspec.Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    pass
