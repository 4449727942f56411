"""What one settings file says about hooks, as it was written: judged and run elsewhere.

Whose word it is, and where, stays beside it, because layers add up and none replaces another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from gatewright.agent.settings.traits import COMMITTED, Source
from gatewright.tools.system.untyped_json import items, obj

HOOKS, DISABLED = "hooks", "disableAllHooks"
# What a handler of each kind cannot do without, and what it does.
NEEDED: dict[str, tuple[str, ...]] = {
    "command": ("command",), "http": ("url",), "mcp_tool": ("server", "tool"),
    "prompt": ("prompt",), "agent": ("prompt",),
}  # fmt: skip


class HookLayer(msgspec.Struct, frozen=True, kw_only=True):
    """`claude`: a file of Claude Code's, of which nothing else is read here."""

    source: Source
    where: str
    raw: Any  # event -> groups of handlers, unchecked
    text: str = ""  # of the whole file, for the line of a mistake
    path: Path | None = None
    claude: bool = False
    disabled: bool = False

    @property
    def committed(self) -> bool:
        """Whether it lies in the project: it runs once that is trusted."""
        return self.source in COMMITTED


def layer_of(
    raw: Mapping[str, Any], text: str, place: tuple[Source, str, Path | None], *, claude: bool
) -> HookLayer | None:
    """None where a file says nothing about hooks."""
    if not raw.get(HOOKS) and DISABLED not in raw:
        return None
    source, where, path = place
    return HookLayer(
        source=source,
        where=where,
        path=path,
        raw=raw.get(HOOKS) or {},
        text=text,
        claude=claude,
        disabled=raw.get(DISABLED) is True,
    )


def kept(
    old: Sequence[HookLayer], new: Sequence[HookLayer], unread: Sequence[Path]
) -> tuple[HookLayer, ...]:
    """The new layers with what files said last that cannot be read now."""
    lost = tuple(each for each in old if each.path in unread)
    return (*lost, *(each for each in new if each.path not in unread))


def said(layer: HookLayer) -> Iterator[str]:
    """What each handler would do, one line each, whether it is well formed or not."""
    for event, groups in obj(layer.raw).items():
        for group in items(groups):
            for handler in items(obj(group).get("hooks")):
                yield f"{event}: {_said(obj(handler))} (in {layer.where})"


def _said(handler: Mapping[str, Any]) -> str:
    """By its kind: another field may say anything, and nothing of it would run."""
    kind = handler.get("type")
    names = NEEDED.get(kind, ()) if isinstance(kind, str) else ()
    words = [handler.get(name, "") for name in names]
    if kind == "command":
        words += items(handler.get("args"))
    told = " ".join(map(str, words)).strip()
    if not told:
        return "an unreadable hook"
    return told if kind == "command" else f"{kind} {told}"
