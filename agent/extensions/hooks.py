"""Plugs hooks in: the person's own programs at the points of a session.

Nothing of them is imported before a file, or a client, says something of hooks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gatewright.agent.commands.registry import Command
from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.extensions.plugins.plugins_now import plugins_of
from gatewright.agent.record.events import Envelope, HooksSeen
from gatewright.agent.settings.workspace import Surroundings

if TYPE_CHECKING:
    from gatewright.agent.extensions.hook_session import HookSession
    from gatewright.agent.hooks.configured.reading import Read
    from gatewright.agent.hooks.handlers import Place
    from gatewright.agent.hooks.kinds.running import Run
    from gatewright.agent.hooks.shown.rows import HookRow


class Hooks:
    """What a session has of hooks; `session` is None for as long as nobody configured any."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.session: HookSession | None = None

    def saw(self, envelope: Envelope) -> None:
        if self.session is not None:
            self.session.saw(envelope)

    def follow(self, around: Surroundings) -> tuple[str, ...]:
        """Take up what is configured now; what is new and wrong with it."""
        if self.session is None and not (around.loaded.hooks or self._of_plugins()):
            return ()
        return self.opened().take(around)

    def _of_plugins(self) -> bool:
        return any(each.hooks for each in plugins_of(self._host.brought))

    def opened(self) -> HookSession:
        """The real thing, from now on."""
        if self.session is None:
            from gatewright.agent.extensions.hook_session import HookSession  # noqa: PLC0415  lazy: 15 ms

            self.session = HookSession(self._host)
            self._host.listeners.add(self.session.listening)
        return self.session

    def changed(self, around: Surroundings) -> None:
        for text in self.follow(around):
            self._host.warn(text)

    def attend(self, given: Read, run: Run) -> bool:
        """A client's own handlers, in place of what it gave before; whether they count."""
        return self.opened().attend(given, run, self._host.around)

    def bring(self, agent: str, raw: object, place: Place) -> None:
        """What an agent's definition says, for it alone and as long as it works."""
        for text in self.opened().bring(agent, raw, place):
            self._host.warn(text)

    def bring_skill(self, file: str, raw: object, name: str) -> None:
        """What a skill says, for all agents until the session ends; once, however often it runs."""
        from gatewright.agent.hooks.handlers import Place  # noqa: PLC0415  lazy: with the first hook

        key = f"skill:{file}"
        for text in self.opened().bring(key, raw, Place("skill", file, name=name), of_all=True):
            self._host.warn(text)

    def left(self, agent: str) -> None:
        if self.session is not None:
            self.session.left(agent)

    def rows(self) -> Sequence[HookRow]:
        self._host.live.refresh()
        return self.session.rows() if self.session is not None else ()

    def seen(self) -> None:
        """The person looks at them now."""
        self._host.publish(HooksSeen())

    async def tried(self, row: HookRow) -> str:
        """Run one on a sample of its event; what came of it."""
        if row.closed:
            return f"It does not run here: {row.why}."
        return await self.opened().tried(row.handler)

    def switched(self, row: HookRow, *, on: bool) -> str:
        """For this session; what to tell the person."""
        return self.opened().switched(row.handler, on=on)

    async def close(self) -> None:
        if self.session is not None:
            await self.session.close()


async def plug_hooks(host: Host) -> Contribution:
    hooks = Hooks(host)
    problems = hooks.follow(host.around)
    if (own := host.client.hooks) is not None:
        hooks.attend(own.given, own.run)
    host.live.listen(hooks.changed)

    def commands() -> Sequence[Command]:
        from gatewright.agent.commands.hook_listing import hook_commands  # noqa: PLC0415  lazy: 1 ms

        return hook_commands(hooks)

    return Contribution(
        commands=(commands,),
        folds=(hooks.saw,),
        parts=(hooks,),
        problems=problems,
        close=(hooks.close,),
    )


HOOKS = Extension(name="hooks", plug=plug_hooks, needed=True)  # they may forbid things
