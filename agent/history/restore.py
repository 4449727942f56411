"""Puts files back, each as a whole, after keeping how they are now so that it can be undone."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gatewright.agent.history.blobs import Blobs
from gatewright.agent.history.plan import Step
from gatewright.agent.record.events_of_past import FileState
from gatewright.agent.record.ids import new_id


class Restored(msgspec.Struct, frozen=True):
    """`undo` is how the touched files were; `failed` names those that could not be put back."""

    undo: tuple[FileState, ...]
    failed: tuple[str, ...]


def restore(steps: Sequence[Step], blobs: Blobs) -> Restored:
    undo: list[FileState] = []
    failed: list[str] = []
    for step in steps:
        if step.kind == "leave":
            continue
        path = step.target.path
        try:
            now = blobs.state_of(path)
            if now.left:  # what cannot be kept is not overwritten
                raise OSError(now.left)
            _apply(step)
        except OSError as error:
            failed.append(f"{path}: {error.strerror or error}")
        else:
            undo.append(now)
    blobs.turn(state.hash for state in undo if state.hash)
    return Restored(tuple(undo), tuple(failed))


def _apply(step: Step) -> None:
    path, data = step.target.path, step.target.data
    if path.resolve() != path:
        raise OSError("a link leads elsewhere now")
    if data is None:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.stat().st_nlink > 1:  # other names of the file keep seeing it
        with path.open("r+b") as file:
            file.write(data)
            file.truncate()
        path.chmod(step.target.mode)
        return
    fresh = path.with_name(f".{path.name[:40]}.{new_id()}")
    try:
        with fresh.open("xb") as file:
            file.write(data)
        fresh.chmod(step.target.mode)
        fresh.replace(path)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise
