"""Where a run's log goes: to a file of its own with --debug, else only what was a defect."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gatewright.agent.launch.options import LaunchOptions


def keep_log(options: LaunchOptions) -> None:
    """With --debug write a log; else keep defects in a file, and all of it off the terminal."""
    import os  # noqa: PLC0415

    from gatewright.agent.settings.paths import own_home  # noqa: PLC0415

    folder = own_home(os.environ) / "logs"
    if options.debug is None:
        from gatewright.agent.launch.defect_log import keep_defects  # noqa: PLC0415  asyncio needs logging

        keep_defects(folder)
        return
    from gatewright.agent.launch import log  # noqa: PLC0415  lazy: 8 ms

    path = log.start(folder, options.debug, env=os.environ)
    sys.stderr.write(f"agent: logging to {path}\n")
