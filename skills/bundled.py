"""What the built-in skills say of themselves, as data: a first start reads none of their files.

`python -m gatewright.skills.bundled` writes it, and a test says when it is old.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from gatewright.skills.model import Said
from gatewright.skills.places import BUILT_IN, SKILL
from gatewright.skills.walking import NEVER, Filed, Looked

DATA = Path(__file__).parent / "bundled.json"


class _Bundled(msgspec.Struct, frozen=True):
    name: str
    size: int
    said: Said


def bundled() -> Looked:
    """They cannot change while the program runs, so nobody looks for that."""
    found = msgspec.json.decode(DATA.read_bytes(), type=list[_Bundled])
    files = {
        f"{BUILT_IN}/{each.name}/{SKILL}": Filed(NEVER, each.name, each.said, size=each.size)
        for each in found
    }
    return Looked(files=files)


def written() -> bytes:
    """As the files say now."""
    from gatewright.skills.reading import read_file  # noqa: PLC0415  lazy: 10 ms, nobody else reads

    found: list[_Bundled] = []
    for file in sorted(BUILT_IN.glob(f"*/{SKILL}")):
        read = read_file(file, file.parent.name, "skill")
        assert read.said is not None and not read.diagnostics, read.diagnostics
        found.append(_Bundled(read.name, read.size, read.said))
    return msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n"


if __name__ == "__main__":
    DATA.write_bytes(written())
