"""What a client brings to the session it opens, beside the words of a command line."""

from __future__ import annotations

from dataclasses import dataclass

from gatewright.tools.textfiles import TextFiles


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    files: TextFiles | None = None  # an editor's buffers; without one the disk holds the text


NOTHING = Brought()
