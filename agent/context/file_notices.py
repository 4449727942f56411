"""What the model is told without being asked: files that changed, instructions further down.

Fed with the main agent's events; looks at the disk only when the person speaks or a call ended.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path

from gatewright.agent.context.prompt.memory import (
    Memory,
    MemoryFile,
    MemoryPlaces,
    nested_files,
    section,
)
from gatewright.agent.record.events import (
    AnyEvent,
    Cleared,
    Compacted,
    Rewound,
    Snipped,
    ToolFinished,
    ToolStarted,
)
from gatewright.agent.record.session_state import PATHS
from gatewright.tools.system.exact import real_path

WATCHED = 200
NAMED = 20


class FileNotices:
    """`memory` gives what was read for the system prompt, `tell` is for people.

    `loaded` hears of instructions further down, and which file led to them.
    """

    def __init__(
        self,
        places: MemoryPlaces,
        memory: Callable[[], Memory],
        *,
        bare: bool,
        tell: Callable[[str], None],
        loaded: Callable[[Sequence[MemoryFile], Path], None],
    ) -> None:
        self._places = places
        self._memory = memory
        self._bare = bare
        self._tell = tell
        self._loaded = loaded
        self._told: set[str] = set()
        self._nested: list[Path] = []
        self._running: dict[str, Path] = {}
        self._stamps: OrderedDict[Path, tuple[int, int]] = OrderedDict()

    def saw(self, event: AnyEvent) -> Sequence[str]:
        """What to tell the model because of this event."""
        match event:
            case ToolStarted(call_id=call_id, input=input):
                name = next((str(input[key]) for key in PATHS if key in input), "")
                if name:
                    self._running[call_id] = Path(real_path(self._places.cwd / name))
            case ToolFinished(call_id=call_id, ok=ok):
                path = self._running.pop(call_id, None)
                if path is not None and ok:
                    self._watch(path)
                    return self._further_down(path)
            case Cleared():
                self._nested.clear()
                self._stamps.clear()
            case Compacted() | Rewound() | Snipped():  # it may be gone: better twice than never
                self._nested.clear()
            case _:
                pass
        return ()

    def changed(self) -> str:
        """Which files are no longer as the model last saw them; told once."""
        names: list[str] = []
        for path, stamp in list(self._stamps.items()):
            now = _stamp(path)
            if now != stamp:
                gone = "" if now else " (deleted)"
                names.append(f"{path}{gone}")
                del self._stamps[path]
        if not names:
            return ""
        shown = "\n".join(f"- {name}" for name in names[:NAMED])
        more = f"\n- and {len(names) - NAMED} more" if len(names) > NAMED else ""
        return (
            "Notice of this program: these files changed on disk since you last saw them, by the "
            f"person or by a command. Read them again before you rely on them.\n{shown}{more}"
        )

    def _watch(self, path: Path) -> None:
        if stamp := _stamp(path):
            self._stamps[path] = stamp
            self._stamps.move_to_end(path)
            if len(self._stamps) > WATCHED:
                self._stamps.popitem(last=False)

    def _further_down(self, path: Path) -> Sequence[str]:
        start = self._memory()
        if self._bare or (path.parent == self._places.cwd and not start.rules):
            return ()
        known = [file.path for file in start.files] + self._nested
        memory = nested_files(self._places, path, known, start.rules)
        if (left := memory.left_out()) and left not in self._told and len(self._told) < WATCHED:
            self._told.add(left)
            self._tell(left)
        found = memory.files
        self._nested += [file.path for file in found]
        if not found:
            return ()
        self._loaded(found, path)
        held = path if any(file.paths for file in found) else path.parent
        return (f"Notice of this program: these hold for {held}.\n\n{section(found)}",)


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except (OSError, ValueError):  # gone, or no name that a file can have
        return None
    return status.st_mtime_ns, status.st_size
