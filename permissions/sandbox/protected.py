"""What a session's settings close to commands, as the surveyor that finds it on the disk.

Every pattern is resolved here once: links in it are followed as they are now.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from gatewright.permissions.sandbox.config import ENV_EXAMPLES, Config, firm_reads
from gatewright.permissions.sandbox.disk.globs import Glob, globs, resolved
from gatewright.permissions.sandbox.disk.guarded import HOME
from gatewright.permissions.sandbox.disk.survey import Surveyor


def surveyor(config: Config, roots: tuple[str, ...]) -> Surveyor:
    """Who looks for what commands below `roots` may not read or change."""
    base, home = os.path.realpath(config.cwd), os.path.realpath(config.home)

    def read(texts: Iterable[str], *, grants: bool = False) -> tuple[Glob, ...]:
        given = (glob for each in texts for glob in globs(each, base, home, grants=grants))
        within = roots if grants else ()
        return tuple(each for glob in given for each in resolved(glob, within))

    own = () if config.own_home is None else (os.path.realpath(config.own_home.path),)
    kept = read(config.deny_write)
    return Surveyor(
        roots=roots,
        home=home,
        denies=read(config.deny_read),
        allows=read((*(f"**/{name}" for name in ENV_EXAMPLES), *config.allow_read), grants=True),
        deny_writes=(
            *own,
            *(f"{home}/{name}" for name in HOME),
            *(glob.literal for glob in kept if glob.pattern is None),
        ),
        keeps=tuple(glob for glob in kept if glob.pattern is not None),
        firm=read(firm_reads(config.deny_read)),
        hidden=() if config.own_home is None else config.own_home.hidden(roots),
    )
