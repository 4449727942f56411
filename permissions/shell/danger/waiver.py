"""Which deletions need no person: strictly inside the project, where nothing is lost for good."""

from __future__ import annotations

from collections.abc import Sequence

from gatewright.permissions.modes import MODES
from gatewright.permissions.shell.danger.containment import strictly_inside
from gatewright.permissions.shell.danger.hazard import Hazard
from gatewright.permissions.shell.files.reach import Reach
from gatewright.permissions.shell.line import Line, Part

GONE = "Neither git nor a checkpoint could bring all of it back."


def waived(
    mode: str, hazards: Sequence[Hazard], line: Line, opened: Sequence[Part], reach: Reach
) -> bool:
    """What can be brought back, which is asked before the line runs: nothing else in the line may
    change what was asked about. Where nobody can look, autoInProject may delete what is inside.
    """
    if not line.understood or not (mode == "autoInProject" or MODES[mode].bypass):
        return False
    if not all(_inside(hazard, reach) for hazard in hazards):
        return False
    if mode == "autoInProject" and not _looked(hazards, reach):
        return True
    alone = len(line.parts) == len(opened) == 1 and not line.background
    return alone and all(_recoverable(hazard, reach) for hazard in hazards)


def lost(mode: str, hazards: Sequence[Hazard], reach: Reach) -> str:
    """Why bypass asks about a deletion that stays inside, or ''."""
    modes = mode == "autoInProject" or MODES[mode].bypass
    asks = modes and all(_inside(hazard, reach) for hazard in hazards)
    return GONE if asks and not all(_recoverable(hazard, reach) for hazard in hazards) else ""


def _looked(hazards: Sequence[Hazard], reach: Reach) -> bool:
    """Whether there is a disk to look at, and not only a table of a case."""
    resolver = reach.paths.resolver
    root = reach.paths.place.root
    return bool(hazards) and resolver.loses(root, whole=False) is not None


def _inside(hazard: Hazard, reach: Reach) -> bool:
    return bool(hazard.files) and all(strictly_inside(one, reach) for one in hazard.files or ())


def _recoverable(hazard: Hazard, reach: Reach) -> bool:
    if not hazard.deletes:
        return False
    for operand in hazard.files or ():
        if not operand.arg.literal:
            return False
        for located in reach.locations(operand.arg, operand.bases):
            if located.lexical != located.real or not reach.paths.resolver.recoverable(
                located.real
            ):
                return False
    return True
