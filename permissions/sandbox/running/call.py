"""One confined call: its requests go through the sandbox, its result says what came of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from gatewright.permissions.sandbox.naming import spelled
from gatewright.permissions.sandbox.port import CLOSED, Opening
from gatewright.tools.protocol import SpawnRequest, TextContent, ToolResult

if TYPE_CHECKING:
    from gatewright.permissions.sandbox.confinement import Sandbox


class Call:
    """One confined call; implements the port's ConfinedCall."""

    def __init__(
        self,
        box: Sandbox,
        tell: Callable[[list[str]], None],
        command: str,
        *,
        may_leave: bool,
        opening: Opening = CLOSED,
    ) -> None:
        self._box = box
        self.within = ""  # the work tree that the caller is in
        self._opening = opening
        self._command = command
        self._tell = tell
        self._may_leave = may_leave
        self._told: list[str] = []

    def confine(self, request: SpawnRequest) -> SpawnRequest:
        from gatewright.permissions.sandbox.profile import Wider  # noqa: PLC0415  loaded with the box

        wider = Wider(tree=self.within)
        return self._box.confine(request, self._tell, self._opening, self._command, wider=wider)

    def hear(self, text: str) -> None:
        """The proxy refused something while this call ran."""
        if text not in self._told and len(self._told) < 8:
            self._told.append(text)

    def explained(self, result: ToolResult) -> ToolResult:
        from gatewright.permissions.sandbox.violations import likely, note  # noqa: PLC0415  with the box

        code = result.data.get("exitCode")
        output = str(result.data.get("stdout", ""))
        notes = self._told
        causes = likely(output, code if isinstance(code, int) else None)
        if causes:
            notes = [*notes, note(causes, may_leave=self._may_leave)]
        return noted(result, (*notes, *self._own(output, code if isinstance(code, int) else None)))

    def _own(self, output: str, code: int | None) -> list[str]:
        """That it has some places for itself: once in a session, and where it failed."""
        hints = self._box.private_places(self._command, output, code)
        told = self._box.hinted
        fresh = [text for text in hints if code or text not in told]
        told.update(fresh)
        return fresh


def noted(result: ToolResult, notes: Sequence[str]) -> ToolResult:
    """The result with what the sandbox has to say, for the model."""
    if not notes:
        return result
    text = "\n".join(f"[sandbox: {spelled(each)}]" for each in notes)
    return ToolResult(
        ok=result.ok,
        content=(*result.content, TextContent(text)),
        view=result.view,
        data=result.data,
        summary=result.summary,
        ends_turn=result.ends_turn,
        cap=result.cap,
    )
