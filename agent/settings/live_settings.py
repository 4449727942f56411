"""The settings in force during a session: read again when a file changes or trust is given.

A file that breaks, is emptied or is gone keeps its last valid denies, asks, limits and guards and
loses all else: neither an edit in progress nor whoever removes it may permit more than before.
A file that a confined command may be writing stays what it was until that is over.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec

from gatewright.agent.launch.exits import UsageError
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.settings.hook_layers import kept
from gatewright.agent.settings.layers.sources import Loaded, Problem, RuleTexts
from gatewright.agent.settings.traits import Source
from gatewright.agent.settings.workspace import Surroundings, survey

RULES = ("permissions", "projects")
Stamp: TypeAlias = tuple[int, int, int] | None
# A file has changed: whether it waits for an answer, and whom to tell that (True: let it count).
Asking: TypeAlias = Callable[[Path, Callable[[bool], None]], bool]


class LiveSettings:
    """Listeners are called with the new surroundings, and `tell` with what is wrong in them."""

    def __init__(
        self,
        around: Surroundings,
        env: Mapping[str, str],
        *,
        tell: Callable[[str], None],
    ) -> None:
        self.around = around
        self._env = env
        self._tell = tell
        self.settled: Callable[[Path], bool] = lambda _: True  # nobody confined writes it now
        self.asking: Asking | None = None  # who has a say in what changed on disk
        self._unheard: dict[Path, Stamp] = {}  # what waits for their answer, or was refused
        self._stamps = _stamps(around.loaded.files)
        self._listeners: list[Callable[[Surroundings], None]] = []

    def listen(self, changed: Callable[[Surroundings], None]) -> None:
        self._listeners.append(changed)

    def refresh(self, *, ours: bool = False) -> None:
        """Take up what changed on disk. Costs one stat a file where nothing did.

        What is `ours`, because the person wrote it through us, counts without a question.
        """
        stamps = _stamps(self.around.loaded.files)
        if stamps != self._stamps or any(map(self._counts, self.around.loaded.held)):
            changed = [path for path, now in stamps.items() if now != self._stamps.get(path)]
            self._stamps = stamps
            if self.asking is not None and not ours:
                for path in changed:
                    self._ask(path, self.asking)
            self._replace(self.around.options)

    def _ask(self, path: Path, asking: Asking) -> None:
        stamp = self._unheard[path] = self._stamps[path]

        def answered(counts: bool) -> None:
            if counts and self._unheard.get(path, ()) == stamp:
                del self._unheard[path]
                self.refresh()

        if not asking(path, answered):
            del self._unheard[path]

    def _counts(self, path: Path) -> bool:
        """Whether what the file says now is to be read."""
        return path not in self._unheard and self.settled(path)

    def again(self) -> None:
        """Let all who listen take up what is in force: something else that counts has changed."""
        for listener in self._listeners:
            listener(self.around)

    def trust(self) -> None:
        """From now on the project's own settings count."""
        self._replace(msgspec.structs.replace(self.around.options, trust=True))

    def add_directories(self, directories: Sequence[str]) -> None:
        """The directories that this session has besides those of settings, all of them."""
        self._replace(msgspec.structs.replace(self.around.options, add_dirs=tuple(directories)))

    def _replace(self, options: LaunchOptions) -> None:
        old = self.around
        new = survey(
            options,
            self._env,
            interactive=old.interactive,
            before=old.loaded,
            settled=self._counts,
        )
        new = msgspec.structs.replace(new, wrap=old.wrap)
        loaded = keep_restrictions(old.loaded, new.loaded)
        self.around = msgspec.structs.replace(new, loaded=loaded)
        known = {problem.text() for problem in old.loaded.problems}
        for problem in loaded.problems:
            if problem.level != "untrusted" and problem.text() not in known:
                self._tell(problem.text())
        for path in old.loaded.valid.keys() - loaded.valid.keys():
            self._tell(f"{path} is gone: what it said counts no more.")
        for listener in self._listeners:
            listener(self.around)


def starting(around: Surroundings) -> Surroundings:
    """The surroundings a session may begin in.

    What a layer that cannot be read would have denied is not known, so everything asks. Raises
    UsageError where that layer was named on the command line.
    """
    problems = around.loaded.problems
    broken = broken_sources(problems)
    if Source.FLAG in broken:
        told = next(problem for problem in problems if problem.source is Source.FLAG)
        raise UsageError(f"--settings: {told.text()}.")
    rules = dict(around.loaded.rules)
    for source in broken:
        rules[source] = rules.get(source, RuleTexts()).plus(RuleTexts(ask=("*",)))
    loaded = msgspec.structs.replace(around.loaded, rules=rules)
    return msgspec.structs.replace(around, loaded=loaded)


def keep_restrictions(old: Loaded, new: Loaded) -> Loaded:
    """The new settings, where sources that cannot be read keep what they denied and asked."""
    broken = broken_sources(new.problems)
    return msgspec.structs.replace(
        new,
        rules=_restricted(old.rules, new.rules, broken),
        legacy=_restricted(old.legacy, new.legacy, broken),
        claude=_restricted(old.claude, new.claude, broken),
        hooks=kept(old.hooks, new.hooks, new.unread),
    )


def _restricted(
    old: Mapping[Source, RuleTexts], new: Mapping[Source, RuleTexts], broken: set[Source]
) -> Mapping[Source, RuleTexts]:
    rules = dict(new)
    for source in broken & (old.keys() | new.keys()):
        before, now = old.get(source, RuleTexts()), new.get(source, RuleTexts())
        rules[source] = RuleTexts(
            allow=now.allow,
            ask=tuple(dict.fromkeys(before.ask + now.ask)),
            deny=tuple(dict.fromkeys(before.deny + now.deny)),
        )
    return rules


def broken_sources(problems: Sequence[Problem]) -> set[Source]:
    """The layers that cannot be read as a whole, where no key is named, or in their rules."""
    return {
        problem.source
        for problem in problems
        if problem.level == "error" and (not problem.key or problem.key.startswith(RULES))
    }


def _stamps(files: Sequence[Path]) -> dict[Path, Stamp]:
    return {path: _stamp(path) for path in files}


def _stamp(path: Path) -> Stamp:
    try:
        status = os.stat(path)  # noqa: PTH116  twice as fast, and this runs for every call
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
