"""Whether a model finds the right tool among two thousand: 200 written queries, kept as data."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import pytest

from gatewright.agent.context.tool_ranking import ranked
from gatewright.tools.protocol import ToolSpec

TABLE = Path(__file__).parent.parent / "tables" / "tool_queries.txt"
SERVERS, TOOLS = 50, 2_000
VERBS = ("get", "list", "create", "update", "delete", "archive", "export", "assign")
THINGS = (
    "campaign", "lead", "audience", "survey", "benefit", "payslip", "shift", "vacation", "asset",
    "shipment", "carrier", "pallet", "supplier", "batch", "recipe", "reservation", "room", "flight",
    "seat", "policy", "claim", "premium", "patient", "prescription", "appointment", "course",
    "lesson", "grade", "sensor", "meter", "turbine", "vehicle", "route_stop", "fare", "badge",
    "visitor", "donation", "volunteer", "chapter", "citation", "dataset", "model_run", "experiment",
    "feature_flag", "webhook", "api_key", "quota", "tenant", "certificate", "firewall_rule",
)  # fmt: skip
FIRMS = ("acme", "globex", "initech", "umbrella", "hooli", "wayne", "stark")


@lru_cache(maxsize=1)
def written() -> tuple[list[ToolSpec], list[tuple[str, str]]]:
    """The tools that are asked for, and each query with the name of its tool."""
    specs: list[ToolSpec] = []
    queries: list[tuple[str, str]] = []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        server, tool, text, *asked = (part.strip() for part in line.split("|"))
        name = f"mcp__{server}__{tool}"
        specs.append(ToolSpec(name, text, {"type": "object"}))
        queries += [(query, name) for query in asked]
    return specs, queries


@lru_cache(maxsize=1)
def crowd() -> Sequence[ToolSpec]:
    """Those, and others of the same make: the same verbs about other things."""
    specs, _ = written()
    others = [
        ToolSpec(
            f"mcp__{firm}_{thing}s__{verb}_{thing}",
            f"{verb.capitalize()} a {thing.replace('_', ' ')} in {firm}, by its id or name.",
            {"type": "object"},
        )
        for firm in FIRMS
        for thing in THINGS
        for verb in VERBS
    ]
    return (*specs, *others)[:TOOLS]


def test_the_right_one_of_two_thousand_is_found() -> None:
    _, queries = written()
    assert (len(queries), len(crowd())) == (200, TOOLS)
    ranks: list[int] = []
    missed: list[str] = []
    for query, name in queries:
        names = [spec.name for spec in ranked(query, crowd())[:5]]
        ranks.append(names.index(name) if name in names else 5)
        if name not in names:
            missed.append(f"{query}: {name}, not {names[:2]}")
    first, among = ranks.count(0) / len(ranks), sum(rank < 5 for rank in ranks) / len(ranks)
    assert among >= 0.95, "\n".join(missed)
    assert first >= 0.8


@pytest.mark.proof
def test_it_is_fast() -> None:
    specs = crowd()[:1_000]
    began = time.process_time()
    ranked("a query that nobody asked", specs)
    first = time.process_time() - began
    times: list[float] = []
    for query, _ in written()[1][:100]:
        began = time.process_time()
        ranked(query, specs)
        times.append(time.process_time() - began)
    assert sorted(times)[50] <= 0.010
    assert first <= 0.2  # of work; 60 ms where nothing else runs
