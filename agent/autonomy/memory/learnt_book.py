"""What is remembered of this repository, for the person: look, edit, keep, forget.

Nothing is read before it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from gatewright.agent.errors import GatewrightError
from gatewright.agent.settings.workspace import Surroundings

if TYPE_CHECKING:
    from gatewright.agent.autonomy.memory.facts import Fact
    from gatewright.agent.autonomy.memory.memory_store import MemoryStore

OFF = "Sessions learn nothing for later ones: autoMemory is off (/config autoMemory ask)."
UNTRUSTED = "Sessions learn nothing here: the project is not trusted (agent trust)."
FILE_LIMIT = 1_000_000


class LearntBook:
    """`wanted` says whether anything is learnt in such surroundings."""

    def __init__(
        self, around: Callable[[], Surroundings], wanted: Callable[[Surroundings], bool]
    ) -> None:
        self._around, self._wanted = around, wanted

    @property
    def mode(self) -> str:
        return self._around().settings.auto_memory if self.on else "off"

    @property
    def on(self) -> bool:
        return self._wanted(self._around())

    @cached_property
    def _found(self) -> tuple[Path, str]:
        from gatewright.agent.autonomy.memory.memory_place import memory_folder  # noqa: PLC0415  lazy: 1 ms

        return memory_folder(self._around())

    @property
    def folder(self) -> Path:
        return self._found[0]

    @property
    def problem(self) -> str:
        """Why nothing can be remembered here; empty where it can."""
        return self._found[1]

    @cached_property
    def store(self) -> MemoryStore:
        """Raises GatewrightError where the directory cannot be used."""
        from gatewright.agent.autonomy.memory.memory_store import MemoryStore  # noqa: PLC0415  lazy: 5 ms

        if self.problem:
            raise GatewrightError(self.problem)
        return MemoryStore(self.folder)

    def about(self) -> Sequence[str]:
        """For /memory, in lines."""
        if not self._around().trusted:
            return (UNTRUSTED,)
        if not self.on:
            return (OFF,)
        try:
            now = self.store.look()
            waiting = list(self.store.waiting())
        except GatewrightError as error:
            return (str(error),)
        count = len(now.facts())
        facts = "1 fact" if count == 1 else f"{count} facts"
        lines = [f"Learnt in sessions here, autoMemory {self.mode}: {facts}, {self.folder}."]
        if waiting:
            lines.append("To be kept or not, /memory keep [NUMBERS] or /memory drop [NUMBERS]:")
            lines += numbered(waiting)
        lines += [f"{name}: {why}" for name, why in sorted(now.left_out.items())]
        return lines

    def files(self, today: date) -> Sequence[tuple[Path, str]]:
        """Those to edit, and what is said of each."""
        from gatewright.agent.autonomy.memory.facts import INDEX  # noqa: PLC0415  lazy: 1 ms
        from gatewright.agent.autonomy.memory.recalling import aged  # noqa: PLC0415  lazy: 1 ms

        if not self.on:
            return ()
        try:
            now = self.store.look()
        except GatewrightError:
            return ()
        found = [(INDEX, "index")] if INDEX in now.files else []
        for topic in now.topics():
            said = f"{len(topic.facts)} facts, the newest {aged(topic.newest, today)}"
            found.append((f"{topic.name}.md", f"{topic.about or topic.name}: {said}"))
        return [(self.folder / name, detail) for name, detail in found]

    def holds(self, path: Path) -> bool:
        return self.on and path.parent == self.folder

    def text(self, path: Path) -> str:
        """Raises GatewrightError."""
        now = self.store.look()
        if path.name not in now.files:
            why = now.left_out.get(path.name, "there is no such file any more")
            raise GatewrightError(f"{path} cannot be edited here: {why}.")
        return now.text(path.name)

    def put(self, path: Path, before: str, text: str) -> None:
        """Raises GatewrightError."""
        if len(text.encode()) > FILE_LIMIT:
            raise GatewrightError(f"A file of memory has at most {FILE_LIMIT:,} bytes.")
        self.store.edit(path.name, before, text)

    def settle(self, words: str, *, keep: bool) -> Sequence[Fact]:
        """Keep or drop what waits: all of it, or by its numbers. Raises GatewrightError."""
        if not self.on:
            raise GatewrightError(self.about()[0])
        said = words.replace(",", " ").split()
        if not all(word.isascii() and word.isdigit() for word in said):
            raise GatewrightError(
                "Say which by their numbers: /memory keep 1 3. /memory lists them."
            )
        numbers = {int(word) for word in said}
        count = len(self.store.waiting())
        if not count:
            raise GatewrightError("Nothing waits to be kept.")
        if wrong := sorted(number for number in numbers if not 1 <= number <= count):
            raise GatewrightError(
                f"There is no number {wrong[0]}: {count} wait. /memory lists them."
            )
        return self.store.settle(lambda number: not numbers or number in numbers, keep=keep)


def numbered(facts: Sequence[Fact]) -> list[str]:
    return [f"{number}. [{fact.topic}] {fact.text}" for number, fact in enumerate(facts, 1)]
