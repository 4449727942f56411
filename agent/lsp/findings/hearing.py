"""Who changed what, and what each agent is told of it: once, fresh, of its own changes alone."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TypeAlias

from gatewright.agent.lsp.findings.fresh import Held
from gatewright.agent.lsp.findings.told import Findings, Same, Told, counted, ordered, row, tell
from gatewright.agent.lsp.languages import Languages
from gatewright.agent.lsp.questions.spots import inert
from gatewright.agent.lsp.running.server import Server
from gatewright.agent.lsp.wire.positions import Lines, uri_of

AGENTS, PATHS = 300, 200  # remembered, of each so many changed files
LISTED = 50  # findings of a file, for who asks
Key: TypeAlias = tuple[str, str, str]  # server, root, path


class _Hearing:
    """Of one agent."""

    def __init__(self) -> None:
        self.changed: dict[str, None] = {}  # by its calls since it was last told
        self.awaited: dict[str, None] = {}  # whose findings have not come yet
        self.after: dict[tuple[str, str], int] = {}  # servers that may say more of other files
        self.known: dict[Key, Same] = {}
        self.versions: dict[Key, int] = {}  # of the texts that it was known of

    def knows(self, key: Key, held: Held) -> None:
        self.known[key], self.versions[key] = counted(held.items), held.version


class Hearings:
    """`shown` is a path as people read it; `may_hear` whether an agent may know of a file."""

    def __init__(
        self,
        languages: Languages,
        shown: Callable[[str], str],
        may_hear: Callable[[str, str], bool],
    ) -> None:
        self._languages, self._shown, self._may_hear = languages, shown, may_hear
        self._of: OrderedDict[str, _Hearing] = OrderedDict()
        self._asked = True  # an editor was, just now, for what it has unsaved
        languages.awaited = self._all_awaited

    def _all_awaited(self) -> Iterable[str]:
        return {path for each in self._of.values() for path in each.awaited}

    def _hearing(self, agent: str) -> _Hearing:
        if agent not in self._of:
            self._of[agent] = _Hearing()
            while len(self._of) > AGENTS:
                self._of.popitem(last=False)
        return self._of[agent]

    def wrote(self, agent: str, path: str) -> None:
        """A real path that a call of the agent changed; its servers begin with its next request."""
        hearing = self._hearing(agent)
        if path not in hearing.changed and path not in hearing.awaited:
            for server in self._languages.ready():  # now: another agent's request may send it first
                _remember(hearing, server, path)
        if len(hearing.changed) < PATHS:
            hearing.changed[path] = None

    def forget(self) -> None:
        """The conversation begins anew: nothing of it waits any more."""
        self._of.clear()

    def ended(self, agent: str) -> None:
        self._of.pop(agent, None)

    async def heard(self, agent: str, seconds: float) -> Told | None:
        """What the agent is to know before its next request, waited for no longer than that."""
        hearing = self._hearing(agent)
        changed, hearing.changed = hearing.changed, {}
        self._remember(hearing, changed)
        hearing.awaited.update(changed)  # before anything is awaited: another may send them
        await self._languages.texts.look((*changed, *sorted(self._languages.opened())))
        beside = await self._languages.look(self._sending())
        for path in changed:
            if not await self._languages.open(path):
                hearing.awaited.pop(path, None)
        if self._languages.unwatched():
            await self._languages.look()
        found = self._languages.renew()
        mine = found - {
            path for other in self._others(hearing) for path in (*other.changed, *other.awaited)
        }
        hearing.awaited.update(dict.fromkeys(sorted(mine)))
        for path in list(hearing.awaited)[: -2 * PATHS]:
            del hearing.awaited[path]
        if not (hearing.awaited or hearing.after or beside):
            return None
        if not (changed or found or beside):
            return self._told(agent, hearing)
        waits = set(hearing.awaited)
        for server in self._after(hearing):
            if server.abilities.pulls and server.abilities.pulls_others:
                waits.update(server.documents.paths if beside else ())
                for path in server.documents.paths:
                    self._languages.pull(path)
        await self._languages.until_fresh(tuple(waits), seconds)
        await self._languages.texts.look(sorted(self._languages.opened()))  # it may be gone by now
        return self._told(agent, hearing)

    async def look(self, agent: str) -> None:
        """Before the agent asks: tell servers of all that changed, and it later what came of it."""
        hearing = self._hearing(agent)
        self._remember(hearing, hearing.changed)
        if await self._languages.look(self._sending()):
            self._after(hearing)
        await self._languages.renewed()

    def _after(self, hearing: _Hearing) -> Sequence[Server]:
        """From now on what they say of other files is by changes that the agent is told of."""
        ready = self._languages.ready()
        hearing.after.update({(each.name, each.root): each.fresh.edits for each in ready})
        return ready

    def _sending(self) -> set[str]:
        """Changed files of which servers get the texts."""
        return {path for each in self._of.values() for path in (*each.changed, *each.awaited)}

    def late(self, agent: str) -> Told | None:
        """What has come since, without waiting; with a person's next message."""
        hearing = self._of.get(agent)
        if hearing is None or not (hearing.awaited or hearing.after):
            return None
        self._languages.renew()
        self._asked = False  # nobody can be waited for: what nobody saved is told of later
        try:
            return self._told(agent, hearing)
        finally:
            self._asked = True

    def _others(self, hearing: _Hearing) -> Iterator[_Hearing]:
        return (each for each in self._of.values() if each is not hearing)

    def _remember(self, hearing: _Hearing, changed: Collection[str]) -> None:
        """What is known of files before its changes are sent; what it still waits for stays."""
        for server in self._languages.ready():
            if (server.name, server.root) not in hearing.after:
                for path in server.documents.paths:
                    if path not in hearing.awaited and path not in changed:
                        _remember(hearing, server, path)

    def _told(self, agent: str, hearing: _Hearing) -> Told | None:
        found: list[Findings] = []
        lines: dict[int, Lines | None] = {}
        settled: dict[str, bool] = {}
        for server in self._languages.ready():
            if not server.definition.diagnostics:
                continue
            for path in tuple(hearing.awaited):
                if server.documents.get(path) is None:
                    continue
                held = server.fresh.fresh(uri_of(path), server.now())
                text = self._current(server, path) if held is not None else None
                if held is None or text is None:
                    settled[path] = False
                    continue
                settled[path] = settled.get(path, True) and not held.doubtful
                key = server.name, server.root, path
                findings = Findings(
                    path, self._shown(path), server.name, held.items, hearing.known.get(key)
                )
                lines[id(findings)] = text
                hearing.knows(key, held)
                found.append(findings)
            found += self._elsewhere(agent, hearing, server, lines)
        for path, whole in settled.items():
            if whole:
                del hearing.awaited[path]
        self._drop(hearing)
        return tell(found, lambda each: lines.get(id(each)))

    def _elsewhere(
        self, agent: str, hearing: _Hearing, server: Server, lines: dict[int, Lines | None]
    ) -> Iterator[Findings]:
        """Other open files that got new errors by the changes, once the server is done."""
        which = server.name, server.root
        if which not in hearing.after:
            return
        uris = {uri_of(path): path for path in server.documents.paths}
        said = server.fresh.others(uris, server.now())
        for uri, held in said.items():
            path, key = uris[uri], (*which, uris[uri])
            if path in hearing.awaited or hearing.known.get(key) == counted(held.items):
                continue
            text = self._current(server, path)
            if text is None or not self._may_hear(agent, path):
                continue
            known, version = hearing.known.get(key), hearing.versions.get(key)
            hearing.knows(key, held)
            if known is None or version != held.version:  # new, or by somebody else's change
                continue
            findings = Findings(path, self._shown(path), server.name, held.items, known, own=False)
            lines[id(findings)] = text
            yield findings
        texts = self._languages.texts
        left = not self._asked and any(map(texts.unsaved, server.documents.paths))
        if self._languages.still(server) and not left:
            del hearing.after[which]

    def _current(self, server: Server, path: str) -> Lines | None:
        """The text that the findings are of; None where the file is another by now."""
        if not self._asked and self._languages.texts.unsaved(path):
            return None
        known = server.documents.get(path)
        found = self._languages.texts.text_of(path)
        if known is None or found is None or found[1] != known.stamp:
            return None
        return Lines(found[0], server.abilities.encoding)

    def _drop(self, hearing: _Hearing) -> None:
        """What nobody has open any more is not waited for."""
        if not any(each.state in ("starting", "restarting") for each in self._languages.all):
            opened = {path for each in self._languages.ready() for path in each.documents.paths}
            for path in [path for path in hearing.awaited if path not in opened]:
                del hearing.awaited[path]
            running = {(each.name, each.root) for each in self._languages.ready()}
            for which in [each for each in hearing.after if each not in running]:
                del hearing.after[which]

    def seen(self, agent: str, server: Server, path: str, held: Held) -> None:
        """The agent asked itself: what it read is no news any more."""
        self._hearing(agent).knows((server.name, server.root, path), held)

    def listed(self, agent: str, paths: Sequence[str]) -> tuple[list[str], int]:
        """All findings of these files, a line each below its file, and how many."""
        rows: list[str] = []
        count = 0
        for path in paths:
            found: list[str] = []
            for server in self._languages.ready():
                held = server.fresh.fresh(uri_of(path), server.now())
                text = self._current(server, path) if held is not None else None
                if held is None or text is None:
                    continue
                self.seen(agent, server, path, held)
                found += [row(each, text, server.name) for each in ordered(held.items)]
            count += len(found)
            if found:
                rows += [f"{self._shown(path)}:", *(f"  {each}" for each in found[:LISTED])]
                rows += [f"  and {len(found) - LISTED} more"] if len(found) > LISTED else []
        return rows, count


def _remember(hearing: _Hearing, server: Server, path: str) -> None:
    base = server.fresh.baseline(uri_of(path), server.now())
    if base is not None:
        hearing.knows((server.name, server.root, path), base)


def listing(hearings: Hearings, agent: str, paths: Sequence[str]) -> tuple[str, int]:
    """For the model that asked."""
    rows, count = hearings.listed(agent, paths)
    text = "\n".join(rows) if rows else "No findings."
    return inert(text, 16_000), count
