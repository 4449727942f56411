"""A run as a background job: what TaskOutput, TaskStop and the notice of its end say of it."""

from __future__ import annotations

from gatewright.agent.agents.inert_text import told_as_data
from gatewright.agent.workflows.runs import told
from gatewright.agent.workflows.runs.run import NEWS, Run
from gatewright.tools.protocol import Progress


class RunJob:
    """Implements `Job`, `Reporting` and `Spending`; its id is that of the run."""

    kind = "workflow"

    def __init__(self, run: Run) -> None:
        self.run, self.id = run, run.id

    @property
    def title(self) -> str:
        file = self.run.order.file
        return f"{self.run.name}: {file.title or file.description}"

    @property
    def tokens(self) -> int:
        return self.run.money.spent[0]

    @property
    def cost(self) -> float:
        return self.run.money.spent[1]

    @property
    def running(self) -> bool:
        return self.run.running

    def status(self) -> str:
        return self.run.status_now

    def news(self) -> str:
        """Its log since it was asked last, and how it stands or what came of it."""
        lines = list(self.run.unasked)
        self.run.unasked.clear()
        return "\n".join([*map(told_as_data, lines), self._stands()])

    def output(self) -> str:
        return "\n".join([*map(told_as_data, list(self.run.log)[-NEWS:]), self._stands()])

    def _stands(self) -> str:
        return told.state(self.run) if self.run.running else told.told_end(self.run)

    def notice(self) -> str:
        return told.notice(self.run)

    def progress(self) -> Progress:
        run = self.run
        said = run.result if run.over else run.log[-1] if run.log else run.phase
        return Progress(said, len(said), run.seconds)

    async def wait(self) -> None:
        """Until its end is known. It has no limit of its own: who waits has one."""
        await self.run.ended.wait()

    def dismiss(self) -> None:
        """The person ends it, and not who started it."""
        self.run.stop_now("person")

    async def stop(self) -> None:
        """As the agent wants it that started it."""
        self.run.stop_now("agent")
        await self.run.gone.wait()
