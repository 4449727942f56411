"""Runs that ended, or belong to other sessions, found by their folders."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path

from gatewright.agent.errors import GatewrightError
from gatewright.agent.record.events_of_workflows import PhaseNow
from gatewright.agent.workflows.runs import journal
from gatewright.agent.workflows.runs.past import SCRIPT, Past, RunFile, read_past, read_run
from gatewright.agent.workflows.runs.views import RunView
from gatewright.tools.system.regular import read_regular

ID = re.compile(r"wf_[0-9a-z]{6,32}")
MOST = 200  # folders that are looked at
BYTES = 1_000_000


def folder_of(places: Sequence[Path], id: str) -> Path | None:
    """Where the run of this id is kept."""
    if ID.fullmatch(id) is None:
        return None
    return next((place / id for place in places if (place / id).is_dir()), None)


def earlier(places: Sequence[Path], known: Collection[str]) -> Sequence[RunView]:
    """The newest first, without those that are known."""
    found: list[tuple[float, Path]] = []
    for place in places:
        try:
            fresh = (e for e in place.iterdir() if e.name not in known and ID.fullmatch(e.name))
            found += [(each.stat().st_mtime, each) for each in fresh]
        except OSError:
            continue
    newest = sorted(found, reverse=True)[:MOST]
    views = (_view(folder) for _, folder in newest)
    return [view for view in views if view is not None]


def past_view(places: Sequence[Path], id: str) -> RunView | None:
    folder = folder_of(places, id)
    return _view(folder) if folder is not None else None


def script_of(places: Sequence[Path], id: str) -> str:
    if (folder := folder_of(places, id)) is None:
        return ""
    try:
        return read_regular(folder / SCRIPT, BYTES).decode("utf-8", errors="replace")
    except OSError:
        return ""


def _view(folder: Path) -> RunView | None:
    try:
        file, past = read_run(folder), read_past(folder)
    except GatewrightError:
        return None
    return view_of_past(folder, file, past, live=journal.lives(folder))


def view_of_past(folder: Path, file: RunFile, past: Past, *, live: bool = False) -> RunView:
    slots = list(past.slots.values())
    done = [slot for slot in slots if slot.settled is not None]
    results = (folder / name for name in ("result.md", "result.json"))
    return RunView(
        id=folder.name,  # by which it is found again, whatever the file says
        name=file.name,
        status="running" if live else past.status,
        title=file.title,
        description=file.description,
        phases=_phases(past),
        total=len(slots),
        done=len(done),
        failed=sum(slot.settled is not None and not slot.settled.ok for slot in slots),
        usage=past.usage,
        tokens=past.usage.context,
        cost=past.cost,
        seconds=max(0.0, past.ended - file.began) if past.ended else 0.0,
        began=file.began,
        why=past.why,
        folder=folder,
        script_path=folder / SCRIPT,
        result_path=next((path for path in results if path.exists()), None),
        session=file.session,
        live=False,
    )


def _phases(past: Past) -> tuple[PhaseNow, ...]:
    found: dict[str, PhaseNow] = {}
    for slot in past.slots.values():
        known, settled = found.get(slot.phase, PhaseNow(slot.phase)), slot.settled
        found[slot.phase] = PhaseNow(
            slot.phase,
            total=known.total + 1,
            ok=known.ok + (settled is not None and settled.ok),
            failed=known.failed + (settled is not None and not settled.ok),
            tokens=known.tokens + (settled.usage.context if settled is not None else 0),
            cost=known.cost + (settled.cost if settled is not None else 0.0),
        )
    return tuple(found.values())
