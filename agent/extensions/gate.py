"""Adapts the gate: what it publishes, keeps and asks of the session, and the rules it follows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from gatewright.agent.errors import SettingsError
from gatewright.agent.extensions.contribution import Contribution, Saving, part_of
from gatewright.agent.extensions.host import Host
from gatewright.agent.models.judges import judge_for
from gatewright.agent.record.events import Decided, DirectoryAdded, ModeChanged
from gatewright.agent.session.planning import SessionPlanning, plan_of
from gatewright.agent.session.start.base import CLOCK, Base
from gatewright.agent.settings.grants import GrantStore
from gatewright.agent.settings.live_settings import LiveSettings
from gatewright.agent.settings.policy_settings import own_of, policy_config
from gatewright.agent.settings.workspace import Surroundings
from gatewright.agent.text.printable import escaped
from gatewright.agent.text.redact import Redactor
from gatewright.permissions.decision import DecisionRecord
from gatewright.permissions.machine.world import Keeps, git_dirty, git_keeps
from gatewright.permissions.policy import Policy, PolicyConfig
from gatewright.permissions.request import GatePorts
from gatewright.permissions.sandbox.commands import CommandSandbox
from gatewright.tools.access import Access


class Possible:
    """Modes that need somebody: a classifier, or agents to delegate to."""

    def __init__(self) -> None:
        self.auto = self.agents = False
        self._others = False  # a classifier that asks no model of ours

    def config(self, config: PolicyConfig, around: Surroundings) -> PolicyConfig:
        """With what is possible, and why not where it is not."""
        lack = judge_for(around).lack  # settings may take away what the session began with
        if self._others and not around.settings.permissions.disable_auto_mode:
            lack = ""
        auto = self.auto and not lack
        return replace(
            config,
            auto_available=auto,
            auto_lack=lack or config.auto_lack,
            plan_classifier=auto and around.settings.permissions.use_auto_mode_during_plan,
            classify_all_shell=around.settings.auto_mode.classify_all_shell,
            agents=self.agents,
        )

    def take(self, brought: Sequence[Contribution], live: LiveSettings) -> None:
        self.auto = any(each.classify is not None for each in brought)
        self._others = self.auto and bool(judge_for(live.around).lack)
        self.agents = any(each.agents for each in brought)
        if self.auto or self.agents:
            live.again()


def live_settings(
    base: Base, env: Mapping[str, str], policy: Policy, possible: Possible
) -> LiveSettings:
    """The settings in force, which the policy follows."""
    live = LiveSettings(base.around, env, tell=base.warn)
    opened = list(base.around.where.added)

    def follow(now: Surroundings) -> None:
        before, known = policy.current(), policy.problems
        policy.follow(possible.config(policy_config(now, before, own_of(base)), now))
        for problem in policy.problems:
            if problem not in known:
                base.warn(escaped(problem))
        for path in now.where.added:
            if path not in opened:
                source = "slash_command" if str(path) in now.options.add_dirs else "settings"
                base.publish(DirectoryAdded(path=str(path), source=source))
        opened[:] = now.where.added
        if policy.current() != before:  # the mode it was in is not permitted any more
            base.publish(ModeChanged(mode=policy.current(), by="settings"))

    live.listen(follow)
    return live


def planning_of(base: Base, policy: Policy) -> SessionPlanning:
    path = plan_of(base)
    policy.plan_at(path)
    return SessionPlanning(policy, path, base.publish)


def gate_ports(
    base: Base,
    live: LiveSettings,
    barrier: Callable[[str], Awaitable[None]],
    host: Host,
) -> GatePorts:
    """What the host has may grow."""
    store = GrantStore(base.around.places, trusted=base.around.trusted)

    async def persist(rules: tuple[str, ...], place: str) -> None:
        """A grant that cannot be kept still counts in this session, and the person is told."""
        try:
            await asyncio.to_thread(store.store, rules, everywhere=place == "user")
            live.refresh(ours=True)
        except SettingsError as error:
            base.warn(f"This counts in this session only. {error}")

    caller, brought = base.around.caller, host.brought

    def record(record: DecisionRecord) -> None:
        base.journal.publish(_decided(record, base.redactor), record.agent)

    return GatePorts(
        record=record,
        barrier=barrier,
        saving=_all_of(brought),
        clock=CLOCK.monotonic,
        persist=persist,
        place=store.place,
        mode_changed=lambda mode: base.publish(ModeChanged(mode=mode, by="answer")),
        classify=lambda: next((each.classify for each in brought if each.classify), None),
        sandbox=part_of(brought, CommandSandbox),
        dirty=partial(git_dirty, caller=caller),
        keeps=_kept(partial(git_keeps, caller=caller), brought),
        wrote=host.changes.wrote,
        urgent=lambda agent: host.awaited(agent),
        waits=lambda agent, waiting: host.asks(agent, waiting),
    )


def _all_of(brought: Sequence[Contribution]) -> Saving:
    async def saving(access: Access, losing: bool) -> None:
        for each in brought:
            if each.saving is not None:
                await each.saving(access, losing)

    return saving


def _kept(by_git: Keeps, brought: Sequence[Contribution]) -> Keeps:
    """Git is asked first: what it holds costs no snapshot."""

    async def keeps(path: str) -> bool:
        if await by_git(path):
            return True
        for each in brought:
            if each.keeps is not None and await each.keeps(Path(path)):
                return True
        return False

    return keeps


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
        classifier=record.judged,
    )
