"""FeatureUpdate: the model notes facts of a feature and says what cannot be done, never what is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec
from msgspec.structs import replace

from gatewright.agent.autonomy.project.features import NOTE, ProjectError, noted
from gatewright.agent.autonomy.project.spec import UPDATE
from gatewright.agent.extensions.project.project_session import ProjectSession
from gatewright.tools.access import MAIN, Effect, Row, Where
from gatewright.tools.plain import StructTool
from gatewright.tools.protocol import Run, ToolContext, ToolFailure, ToolResult

NOT_MAIN = "Only the main agent of a session says something of the project's features."


class UpdateInput(msgspec.Struct, frozen=True):
    id: str
    note: str = ""
    state: Literal["", "pending", "blocked"] = ""


class FeatureUpdate(StructTool[UpdateInput]):
    name, input, effects = UPDATE, UpdateInput, Effect.FREE
    row = Row("free", "id")

    def __init__(self, opened: Callable[[], ProjectSession]) -> None:
        self._opened = opened

    def title(self, input: UpdateInput, where: Where) -> tuple[str, str]:
        del where
        return "Feature", f"{input.id} {input.state or 'note'}"

    async def run(self, input: UpdateInput, ctx: ToolContext) -> Run:
        if ctx.agent != MAIN:
            raise ToolFailure(NOT_MAIN)
        try:
            text = self._changed(input)
        except ProjectError as error:
            raise ToolFailure(str(error)) from None
        yield ToolResult.text(text, summary=input.state or "noted")

    def _changed(self, input: UpdateInput) -> str:
        session = self._opened()
        file, note = session.file, input.note.strip()
        feature = file.read().find(input.id)
        if len(note) > NOTE:
            raise ProjectError(f"A note has {NOTE:,} characters at most: say what matters later.")
        if not note and not input.state:
            raise ProjectError("Say a note, or a state.")
        if input.state and feature.state == "done":
            raise ProjectError(f"{feature.id} is done, and only the person takes that back.")
        run = session.run if session.running else None
        at = run.at.id if run is not None and run.at is not None else ""
        if input.state and at and (input.state != "blocked" or feature.id != at):
            raise ProjectError(f"Now {at} is worked on: only that can be said to be blocked.")
        if input.state == "blocked" and not note:
            raise ProjectError("Say in the note why it cannot be done.")
        made = replace(feature, note=noted(feature.note, note))
        file.put(replace(made, state=input.state) if input.state else made)
        return f"{feature.id} is {input.state}." if input.state else f"Noted for {feature.id}."
