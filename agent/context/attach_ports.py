"""What attaching files to a message may use; what attaches them loads with the first one named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from gatewright.agent.context.readable import Readable
from gatewright.tools.protocol import Content
from gatewright.tools.textfiles import TextFiles


def nobodys(name: str) -> bool:
    """Every name is that of a file."""
    del name
    return False


class AttachPorts(msgspec.Struct, frozen=True):
    """`picture` gives an image as the model may get it, None for anything else."""

    picture: Callable[[bytes, Path], Content | None]
    note: Callable[[Path, bytes], None]  # the model has seen the whole file
    readable: Readable
    tell: Callable[[str], None]  # the person: what goes along, and what does not
    elsewhere: Callable[[str], bool] = nobodys  # what somebody else brings
    files: TextFiles | None = None  # an editor's buffers; without one the disk holds the text
