"""Which calls run: a result that does not come right behind its call is told with its name."""

from __future__ import annotations

from gatewright.agent.record.events import AnyEvent, ToolFinished, ToolStarted, TurnEnded

LONGEST = 60


class Running:
    """Fed with every event, in order."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._last = ""  # the call that the line before is about

    def name_of(self, event: AnyEvent) -> str:
        """The name of the call that ended, with a colon; empty where it is plain which one."""
        match event:
            case ToolStarted(call_id=id, verb=verb, target=target):
                self._names[id] = _short(f"{verb} {target}")
                self._last = id
            case ToolFinished(call_id=id):
                name, plain = self._names.pop(id, ""), id == self._last
                self._last = ""
                return "" if plain or not name else f"{name}: "
            case TurnEnded():
                self._names.clear()
            case _:
                pass
        return ""


def _short(name: str) -> str:
    line = " ".join(name.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
