"""Whether a rule names a protected or outside path, or only happens to cover it."""

from __future__ import annotations

from gatewright.permissions.machine.links import own_real
from gatewright.permissions.paths import (
    Located,
    Paths,
    ancestors,
    folded_parts,
    inside,
    protected_component,
)


def names_path(literals: tuple[str, ...], located: Located, paths: Paths) -> bool:
    """`literals` are absolute literal prefixes of the rule; each concern must be named by one."""
    if paths.tier(located) and not any(
        _has_component(literal, located, paths) for literal in literals
    ):
        return False
    return paths.is_inside(located) or any(
        _reaches_outside(literal, located, paths) for literal in literals
    )


def _has_component(literal: str, located: Located, paths: Paths) -> bool:
    """The literal prefix itself spells the component that makes the path protected."""
    home = folded_parts(paths.place.home)
    wanted = {protected_component(folded_parts(reading), home) for reading in located.readings} - {
        ""
    }
    return bool(wanted) and protected_component(folded_parts(literal), home) in wanted


def _reaches_outside(literal: str, located: Located, paths: Paths) -> bool:
    if literal in ("", "/") or literal == paths.place.home:
        return False
    trusted = paths.trusted()
    if any(literal in ancestors(directory) for directory in trusted):
        return False
    meant = {literal, own_real(literal, paths.place, paths.resolver)}
    outside = [one for one in located.readings if not any(inside(one, d) for d in trusted)]
    return all(any(inside(reading, one) for one in meant) for reading in outside)
