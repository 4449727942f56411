"""Events to which nobody answers: what happened in a session is told to hooks as it is published.

Nothing waits for these; what they say reaches the person, and a watch list. Ended with the session.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import msgspec

from gatewright.agent.errors import FailureKind
from gatewright.agent.hooks.engine import Engine
from gatewright.agent.hooks.inputs import Fields, Told
from gatewright.agent.hooks.listening import Listening
from gatewright.agent.record.events import (
    AgentFinished,
    Answered,
    Asked,
    DiagnosticsTold,
    Envelope,
    InstructionsLoaded,
    ModelChanged,
    Moved,
    Noticed,
    TurnEnded,
    TurnStarted,
)
from gatewright.agent.turn.stop import Stop
from gatewright.tools.access import MAIN
from gatewright.tools.interact import ELICITATION

ASKED_AFTER, IDLE_AFTER = 6.0, 60.0  # seconds until a person is called
ERRORS = {
    FailureKind.AUTH: "authentication_failed",
    FailureKind.QUOTA: "billing_error",
    FailureKind.RATE: "rate_limit",
    FailureKind.OVERLOADED: "overloaded",
    FailureKind.TOO_LONG: "invalid_request",
    FailureKind.REFUSED: "invalid_request",
    FailureKind.NO_MODEL: "model_not_found",
    FailureKind.TRANSPORT: "server_error",
}
OUTPUT_LIMIT = "output limit"
MEMORY = {"user": "User", "local": "Local"}
NEEDS = {
    "permission": "permission_prompt",
    "trust": "permission_prompt",
    ELICITATION: "elicitation_dialog",
}


class FollowingPorts(msgspec.Struct, frozen=True, kw_only=True):
    cwd: Callable[[str], Path]  # before the event is folded
    said: Callable[[str], str]
    later: Callable[[float, Callable[[], None]], asyncio.TimerHandle]
    judging: Callable[[str], bool] = lambda _: False  # whether that agent is one of a hook


class Following:
    """A fold; it must be called before that which knows the directory."""

    def __init__(self, engine: Engine, listening: Listening, ports: FollowingPorts) -> None:
        self._engine, self._listening, self._ports = engine, listening, ports
        self._model = ""
        self._timers: dict[object, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[object]] = set()

    def saw(self, envelope: Envelope) -> None:
        if not self._ports.judging(envelope.agent):
            self._saw(envelope)

    def _saw(self, envelope: Envelope) -> None:  # noqa: C901  one case each
        match envelope.event:
            case Asked() | Answered() as event:
                self._asking(event)
            case TurnStarted() if envelope.agent == MAIN:
                self._let_be("idle")
            case TurnEnded() as ended:
                self._ended(ended, envelope.agent)
            case Noticed(about=kind, text=text) if kind:
                self.notify(kind, text)
            case DiagnosticsTold(text=text):
                self.notify("diagnostics", text)
            case AgentFinished(child=child, report=report) if not self._ports.judging(child):
                self.notify("agent_completed", report or f"{child} is done")
            case Moved():
                old = str(self._ports.cwd(envelope.agent))
                asyncio.get_running_loop().call_soon(self._moved, envelope.agent, old)
            case ModelChanged(model=model) if envelope.agent == MAIN:
                before, self._model = self._model, model
                if before:
                    fields = {"old_model": before, "new_model": model, "reason": "user"}
                    self.tell("PostModelSwitch", fields)
            case InstructionsLoaded() as loaded:
                self.tell("InstructionsLoaded", _instructions(loaded), envelope.agent)
            case _:
                pass

    def _asking(self, event: Asked | Answered) -> None:
        match event:
            case Asked(id=id, ask=ask):
                kind = NEEDS.get(ask.kind, "agent_needs_input")
                self._timed(("ask", id), ASKED_AFTER, kind, ask.title)
            case Answered(id=id):
                self._let_be(("ask", id))

    def tell(self, event: str, fields: Fields, agent: str = MAIN) -> None:
        """Fire it beside whatever goes on."""
        if not self._engine.hears(event):
            return
        self._behind(self._fired(Told(event, fields), agent), event)

    async def _fired(self, told: Told, agent: str) -> None:
        for run in await self._listening.fire(told, agent):
            self._engine.pass_on(run, agent, run.answer.context)

    def _behind(self, work: Coroutine[Any, Any, object], name: str) -> None:
        task = asyncio.create_task(work, name=f"hooks of {name}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=1.0)

    def _ended(self, ended: TurnEnded, agent: str) -> None:
        if agent == MAIN:
            self._timed("idle", IDLE_AFTER, "idle_prompt", "The agent waits for your input.")
        if ended.failure is None and OUTPUT_LIMIT not in ended.message:
            return
        kind = "max_output_tokens" if ended.failure is None else _error(ended)
        fields: dict[str, Any] = {
            "error": kind,
            "error_details": ended.message,
            "last_assistant_message": self._ports.said(agent),
        }
        self.tell("StopFailure", fields, agent)

    def _moved(self, agent: str, old: str) -> None:
        new = str(self._ports.cwd(agent))
        if new != old:
            self.tell("CwdChanged", {"old_cwd": old, "new_cwd": new}, agent)

    def _timed(self, key: object, seconds: float, kind: str, message: str) -> None:
        self._let_be(key)
        if self._engine.hears("Notification"):
            self._timers[key] = self._ports.later(seconds, lambda: self._due(key, kind, message))

    def _due(self, key: object, kind: str, message: str) -> None:
        self._timers.pop(key, None)
        self.notify(kind, message)

    def notify(self, kind: str, message: str) -> None:
        fields = {"title": "Gatewright", "message": message, "notification_type": kind}
        self.tell("Notification", fields)

    def _let_be(self, key: object) -> None:
        if (timer := self._timers.pop(key, None)) is not None:
            timer.cancel()


def _instructions(loaded: InstructionsLoaded) -> Fields:
    found: Fields = {
        "file_path": loaded.path,
        "memory_type": MEMORY.get(loaded.kind, "Project"),
        "load_reason": loaded.reason,
    }
    more = {
        "globs": list(loaded.globs),
        "trigger_file_path": loaded.trigger,
        "parent_file_path": loaded.parent,
    }
    return found | {name: value for name, value in more.items() if value}


def _error(ended: TurnEnded) -> str:
    if ended.stop is Stop.COMPLETED or ended.failure is None:
        return "unknown"
    return ERRORS.get(ended.failure, "unknown")
