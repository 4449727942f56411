"""Going over to another session within one run: how it is opened, and what it begins with.

It is opened as a start of the program opens one, so nothing is looser there than after a start.
"""

from __future__ import annotations

from msgspec.structs import replace

from gatewright.agent.commands.outcome import Switch
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.session.session import Session
from gatewright.agent.settings.policy_settings import LOOSE_MODES


def options_for(options: LaunchOptions, to: Switch) -> LaunchOptions:
    """The command line that would open it; the flags of this run stay in force.

    A mode that asks less than others goes along only where a flag named it and it was not left.
    """
    mode = options.mode
    if mode in LOOSE_MODES and to.mode != mode:
        mode = ""
    changed = replace(
        options,
        prompt="",
        continue_session=False,
        resume=to.path or None,
        fork_session=to.copy,
        session_id="",
        cleared=not to.path,
        mode=mode,
    )
    if not to.carries:
        return changed
    return replace(
        changed,
        mode=mode if to.mode in LOOSE_MODES else to.mode,
        model=to.model,
        carried_model=options.carried_model or to.model != options.model,
        effort=to.effort or options.effort,
    )


def begin(session: Session, to: Switch) -> None:
    """Name what was opened, say where it comes from, and forbid there what was forbidden."""
    session.restrict(to.rules)
    if to.title:
        session.past.rename(to.title)
    if to.said:
        session.past.note(to.said)
