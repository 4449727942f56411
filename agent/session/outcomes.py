"""Applies what commands and choices lead to: whatever a front end shows has happened already."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import assert_never

import msgspec

from gatewright.agent.commands.outcome import (
    Change,
    ClearHistory,
    Operation,
    Outcome,
    Problem,
    Say,
    Scope,
    SetEffort,
    SetMode,
    SetModel,
    SetUi,
    Submit,
    Switch,
)
from gatewright.agent.commands.registry import Front
from gatewright.agent.errors import GatewrightError
from gatewright.agent.models.in_use import Models
from gatewright.agent.record.events import AnyEvent, Cleared, EffortChanged, ModelChanged
from gatewright.agent.workflows.opting_in import OptIn
from gatewright.tools.access import Where

BUSY = "Interrupt the running turn first (Esc)."


class Outcomes(msgspec.Struct, frozen=True, kw_only=True):
    """Made of what of the session outcomes change."""

    models: Models
    publish: Callable[[AnyEvent], None]
    set_mode: Callable[[str], str]  # raises ValueError naming the valid ones
    submit: Callable[[str, Scope | None], object]
    facts: Callable[[], tuple[bool, Where]]  # whether it is busy, and from where paths are told
    kept_from: Callable[[str, str], Awaitable[str]] | None  # why one model does not follow another
    opting: Callable[[], OptIn | None]  # in to whatever workflows the model begins

    async def apply(self, outcome: Outcome, front: Front) -> Outcome:
        """What a front end has to show of it, or to do."""
        from gatewright.agent.session.status.paths_told import as_read  # noqa: PLC0415  lazy: 1 ms

        self.models.forget()  # a command may have changed what the model is to be told
        busy, where = self.facts()
        if isinstance(outcome, Change):
            outcome = _told(outcome, await self._change(outcome))
        match outcome:
            case Submit(text=text, scope=scope) if not front.asks:
                self.submit(text, scope)
            case Switch() if busy:
                return Problem.of(BUSY)
            case _:
                pass
        return as_read(outcome, where)

    async def _change(self, change: Change) -> Outcome:
        operation: Operation = change.operation
        models = self.models
        match operation:
            case SetMode(mode=name, then=then):
                try:
                    said = Say.text(f"Mode: {self.set_mode(name)}")
                except ValueError as error:
                    return Problem.of(str(error))
                return Submit(then) if then else said
            case SetModel(model=name):
                return await self._change_model(name, models.effort)
            case SetEffort(effort=effort, ultracode=ultracode):
                done = await self._change_model(models.name, effort)
                if not isinstance(done, Problem) and not ultracode:  # that is kept nowhere
                    self.publish(EffortChanged(effort=effort))
                if not isinstance(done, Problem) and (opting := self.opting()) is not None:
                    opting.switch(ultracode)
                return done
            case ClearHistory():
                if self.facts()[0]:
                    return Problem.of(BUSY)
                self.publish(Cleared())
                return change
            case SetUi():
                return change
            case _:
                assert_never(operation)

    async def _change_model(self, name: str, effort: str) -> Outcome:
        models = self.models
        before = models.name
        kept_from = self.kept_from
        if kept_from is not None and (why := await kept_from(before, name)):
            return Problem.of(why)
        try:
            opened = await models.change(name, effort)
        except GatewrightError as error:
            return Problem.of(str(error))
        if opened.name != before:
            self.publish(ModelChanged(model=opened.name))
        said = f" ({opened.frame.effort} effort)" if opened.frame.effort else ""
        which = f", now {opened.frame.model}" if opened.by_mode else ""
        note = models.note(opened) or (opened.aside if opened.name != before else "")
        return Say.text("\n".join(filter(None, [f"Model: {opened.name}{which}{said}", note])))


def _told(change: Change, done: Outcome) -> Outcome:
    """What was said before the change stands before what it says itself."""
    if change.said and isinstance(done, Say):
        return msgspec.structs.replace(done, blocks=(*change.said, *done.blocks))
    return done
