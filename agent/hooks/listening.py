"""Answers the moments of a session with what its hooks say."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from gatewright.agent.frontends.untyped_json import items, obj
from gatewright.agent.hooks.answered.merging import Ran, merged
from gatewright.agent.hooks.answered.words import LONGEST, bounded
from gatewright.agent.hooks.engine import Engine
from gatewright.agent.hooks.events import END_BUDGET, END_MOST, ENDING, EVENTS
from gatewright.agent.hooks.inputs import Facts, Fields, Told, common, rule_of, told
from gatewright.agent.hooks.kinds.running import Firing
from gatewright.agent.record.events import AnyEvent, Noticed, TitleChanged
from gatewright.tools import moments as points
from gatewright.tools.access import MAIN, Access

NOTHING = points.Verdict()


class ListeningPorts(msgspec.Struct, frozen=True, kw_only=True):
    facts: Facts
    spill: Path
    publish: Callable[[AnyEvent, str], object]
    watch: Callable[[Sequence[str]], object]  # paths whose changes somebody wants to hear of


class Listening:
    """Implements `Moments`."""

    def __init__(self, engine: Engine, ports: ListeningPorts) -> None:
        self._engine = engine
        self._ports = ports

    async def at(self, moment: points.Moment) -> points.Verdict:
        verdict = await self._heard(moment)
        if isinstance(moment, points.CompactionEnded):
            begun = points.SessionStarts(agent=moment.agent, source="compact")
            more = await self._heard(begun)
            return replace(verdict, context=(*verdict.context, *more.context))
        return verdict

    async def _heard(self, moment: points.Moment) -> points.Verdict:
        engine, facts = self._engine, self._ports.facts
        if not engine.book.by_event:
            return NOTHING
        meant = told(moment, facts)
        if not engine.hears(meant.event):
            return NOTHING
        access = (
            moment.access if isinstance(moment, points.CallPrepared | points.PersonNeeded) else None
        )
        within = self._budget() if meant.event == ENDING else None
        runs = await self.fire(meant, moment.agent, access=access, within=within)
        return await self._verdict(moment, meant.event, runs) if runs else NOTHING

    async def fire(
        self,
        meant: Told,
        agent: str = MAIN,
        *,
        access: Access | None = None,
        within: float | None = None,
    ) -> tuple[Ran, ...]:
        """Of any event, also those that only a fold knows."""
        facts = self._ports.facts
        input: Fields = {**common(meant.event, agent, facts), **meant.fields}
        matched = EVENTS[meant.event].matches
        firing = Firing(
            event=meant.event,
            input=input,
            data=msgspec.json.encode(input) + b"\n",
            value=str(input.get(matched, "")) if matched else "",
            agent=agent,
            cwd=facts.cwd(agent),
            call=meant.call,
            access=access,
        )
        runs = await self._engine.fire(firing, within=within)
        self._effects(runs, agent)
        return runs

    def _budget(self) -> float:
        """All of them together; raised to the longest limit that somebody wrote down."""
        written = [one.timeout for one in self._engine.book.by_event[ENDING] if one.explicit]
        return min(max([END_BUDGET, *written]), END_MOST)

    async def _verdict(
        self, moment: points.Moment, event: str, runs: Sequence[Ran]
    ) -> points.Verdict:
        verdict = replace(await self._bounded(merged(event, runs)), notice="")
        match moment:
            case points.PersonNeeded(suggestions=offered):
                return _of_request(verdict, runs, offered)
            case points.SessionStarts() | points.SessionEnds() | points.CallDenied():
                return replace(verdict, word="", text="")
            case _:
                return verdict

    async def _bounded(self, verdict: points.Verdict) -> points.Verdict:
        texts = (verdict.text, *verdict.context)
        if all(len(text) <= LONGEST for text in texts):
            return verdict
        first, *rest = await asyncio.to_thread(self._kept, texts)
        return replace(verdict, text=first, context=tuple(rest))

    def _kept(self, texts: Sequence[str]) -> list[str]:
        return [bounded(text, self._ports.spill) for text in texts]

    def _effects(self, runs: Sequence[Ran], agent: str) -> None:
        """What needs nobody else: words for the person, a title, files to watch."""
        for run in runs:
            if run.answer.notice:
                self._ports.publish(Noticed(text=run.answer.notice), agent)
            title = run.answer.parts.get("sessionTitle")
            if isinstance(title, str) and title.strip():
                self._ports.publish(TitleChanged(title=" ".join(title.split())), MAIN)
            if "watchPaths" in run.answer.parts:
                paths = items(run.answer.parts["watchPaths"])
                self._ports.watch([each for each in paths if isinstance(each, str)])


def _of_request(
    verdict: points.Verdict, runs: Sequence[Ran], offered: Sequence[str]
) -> points.Verdict:
    """Who answers in a person's place may keep what the prompt could offer, and nothing more."""
    if verdict.word == "deny" and any(_decision(run).get("interrupt") is True for run in runs):
        return replace(verdict, word="stop")
    if verdict.word != "allow":
        return verdict
    rules = [rule for run in runs for rule in _rules(_decision(run))]
    return replace(verdict, always=tuple(rule for rule in rules if rule in offered))


def _decision(run: Ran) -> dict[str, Any]:
    return obj(run.answer.parts.get("decision"))


def _rules(decision: dict[str, Any]) -> list[str]:
    updates = map(obj, items(decision.get("updatedPermissions")))
    added = (each for each in updates if each.get("type") == "addRules")
    return [rule_of(obj(rule)) for each in added for rule in items(each.get("rules"))]
