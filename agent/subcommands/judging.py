"""Calls judged from the command line, with exactly the state a session started here would have."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from gatewright.agent.errors import GatewrightError, SessionError
from gatewright.agent.events import Decided, Envelope, ToolStarted
from gatewright.agent.exits import BadInput
from gatewright.agent.options import LaunchOptions
from gatewright.agent.policing import policy_config
from gatewright.agent.surroundings import Surroundings, survey
from gatewright.agent.transcript.index import list_sessions
from gatewright.agent.transcript.place import project_folder
from gatewright.agent.transcript.reader import read_transcript
from gatewright.permissions.context import Call
from gatewright.permissions.decide import decide
from gatewright.permissions.decision import Ask
from gatewright.permissions.declared import declared_access
from gatewright.permissions.explain import Explanation, explain
from gatewright.permissions.modes import flag_mode
from gatewright.permissions.policy import Policy
from gatewright.permissions.tools_table import canonical
from gatewright.permissions.world import fetch_missing, git_dirty, lookup_host

ROUNDS = 3  # as the gate: what a decision missed is looked up, and it is made again
SESSIONS = 200


class Judge:
    """Decides calls as the gate of a session in this directory and mode would."""

    def __init__(self, mode: str = "", *, interactive: bool = True) -> None:
        """Raises GatewrightError for a mode nobody may choose."""
        self.around: Surroundings = survey(LaunchOptions(), os.environ, interactive=interactive)
        chosen = mode or self.around.settings.permissions.default_mode or "default"
        try:
            self._policy = Policy(policy_config(self.around, flag_mode(chosen)))
        except ValueError as error:
            raise GatewrightError(str(error)) from error

    def explain(self, tool: str, input: Mapping[str, Any]) -> Explanation:
        return asyncio.run(self._explain(self._call(tool, input)))

    def grants(self, tool: str, input: Mapping[str, Any]) -> tuple[str, ...]:
        """The rules that an "always" would store for this call today, none where it runs."""
        context = self._policy.context(self.around.where)
        decision = decide(self._call(tool, input), context)
        if not isinstance(decision, Ask):
            return ()
        return tuple(grant.rule for grant in decision.grants if grant.rule)

    async def _explain(self, call: Call) -> Explanation:
        resolver = self._policy.resolver
        found = explain(call, self._policy.context(self.around.where))
        for _ in range(ROUNDS):
            if not await fetch_missing(resolver, lookup_host, git_dirty):
                break
            found = explain(call, self._policy.context(self.around.where))
        return found

    def _call(self, tool: str, input: Mapping[str, Any]) -> Call:
        name = canonical(tool)
        return Call(name, input, declared_access(name, input, self._policy.place))


class Case(msgspec.Struct, frozen=True):
    """One line of a rule test: a call, in which mode, and what must happen."""

    expect: str
    tool: str = "Bash"
    input: dict[str, Any] = {}
    command: str = ""  # short for Bash with this command
    mode: str = ""

    @property
    def given(self) -> dict[str, Any]:
        return {"command": self.command} if self.command else self.input


def cases(path: Path) -> Iterator[tuple[int, Case]]:
    """Raises BadInput naming the line."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read: {error}.") from error
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("//"):
            continue
        try:
            case = msgspec.json.decode(line, type=Case)
        except msgspec.DecodeError as error:
            raise BadInput(f"{path}:{number}: {error}.") from error
        if case.expect not in ("allow", "ask", "deny"):
            raise BadInput(f'{path}:{number}: expect is "allow", "ask" or "deny".')
        yield number, case


def asked_before(judge: Judge) -> Counter[str]:
    """Rules that would have settled what was asked and allowed in this project, how often."""
    found: Counter[str] = Counter()
    folder = project_folder(judge.around.places.home, judge.around.where.cwd)
    for listed in list_sessions(folder)[:SESSIONS]:
        try:
            branch = read_transcript(listed.path).branch
        except (OSError, SessionError):
            continue
        found.update(rule for rules in _allowed_once(judge, branch) for rule in rules)
    return found


def _allowed_once(judge: Judge, branch: tuple[Envelope, ...]) -> Iterator[tuple[str, ...]]:
    calls: dict[str, ToolStarted] = {}
    for envelope in branch:
        match envelope.event:
            case ToolStarted() as started:
                calls[started.call_id] = started
            case Decided(answer="once", call_id=id) if id in calls:
                yield judge.grants(calls[id].name, calls[id].input)
            case _:
                pass
