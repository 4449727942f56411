"""What lies below our own home and what we keep in a project: who may read and write each path.

The only table: the gate's built-in denials, what reads as inside, and what the sandbox shows all
follow from it. Whoever keeps something new adds a row.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Final

import msgspec


class Model(StrEnum):
    """What the model may do through Read, Edit, Grep, Glob and the operands of commands."""

    NEVER = "never"  # neither reads nor writes, in no mode and by no rule
    ASKS = "asks"  # as any path outside; a change is asked about in every mode
    READS = "reads"  # as what is inside the project; a change is asked about in every mode


class Shown(StrEnum):
    """What a sandboxed command finds there."""

    HIDDEN = "hidden"
    READ_ONLY = "read-only"
    WRITABLE = "writable"


class Row(msgspec.Struct, frozen=True):
    """`path` is relative; `*` is any text in one name, `/**` at its end whatever lies below.

    `{session}` is the session that runs. `writes` says who does: the person, the program, or the
    model through the tool that is named and through no path.
    """

    path: str
    what: str
    writes: str
    model: Model
    sandbox: Shown = Shown.HIDDEN


_N, _A, _R, _RO = Model.NEVER, Model.ASKS, Model.READS, Shown.READ_ONLY
_OWN = "projects/*/{session}"

# Below `~/.gatewright` or GATEWRIGHT_HOME. The person reads and writes all of it.
HOME: Final = (
    Row("settings.json", "the person's settings", "person, program: an always, /config", _A),
    Row(".settings.json.*", "its lock, and a change on its way", "program", _A),
    Row("AGENTS.md", "instructions for every project", "person, program: /memory", _A),
    Row("AGENTS.local.md", "more of them", "person", _A),
    Row("CLAUDE.md", "the same under another agent's name", "person", _A),
    Row("CLAUDE.local.md", "more of them", "person", _A),
    Row("themes/**", "colours", "person", _A),
    Row("agents/**", "types of agents", "person, program: /agents", _A),
    Row("agent-memory/**", "what types of agents remember", "model: such an agent", _A),
    Row("skills/**", "skills", "person, program: agent skills new", _A),
    Row("commands/**", "command files", "person", _A),
    Row("workflows/**", "saved workflows", "person, program: /workflows", _A),
    Row("output-styles/**", "output styles", "person", _A),
    Row("skill-drafts/**", "skills that nobody approved yet", "program: /skills learn", _N),
    Row("state/keys.json", "keys of `agent login` where there is no keyring", "program", _N),
    Row("state/.keys.json.*", "its lock, and a change on its way", "program", _N),
    Row("state/logins.json", "logins at MCP servers where there is no keyring", "program", _N),
    Row("state/.logins.json.*", "its lock, and a change on its way", "program", _N),
    Row("state/trust.json", "which projects are trusted", "program", _N),
    Row("state/.trust.json.*", "its lock, and a change on its way", "program", _N),
    Row("state/mcp.json", "which servers of a project may run, and which are off", "program", _N),
    Row("state/.mcp.json.*", "its lock, and a change on its way", "program", _N),
    Row("state/mcp/**", "what servers said of themselves, and what was accepted", "program", _N),
    Row("state/skills/**", "what skills said when they were read last", "program", _N),
    Row("state/skills.json", "how often each skill was used", "program", _N),
    Row("state/.skills.json.*", "its lock, and a change on its way", "program", _N),
    Row("state/imports.*", "files outside a project that its instructions may name", "program", _N),
    Row("state/told.*", "what the person was told once", "program", _N),
    Row("state/cleaned", "when old sessions were last let go", "program", _N),
    Row("state/schedules/**", "durable jobs, and what came of each run", "program", _N),
    Row("state/running/**", "sessions in the background, and what they said", "program", _N),
    Row("state/memory/**", "what sessions learnt, by repository", "person, program", _N),
    Row("state/search.sqlite*", "every conversation, to be searched", "program", _N),
    Row("state/sent/**", "what the person typed, by project", "program", _N),
    Row("state/set-aside/**", "what a command made and must not stay", "program", _N),
    Row("state/sandbox/**", "what running commands may leave behind", "program", _N),
    Row("state/plugin-secrets.json", "what plugins are told, where no keyring is", "program", _N),
    Row("state/.plugin-secrets.json.*", "its lock, and a change on its way", "program", _N),
    Row("plugins/store/**", "installed plugins, each version", "program", _R, _RO),
    Row("plugins/lock.json", "which are installed, and what was agreed to", "program", _N),
    Row("plugins/markets.json", "which marketplaces were added", "program", _N),
    Row("plugins/markets/**", "what marketplaces list, and hold", "program", _N),
    Row("plugins/.*", "locks, and changes on their way", "program", _N),
    Row("plugins/options.json", "what plugins are told", "program", _N),
    Row("plugins/seen.json", "which trees proved to be the agreed ones", "program", _N),
    Row("plugins/aside/**", "what is being fetched", "program", _N),
    Row("plugins/users/**", "which versions sessions run from", "program", _N),
    Row("plugins/data/**", "what plugins keep for themselves, tokens too", "plugins", _A),
    Row("logs/**", "logs and defects", "program", _N),
    Row("reports/**", "reports about defects", "program", _N),
    Row(
        "teams/**",
        "task lists that several share, and their mail",
        "program, model: TaskCreate",
        _N,
    ),
    Row("plans/{session}.md", "this session's plan", "program, model: in plan mode", _R, _RO),
    Row("plans/*", "plans of other sessions", "program", _N),
    Row(f"{_OWN}/spill/**", "output that was too long, pages, aliases", "program", _R, _RO),
    Row(f"{_OWN}/workflows/**", "runs of workflows: script, journal, agents", "program", _R, _RO),
    Row(f"{_OWN}/tasks.*", "the task list", "program, model: TaskCreate, TaskUpdate", _N),
    Row(f"{_OWN}/history/**", "files as they were, unreadable ones too", "program", _N),
    Row("projects/*/shadow/**", "the project as it was", "program", _N),
    Row("projects/*/worktrees/**", "which work trees are ours, and who is in them", "program", _N),
    Row("projects/*/*/**", "what other sessions keep", "program", _N),
    Row("projects/*/*.jsonl*", "conversations, this one's too", "program", _N),
    Row("projects/*/*.torn", "the torn end of one", "program", _N),
    Row("projects/*/*.new", "one on its way", "program", _N),
)

# Below `.gatewright` of a project; the sandbox keeps what is there from being changed.
PROJECT: Final = (
    Row("settings.json", "the project's settings", "person", _R, _RO),
    Row("settings.local.json", "the person's own for it", "person, program: an always", _R, _RO),
    Row(".settings.*", "locks, and changes on their way", "program", _R, _RO),
    Row(".gitignore", "keeps the person's own out of git", "person, program", _R, _RO),
    Row("AGENTS.md", "instructions", "person", _R, _RO),
    Row("HEARTBEAT.md", "tasks that run by the clock", "person", _R, _RO),
    Row("loop.md", "what /loop alone does", "person", _R, _RO),
    Row("agents/**", "types of agents", "person, program: /agents", _R, _RO),
    Row("agent-memory/**", "what types of agents remember", "model: such an agent", _R, _RO),
    Row("skills/**", "skills", "person, program: agent skills new", _R, _RO),
    Row("commands/**", "command files", "person", _R, _RO),
    Row("output-styles/**", "output styles", "person", _R, _RO),
    Row("agent-memory-local/**", "the same, kept out of git", "model: such an agent", _R, _RO),
    Row("plans/*", "plans", "program, model: its own in plan mode", _R, _RO),
    Row("project/**", "the list of features", "person, program, model: FeatureUpdate", _R, _RO),
    Row("worktrees/**", "work trees of agents", "program, model", _R, Shown.WRITABLE),
)


class OwnHome(msgspec.Struct, frozen=True):
    """The table for one session: `kept` is its folder, empty where there is no session."""

    path: str
    kept: str = ""
    shown: tuple[str, ...] = ()  # what else commands may read of it: skills that are at work
    sockets: tuple[str, ...] = ()  # where sessions are answered: as closed as what lies in it

    @property
    def session(self) -> str:
        return self.kept.rpartition("/")[2]

    @property
    def spellings(self) -> tuple[str, ...]:
        """As it was named, and where links lead."""
        plain = os.path.normpath(self.path)
        return tuple(dict.fromkeys((plain, os.path.realpath(plain))))

    def closed(self) -> tuple[str, ...]:
        """Directories of which the model sees nothing but what `open` names, and where they lead.
        What a row does not name is closed with what lies beside it."""
        names = dict.fromkeys(row.path.partition("/")[0] for row in HOME if row.model is _N)
        places = (*(f"{home}/{name}" for home in self.spellings for name in names), *self.sockets)
        return tuple(dict.fromkeys(path for place in places for path in _both(place)))

    def open(self) -> tuple[str, ...]:
        """What this session may read of it, there or not."""
        if not self.kept:
            return ()
        found: list[str] = []
        for row in HOME:
            if row.model is not _R:
                continue
            place = row.path.removesuffix("/**").replace("{session}", self.session)
            below = place.removeprefix(_OWN.replace("{session}", self.session))
            if below != place:
                found.append(f"{self.kept}{below}")
            else:
                found.extend(f"{home}/{place}" for home in self.spellings)
        return tuple(dict.fromkeys(each for path in found for each in _both(path)))

    def excepted(self) -> tuple[str, ...]:
        """What of a closed directory is not closed: what is open, and what can be asked about."""
        closed = {row.path.partition("/")[0] for row in HOME if row.model is _N}
        places = (
            row.path.removesuffix("/**")
            for row in HOME
            if row.model is _A and row.path.partition("/")[0] in closed
        )
        asks = (f"{home}/{place}" for place in places for home in self.spellings)
        return tuple(dict.fromkeys((*self.open(), *(each for p in asks for each in _both(p)))))

    def hidden(self, roots: Iterable[str]) -> tuple[str, ...]:
        """Real paths that the sandbox covers: all of it, and where a link of it leads.

        Who works in the home itself sees what is theirs there.
        """
        home = os.path.realpath(self.path)
        closed = tuple(dict.fromkeys(map(os.path.realpath, self.closed())))
        if home in roots:
            return closed
        return (home, *(path for path in closed if not path.startswith(f"{home}/")))

    def windows(self) -> tuple[str, ...]:
        """Real paths that stay readable behind the cover."""
        paths = (*self.open(), *self.shown)
        return tuple(dict.fromkeys(os.path.realpath(p) for p in paths if Path(p).exists()))


def _both(path: str) -> Iterator[str]:
    yield path
    yield os.path.realpath(path)
