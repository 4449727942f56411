"""Lets those who listen have a say in settings files that change while a session runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from gatewright.agent.extensions.host import Host
from gatewright.agent.settings.traits import Source


def ask_about_changes(host: Host) -> None:
    """With nobody to ask, what changed on disk counts at once, as always."""
    live, running = host.live, set[asyncio.Task[None]]()
    loop = asyncio.get_running_loop()

    async def ask(path: Path, source: str, answered: Callable[[bool], None]) -> None:
        from gatewright.tools.moments import SettingsChange  # noqa: PLC0415  only where somebody listens

        verdict = await host.listeners.at(SettingsChange(source=source, path=str(path)))
        refused = verdict.word in ("deny", "stop") and source != Source.MANAGED
        if refused:
            host.warn(f"{path} has changed, which does not count: {verdict.text or 'refused'}")
        answered(not refused)

    def begin(path: Path, source: str, answered: Callable[[bool], None]) -> None:
        task = loop.create_task(ask(path, source, answered), name="a settings file changed")
        running.add(task)
        task.add_done_callback(running.discard)

    def asking(path: Path, answered: Callable[[bool], None]) -> bool:
        """May be called from a thread. What is managed does not wait."""
        if host.moments is None:
            return False
        places = live.around.places
        source = next((str(each) for each in Source if places.file(each) == path), "")
        loop.call_soon_threadsafe(begin, path, source, answered)
        return source != Source.MANAGED

    live.asking = asking
