"""The permission modes: one table, their aliases and what each does with a call nobody settled.

Names are compared without case, hyphens and underscores, everywhere the same way.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec

Strip: TypeAlias = Literal["", "runners", "shell"]  # allow rules left out: for any code, or all
Strategy: TypeAlias = Literal["allow", "ask", "root", "contained"]
# root: only inside the project root; contained: only if nothing in it leaves the project root


class Mode(msgspec.Struct, frozen=True):
    """One row: `cycle` is its place in Shift+Tab (0 = not in it), `chosen` whether a flag may."""

    id: str
    runs: str
    read_out: Strategy = "ask"
    edit_in: Strategy = "ask"
    commands: Strategy = "ask"
    agent: Strategy = "allow"
    cycle: int = 0
    chosen: bool = True
    bypass: bool = False
    classifier: bool = False


MODES: Mapping[str, Mode] = {
    mode.id: mode
    for mode in (
        Mode("default", "reads inside the project and safe commands", cycle=1),
        Mode("acceptEdits", "also edits inside the project", edit_in="allow", cycle=2),
        Mode("plan", "only reading; writes nothing but the plan file", cycle=4),
        Mode(
            "auto",
            "a judge, which is a model, answers what would be asked",
            edit_in="allow",
            agent="ask",
            cycle=5,
            classifier=True,
        ),
        Mode(
            "autoInProject",
            "edits and commands contained in the project",
            edit_in="root",
            commands="contained",
            cycle=3,
        ),
        Mode("dontAsk", "allow rules and reads inside; the rest is denied"),
        Mode(
            "bypassPermissions",
            "everything except the hard floor and what is dangerous",
            cycle=6,
            bypass=True,
        ),
        Mode("delegate", "coordination only; the main agent touches nothing"),
        Mode("work", "reads anywhere", read_out="allow", chosen=False),
        Mode(
            "fullAccess",
            "everything except the hard floor and what is dangerous",
            chosen=False,
            bypass=True,
        ),
    )
}

CAUTION = (
    "Edits, commands and web pages then run without a question, also what a file or page talks the"
    " model into; only what is dangerous still asks."
)

# Subagent frontmatter may also say "ignore": follow the parent. It is no mode of its own.
FOLLOW_PARENT = "ignore"

ALIASES: Mapping[str, str] = {
    "acceptedits": "acceptEdits",
    "code": "acceptEdits",
    "ask": "plan",
    "bypass": "bypassPermissions",
}
DEPRECATED: Mapping[str, str] = {"code": "acceptEdits", "ask": "plan"}

_UNCHOSEN_BY_FLAG = frozenset({"delegate", "work", "fullAccess", FOLLOW_PARENT})


def _folded(name: str) -> str:
    return name.strip().lower().replace("-", "").replace("_", "")


_BY_NAME: Mapping[str, str] = {**{_folded(name): name for name in MODES}, **ALIASES}


def canonical(name: str) -> str | None:
    """The mode's id, or None for a name nobody knows."""
    return _BY_NAME.get(_folded(name))


def deprecation(name: str) -> str:
    """A note when `name` is an old name, else an empty string."""
    new = DEPRECATED.get(_folded(name))
    return f"The mode name '{name}' is deprecated; use '{new}'." if new else ""


