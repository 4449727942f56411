"""One dream from the files to a plan: looked through, asked about, and nothing of it in force."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import TypeAlias

from gatewright.agent.autonomy.memory.dreaming import SYSTEM, Plan, asked, planned
from gatewright.agent.autonomy.memory.fact_checks import gone
from gatewright.agent.autonomy.memory.memory_store import Contents, MemoryStore
from gatewright.agent.errors import GatewrightError
from gatewright.agent.text.redact import Redactor
from gatewright.tools.blocks import Block, Text
from gatewright.tools.files.diff import diff

Ask: TypeAlias = Callable[[str, str], Awaitable[str]]  # system and text to an answer
ALONE = "No model could be asked ({}): only what is gone from the project was looked for."


async def dream_plan(
    store: MemoryStore, roots: Sequence[Path], ask: Ask, redactor: Redactor
) -> tuple[Plan, str]:
    """The plan, and what the person should know of it. Raises GatewrightError."""
    now = await asyncio.to_thread(store.look)
    facts = now.facts()
    if not facts:
        return Plan({}, {}, ()), ""
    lost = await asyncio.to_thread(gone, [fact.text for fact in facts], roots)
    about = asked(now, lost)
    answer, note = "", ""
    try:
        answer = await ask(SYSTEM, redactor.text(about.question()))
    except TimeoutError:
        note = ALONE.format("it did not answer in time")
    except GatewrightError as error:
        note = ALONE.format(str(error).rstrip("."))
    days = await asyncio.to_thread(_days, store.folder, now)
    return planned(now, about, answer, days, redactor), note


def _days(folder: Path, now: Contents) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for topic in now.topics():
        with suppress(OSError):
            stamp = (folder / f"{topic.name}.md").lstat().st_mtime
            found[topic.name] = date.fromtimestamp(stamp).isoformat()
    return found


def changes(
    before: Mapping[str, bytes | None], after: Mapping[str, bytes | None]
) -> Sequence[Block]:
    """What differs, file by file, for people."""
    found: list[Block] = []
    for name in sorted(after):
        old, new = ((each.get(name) or b"").decode("utf-8", "replace") for each in (before, after))
        found.append(diff(name, old, new))
        if after[name] is None:
            found.append(Text(f"{name} goes: nothing is left in it.", "dim"))
    return found
