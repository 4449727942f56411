"""Composition root: from a command line and an environment to a session, and nothing else.

The only caller of the gate's factory: no front end can be given a tool executor without a gate.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gatewright.agent.client.brought import NOTHING, Brought
from gatewright.agent.compact.state import Remains
from gatewright.agent.context.briefing import Briefing
from gatewright.agent.context.file_changes import FileChanges
from gatewright.agent.context.file_judge import readable_by
from gatewright.agent.context.tool_search import SearchTools
from gatewright.agent.context.tool_sources import ToolSources
from gatewright.agent.extensions.call_context import call_contexts
from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.extensions.gate import Possible, gate_ports, live_settings, planning_of
from gatewright.agent.extensions.host import Host
from gatewright.agent.extensions.listed import EXTENSIONS
from gatewright.agent.extensions.opened import Opened
from gatewright.agent.extensions.plugins.plugin_extension import wanted
from gatewright.agent.extensions.settings_changes import ask_about_changes
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.models.opener import ModelOpener, small_model
from gatewright.agent.models.short_answer import PageReader
from gatewright.agent.providers.retry import Backoff, RetryPolicy
from gatewright.agent.record.journal import of_main
from gatewright.agent.session.children import AgentSpec, ChildPorts
from gatewright.agent.session.frame import Frame
from gatewright.agent.session.planning import SessionPlanning
from gatewright.agent.session.scopes import believed
from gatewright.agent.session.session import Session
from gatewright.agent.session.start.base import CLOCK, announce, open_base
from gatewright.agent.session.writers import child_writer, nothing_to_keep, session_writer
from gatewright.agent.settings.live_settings import starting
from gatewright.agent.settings.paths import own_home
from gatewright.agent.settings.policy_settings import own_of, policy_config, start_mode
from gatewright.agent.settings.trust_question import ask_for_trust
from gatewright.agent.settings.workspace import Surroundings, survey
from gatewright.permissions.gated import gated
from gatewright.permissions.policy import Policy
from gatewright.permissions.rulebook.tools_table import coordinates
from gatewright.permissions.sandbox.disk.receipts import Elsewhere, recovered
from gatewright.permissions.sandbox.ourselves import Ourselves
from gatewright.tools.access import MAIN
from gatewright.tools.files.fs import ReadLedger
from gatewright.tools.registry import BuiltinTools

if TYPE_CHECKING:
    from gatewright.agent.extensions.agent_types.main_agent import MainAgent

RETRY = RetryPolicy()


async def open_session(
    options: LaunchOptions,
    env: Mapping[str, str],
    *,
    interactive: bool,
    client: Brought = NOTHING,
) -> Session:
    """Raises GatewrightError, whose text is for the person."""
    state = own_home(env) / "state"
    left = recovered(state)  # before anything of the project is read
    settled = Elsewhere(state).settled
    surveyed = survey(options, env, interactive=interactive, settled=settled)
    main = _main_agent(surveyed, client)
    if main is not None:
        surveyed = survey(main.options, env, interactive=interactive, settled=settled)
    base = open_base(starting(replace(surveyed, wrap=Ourselves())))
    policy = Policy(policy_config(base.around, start_mode(base), own_of(base)))
    possible = Possible()
    live = live_settings(base, env, policy, possible)
    live.settled = settled
    briefing = Briefing(lambda: live.around, readable_by(policy, lambda: live.around.where))
    if not interactive:
        briefing.begin()
    changes = FileChanges()
    ledger = ReadLedger(changes.by_others(MAIN))
    host = Host(base, live, policy, briefing, ledger, client)
    host.changes = changes
    tools = BuiltinTools.of(options.tools, alone=not interactive, background=not options.served)
    sources = host.tools = ToolSources([tools], policy.wholly_denied, coordinates)
    sources.add(SearchTools(sources))
    if main is not None:
        main.takes_over(host)
    opened = Opened(host, EXTENSIONS)
    brought = await opened.all()
    possible.take(brought, live)
    ask_about_changes(host)
    planning = planning_of(base, policy)
    opener = _opener(host, planning)
    problems = [text for each in brought for text in each.problems]
    names = [spec.name for spec in sources.specs()]
    cut = {id: text for each in brought if each.lost for id, text in each.lost().items()}
    announce(base, policy.current(), names, (*policy.problems, *problems, *left), cut, host.begins)
    reader = PageReader(host.small_model, host.publish)
    own = Contribution(
        folds=(*base.folds, of_main(sources.saw)),
        announcements=(sources.announced,),
        brings=(opened.beside,),
        parts=(sources,),
        close=(reader.close, opened.close, opener.close),
    )
    frame = _frame(host, opener, (planning, reader, tools))
    frame = replace(frame, opening=partial(ask_for_trust, base, env, live))
    session = Session(frame, (own, *brought))
    sources.thawed = session.renew_model
    host.join(session)
    opened.follow(partial(_joined, session, host, possible))
    if main is not None and not options.cleared:
        main.begins(session, base.start.begins)
    return session


def _main_agent(around: Surroundings, client: Brought) -> MainAgent | None:
    """The type of agent that the session itself is, where somebody, or a plugin, names one."""
    if not (around.options.agent or around.settings.agent or wanted(around)):
        return None
    from gatewright.agent.extensions.agent_types.main_agent import main_agent  # noqa: PLC0415  lazy: 9 ms

    return main_agent(around, client)


def _joined(session: Session, host: Host, possible: Possible, late: Contribution) -> None:
    session.take(late)
    possible.take(host.brought, host.live)


def _opener(host: Host, planning: SessionPlanning) -> ModelOpener:
    base = host.base
    opener = ModelOpener(
        host.live,
        host.tools.offered,
        base.start.id,
        host.briefing,
        planning=planning.active,
        rank=base.costs.rank,
    )
    host.open_model = opener
    host.small_model = lambda: small_model(base.around, base.start, opener)
    return opener


def _frame(
    host: Host,
    opener: ModelOpener,
    using: tuple[SessionPlanning, PageReader, BuiltinTools],
) -> Frame:
    base, live, policy = host.base, host.live, host.policy
    around, start, (planning, reader, tools) = base.around, base.start, using
    writer = session_writer(base)
    barrier = writer.barrier if writer is not None else nothing_to_keep
    host.barriers.add(MAIN, barrier)
    now = base.standing
    return Frame(
        id=start.id,
        where=host.begins,
        journal=base.journal,
        talk=base.talk,
        clock=CLOCK,
        modes=policy,
        rules=policy,
        executor=gated([host.tools], policy, gate_ports(base, live, host.barriers, host)),
        refresh=live.refresh,
        context=call_contexts(host, planning, reader, jobs=tools.background),
        ledger=host.ledger,
        children=ChildPorts(
            ledger=lambda path: ReadLedger(host.changes.by_others(path)),
            backoff=_backoff,
            writer=partial(child_writer, base),
            barriers=host.barriers,
            enters=partial(_enters, host),
            left=policy.forget,
        ),
        open_model=opener,
        model_name=base.model_name,
        effort=base.effort,
        retry_in=_backoff(),
        attempts=RETRY.attempts,
        barrier=barrier,
        limits=base.limits,
        interactive=around.interactive,
        fallback_names=around.settings.fallback_models,
        writer=writer,
        stored=len(start.stored),
        begins="clear" if around.options.cleared else start.begins,
        spending=base.spending(),
        costs=base.costs,
        remains=Remains(
            lambda: now.now,
            planning.path,
            around.where.resolve,
            host.briefing.readable,
            host.remains,
        ),
        auto_compact=around.settings.auto_compact,
        redactor=base.redactor,
        listeners=host.listeners,
        folder=start.path.parent,
    )


def _enters(host: Host, path: str, spec: AgentSpec) -> None:
    """What of the rules is that agent's own. Raises ValueError: there is no such mode."""
    if spec.leads is not None:
        host.policy.view(path).lead(spec.leads, spec.mode)
    else:
        host.policy.view(path).keep(spec.mode, freed=spec.freed)
    if spec.scope is not None:
        for problem in host.policy.scope(believed(spec.scope), path):
            host.warn(problem)


def _backoff() -> Backoff:
    return Backoff(RETRY, random=random.random)
