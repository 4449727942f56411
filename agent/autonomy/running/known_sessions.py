"""All background sessions of a home: what lives, what ended, and which of them a person means.

What nothing can be believed of is removed by whoever looks, with its log; so are ends that are old.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from gatewright.agent.autonomy.running.running_record import Record, Seen, read, seen
from gatewright.agent.autonomy.running.socket_places import record_file, records_folder
from gatewright.agent.errors import SessionError

KEPT_DAYS, KEPT = 14.0, 200
DAY = 86_400.0
SHORT = 13  # characters of an id: milliseconds, as everywhere
NONE = "No background session is meant by {wanted!r}: agent ps --all lists them."
SEVERAL = "{count} background sessions are meant by {wanted!r} ({ids}): give more of the id."


def look(home: Path, now: float) -> Sequence[Seen]:
    """Live ones first, then those that ended, the newest first."""
    folder = records_folder(home)
    try:
        names = [name for name in os.listdir(folder) if name.endswith(".json")]  # noqa: PTH208  speed
    except OSError:
        return ()
    found: list[Seen] = []
    for name in names:
        if name.startswith("."):
            continue
        if (one := seen(folder / name, now)) is not None:
            found.append(one)
        else:
            forget(home, name.removesuffix(".json"))
    found.sort(key=lambda each: (not each.live, -each.record.began))
    ended = [each for each in found if not each.live]
    old = [each for each in ended if now - each.record.changed > KEPT_DAYS * DAY]
    for each in (*old, *ended[KEPT:]):
        forget(home, each.record.id)
    return found


def live(home: Path, now: float) -> Sequence[Record]:
    return [each.record for each in look(home, now) if each.live]


def forget(home: Path, id: str) -> None:
    """Its record and its log; the conversation stays."""
    file = record_file(home, id)
    for path in (file, file.with_suffix(".log"), file.with_suffix(".log.before")):
        path.unlink(missing_ok=True)


def find(home: Path, wanted: str, now: float) -> Seen:
    """The one a person means by an id, a part of it, or words of its title. Raises SessionError."""
    every = look(home, now)
    exact = [each for each in every if each.record.id == wanted]
    part = [each for each in every if wanted and wanted in each.record.id]
    words = [each for each in every if wanted and wanted.lower() in each.record.title.lower()]
    for found in (exact, [each for each in part if each.live], part, words):
        if len(found) == 1:
            return found[0]
        if found:
            ids = ", ".join(each.record.id for each in found[:5])
            raise SessionError(SEVERAL.format(count=len(found), wanted=wanted, ids=ids))
    raise SessionError(NONE.format(wanted=wanted))


def of_session(home: Path, id: str) -> Record | None:
    """What a session's own process wrote of it last."""
    return read(record_file(home, id))
