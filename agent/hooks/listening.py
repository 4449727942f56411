"""Answers the moments of a session with what its hooks say."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from gatewright.agent.hooks.answered.merging import Ran, merged
from gatewright.agent.hooks.answered.words import LONGEST, NOTICE, TITLE, bounded, brief
from gatewright.agent.hooks.edits import Edits, with_edits
from gatewright.agent.hooks.engine import Engine
from gatewright.agent.hooks.events import END_BUDGET, END_MOST, ENDING
from gatewright.agent.hooks.inputs import Facts, Fields, Told, common, rule_of, told
from gatewright.agent.hooks.kinds.running import Firing
from gatewright.agent.record.events import AnyEvent, Noticed, TitleChanged
from gatewright.agent.text.printable import escaped
from gatewright.tools import moments as points
from gatewright.tools.access import MAIN, Access
from gatewright.tools.protocol import ToolCall
from gatewright.tools.system.untyped_json import items, obj

NOTHING = points.Verdict()
ENDS = ("deny", "stop")
STORED = ("localSettings", "userSettings")
KEPT_IN = ("session", *STORED)
ONLY_READS = "An agent of a hook reads and runs what changes nothing; answer with what you know."
RESPONDED = "The MCP server {server} has its answer: {action}."
ALONE = "defer counts in print mode, for a call that is the only one of its message."


def untold(kind: str, text: str) -> None:
    """Nobody is there to be told."""


class ListeningPorts(msgspec.Struct, frozen=True, kw_only=True):
    facts: Facts
    spill: Path
    publish: Callable[[AnyEvent, str], object]
    watch: Callable[[Sequence[str]], object]  # paths whose changes somebody wants to hear of
    judging: Callable[[str], bool] = lambda _: False  # whether that agent is one of a hook
    only_reads: Callable[[ToolCall, Access, str], bool]
    notify: Callable[[str, str], object] = untold  # hooks of Notification, by type and text


class Listening:
    """Implements `Moments`."""

    def __init__(self, engine: Engine, ports: ListeningPorts) -> None:
        self._engine = engine
        self._ports = ports
        self._edits = Edits()

    async def at(self, moment: points.Moment) -> points.Verdict:
        if self._ports.judging(moment.agent):
            return await self._of_judge(moment)
        verdict = await self._heard(moment)
        if isinstance(moment, points.Elicited):
            text = RESPONDED.format(server=moment.server, action=moment.action)
            self._ports.notify("elicitation_response", text)
        if isinstance(moment, points.CompactionEnded):
            begun = points.SessionStarts(agent=moment.agent, source="compact")
            more = await self._heard(begun)
            return replace(verdict, context=(*verdict.context, *more.context))
        stands_in = isinstance(moment, points.ModelChange) and moment.reason == "fallback"
        if stands_in and verdict.word not in ("deny", "stop"):  # it happens now
            fields = told(moment, self._ports.facts).fields
            runs = await self.fire(Told("PostModelSwitch", fields), moment.agent)
            more = await self._bounded(merged("PostModelSwitch", runs))
            return replace(verdict, context=more.context)
        return verdict

    async def _of_judge(self, moment: points.Moment) -> points.Verdict:
        """An agent that judges for a hook only reads; of that, others hear of its calls alone."""
        if not isinstance(moment, points.CallPrepared):
            return NOTHING
        if not self._ports.only_reads(moment.call, moment.access, moment.agent):
            return points.Verdict(word="deny", text=ONLY_READS)
        verdict = await self._heard(moment)
        word = "" if verdict.word == "allow" else verdict.word
        return replace(
            verdict, word=word, input=None, answers=False
        )  # what was judged is what runs

    async def _heard(self, moment: points.Moment) -> points.Verdict:
        verdict = await self._alone(moment)
        parts = self._edits.each(moment)
        if not parts:
            return verdict
        said: list[points.Verdict] = []
        for part in parts:
            last = said[-1] if said else verdict
            if last.word in ENDS and not isinstance(moment, points.CallEnded):
                break  # it does not run any more
            said.append(await self._alone(part))
        return with_edits(verdict, said, len(parts))

    async def _alone(self, moment: points.Moment) -> points.Verdict:
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
        lone = isinstance(moment, points.CallPrepared) and moment.lone
        runs = await self.fire(meant, moment.agent, access=access, within=within, lone=lone)
        if not runs:
            return NOTHING
        if not facts.defers(moment.agent):
            runs = tuple(map(self._at_once, runs))
        return await self._verdict(moment, meant.event, runs)

    async def fire(
        self,
        meant: Told,
        agent: str = MAIN,
        *,
        access: Access | None = None,
        within: float | None = None,
        lone: bool = False,
    ) -> tuple[Ran, ...]:
        """Of any event, also those that only a fold knows."""
        facts = self._ports.facts
        input: Fields = {**common(meant.event, agent, facts), **meant.fields}
        firing = Firing.of(meant.event, input, cwd=facts.cwd(agent), agent=agent)
        firing = replace(firing, call=meant.call, access=access, lone=lone)
        runs = await self._engine.fire(firing, within=within)
        self._effects(runs, agent)
        return runs

    def _budget(self) -> float:
        """All of them together; raised to the longest limit that somebody wrote down."""
        written = [one.timeout for one in self._engine.book.by_event[ENDING] if one.explicit]
        return min(max([END_BUDGET, *written]), END_MOST)

    def _at_once(self, run: Ran) -> Ran:
        """Without the word that puts a call off: here nobody could come back to it."""
        if run.answer.word != "defer":
            return run
        self._ports.publish(Noticed(text=escaped(f"{run.handler.name}: {ALONE}")), MAIN)
        return replace(run, answer=replace(run.answer, word=""))

    async def _verdict(
        self, moment: points.Moment, event: str, runs: Sequence[Ran]
    ) -> points.Verdict:
        verdict = replace(await self._bounded(merged(event, runs)), notice="")
        match moment:
            case points.PersonNeeded(suggestions=offered):
                return of_request(verdict, runs, offered)
            case points.SessionStarts():
                said = _first(run.answer.parts.get("initialUserMessage", "") for run in runs)
                input = {"prompt": said} if said.strip() and self._ports.facts.printing else None
                return replace(verdict, word="", text="", input=input)
            case points.SessionEnds() | points.CallDenied():
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
                self._ports.publish(Noticed(text=brief(run.answer.notice, NOTICE)), agent)
            title = run.answer.parts.get("sessionTitle")
            if isinstance(title, str) and title.strip():
                title = brief(" ".join(title.split()), TITLE)
                self._ports.publish(TitleChanged(title=title), MAIN)
            if "watchPaths" in run.answer.parts:
                paths = items(run.answer.parts["watchPaths"])
                self._ports.watch([each for each in paths if isinstance(each, str)])


def of_request(
    verdict: points.Verdict, runs: Sequence[Ran], offered: Sequence[str]
) -> points.Verdict:
    """Who answers in a person's place may keep what the prompt could offer, and nothing more."""
    if verdict.word == "deny" and any(_decision(run).get("interrupt") is True for run in runs):
        return replace(verdict, word="stop")
    if verdict.word != "allow":
        return verdict
    updates = [each for run in runs if run.word == "allow" for each in _updates(run)]
    return replace(
        verdict,
        always=tuple(rule for rule in _rules(updates, STORED) if rule in offered),
        session=tuple(rule for rule in _rules(updates, ("session",)) if rule in offered),
        mode=_first(str(each.get("mode", "")) for each in updates if each["type"] == "setMode"),
    )


def _first(texts: Iterable[str]) -> str:
    return next(filter(None, texts), "")


def _decision(run: Ran) -> dict[str, Any]:
    return obj(run.answer.parts.get("decision"))


def _updates(run: Ran) -> list[dict[str, Any]]:
    """What it says is to be kept; nothing of that goes where a project's files are shared."""
    each = map(obj, items(_decision(run).get("updatedPermissions")))
    usual = {"type": "", "destination": "session"}
    return [found for one in each if (found := usual | one)["destination"] in KEPT_IN]


def _rules(updates: Sequence[dict[str, Any]], kept: Sequence[str]) -> Iterator[str]:
    for each in updates:
        added = each["type"] == "addRules" and each.get("behavior", "allow") == "allow"
        if added and each["destination"] in kept:
            yield from (rule_of(obj(rule)) for rule in items(each.get("rules")))