def resolve(name: str) -> str:
    """The mode's id. Raises ValueError with the valid names and the nearest one."""
    found = canonical(name)
    if found is not None:
        return found
    valid = [mode.id for mode in MODES.values() if mode.chosen]
    near = difflib.get_close_matches(name, valid, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise ValueError(f"There is no mode '{name}'.{hint} Valid modes: {', '.join(valid)}.")


def flag_mode(name: str) -> str:
    """The mode a command-line flag may start in. Raises ValueError listing the valid names."""
    found = canonical(name)
    if found is None or found in _UNCHOSEN_BY_FLAG:
        valid = [mode for mode in MODES if mode not in _UNCHOSEN_BY_FLAG]
        raise ValueError(f"'{name}' cannot be chosen here. Valid modes: {', '.join(valid)}.")
    return found


def cycle(*, auto: bool, bypass: bool) -> tuple[str, ...]:
    """The Shift+Tab order; `bypass` only where the person asked for it when the session began."""
    offered = {"auto": auto, "bypassPermissions": bypass}
    rows = sorted((mode for mode in MODES.values() if mode.cycle), key=lambda mode: mode.cycle)
    return tuple(mode.id for mode in rows if offered.get(mode.id, True))


def effective(mode: str, *, disable_bypass: bool) -> str:
    """The mode that counts: with bypass disabled both names of it mean default."""
    return "default" if disable_bypass and MODES[mode].bypass else mode


# How much a mode lets run by itself, for every kind of call that nobody settled.
_DENIED, _ASKED, _CLASSIFIED, _CONTAINED, _RUNS = range(5)
COLUMNS = ("reads outside", "edits", "edits outside", "commands", "web", "agents", "floor")
_OF: Mapping[Strategy, int] = {
    "ask": _ASKED, "root": _CONTAINED, "contained": _CONTAINED, "allow": _RUNS,
}  # fmt: skip


def columns(mode: str) -> Mapping[str, int]:
    """What the mode does with a call of each kind, from denied to run."""
    row = MODES[mode]
    asked = _CLASSIFIED if row.classifier else _ASKED
    if row.id == "dontAsk":
        asked = _DENIED
    if row.id in ("plan", "delegate"):
        # Plan leaves reading and asking; delegate touches nothing by itself.
        least = _ASKED if row.id == "plan" else _DENIED
        values = (least, _DENIED, _DENIED, _DENIED, least, _RUNS, _DENIED)
        return dict(zip(COLUMNS, values, strict=True))
    given: tuple[Strategy, ...] = (row.read_out, row.edit_in, "ask", row.commands, "ask", row.agent)
    found = tuple(
        _RUNS if row.bypass else asked if strategy == "ask" else _OF[strategy] for strategy in given
    )
    floor = _DENIED if row.id == "dontAsk" else _ASKED
    return dict(zip(COLUMNS, (*found, floor), strict=True))


def strip(mode: str, *, all_shell: bool) -> Strip:
    """What of the allow rules about commands does not count, because somebody judges them."""
    if not MODES[mode].classifier:
        return ""
    return "shell" if all_shell else "runners"


def looser(mode: str, than: str) -> bool:
    """Whether some kind of call runs more easily in `mode`; two modes may each be looser."""
    other = columns(than)
    return any(value > other[column] for column, value in columns(mode).items())


def for_child(parent: str) -> str:
    """The mode of an agent that follows one in `parent`: who is coordinated works as usual."""
    return "default" if parent == "delegate" else parent


# Below a session in each mode: that of the agents of its workflows. In dontAsk they also edit.
_OF_WORKFLOWS: Mapping[str, str] = {
    "default": "acceptEdits",
    "acceptEdits": "acceptEdits",
    "autoInProject": "acceptEdits",
    "work": "acceptEdits",
    "auto": "auto",
    "dontAsk": "dontAsk",
    "bypassPermissions": "acceptEdits",
    "fullAccess": "acceptEdits",
}


def for_workflow(parent: str, bypassed: str = "") -> tuple[str, bool]:
    """The mode of the agents of a workflow, and whether edits inside run besides.

    `bypassed` is what the person's own settings say for agents where nothing is asked. A session
    that only plans or coordinates starts none; those it has are as tight as any agent of it.
    """
    if bypassed in MODES and MODES[parent].bypass:
        return bypassed, False
    mode = _OF_WORKFLOWS.get(parent, for_child(parent))
    return mode, mode == "dontAsk"


def is_ceiling(mode: str) -> bool:
    """Whether agents below one in this mode work in nothing else."""
    return mode in {"plan", "auto", "dontAsk"}


def tightest(parent: str, wanted: str) -> str:
    """The mode of a child that asked for `wanted`: in no column looser than its parent."""
    parent = for_child(parent)
    if is_ceiling(parent) or wanted not in MODES or wanted == "delegate":
        return parent
    return parent if looser(wanted, parent) else wanted
