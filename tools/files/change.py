"""Replaces a file's bytes, all or none, only where and while they are what the caller saw."""

from __future__ import annotations

import errno
from pathlib import Path

from gatewright.tools.files import fs
from gatewright.tools.files.fs import settled
from gatewright.tools.files.near import missing
from gatewright.tools.protocol import ToolContext, ToolFailure
from gatewright.tools.system.exact import real_path
from gatewright.tools.textfiles import FileMoved


def change(path: Path, expected: bytes | None, data: bytes, ctx: ToolContext) -> None:
    """Write `data` to a file that still holds `expected` (None: there is none) and note it."""
    target = settled(path, ctx)
    try:
        fs.files_of(ctx).swap(target, expected, data)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR) and real_path(target) != str(target):
            raise ToolFailure(_moved(path)) from None
        raise ToolFailure(f"Cannot write {path}: {error.strerror}.") from None
    except FileMoved:
        raise ToolFailure(_moved(path)) from None
    ctx.ledger.note(path, data)


def changeable(path: Path, ctx: ToolContext) -> bytes:
    """The bytes of a file that is as the model has read it and can be written; else ToolFailure."""
    try:
        real = settled(path, ctx)
        old = fs.reading(real, ctx)
    except FileNotFoundError:
        raise missing(path, ctx) from None
    if reason := ctx.ledger.stale(path, old):
        raise ToolFailure(reason)
    fs.files_of(ctx).writable(real)
    return old


def _moved(path: Path) -> str:
    return f"{path} changed just now. Read it again before changing it."
