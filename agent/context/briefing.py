"""What the model of a session is told before the first word: one and the same until a clear."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from gatewright.agent.context.prompt.approvals import Approvals
from gatewright.agent.context.prompt.environment import Repository, look_around, today
from gatewright.agent.context.prompt.memory import Memory, MemoryPlaces, memory_files, section
from gatewright.agent.context.prompt.output_style import NO_STYLE, OutputStyle
from gatewright.agent.context.prompt.system import PromptParts, system_prompt
from gatewright.agent.context.readable import Readable
from gatewright.agent.record.events import AnyEvent, Cleared
from gatewright.agent.settings.paths import claude_home
from gatewright.agent.settings.workspace import Surroundings

GOOD = 60.0  # seconds for which what was read ahead of a message stands for what there is


class Briefing:
    """Reads files and asks git at its first use, or ahead of it in a thread."""

    def __init__(
        self,
        around: Callable[[], Surroundings],
        readable: Readable,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._around, self._clock = around, clock
        self._counts = False  # a message was taken up with it: it stays until a clear
        self._read_at = 0.0  # when it was read for a message that was still being written
        self.readable = readable
        self._lock = threading.Lock()
        self.sections: tuple[Callable[[], str], ...] = ()  # of whoever has something to add
        self.style: Callable[[], OutputStyle] = lambda: NO_STYLE
        self._environment: str | None = None
        self._plain = ""  # the same without what git said
        self._blocks: tuple[str, ...] | None = None
        self._memory = Memory()

    def begin(self) -> None:
        """Start now, so that the first request need not wait."""
        threading.Thread(target=self._looked, name="briefing", daemon=True).start()

    def blocks(self) -> tuple[str, ...]:
        """The system prompt."""
        environment = self._looked()
        with self._lock:
            if self._blocks is None:
                brought = [each() for each in self.sections]
                own = (environment, section(self._memory.files), *filter(None, brought))
                self._blocks = _compose(self._around(), own, self.style())
            return self._blocks

    def ahead(self) -> None:
        """Read it while the first message is being written; that is not yet what counts."""
        self._too_old()
        if not self.ready:
            self._read_at = self._clock()
            self.blocks()

    def begins(self) -> None:
        """The first message is taken up: what was read not long before it counts from now on."""
        self._too_old()
        self._counts = True

    def forget(self) -> None:
        """What was read ahead may be other now; what counts already stays."""
        if self._read_at and not self._counts:
            self.renew()

    @property
    def ready(self) -> bool:
        """Nothing has to be read for it."""
        return self._blocks is not None

    def _too_old(self) -> None:
        if self._clock() - self._read_at > GOOD:
            self.forget()

    def for_agent(self, *, memory: bool, git: bool) -> tuple[str, ...]:
        """What of it agents of other kinds are told, too: surroundings and instruction files."""
        whole = self._looked()
        with self._lock:
            files = section(self._memory.files) if memory else ""
            return (whole if git else self._plain), files

    def _looked(self) -> str:
        """What it says of the surroundings, with the instruction files read."""
        with self._lock:
            if self._environment is None:
                around = self._around()
                where = around.where
                self._memory = read_memory(around, self.readable)
                found = look_around(where.cwd, where.root, around.caller, today())
                self._environment = found.section()
                self._plain = replace(found, repository=Repository()).section()
            return self._environment

    def memory(self) -> Memory:
        """The instruction files that are in the prompt."""
        self.blocks()
        return self._memory

    def last(self) -> Memory:
        """The instruction files that were read last, without reading any."""
        return self._memory

    def read(self) -> Memory | None:
        """The same, or None while they are still being read; it waits for nothing."""
        return None if self._environment is None else self._memory

    def saw(self, event: AnyEvent) -> None:
        if isinstance(event, Cleared):
            self.renew()

    def renew(self) -> None:
        """Forget what was read: the conversation begins anew."""
        with self._lock:
            self._blocks = self._environment = None
            self._counts, self._read_at = False, 0.0


def places_of(around: Surroundings, readable: Readable) -> MemoryPlaces:
    where = around.where
    return MemoryPlaces(
        own_home=around.places.home,
        root=where.root,
        cwd=where.cwd,
        home=where.home,
        approved=Approvals(around.places.state, where.root),
        readable=readable,
        claude_home=claude_home(around.env),
    )


def read_memory(around: Surroundings, readable: Readable) -> Memory:
    return Memory() if around.options.bare else memory_files(places_of(around, readable))


def _compose(around: Surroundings, own: Sequence[str], style: OutputStyle) -> tuple[str, ...]:
    options = around.options
    appended = options.append_system_prompt
    if options.json_schema:
        from gatewright.agent.turn.structured_answer import Shape  # noqa: PLC0415  lazy: 1 ms

        appended = f"{appended}\n\n{Shape(options.json_schema).prompt}".strip()
    return system_prompt(
        PromptParts(
            own=own,
            style=style,
            replaced=options.system_prompt,
            appended=appended,
        )
    )
