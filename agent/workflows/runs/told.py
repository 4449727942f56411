"""What is said of a run: as a job, in the notice of its end, and to front ends.

What agents wrote is data: nothing in it passes for words of this program.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from gatewright.agent.agents.inert_text import in_line, told_as_data
from gatewright.agent.record.events_of_workflows import (
    PhaseNow,
    WorkflowEnded,
    WorkflowProgressed,
    WorkflowStarted,
)
from gatewright.agent.text.money import dollars
from gatewright.agent.workflows.runs.call import LIVE
from gatewright.agent.workflows.runs.views import RunView

if TYPE_CHECKING:
    from gatewright.agent.workflows.runs.run import Run

RESULT = 30_000  # characters of a result that a model is told
NAMED = 20  # failed calls
CALLS = 64  # in one event
CUT = 2_000
LINES = 40  # of the log
AGAIN = (
    "To go on with it, in this or a later session, call Workflow with resumeFromRunId {id}: what "
    "is done is not done again."
)


def phases(run: Run) -> tuple[PhaseNow, ...]:
    """In the order of meta, then as they came."""
    found: dict[str, PhaseNow] = {
        phase.title: PhaseNow(phase.title) for phase in run.order.checked.meta.phases
    }
    first: dict[str, float] = {}
    last: dict[str, float] = {}
    now = run.now()
    for call in run.calls:
        title = call.called.phase
        known = found.get(title, PhaseNow(title))
        tokens, cost = call.used
        if call.began:
            first[title] = min(first.get(title, call.began), call.began)
            last[title] = max(last.get(title, 0.0), call.ended or now)
        found[title] = PhaseNow(
            title,
            total=known.total + 1,
            live=known.live + (call.state in LIVE),
            ok=known.ok + (call.state == "done"),
            failed=known.failed + (call.state in ("failed", "stopped")),
            replayed=known.replayed + (call.state == "replayed"),
            tokens=known.tokens + tokens,
            cost=known.cost + cost,
            seconds=last.get(title, 0.0) - first.get(title, 0.0),
        )
    return tuple(found.values())


def progressed(run: Run, changed: Sequence[int]) -> WorkflowProgressed:
    view = view_of(run)
    return WorkflowProgressed(
        run=run.id,
        name=run.name,
        status=view.status,
        phase=view.phase,
        total=view.total,
        done=view.done,
        live=view.running,
        failed=view.failed,
        replayed=view.replayed,
        asks=view.asks,
        tokens=view.tokens,
        cost=view.cost,
        seconds=view.seconds,
        phases=view.phases,
        calls=tuple(run.call_now(run.calls[index - 1]) for index in changed[:CALLS]),
    )


def view_of(run: Run) -> RunView:
    file, tokens_cost = run.order.file, run.money.spent
    states = [call.state for call in run.calls]
    return RunView(
        id=run.id,
        name=run.name,
        status=run.status_now,
        title=file.title,
        description=file.description,
        phases=phases(run),
        phase=run.phase,
        total=len(states),
        done=sum(call.over for call in run.calls),
        running=sum(state in LIVE for state in states),
        failed=sum(state in ("failed", "stopped") for state in states),
        replayed=states.count("replayed"),
        asks=run.asks,
        tokens=tokens_cost[0],
        usage=run.money.usage,
        cost=tokens_cost[1],
        seconds=run.seconds,
        began=run.order.began,
        why=run.why,
        result=run.result[:CUT],
        folder=run.order.folder,
        script_path=run.order.script,
        result_path=run.result_path,
        task=run.id,
        session=file.session,
        budget=run.money.allowed.words,
    )


def started(run: Run) -> WorkflowStarted:
    order, meta = run.order, run.order.checked.meta
    args = "" if not order.file.has_args else msgspec.json.encode(order.file.args).decode()
    return WorkflowStarted(
        run=run.id,
        name=run.name,
        task=run.id,
        call_id=order.call_id,
        title=order.file.title,
        description=meta.description,
        script=str(order.script),
        phases=tuple(phase.title for phase in meta.phases),
        args=args[:CUT],
        resumed=order.chosen is not None,
    )


def ended(run: Run) -> WorkflowEnded:
    ok, failed, replayed = counts(run)
    return WorkflowEnded(
        run=run.id,
        name=run.name,
        status=run.status_now,
        task=run.id,
        call_id=run.order.call_id,
        why=run.why,
        result=run.result[:CUT],
        script=str(run.order.script),
        ok=ok,
        failed=failed,
        replayed=replayed,
        usage=run.money.usage,
        cost=run.money.cost,
        ms=round(run.seconds * 1000),
    )


def counts(run: Run) -> tuple[int, int, int]:
    states = [call.state for call in run.calls]
    failed = states.count("failed") + states.count("stopped")
    return states.count("done"), failed, states.count("replayed")


def told_end(run: Run) -> str:
    """Status, result, who failed, what it used, and how to go on."""
    lines = [f"Status: {run.status_now}" + (f" ({in_line(run.why)})" if run.why else "")]
    if run.result:
        more = f"\n[cut here; all of it: {run.result_path}]" if len(run.result) > RESULT else ""
        lines += ["Result:", told_as_data(run.result[:RESULT]) + more]
    ok, failed, replayed = counts(run)
    lines.append(f"Agents: {ok} ok, {failed} failed, {replayed} replayed.{_failed(run)}")
    tokens, cost = run.money.spent
    lines.append(f"Used: {tokens:,} tokens, {run.seconds:.0f} s, {dollars(cost)}")
    lines.append(f"Script: {run.order.script}")
    if run.status_now != "done":
        lines.append(AGAIN.format(id=run.id))
    return "\n".join(lines)


def notice(run: Run) -> str:
    return f"Workflow {in_line(run.name)} (run {run.id}) has ended.\n{told_end(run)}"


def state(run: Run) -> str:
    """How it stands while it runs, for who asks."""
    view = view_of(run)
    lines = [f"{view.status}: {view.done} of {view.total} calls have ended, {view.running} at work"]
    for phase in view.phases:
        done = phase.ok + phase.failed + phase.replayed
        failed = f", {phase.failed} failed" if phase.failed else ""
        lines.append(f"- {in_line(phase.title) or 'without a phase'}: {done}/{phase.total}{failed}")
    return "\n".join(lines)


def _failed(run: Run) -> str:
    failed = [call for call in run.calls if call.state in ("failed", "stopped")]
    if not failed:
        return ""
    named = [f"{in_line(call.label)} ({call.kind}: {in_line(call.why)[:160]})" for call in failed]
    more = f"; and {len(failed) - NAMED} more" if len(failed) > NAMED else ""
    return f" Failed: {'; '.join(named[:NAMED])}{more}"
