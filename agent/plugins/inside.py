"""Paths that a plugin names: they begin with ./ and stay inside of it, wherever links lead.

What does not is refused with the reason, never bent into something that would do.
"""

from __future__ import annotations

import os
from pathlib import Path

LEAD = "./"


class Outside(ValueError):
    """Why a path that a plugin names is not used."""


def inside(root: Path, text: str) -> Path:
    """The path below `root`, there or not. Raises Outside."""
    if not text.startswith(LEAD) and text != ".":
        raise Outside(f"{text!r} must begin with ./")
    if "\0" in text or "\\" in text:
        raise Outside(f"{text!r} holds a character that no path here has")
    parts = [part for part in text.split("/") if part not in ("", ".")]
    if ".git" in (part.casefold() for part in parts):
        raise Outside(f"{text!r} lies in the files of a repository itself")
    if ".." in parts:
        raise Outside(f"{text!r} leads out of the plugin")
    path = root.joinpath(*parts)
    if not stays(root, path):
        raise Outside(f"{text!r} leads out of the plugin by a link")
    return path


def stays(root: Path, path: Path) -> bool:
    """Whether the path is below `root` once all links are followed."""
    real, base = os.path.realpath(path), os.path.realpath(root)
    return real == base or real.startswith(f"{base}/")
