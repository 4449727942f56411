"""Whether there is an engine here, and where: found without loading it."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

LIBRARY = "_quickjs"
NONE = (
    "Workflows need the engine quickjs-ng, which has no build for this platform: there are some"
    " for Linux (x86_64, arm64) and macOS (arm64). Where there is one, install quickjs-ng."
)


def library() -> Path | None:
    """The engine's file."""
    spec = find_spec(LIBRARY)
    return Path(spec.origin) if spec is not None and spec.origin else None


def unavailable() -> str:
    """Why no workflow can run here; empty if they can."""
    return "" if library() is not None else NONE
