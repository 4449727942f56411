"""Composition root: from a command line and an environment to a session, and nothing else.

The only caller of the gate's factory: no front end can be given a tool executor without a gate.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from gatewright.agent import wire
from gatewright.agent.clock import SystemClock
from gatewright.agent.commands.core import built_in
from gatewright.agent.commands.registry import Commands
from gatewright.agent.conversation import Conversation
from gatewright.agent.errors import GatewrightError
from gatewright.agent.events import (
    AnyEvent,
    Decided,
    ModeChanged,
    Noticed,
    SessionStarted,
    ToolFinished,
)
from gatewright.agent.hub import Hub
from gatewright.agent.ids import new_id
from gatewright.agent.loop import Limits
from gatewright.agent.model import OpenModel
from gatewright.agent.options import LaunchOptions
from gatewright.agent.pairing import INTERRUPTED
from gatewright.agent.parts import CallPorts, Parts
from gatewright.agent.planning import SessionPlanning, plan_file
from gatewright.agent.prompt.environment import look_around
from gatewright.agent.prompt.memory import memory_files
from gatewright.agent.prompt.system import system_prompt
from gatewright.agent.providers.registry import default_model, open_provider
from gatewright.agent.providers.retry import Backoff, RetryPolicy
from gatewright.agent.request import RequestFrame
from gatewright.agent.resume import Start, find_start
from gatewright.agent.session import Session
from gatewright.agent.settings.schema import COMMITTED, Settings
from gatewright.agent.surroundings import Surroundings, survey
from gatewright.agent.transcript.place import project_folder
from gatewright.agent.transcript.writer import TranscriptLock, TranscriptWriter
from gatewright.agent.version import VERSION
from gatewright.permissions.decision import DecisionRecord
from gatewright.permissions.gated import GatePorts, gated
from gatewright.permissions.policy import Policy, PolicyConfig
from gatewright.permissions.rules import RuleTexts
from gatewright.tools.fs import ReadLedger
from gatewright.tools.proc import spawn
from gatewright.tools.protocol import TextContent, ToolContext
from gatewright.tools.registry import BASIC, BuiltinTools

RETRY = RetryPolicy()
NO_MODEL = (
    "No model is set up. Set ANTHROPIC_API_KEY or OPENAI_API_KEY, name one with --model, "
    "or try --model demo, which needs neither key nor network."
)
USUAL_OUTPUT = 32_000  # more is asked for only by an answer that needs it
LOOSE_MODES = frozenset({"bypassPermissions", "fullAccess", "auto"})


async def open_session(
    options: LaunchOptions, env: Mapping[str, str], *, interactive: bool
) -> Session:
    """Raises GatewrightError, whose text is for the person."""
    around = survey(options, env, interactive=interactive)
    folder = project_folder(around.places.home, around.where.cwd)
    start = find_start(options, folder)
    clock = SystemClock()
    hub, talk = Hub(clock=clock.time, new_id=new_id), Conversation()
    for envelope in start.stored:
        talk.apply(envelope.event)
    hub.restore(start.stored)
    hub.tap(lambda envelope: talk.apply(envelope.event) if envelope.agent == "main" else None)

    writer = _writer(around, start, hub)
    barrier = writer.barrier if writer is not None else _nothing_to_keep
    policy = Policy(_policy_config(around, start))
    planning = _planning(around, start, policy, hub)
    tools = BuiltinTools(BASIC if options.tools is None else options.tools)
    ports = GatePorts(
        record=lambda record: _publish(hub, _decided(record)),
        barrier=barrier,
        clock=clock.monotonic,
        mode_changed=lambda mode: _publish(hub, ModeChanged(mode=mode, by="answer")),
    )
    _announce(hub, talk, around, start, policy)
    return Session(
        Parts(
            id=start.id,
            where=around.where,
            hub=hub,
            talk=talk,
            clock=clock,
            modes=policy,
            rules=policy,
            commands=Commands(built_in()),
            executor=gated([tools], policy, ports),
            context=_context_factory(around, folder / start.id, planning),
            open_model=_model_opener(around, tools, start.id),
            model_name=_model_name(around, start),
            retry_in=Backoff(RETRY, random=random.random),
            attempts=RETRY.attempts,
            barrier=barrier,
            limits=_limits(around.settings),
            interactive=interactive,
            fallback_names=around.settings.fallback_models,
            writer=writer,
            stored=len(start.stored) if start.on_disk else 0,
        )
    )


def _announce(
    hub: Hub, talk: Conversation, around: Surroundings, start: Start, policy: Policy
) -> None:
    """What a session begins with: the start itself, and whatever is wrong with what was loaded."""
    _publish(
        hub,
        SessionStarted(
            model=_model_name(around, start),
            mode=policy.current(),
            cwd=str(around.where.cwd),
            app=VERSION,
            resumed=bool(start.stored),
        ),
    )
    for call in talk.dangling():
        lost = (TextContent(INTERRUPTED),)
        _publish(hub, ToolFinished(call_id=call.id, ok=False, content=lost, summary="interrupted"))
    problems = [problem.text() for problem in around.loaded.problems]
    for text in (start.notice, *problems, *policy.problems):
        if text:
            _publish(hub, Noticed(text=text, tone="warning"))


def _publish(hub: Hub, event: AnyEvent) -> None:
    hub.publish(event)


async def _nothing_to_keep() -> None:
    """The barrier of a session that is not stored."""


def _decided(record: DecisionRecord) -> Decided:
    return Decided(
        call_id=record.call_id,
        tool=record.tool,
        target=record.target,
        behavior=record.behavior,
        stage=record.stage,
        reason=record.reason,
        rule=record.rule,
        source=record.source,
        answer=record.answer,
        ms=record.ms,
    )


def _writer(around: Surroundings, start: Start, hub: Hub) -> TranscriptWriter | None:
    if around.options.no_session:
        return None
    lock = TranscriptLock()
    if start.on_disk:
        lock.take(start.path)
    header = wire.Header(
        version=wire.VERSION,
        id=start.id,
        cwd=str(around.where.cwd),
        created=time.time(),
        app=VERSION,
        forked_from=start.forked_from,
    )

    def warn(text: str) -> None:
        _publish(hub, Noticed(text=text, tone="warning"))

    return TranscriptWriter(start.path, header, lock=lock, warn=warn)


def _policy_config(around: Surroundings, start: Start) -> PolicyConfig:
    permissions = around.settings.permissions
    skip = permissions.skip
    rules = {
        str(source): RuleTexts(texts.allow, texts.ask, texts.deny)
        for source, texts in around.loaded.rules.items()
    }
    return PolicyConfig(
        root=around.where.root,
        cwd=around.where.cwd,
        home=around.where.home,
        directories=around.where.added,
        rules=rules,
        mode=_start_mode(around, start),
        interactive=around.interactive,
        trusted=around.trusted,
        skip_edits=skip.edits,
        skip_bash=skip.bash,
        skip_skills=skip.skills,
        skip_mcp=skip.mcp,
        plan_enforcement=permissions.plan_enforcement,
        disable_bypass=permissions.disable_bypass_permissions_mode == "disable",
        harmless_env=permissions.harmless_env,
    )


def _planning(around: Surroundings, start: Start, policy: Policy, hub: Hub) -> SessionPlanning:
    path = plan_file(around.where.root, around.places.home, start.id, in_project=around.trusted)
    policy.plan_at(path)
    return SessionPlanning(policy, path, lambda event: _publish(hub, event))


def _start_mode(around: Surroundings, start: Start) -> str:
    """Command line, then what the session was in, then settings; never loosened by a project."""
    options, wanted = around.options, around.settings.permissions.default_mode
    if options.mode:
        return options.mode
    if start.mode and start.mode not in LOOSE_MODES:
        return start.mode
    sources = around.loaded.provenance.get("permissions.defaultMode", ())
    if sources and sources[0] in COMMITTED and wanted in LOOSE_MODES:
        return "default"
    return wanted or "default"


def _model_name(around: Surroundings, start: Start) -> str:
    """What to ask for by name; an empty name: nothing is configured, the first turn says so."""
    settings = around.settings
    named = around.options.model or start.model or settings.model
    return named or default_model(around.providers, around.env) or ""


def _model_opener(
    around: Surroundings, tools: BuiltinTools, session: str
) -> Callable[[str], OpenModel]:
    settings, options = around.settings, around.options

    def system() -> tuple[str, ...]:
        files = (
            ()
            if options.bare
            else memory_files(around.places.home, around.where.root, around.where.cwd)
        )
        look = look_around(
            around.where.cwd, around.where.root, around.env, time.strftime("%Y-%m-%d")
        )
        return system_prompt(
            look, files, replaced=options.system_prompt, appended=options.append_system_prompt
        )

    def open_model(name: str) -> OpenModel:
        if not name:
            raise GatewrightError(NO_MODEL)
        opened = open_provider(name, settings=around.providers, env=around.env)
        facts = opened.facts
        frame = RequestFrame(
            model=opened.model,
            system=system(),
            tools=tuple(sorted(tools.specs(), key=lambda spec: spec.name)),
            max_output=min(facts.max_output, USUAL_OUTPUT),
            raised_output=facts.max_output,
            effort=facts.effort(settings.effort),
            session=session,
        )
        return OpenModel(
            name=opened.name or name,
            provider=opened.provider,
            frame=frame,
            window=facts.window,
            price=facts.cost,
        )

    return open_model


def _context_factory(
    around: Surroundings, kept: Path, planning: SessionPlanning
) -> Callable[[CallPorts], ToolContext]:
    ledger = ReadLedger()

    def context(ports: CallPorts) -> ToolContext:
        return ToolContext(
            where=ports.where,
            ledger=ledger,
            spawn=spawn,
            ask=ports.ask,
            progress=ports.progress,
            move=ports.move,
            env=around.env,
            spill=kept / "spill",
            state=kept,
            jobs=ports.jobs,
            planning=planning,
        )

    return context


def _limits(settings: Settings) -> Limits:
    return Limits(requests=settings.max_turns or 0, cost=settings.max_budget_usd or 0.0)
