"""Part of the composition: how a file that no tool call reads is judged, and how it is shown."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from gatewright.agent.context.readable import Readable, Verdict
from gatewright.permissions.decision import Allow, Deny
from gatewright.permissions.policy import Policy
from gatewright.tools.access import Where
from gatewright.tools.protocol import Content, ToolFailure


def readable_by(policy: Policy, where: Callable[[], Where]) -> Readable:
    """Judges by the rules as they are at that moment."""

    def judge(path: Path, real: Path) -> Verdict:
        from gatewright.permissions.readable import read_decision  # noqa: PLC0415  lazy: 3 ms

        decision = read_decision(policy, where(), path, real)
        reason = decision.reason
        why = f"{reason.rule} in the {reason.source} rules" if reason.rule else reason.text
        if isinstance(decision, Allow):
            return Verdict("yes")
        return Verdict("denied" if isinstance(decision, Deny) else "asks", why)

    return Readable(judge)


def pictures() -> Callable[[bytes, Path], Content | None]:
    """Asked in a thread, answered by a process that this loop looks after."""
    loop = asyncio.get_running_loop()

    def picture(data: bytes, path: Path) -> Content | None:
        from gatewright.tools.documents import child_process as documents  # noqa: PLC0415  lazy: 3 ms
        from gatewright.tools.documents.picture import image_type  # noqa: PLC0415  lazy: 1 ms
        from gatewright.tools.system.processes import spawn  # noqa: PLC0415  lazy: 1 ms

        if not image_type(data[:16]):
            return None
        work = documents.picture(data, str(path), spawn)
        try:
            return asyncio.run_coroutine_threadsafe(work, loop).result()[0]
        except ToolFailure:  # a damaged image is attached as any other file
            return None

    return picture
