"""Where the transcripts of a directory live."""

from __future__ import annotations

import hashlib
from pathlib import Path

from gatewright.tools.system.patterns import later

NAME_LIMIT = 200
_UNSAFE = later(r"[^A-Za-z0-9]")


def project_folder(state: Path, cwd: Path) -> Path:
    """One folder per working directory, with a name a person recognises."""
    text = str(cwd)
    name = _UNSAFE.sub("-", text)
    if len(name) > NAME_LIMIT:
        digest = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
        name = f"{name[:NAME_LIMIT]}-{digest}"
    return state / "projects" / name


def transcript_file(folder: Path, session: str) -> Path:
    return folder / f"{session}.jsonl"
