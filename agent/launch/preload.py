"""Import slow packages in a thread while something else is waited for."""

from __future__ import annotations

import contextlib
import importlib
import threading
from collections.abc import Sequence


def preload(modules: Sequence[str]) -> threading.Thread:
    """Start importing; whoever needs one of them earlier waits for Python's import lock."""
    thread = threading.Thread(target=import_all, args=(modules,), name="preload", daemon=True)
    thread.start()
    return thread


def import_all(modules: Sequence[str]) -> None:
    """In order. A module that cannot be imported is left to whoever really needs it."""
    for name in modules:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
