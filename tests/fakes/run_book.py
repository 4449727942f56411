"""Runs of workflows that nobody runs: what the panel shows, and what it was asked to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from gatewright.agent.commands.outcome import Say
from gatewright.agent.commands.panels import WorkflowsPanel
from gatewright.agent.record.events_of_workflows import CallNow, PhaseNow
from gatewright.agent.workflows.runs.views import CallView, RunView

SCRIPT = "export const meta = { name: 'review', description: 'Review it' }\nreturn 1\n"
FOLDER = Path("/home/ada/.gatewright/projects/-home-ada-app/5e55/workflows/wf_4k2m9x")
PHASES = (
    PhaseNow("Look", total=5, ok=4, failed=1, tokens=182_400, cost=0.61, seconds=94),
    PhaseNow("Refute", total=16, live=4, ok=7, tokens=240_100, cost=0.72, seconds=61),
)
RUN = RunView(
    id="wf_4k2m9x",
    name="review-diff",
    status="running",
    description="Review a diff from several angles; every finding has to survive",
    phases=PHASES,
    phase="Refute",
    total=21,
    done=12,
    running=4,
    failed=1,
    asks=1,
    tokens=422_500,
    cost=1.33,
    seconds=155,
    budget="$5",
    folder=FOLDER,
    script_path=FOLDER / "script.js",
)
ENDED = RunView(
    id="wf_1a1a1a",
    name="deep-research",
    status="done",
    description="Research a question on the web",
    title="which lease protocols survive clock skew",
    phases=(PhaseNow("Report", total=1, ok=1, tokens=9_000, cost=0.05, seconds=8),),
    phase="Report",
    total=61,
    done=61,
    tokens=1_204_000,
    cost=3.9,
    seconds=412,
    result="Leases with fencing tokens do. [1][3]",
    folder=FOLDER,
    script_path=FOLDER / "script.js",
)
PAST = replace(
    ENDED, id="wf_000pas", name="migrate-call", status="interrupted", live=False, title=""
)
LABELS = ("app/lease.py:41", "app/lease.py:88", "app/clock.py:12", "app/store.py:7")


def calls() -> list[CallNow]:
    made = [
        CallNow(
            index=n + 6,
            label=LABELS[n % 4],
            phase="Refute",
            state="running" if n < 4 else "done",
            agent=f"a{n:012x}",
            model="anthropic/claude-sonnet-5-5",
            tokens=12_000 + 700 * n,
            cost=0.04,
            seconds=20.0 + n,
            doing=("Read app/lease.py", "Bash pytest -q", "Grep renew", "asks: Run this?")[n % 4]
            if n < 4
            else "not refuted",
        )
        for n in range(11)
    ]
    made[1] = replace(made[1], state="asks")
    made[9] = replace(made[9], state="failed", error="timeout", doing="60 minutes are over")
    return made


class FakeRuns:
    """Implements `RunBook` and `Keeping`."""

    def __init__(self, *runs: RunView) -> None:
        self.runs = list(runs or (RUN, ENDED))
        self.many = calls()
        self.did: list[tuple[str, ...]] = []
        self.kept: dict[str, str] = {}
        self.home = ""  # below which scripts are saved
        self.changed: list[Callable[[str], object]] = []

    def panel(self, first: str = "") -> WorkflowsPanel:
        return WorkflowsPanel(fallback=Say(()), book=self, keeping=self, past=(PAST,), first=first)

    def move(self, **now: object) -> None:
        """The first run is another than before."""
        self.runs[0] = replace(self.runs[0], **now)
        for each in self.changed:
            each(self.runs[0].id)

    def views(self) -> Sequence[RunView]:
        return self.runs

    async def past(self) -> Sequence[RunView]:
        return (PAST,)

    def view(self, run: str) -> RunView | None:
        return next((each for each in (*self.runs, PAST) if each.id == run), None)

    def calls(self, run: str, *, phase: str | None = None) -> Sequence[CallNow]:
        return [each for each in self.many if phase is None or each.phase == phase]

    def call(self, run: str, index: int) -> CallView | None:
        found = next((each for each in self.many if each.index == index), None)
        if found is None:
            return None
        return CallView(
            now=found,
            prompt=f"Somebody says of the change: {found.label} loses a renewal. Try to refute it.",
            result="" if found.state == "running" else '{"refuted": false}',
            last=("Read app/lease.py", "Bash pytest tests/test_lease.py"),
            agent_path=f"main/{found.agent}",
        )

    def log(self, run: str) -> Sequence[str]:
        return ("9 findings of 5 reviewers",)

    def script(self, run: str) -> str:
        return SCRIPT

    def follow(self, changed: Callable[[str], object]) -> Callable[[], None]:
        self.changed.append(changed)
        return lambda: self.changed.remove(changed)

    def _do(self, *what: str) -> str:
        self.did.append(what)
        return f"{what[0]} {what[1]}: done."

    def pause(self, run: str) -> str:
        return self._do("pause", run)

    def unpause(self, run: str) -> str:
        return self._do("unpause", run)

    async def stop(self, run: str) -> str:
        return self._do("stop", run)

    async def stop_call(self, run: str, index: int) -> str:
        return self._do("stop_call", run, str(index))

    async def restart_call(self, run: str, index: int) -> str:
        return self._do("restart_call", run, str(index))

    def message(self, run: str, index: int, text: str) -> str:
        return self._do("message", run, str(index), text)

    def place(self, run: str, where: str) -> str:
        return f"{self.home}/{where}/.gatewright/workflows/review-diff.js"

    async def save(self, run: str, where: str, *, replace: bool) -> str:
        if where in self.kept and not replace:
            raise FileExistsError(where)
        self.kept[where] = run
        return self._do("save", run, where)
