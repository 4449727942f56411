"""What the end of a script is called, and why it came to it."""

from __future__ import annotations

import asyncio
import logging

from gatewright.agent.workflows.engine import wire

log = logging.getLogger(__name__)


def end_of(script: asyncio.Future[wire.Ended]) -> wire.Ended:
    if script.cancelled() or not script.done():
        return wire.Ended(kind="error", message="Stopped.")
    if (defect := script.exception()) is not None:
        return wire.Ended(kind="error", message=broken(defect))
    return script.result()


def broken(defect: BaseException) -> str:
    """A disk that takes nothing more is no defect of ours."""
    if isinstance(defect, OSError):
        return f"The journal of the run cannot be written: {defect.strerror or defect}."
    log.error("a workflow crashed", exc_info=defect)
    return "An internal error ended it; see ~/.gatewright/logs/errors.log."


def why_of(ended: wire.Ended) -> str:
    where = f" (line {ended.line})" if ended.line else ""
    kind = "" if ended.kind in ("error", "syntax") else f"{ended.kind}: "
    return f"{kind}{ended.message}{where}"
