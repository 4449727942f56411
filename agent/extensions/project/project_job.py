"""A run as a job of the session: seen among the tasks, stopped there, waited for in print mode."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from gatewright.agent.autonomy.project.project_run import ProjectRun
from gatewright.tools.protocol import Progress


class ProjectJob:
    """Implements `Job`. Its end is told by the run itself."""

    kind = "project"

    def __init__(
        self, run: ProjectRun, clock: Callable[[], float], stop: Callable[[], object]
    ) -> None:
        self._run, self._clock, self._stop = run, clock, stop
        self._began, self._seconds = clock(), 0.0
        self.over = asyncio.Event()

    @property
    def title(self) -> str:
        return "the project's features" if self._run.wanted.auto else "a feature of the project"

    @property
    def running(self) -> bool:
        return not self.over.is_set()

    def status(self) -> str:
        ended = self._run.ended
        if self.running:
            return "running"
        return ended.how if ended is not None else "stopped"

    def news(self) -> str:
        return self.output()

    def output(self) -> str:
        ended = self._run.ended
        return ended.text if ended is not None else self._run.state()

    def progress(self) -> Progress:
        said = self.output()
        seconds = self._clock() - self._began if self.running else self._seconds
        return Progress(said, len(said), seconds)

    def end(self) -> None:
        self._seconds = self._clock() - self._began
        self.over.set()

    async def wait(self) -> None:
        """Until its end. It has no limit of its own: who waits has one."""
        await self.over.wait()

    async def stop(self) -> None:
        self._stop()
        await self.over.wait()
