"""What the built-in workflows say of themselves, as data: listing them parses nothing.

`python -m gatewright.agent.workflows.saved.bundled` writes it, and a test says when it is old.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import msgspec

from gatewright.agent.workflows.saved.script_places import BUILT_IN, SUFFIX
from gatewright.agent.workflows.script.checked import Meta

DATA = Path(__file__).with_suffix(".json")


# What the yes to one covers besides the launch, since its whole work is that.
ALLOWS = {"deep-research": ("WebSearch", "WebFetch")}


class Bundled(msgspec.Struct, frozen=True):
    meta: Meta
    allows: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        return BUILT_IN / f"{self.meta.name}{SUFFIX}"


@cache
def bundled() -> Sequence[Bundled]:
    """They cannot change while the program runs."""
    return tuple(msgspec.json.decode(DATA.read_bytes(), type=list[Bundled]))


def written() -> bytes:
    """As the files say now."""
    from gatewright.agent.workflows.script.check import check  # noqa: PLC0415  lazy: with a parser

    found: list[Bundled] = []
    for file in sorted(BUILT_IN.glob(f"*{SUFFIX}")):
        checked = check(file.read_text(encoding="utf-8"))
        assert checked.meta.name == file.stem and not checked.warnings, (file, checked.warnings)
        found.append(Bundled(checked.meta, ALLOWS.get(file.stem, ())))
    return msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n"


if __name__ == "__main__":
    DATA.write_bytes(written())
