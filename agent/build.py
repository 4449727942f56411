"""Composition root: from a command line and an environment to a session, and nothing else.

The only caller of the gate's factory: no front end can be given a tool executor without a gate.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from gatewright.agent.commands.core import built_in
from gatewright.agent.commands.registry import Commands
from gatewright.agent.commands.rule_editor import PermissionBook
from gatewright.agent.commands.sandbox import sandbox_command
from gatewright.agent.compact.state import Remains
from gatewright.agent.context.attachments import AttachPorts
from gatewright.agent.context.briefing import Briefing, places_of
from gatewright.agent.context.file_judge import pictures, readable_by
from gatewright.agent.context.file_notices import Noticing
from gatewright.agent.context.input_context import AboutMemory, Attending
from gatewright.agent.context.instruction_files import MemoryBook
from gatewright.agent.errors import GatewrightError, SettingsError
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.launch.preload import import_all
from gatewright.agent.models.choices import ModelBook
from gatewright.agent.models.opener import ModelOpener, wanted_model
from gatewright.agent.models.short_answer import PageReader
from gatewright.agent.providers.retry import Backoff, RetryPolicy
from gatewright.agent.record import codec as wire
from gatewright.agent.record.events import (
    AnyEvent,
    Cleared,
    Decided,
    InputDelta,
    ModeChanged,
    Noticed,
    TurnEnded,
    TurnStarted,
    Unconfined,
)
from gatewright.agent.record.hub import Hub
from gatewright.agent.record.spending import Spending
from gatewright.agent.session.base import CLOCK, Base, announce, open_base
from gatewright.agent.session.beside import Beside, open_namer, small_model
from gatewright.agent.session.housekeeping import Housekeeping, cleaning
from gatewright.agent.session.parts import CallPorts, Parts
from gatewright.agent.session.planning import SessionPlanning, plan_file
from gatewright.agent.session.session import Session
from gatewright.agent.session.status_facts import open_status
from gatewright.agent.settings import trust_question as trusting
from gatewright.agent.settings.grants import GrantStore
from gatewright.agent.settings.live_settings import LiveSettings, starting
from gatewright.agent.settings.overview import SettingsBook
from gatewright.agent.settings.paths import own_home
from gatewright.agent.settings.policy_settings import (
    command_sandbox,
    own_of,
    policy_config,
    start_mode,
)
from gatewright.agent.settings.trust import TrustStore
from gatewright.agent.settings.workspace import Surroundings, survey
from gatewright.agent.text.printable import escaped
from gatewright.agent.text.redact import Redactor
from gatewright.agent.transcript.writer import TranscriptLock, TranscriptWriter
from gatewright.agent.version import VERSION
from gatewright.permissions.decision import DecisionRecord
from gatewright.permissions.gated import GatePorts, gated
from gatewright.permissions.policy import Policy
from gatewright.permissions.sandbox.commands import CommandSandbox
from gatewright.permissions.sandbox.disk.receipts import recovered
from gatewright.permissions.sandbox.ourselves import Ourselves
from gatewright.permissions.world import git_dirty, git_keeps
from gatewright.tools.files.fs import ReadLedger
from gatewright.tools.protocol import Asker, Hit, ToolContext, ToolFailure, ToolSpec
from gatewright.tools.registry import BuiltinTools
from gatewright.tools.shell.proc import spawn
from gatewright.tools.shell.sweep import sweep_abandoned

RETRY = RetryPolicy()
FIRST_CALL = (  # 140 ms to judge and run it, imported while the model still writes it
    "gatewright.permissions.calls.shell_call",
    "gatewright.tools.shell.bash",
    "gatewright.tools.files.read",
    "gatewright.tools.search.grep",
    "gatewright.tools.files.edit",
)


async def open_session(
    options: LaunchOptions, env: Mapping[str, str], *, interactive: bool
) -> Session:
    """Raises GatewrightError, whose text is for the person."""
    left = recovered(own_home(env) / "state")  # before anything of the project is read
    surveyed = survey(options, env, interactive=interactive)
    base = open_base(starting(replace(surveyed, wrap=Ourselves())))
    around, start, hub = base.around, base.start, base.hub
    kept = start.path.with_suffix("")
    policy = Policy(policy_config(around, start_mode(base), own_of(base)))
    tools = BuiltinTools.of(options.tools, alone=not interactive)
    writer = _writer(base)
    barrier = writer.barrier if writer is not None else _nothing_to_keep
    planning, ledger = _planning(base, policy), ReadLedger()
    sandbox = _sandbox(base, policy)
    live = _live(base, env, policy, sandbox)
    live.listen(lambda now: sandbox.reach((now.where.root, *now.where.added)))
    readable = readable_by(policy, lambda: live.around.where)
    briefing = Briefing(lambda: live.around, readable)
    reader = PageReader(lambda: small_model(around, start, opener))
    if not interactive:
        briefing.begin()
    offered = partial(_offered, tools, policy)
    opener = ModelOpener(live, offered, start.id, briefing, planning=planning.active)
    names = [spec.name for spec in offered()]
    announce(base, policy.current(), names, (*policy.problems, *sandbox.problems, *left))
    spending = Spending()
    spending.restore(envelope.event for envelope in start.stored)
    return Session(
        Parts(
            id=start.id,
            where=around.where,
            hub=hub,
            talk=base.talk,
            clock=CLOCK,
            modes=policy,
            rules=policy,
            commands=Commands((*built_in(), sandbox_command(sandbox.panel, sandbox.restore))),
            executor=gated([tools], policy, _gate_ports(base, live, barrier, sandbox)),
            context=_context_factory(live, kept, planning, ledger, reader, tools),
            open_model=opener,
            model_name=base.model_name,
            retry_in=Backoff(RETRY, random=random.random),
            attempts=RETRY.attempts,
            barrier=barrier,
            limits=base.limits,
            interactive=interactive,
            fallback_names=around.settings.fallback_models,
            opening=partial(_ask_for_trust, base, env, live),
            writer=writer,
            beside=_beside(base, live, policy, opener, ledger, (sandbox.close, reader.close)),
            stored=len(start.stored),
            spending=spending,
        )
    )


def _offered(tools: BuiltinTools, policy: Policy, *, short: bool = False) -> list[ToolSpec]:
    """What the model is told of: not what would be refused whatever it asks."""
    return [spec for spec in tools.specs(short=short) if not policy.wholly_denied(spec.name)]


def _beside(
    base: Base,
    live: LiveSettings,
    policy: Policy,
    opener: ModelOpener,
    ledger: ReadLedger,
    closing: tuple[Callable[[], Awaitable[None]], ...],
) -> Beside:
    """What the session has beside its turns."""
    around, settings, briefing = base.around, base.around.settings, opener.briefing
    readable = briefing.readable
    places = places_of(around, readable)
    noticing = Noticing(places, briefing.last, bare=around.options.bare, tell=base.warn)
    base.hub.tap(lambda e: briefing.renew() if isinstance(e.event, Cleared) else None)
    attaching = AttachPorts(pictures(), ledger.note, readable, base.mention)
    sweeping = Housekeeping(TurnStarted, sweep_abandoned)
    base.hub.tap(lambda e: sweeping.saw(e.event))
    loading = Housekeeping(InputDelta, partial(import_all, FIRST_CALL))
    base.hub.tap(lambda e: loading.saw(e.event))
    closing = (*closing, base.history.checkpoints.settled, sweeping.settled, loading.settled)
    if around.interactive:
        keeping = Housekeeping(TurnEnded, cleaning(around))
        base.hub.tap(lambda e: keeping.saw(e.event))
        namer = open_namer(around, base.start, base.hub, opener)
        closing = (*closing, keeping.close, namer.close)
    return Beside(
        remains=Remains(
            lambda: base.standing.now, _plan_path(base), around.where.resolve, readable
        ),
        forget=ledger.forget_shown,
        auto_compact=settings.auto_compact,
        attending=Attending(noticing, attaching, AboutMemory(briefing.memory, base.warn)),
        noticing=noticing.saw,
        memory=MemoryBook(lambda: live.around, briefing, base.publish),
        models=ModelBook(lambda: live.around),
        settings=SettingsBook(live),
        permissions=PermissionBook(policy, live),
        status=open_status(base, live),
        history=base.history,
        redactor=base.redactor,
        folder=base.start.path.parent,
        closing=closing,
    )


def _live(
    base: Base, env: Mapping[str, str], policy: Policy, sandbox: CommandSandbox
) -> LiveSettings:
    warn = partial(_warn, base.hub)
    live = LiveSettings(base.around, env, tell=warn, settled=sandbox.settled)

    def follow(now: Surroundings) -> None:
        before, known = policy.current(), policy.problems
        policy.follow(policy_config(now, before, own_of(base)))
        for problem in policy.problems:
            if problem not in known:
                _warn(base.hub, escaped(problem))
        if policy.current() != before:  # the mode it was in is not permitted any more
            _publish(base.hub, ModeChanged(mode=policy.current(), by="settings"))

    live.listen(follow)
    return live


async def _ask_for_trust(
    base: Base, env: Mapping[str, str], live: LiveSettings, ask: Asker
) -> None:
    """Before the first turn; who chooses to leave is let out by the front end that asked."""
    about = trusting.question(base.around)
    if about is None or (await ask(about)).choice != trusting.TRUST:
        return
    store = TrustStore(base.around.places, env)
    try:
        await asyncio.to_thread(store.add, base.around.where.root)
    except SettingsError as error:
        _warn(base.hub, f"Trusted for this session only. {error}")
    else:
        _publish(base.hub, Noticed(text="Trusted. `agent trust remove` takes it back."))
    live.trust()


def _gate_ports(
    base: Base, live: LiveSettings, barrier: Callable[[], Awaitable[None]], sandbox: CommandSandbox
) -> GatePorts:
    store = GrantStore(base.around.places, trusted=base.around.trusted)

    async def persist(rules: tuple[str, ...]) -> None:
        """A grant that cannot be kept still counts in this session, and the person is told."""
        try:
            await asyncio.to_thread(store.store, rules)
            live.refresh()
        except SettingsError as error:
            _warn(base.hub, f"This counts in this session only. {error}")

    return GatePorts(
        record=lambda record: _publish(base.hub, _decided(record, base.redactor)),
        barrier=barrier,
        saving=base.keep,
        clock=CLOCK.monotonic,
        persist=persist,
        place=store.place,
        mode_changed=lambda mode: _publish(base.hub, ModeChanged(mode=mode, by="answer")),
        sandbox=sandbox,
        dirty=partial(git_dirty, caller=base.around.caller),
        keeps=partial(git_keeps, caller=base.around.caller),
    )


def _sandbox(base: Base, policy: Policy) -> CommandSandbox:
    return command_sandbox(
        base.around,
        policy,
        own_of(base),
        warn=partial(_warn, base.hub),
        unconfined=lambda why: _publish(base.hub, Unconfined(why=why)),
    )


def _publish(hub: Hub, event: AnyEvent) -> None:
    hub.publish(event)


def _warn(hub: Hub, text: str) -> None:
    hub.publish(Noticed(text=text, tone="warning"))


async def _nothing_to_keep() -> None:
    """The barrier of a session that is not stored."""


def _decided(record: DecisionRecord, redactor: Redactor) -> Decided:
    return Decided(
        call_id=record.call_id,
        tool=record.tool,
        target=redactor.text(record.target),
        behavior=record.behavior,
        stage=record.stage,
        reason=redactor.text(record.reason),
        rule=record.rule,
        source=record.source,
        answer=record.answer,
        ms=record.ms,
    )


def _writer(base: Base) -> TranscriptWriter | None:
    around, start, hub = base.around, base.start, base.hub
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

    sync = around.settings.sync_sessions
    writer = TranscriptWriter(start.path, header, lock=lock, warn=partial(_warn, hub), sync=sync)
    if not start.on_disk:
        writer.copy(start.stored)
    return writer


def _plan_path(base: Base) -> Path:
    around = base.around
    return plan_file(
        around.where.root, around.places.home, base.start.id, in_project=around.trusted
    )


def _planning(base: Base, policy: Policy) -> SessionPlanning:
    path = _plan_path(base)
    policy.plan_at(path)
    return SessionPlanning(policy, path, lambda event: _publish(base.hub, event))


def _context_factory(
    live: LiveSettings,
    kept: Path,
    planning: SessionPlanning,
    ledger: ReadLedger,
    reader: PageReader,
    tools: BuiltinTools,
) -> Callable[[CallPorts], ToolContext]:
    searcher = WebSearcher(lambda: live.around)

    def context(ports: CallPorts) -> ToolContext:
        live.refresh()
        return ToolContext(
            where=live.around.seen_from(ports.where),
            ledger=ledger,
            spawn=spawn,
            ask=ports.ask,
            progress=ports.progress,
            move=ports.move,
            env=live.around.env,
            spill=kept / "spill",
            state=kept,
            jobs=ports.jobs if tools.background else None,
            planning=planning,
            searcher=searcher,
            complete=reader,
            secrets=live.around.secrets,
            private_hosts=live.around.settings.web.private_hosts,
        )

    return context


class WebSearcher:
    """The search service that settings name, made anew for each search: keys may change."""

    def __init__(self, around: Callable[[], Surroundings]) -> None:
        self._around = around

    async def search(self, query: str, limit: int) -> Sequence[Hit]:
        from gatewright.tools.web.search_services import service  # noqa: PLC0415  lazy: 60 ms

        around = self._around()
        web = around.settings.web
        if web.search == "provider":
            return await self._by_provider(around, query)
        key = around.env.get(web.search_key_env, "")
        try:
            chosen = service(web.search, key=key, url=web.search_url)
        except ValueError as error:
            raise ToolFailure(f"{error}. See `web` in the settings.") from error
        return await chosen.search(query, limit)

    async def _by_provider(self, around: Surroundings, query: str) -> Sequence[Hit]:
        from gatewright.agent.providers.search import search_with  # noqa: PLC0415  lazy: 1 ms

        model = wanted_model(around, "")
        try:
            return await search_with(model, query, settings=around.providers, env=around.env)
        except GatewrightError as error:
            raise ToolFailure(str(error)) from error
