"""Ctrl+Z: back to the shell that started the program, whole and waiting for `fg`."""

from __future__ import annotations

import os


def shell_waits() -> bool:
    """Whether a shell would get the terminal: without one nobody could ever wake us."""
    parent = os.getppid()
    try:
        return os.getsid(parent) == os.getsid(0) and os.getpgid(parent) != os.getpgrp()
    except OSError:
        return False
