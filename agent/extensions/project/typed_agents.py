"""Agents whose answer is a value of a given shape, and nothing that they quote or say around it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from gatewright.agent.agents.joined import Joined
from gatewright.agent.agents.life import Life, Order
from gatewright.agent.autonomy.project.features import ProjectError
from gatewright.agent.extensions.agents.agent_tools import Agents
from gatewright.agent.extensions.contribution import part_of
from gatewright.agent.extensions.host import Host
from gatewright.agent.extensions.workflows.run_extension import WorkflowRuns
from gatewright.agent.extensions.workflows.shaped_answer import Answer
from gatewright.agent.session.writers import agents_folder
from gatewright.agent.workflows.tool_spec import answer_spec
from gatewright.permissions import modes
from gatewright.tools.access import MAIN, Where
from gatewright.tools.protocol import JsonObject, ToolFailure

SECONDS = 1800.0  # of one agent, however much it tries
GONE = 5.0
NONE = "There are no agents in this session, so nothing can be planned or verified: allow Agent."


class TypedAgents:
    """Opened through the crew of all others: seen, limited and stopped as any agent is."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._answers: dict[str, Answer] = {}  # by the path of who works

    @property
    def there(self) -> bool:
        return part_of(self._host.brought, Agents) is not None

    def answer_of(self, path: str) -> Answer | None:
        """What is waited for from that agent, here or in a workflow."""
        if (found := self._answers.get(path)) is not None:
            return found
        runs = part_of(self._host.brought, WorkflowRuns)
        return runs.session.workers.answer_of(path) if runs is not None and runs.session else None

    @property
    def waits(self) -> bool:
        return bool(self._answers)

    async def ask(self, kind: str, prompt: str, schema: JsonObject, about: str) -> Any:
        """The value that an agent of that kind gives. Raises ProjectError: it gave none."""
        if (agents := part_of(self._host.brought, Agents)) is None:
            raise ProjectError(NONE)
        session, answer = agents.opened(), Answer(schema)
        try:
            found = session.kind(kind, MAIN)
            await session.ready(found, MAIN)
            life = session.crew.start(
                Order(
                    id=session.crew.new_id(),
                    owner=MAIN,
                    parent=MAIN,
                    kind=found,
                    prompt=prompt,
                    source="program",
                    where=self._where(),
                    description=about,
                    model=session.model(found, "", MAIN),
                    joined=self._joined(answer, schema),
                ),
                attended=True,
            )
        except ToolFailure as failure:
            raise ProjectError(str(failure)) from None
        self._answers[life.path] = answer
        try:
            async with asyncio.timeout(SECONDS):
                await life.ended.wait()
        except TimeoutError:
            raise ProjectError(f"The agent {kind} took more than {SECONDS / 60:g} min.") from None
        finally:
            self._answers.pop(life.path, None)
            if life.running:
                session.crew.stop(life, "person")
                with suppress(TimeoutError):
                    async with asyncio.timeout(GONE):
                        await life.gone.wait()
            session.crew.left_alone(life)
        return _value(life, answer, kind)

    def _where(self) -> Where:
        main = self._host.session.agent(MAIN)
        assert main is not None
        return main.where

    def _joined(self, answer: Answer, schema: JsonObject) -> Joined:
        return Joined(
            leads=lambda above: (modes.for_child(above), False),
            folder=agents_folder(self._host.base),
            told=answer.told,
            schema=schema,
            answers_by=answer_spec(schema),
            missing=lambda life: answer.missing(life.said),
        )


def _value(life: Life, answer: Answer, kind: str) -> Any:
    end = life.end
    if end is not None and end.status == "completed" and answer.given:
        return answer.value
    if end is not None and end.status == "completed":
        raise ProjectError(f"The agent {kind} gave no valid answer: {answer.problem}.")
    why = (end.what if end is not None else "") or "it was stopped"
    raise ProjectError(f"The agent {kind} came to no answer: {why}")
