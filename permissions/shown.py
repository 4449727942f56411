"""Directories that a session learns of: what may be read from now on, and what is protected.

Of a skill, say, while it is at work: by tools, and by commands in the sandbox. Writing there is
judged as anywhere, and whoever denies reading a path is still heard.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from msgspec.structs import replace

from gatewright.permissions.machine.grounds import Grounds
from gatewright.permissions.machine.world import DiskResolver
from gatewright.permissions.paths import Place, inside
from gatewright.permissions.policy import Policy
from gatewright.permissions.sandbox.commands import CommandSandbox

MOST = 200


def show(policy: Policy, folder: Path, sandbox: CommandSandbox | None = None) -> bool:
    """Whether it is shown: never a directory that the project or the home itself lies in."""
    place = policy.place
    spellings = _spellings(folder)
    theirs = (place.home, place.root, *place.own, *map(os.path.realpath, (place.home, place.root)))
    if any(inside(each, path) for path in spellings for each in theirs):
        return False
    if len(place.readable) >= MOST:
        return False
    new = tuple(path for path in spellings if path not in place.readable)
    if new:
        _stand(policy, replace(place, readable=(*place.readable, *new)))
    if sandbox is not None:
        _uncover(sandbox, spellings)
    return True


def guard(policy: Policy, places: Iterable[Path]) -> None:
    """Protect these instead of those before: what lies there runs, and was agreed to as it is."""
    now = tuple(dict.fromkeys(each for path in places for each in _spellings(path)))
    if now != policy.place.running:
        _stand(policy, replace(policy.place, running=now))


def _stand(policy: Policy, place: Place) -> None:
    policy.place = place
    policy.resolver = DiskResolver(place)
    policy.grounds = Grounds(place, policy.resolver)


def _spellings(path: Path) -> tuple[str, ...]:
    return tuple(dict.fromkeys((os.path.normpath(path), os.path.realpath(path))))


def _uncover(sandbox: CommandSandbox, paths: tuple[str, ...]) -> None:
    """What lies in our own home is covered for commands, but for this."""
    own = sandbox.base.own_home
    new = [path for path in paths if path not in own.shown and any(
        inside(path, home) for home in own.spellings
    )]  # fmt: skip
    if new:
        base = replace(sandbox.base, own_home=replace(own, shown=(*own.shown, *new)))
        sandbox.base = base
