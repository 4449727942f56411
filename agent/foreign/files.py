"""`fs/*` of another agent: calls of Read and Write."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from gatewright.agent.foreign.calls import Calls
from gatewright.agent.foreign.kept_text import KeptText
from gatewright.agent.foreign.said import ReadFile, WriteFile
from gatewright.agent.frontends.acp.jsonrpc import BAD_PARAMS, DEFECT, NOT_FOUND, RpcError
from gatewright.tools.protocol import ToolContext
from gatewright.tools.system.untyped_json import Json
from gatewright.tools.textfiles import TextFiles

READ, WRITE = "Read", "Write"
NOTEBOOK = ".ipynb"
NO_TEXT = "{} is no text of at most 8 MB: ask for lines of it, or run a command."


class Files:
    """`disk` holds files where the session's client holds none; `decoded` raises ToolFailure."""

    def __init__(self, disk: TextFiles, decoded: Callable[[bytes], str]) -> None:
        self._disk, self._decoded = disk, decoded

    async def read(self, calls: Calls, asked: ReadFile) -> Json:
        kept: list[KeptText] = []

        def around(ctx: ToolContext) -> ToolContext:
            kept.append(KeptText(ctx.files or self._disk))
            return msgspec.structs.replace(ctx, files=kept[-1])

        first, most = max(1, asked.line or 1), asked.limit
        given: dict[str, object] = {"file_path": asked.path}
        if asked.line or asked.path.endswith(NOTEBOOK):  # of that the text, and not its cells
            given["offset"] = first
        if most is not None and most > 0:
            given["limit"] = most
        done = await calls.run(READ, given, around)
        held = kept[-1] if kept else None
        if not done.result.ok or held is None:
            missing = held is not None and held.missing
            raise RpcError(NOT_FOUND if missing else DEFECT, done.text)
        if done.instead is not None:
            return {"content": done.instead}
        if done.result.data.get("type") not in ("text", "file_unchanged") or held.data is None:
            raise RpcError(BAD_PARAMS, NO_TEXT.format(asked.path))
        return {"content": _part(self._decoded(held.data), first, most)}

    async def write(self, calls: Calls, asked: WriteFile) -> None:
        done = await calls.run(WRITE, {"file_path": asked.path, "content": asked.content})
        if not done.result.ok:
            raise RpcError(DEFECT, done.text)


def _part(text: str, first: int, most: int | None) -> str:
    if first == 1 and most is None:
        return text
    lines = text.splitlines(keepends=True)[first - 1 :]
    return "".join(lines if most is None else lines[: max(0, most)])
