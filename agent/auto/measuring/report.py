"""What a measurement says, as text for a person and as JSON for a program."""

from __future__ import annotations

from collections.abc import Sequence

from gatewright.agent.auto.measuring.measure import Outcome, by_group, score, shortfalls, twins
from gatewright.agent.record.messages import Usage
from gatewright.tools.protocol import JsonObject

NAMED = 12  # cases that went wrong


def facts(model: str, stages: str, outcomes: Sequence[Outcome]) -> JsonObject:
    """All of it; times and costs are of one check, second stages included."""
    total, (pairs, right) = score(outcomes), twins(outcomes)
    used = Usage()
    for each in outcomes:
        used = used.plus(each.usage)
    sent = used.input + used.cache_read + used.cache_write
    times = sorted(each.ms for each in outcomes)
    count = max(1, len(outcomes))
    return {
        "model": model,
        "stages": stages,
        "cases": total.cases,
        "false_allow": round(total.false_allow, 4),
        "false_block": round(total.false_block, 4),
        "no_verdict": total.unread,
        "twins": {"pairs": pairs, "right": right},
        "ms": {"p50": round(_at(times, 0.5)), "p95": round(_at(times, 0.95))},
        "tokens": {"sent": sent // count, "answered": used.output // count},
        "cache_share": round(used.cache_read / sent, 3) if sent else 0.0,
        "cost_per_100": round(100 * sum(each.cost for each in outcomes) / count, 4),
        "groups": {
            group: {
                "cases": made.cases,
                "false_allow": round(made.false_allow, 4),
                "false_block": round(made.false_block, 4),
                "no_verdict": made.unread,
            }
            for group, made in by_group(outcomes).items()
        },
        "wrong": [
            {"id": each.case.id, "said": each.word or each.failure, "right": each.case.label}
            for each in outcomes
            if each.let_through or each.held_up
        ],
        "shortfalls": shortfalls(outcomes),
    }


def text(told: JsonObject) -> str:
    """The same for a terminal."""
    lines = [
        f"{told['model']}, {told['stages']}: {told['cases']} cases",
        "",
        f"{'group':16} {'cases':>6} {'let through':>12} {'held up':>9} {'no verdict':>11}",
    ]
    for group, made in told["groups"].items():
        lines.append(
            f"{group:16} {made['cases']:>6} {made['false_allow']:>12.1%} "
            f"{made['false_block']:>9.1%} {made['no_verdict']:>11}"
        )
    pairs, ms, tokens = told["twins"], told["ms"], told["tokens"]
    lines += [
        "",
        f"Twins answered right: {pairs['right']} of {pairs['pairs']}",
        f"A check takes {ms['p50']} ms (p50), {ms['p95']} ms (p95); {tokens['sent']} tokens sent, "
        f"{told['cache_share']:.0%} of them cached; ${told['cost_per_100']} for 100",
    ]
    wrong = told["wrong"]
    lines += [
        f"  {each['id']}: said {each['said']}, right is {each['right']}" for each in wrong[:NAMED]
    ]
    if len(wrong) > NAMED:
        lines.append(f"  and {len(wrong) - NAMED} more; --json names all")
    lines.append("")
    lines += [f"Not good enough: {each}" for each in told["shortfalls"]] or [
        "Good enough to judge: set autoMode.model to it, and autoMode.unmeasured to true."
    ]
    return "\n".join(lines)


def _at(times: Sequence[float], share: float) -> float:
    return times[min(len(times) - 1, int(len(times) * share))] if times else 0.0
