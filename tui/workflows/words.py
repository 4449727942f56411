"""How runs, phases and calls of workflows are told in a few cells."""

from __future__ import annotations

from gatewright.agent.commands.outcome import Choice
from gatewright.agent.record.events_of_workflows import CallNow, PhaseNow
from gatewright.agent.workflows.runs.views import RunView
from gatewright.tui.agents.strip_rows import clock, spent
from gatewright.tui.transcript.figures import count

RUNS = ("State", "Agents", "Live", "Asks", "Tokens", "Cost", "For", "Workflow", "Phase")
PHASES = ("Agents", "Live", "ok", "Failed", "Replayed", "Tokens", "Cost", "For", "Phase", "")
CALLS = ("State", "Model", "Tokens", "Cost", "For", "Agent", "Last")
RUN_STATES = ("running", "paused", "done", "failed", "stopped", "interrupted")
CALL_STATES = ("running", "asks", "waiting", "queued", "done", "failed", "replayed", "stopped")
ENDED = ("done", "failed", "replayed", "stopped")  # of those
OVER = ("done", "failed", "stopped", "interrupted")


def _number(value: int) -> str:
    return f"{value:,}" if value else ""


def _tokens(value: int) -> str:
    return count(value) if value else ""


def status(run: RunView) -> str:
    """One whose agents all wait for the person was paused by nobody."""
    return "asks" if run.status == "paused" and run.asks and run.asks == run.running else run.status


def run_choice(run: RunView) -> Choice:
    cells = (
        status(run),
        f"{run.done}/{run.total}",
        _number(run.running),
        _number(run.asks),
        _tokens(run.tokens),
        spent(run.cost),
        clock(run.seconds),
        run.title or run.name,
        run.phase if run.status not in OVER else run.why or run.description,
    )
    return Choice(run.id, run.name, cells=cells)


def phase_choice(phase: PhaseNow) -> Choice:
    ended = phase.ok + phase.failed + phase.replayed
    cells = (
        f"{ended}/{phase.total}",
        _number(phase.live),
        _number(phase.ok),
        _number(phase.failed),
        _number(phase.replayed),
        _tokens(phase.tokens),
        spent(phase.cost),
        clock(phase.seconds),
        phase.title or "(no phase)",
        "",
    )
    return Choice(phase.title, phase.title, cells=cells)


def phase_state(phase: PhaseNow) -> str:
    return "running" if phase.live else "failed" if phase.failed else "done"


def call_choice(call: CallNow) -> Choice:
    cells = (
        call.state,
        call.model.rpartition("/")[2],
        _tokens(call.tokens),
        spent(call.cost),
        clock(call.seconds) if call.seconds else "",
        call.label or f"agent {call.index}",
        f"{call.error}: {call.doing}".strip(": ") if call.error else call.doing,
    )
    return Choice(str(call.index), call.label, cells=cells)


def standing(run: RunView) -> str:
    """How a run stands, in a line."""
    parts = [status(run), f"{run.done} of {run.total} agents"]
    if run.running:
        parts.append(f"{run.running} live")
    if run.asks:
        parts.append(f"{run.asks} {'waits' if run.asks == 1 else 'wait'} for you")
    if run.failed:
        parts.append(f"{run.failed} failed")
    if run.replayed:
        parts.append(f"{run.replayed} replayed")
    if run.tokens:
        parts.append(f"{count(run.tokens)} tokens")
    if cost := spent(run.cost):
        parts.append(f"{cost} of {run.budget}" if run.budget else cost)
    parts.append(clock(run.seconds))
    return " · ".join(parts)
