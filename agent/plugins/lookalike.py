"""Names that a person would take for one another: of two such plugins the second is refused."""

from __future__ import annotations

from collections.abc import Iterable

_SAME = str.maketrans({"0": "o", "1": "l", "i": "l", "5": "s", "-": None})


def skeleton(name: str) -> str:
    """The same for two names that look alike."""
    return name.casefold().translate(_SAME).replace("rn", "m").replace("vv", "w")


def looks_like(name: str, known: Iterable[str]) -> str:
    """The known name that this one is not and looks like; empty where there is none."""
    mark = skeleton(name)
    return next((each for each in known if each != name and skeleton(each) == mark), "")
