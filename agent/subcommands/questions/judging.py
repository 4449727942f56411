"""Calls judged from the command line, with exactly the state a session started here would have."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from gatewright.agent.errors import GatewrightError, SessionError
from gatewright.agent.launch.exits import BadInput
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.record.events import Decided, Envelope, ToolStarted
from gatewright.agent.settings.policy_settings import command_sandbox, policy_config, rules_of
from gatewright.agent.settings.workspace import Surroundings, survey
from gatewright.agent.transcript.index import list_sessions
from gatewright.agent.transcript.place import project_folder
from gatewright.agent.transcript.reader import read_transcript
from gatewright.permissions.calls.declared import declared_access
from gatewright.permissions.check import Unreadable, call_and_context
from gatewright.permissions.condition import is_about
from gatewright.permissions.context import Call, Context
from gatewright.permissions.decide import decide
from gatewright.permissions.decision import Ask
from gatewright.permissions.explain import compare, trace
from gatewright.permissions.machine.world import fetch_missing, git_dirty, git_keeps, lookup_host
from gatewright.permissions.modes import flag_mode
from gatewright.permissions.policy import Policy
from gatewright.permissions.rulebook.listed import ListedRule
from gatewright.permissions.rulebook.tools_table import canonical
from gatewright.permissions.sandbox.commands import CommandSandbox
from gatewright.permissions.sandbox.ourselves import Ourselves
from gatewright.tools.access import Access
from gatewright.tools.protocol import ToolCall
from gatewright.tools.system.home import OwnHome

ROUNDS = 3  # as the gate: what a decision missed is looked up, and it is made again
SESSIONS = 200


class Judge:
    """Decides calls as the gate of a session in this directory and mode would."""

    def __init__(self, mode: str = "", *, interactive: bool = True) -> None:
        """Raises GatewrightError for a mode nobody may choose."""
        self.around: Surroundings = replace(
            survey(LaunchOptions(), os.environ, interactive=interactive), wrap=Ourselves()
        )
        chosen = mode or self.around.settings.permissions.default_mode or "default"
        try:
            self._policy = Policy(policy_config(self.around, flag_mode(chosen)))
        except ValueError as error:
            raise GatewrightError(str(error)) from error

    def explain(self, tool: str, input: Mapping[str, Any]) -> list[str]:
        """The trace of the decision, in lines."""
        return asyncio.run(self._explain(self._call(tool, input)))

    def access(self, tool: str, input: Mapping[str, Any]) -> Access:
        """What a call declares that it touches."""
        return self._call(tool, input).access

    def is_about(self, rule: str, call: ToolCall, access: Access) -> bool:
        """Whether a call is one that a rule is about."""
        context = self._policy.context(self.around.where)
        return is_about(rule, Call(call.name, call.input, access), context)

    def listed(self) -> list[ListedRule]:
        """Every rule in force, as /permissions shows them."""
        return self._policy.listed()

    def grants(self, calls: Iterable[tuple[str, Mapping[str, Any]]]) -> list[str]:
        """The rules that an "always" would store for each call today, none where it runs."""
        return asyncio.run(self._grants(calls))

    def tested(self, path: Path) -> list[tuple[bool, str]]:
        """Whether each case holds, and what to print about it. Raises BadInput naming the line."""
        return asyncio.run(self._tested(path))

    def situation(self) -> dict[str, Any]:
        """The settings of here as the context of a case that is judged without the machine."""
        where, permissions = self.around.where, self.around.settings.permissions
        return {
            "root": str(where.root),
            "cwd": str(where.cwd),
            "home": str(where.home),
            "directories": [str(path) for path in where.added],
            "trusted": self.around.trusted,
            "mode": self._policy.current(),
            "planEnforcement": permissions.plan_enforcement,
            "disableBypass": permissions.disable_bypass_permissions_mode == "disable",
            "skip": msgspec.to_builtins(permissions.skip),
            "rules": {
                source: {
                    "allow": list(texts.allow),
                    "ask": list(texts.ask),
                    "deny": list(texts.deny),
                }
                for source, texts in rules_of(self.around.loaded).items()
            },
        }

    @contextlib.asynccontextmanager
    async def _sandbox(self) -> AsyncGenerator[CommandSandbox]:
        """The sandbox of here: it starts with the first command, and half of what counts is it."""
        sandbox = command_sandbox(self.around, self._policy, OwnHome(str(self.around.places.home)))
        try:
            yield sandbox
        finally:
            await sandbox.close()

    async def _explain(self, call: Call) -> list[str]:
        async with self._sandbox() as sandbox:
            call = await _ready(call, sandbox)
            lines = await self._traced(call, sandbox)
            context = self._policy.context(self.around.where)
            return [*lines, *_confinement(sandbox, context, call.access)]

    async def _grants(self, calls: Iterable[tuple[str, Mapping[str, Any]]]) -> list[str]:
        rules: list[str] = []
        async with self._sandbox() as sandbox:
            for tool, input in calls:
                call = await _ready(self._call(tool, input), sandbox)
                context = self._policy.context(self.around.where)
                decision = decide(call, sandbox.judged(context, call.access))
                if isinstance(decision, Ask) and not sandbox.refusal(call.access):
                    rules += [grant.rule for grant in decision.grants if grant.rule]
        return rules

    async def _tested(self, path: Path) -> list[tuple[bool, str]]:
        results: list[tuple[bool, str]] = []
        async with self._sandbox() as sandbox:
            for number, case in cases(path, self.situation()):
                try:
                    results.append(await _compared(case, sandbox))
                except Unreadable as error:
                    raise BadInput(f"{path}:{number}: {error}.") from error
        return results

    async def _traced(self, call: Call, sandbox: CommandSandbox) -> list[str]:
        def judged() -> list[str]:
            context = self._policy.context(self.around.where)
            return trace(call, sandbox.judged(context, call.access))[0]

        resolver = self._policy.resolver
        dirty = partial(git_dirty, caller=self.around.caller)
        keeps = partial(git_keeps, caller=self.around.caller)
        lines = judged()
        for _ in range(ROUNDS):
            if not await fetch_missing(resolver, lookup_host, dirty, keeps):
                break
            lines = judged()
        return lines

    def _call(self, tool: str, input: Mapping[str, Any]) -> Call:
        name = canonical(tool)
        return Call(name, input, declared_access(name, input, self._policy.place))


async def _ready(call: Call, sandbox: CommandSandbox) -> Call:
    return replace(call, access=await sandbox.ready(call.access))


async def _compared(case: Mapping[str, Any], sandbox: CommandSandbox) -> tuple[bool, str]:
    """In the sandbox of here, unless the case says itself what there is."""
    call, context = call_and_context(case)
    about = case["context"]
    if "sandbox" in about or "sandbox" in about["rules"]:
        return compare(case, (call, context))
    call = await _ready(call, sandbox)
    context = sandbox.judged(context, call.access)
    return compare(case, (call, context), sandbox.refusal(call.access))


def _confinement(sandbox: CommandSandbox, context: Context, access: Access) -> Iterator[str]:
    """Where a command would run, which is half of what is decided about it."""
    if access.runs is None:
        return
    if refused := sandbox.refusal(access):
        yield f"> sandbox: deny. {refused}"
    elif sandbox.judged(context, access).sandbox and not access.runs.unsandboxed:
        yield "  it would run in the sandbox: agent sandbox explain says what it could do there"
    else:
        why = sandbox.status.rstrip(".") or "the call, or sandbox.excludedCommands, asks for that"
        yield f"  it would run outside of the sandbox: {why}"


def cases(path: Path, situation: Mapping[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The cases of a rule test, each in the situation of here where it names no other.

    Short forms: `command` for a call of Bash, `mode`, and a word as `expect`. Raises BadInput.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read: {error}.") from error
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("//"):
            try:
                case = msgspec.json.decode(line, type=dict[str, Any])
            except msgspec.DecodeError as error:
                raise BadInput(f"{path}:{number}: {error}.") from error
            yield number, whole(case, situation, number)


def whole(case: dict[str, Any], situation: Mapping[str, Any], number: int) -> dict[str, Any]:
    """The case without short forms."""
    command, mode, expect = case.get("command"), case.get("mode"), case.get("expect")
    call = {"tool": "Bash", "input": {"command": command}} if command else {}
    context = {**situation, **({"mode": mode} if mode else {}), **case.get("context", {})}
    expected = {"behavior": expect} if isinstance(expect, str) else expect
    return {
        "id": command or f"line {number}",
        **case,
        **call,
        "context": context,
        "expect": expected,
    }


def asked_before(judge: Judge) -> list[tuple[str, int]]:
    """Rules that would have settled what was asked and allowed in this project, each time."""
    found: list[tuple[str, Mapping[str, Any]]] = []
    folder = project_folder(judge.around.places.home, judge.around.where.cwd)
    for listed in list_sessions(folder)[:SESSIONS]:
        try:
            branch = read_transcript(listed.path).branch
        except (OSError, SessionError):
            continue
        found += _allowed_once(branch)
    return [(rule, 1) for rule in judge.grants(found)]


def _allowed_once(branch: tuple[Envelope, ...]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    calls: dict[str, ToolStarted] = {}
    for envelope in branch:
        match envelope.event:
            case ToolStarted() as started:
                calls[started.call_id] = started
            case Decided(answer="once", call_id=id) if id in calls:
                yield calls[id].name, calls[id].input
            case _:
                pass
