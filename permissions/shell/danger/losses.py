"""Files that a line removes or writes over by name, and that nobody could bring back.

Only modes that run commands unasked look at this: elsewhere a person reads the line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gatewright.permissions.modes import MODES
from gatewright.permissions.shell.files.operand import Operand
from gatewright.permissions.shell.files.reach import Reach
from gatewright.permissions.shell.line import Part

MOST = 20  # files of one line that are looked up
_REMOVES = frozenset({"rm", "unlink", "shred", "truncate", "trash"})
# They add, make or change what is no content; git and patches are judged by their own rules.
_KEEPS = frozenset(
    {"touch", "mkdir", "rmdir", "chmod", "chown", "chgrp", "git", "patch", "tar", "zip", "unzip"}
)
_TEMPORARY = ("/tmp/", "/var/tmp/", "/dev/")


def what_is_lost(mode: str, parts: Sequence[Part], reach: Reach) -> str:
    """What to say before the line runs, or ''."""
    if mode != "autoInProject" and not MODES[mode].bypass:
        return ""
    looked = 0
    for operand, removes in _destroyed(parts, reach):
        paths = _paths(operand, reach)
        if paths is None:
            if removes:
                return "Which files it removes cannot be told before."
            continue
        for path in paths:
            if path.startswith(_TEMPORARY) and not reach.paths.in_root(reach.paths.locate(path)):
                continue
            looked += 1
            if looked > MOST:
                return "It removes or writes over more files than are looked through."
            if reach.paths.resolver.loses(path, whole=operand.whole):
                name = path.rpartition("/")[2]
                return f"Neither git nor a checkpoint could bring {name} back."
    return ""


def _destroyed(parts: Sequence[Part], reach: Reach) -> Iterator[tuple[Operand, bool]]:
    """What is removed or written over, and whether it is removed."""
    for part in parts:
        for one in part.redirects:
            if one.file and one.writes and ">>" not in one.operator:
                yield Operand(one.arg, part.bases, redirect=True), False
    alone = len(parts) == 1
    for part in parts:
        if part.program in _KEEPS or not part.argv:
            continue
        if part.program == "tee" and {"-a", "--append"} & set(part.texts):
            continue
        if part.program == "ln" and not any(_forces(text) for text in part.texts[1:]):
            continue
        yield from ((one, part.program in _REMOVES) for one in _written(part, reach, alone=alone))


def _written(part: Part, reach: Reach, *, alone: bool) -> Iterator[Operand]:
    """What is moved is not lost, unless another part of the line may write over it there."""
    for one in reach.touched(part).writes:
        if not one.redirect and (part.program != "mv" or not one.whole or not alone):
            yield one


def _forces(text: str) -> bool:
    return text == "--force" or (text.startswith("-") and text[1:2] != "-" and "f" in text)


def _paths(operand: Operand, reach: Reach) -> list[str] | None:
    """Where an operand leads; None where only the shell will know."""
    if operand.arg.unknown or None in operand.bases:
        return None
    found: list[str] = []
    for located in reach.locations(operand.arg, operand.bases):
        if operand.arg.patterns:
            matched = reach.paths.resolver.expand(located.lexical)
            if matched is None:
                return None
            found += matched
        else:
            found.append(located.real if not operand.whole else located.lexical)
    return list(dict.fromkeys(found))
