"""What is wrong with the path globs of the settings, in sentences for the person."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gatewright.permissions.sandbox.config import FileSettings


def problems(files: FileSettings) -> tuple[str, ...]:
    """One sentence each."""
    given = {
        "denyRead": files.deny_read,
        "denyWrite": files.deny_write,
        "allowRead": files.allow_read,
    }
    return tuple(
        f"sandbox.filesystem.{key}: '{text:.60}' {problem}; "
        + ("it is ignored." if key == "allowRead" else "all that it could be about counts.")
        for key, texts in given.items()
        for text in texts
        if (problem := _wrong(text))
    )


def _wrong(glob: str) -> str:
    if "{" not in glob and "[" not in glob:
        return ""
    from gatewright.permissions.sandbox.disk.globs import wrong  # noqa: PLC0415  lazy: few need it

    return wrong(glob)
