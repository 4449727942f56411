"""The names of permission modes in settings: compared without case, hyphens, underscores, blanks.

What the modes do is none of the loader's business; that the names agree is tested.
"""

from __future__ import annotations

from typing import Any

# modes that give freedom: a project's files cannot choose them for whoever opens it
PERSONAL = frozenset({"bypasspermissions", "bypass", "auto", "fullaccess"})
TIGHT = frozenset({"default", "plan", "ask", "dontask"})
NAMES = PERSONAL | TIGHT | {"acceptedits", "code", "autoinproject", "delegate", "work"}
# how much a mode lets happen without a word, least first
_FREEDOM = (
    {"plan"},
    {"dontask"},
    {"default", "ask", ""},
    {"acceptedits", "code", "delegate"},
    {"work", "autoinproject"},
    {"auto"},
    {"fullaccess", "bypass", "bypasspermissions"},
)
FOLLOW_PARENT = "ignore"  # only for a subagent
SUGGESTED = ("default", "acceptEdits", "plan", "auto", "autoInProject", "dontAsk")


def folded(name: Any) -> str:
    return str(name).strip().lower().replace("-", "").replace("_", "")


def freedom(name: Any) -> int:
    """Where the mode stands between the strictest and the freest; an unknown one is the freest."""
    return next((n for n, names in enumerate(_FREEDOM) if folded(name) in names), len(_FREEDOM))


def named(value: Any, *, subagent: bool) -> str:
    """Why the value names no mode, or an empty string."""
    name = folded(value)
    if not name or name in NAMES or (subagent and name == FOLLOW_PARENT):
        return ""
    return f'"{str(value)[:40]}" is no mode; {", ".join(SUGGESTED)} are some'
