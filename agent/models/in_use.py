"""The models of one session: the one in use, its stand-ins, and those still to be closed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol, runtime_checkable

from gatewright.agent.errors import GatewrightError
from gatewright.agent.models.model import OpenModel
from gatewright.agent.providers.protocol import Provider, Warming


@runtime_checkable
class Preparing(Protocol):
    """Who opens models, and can do most of it before one is wanted."""

    @property
    def ready(self) -> bool: ...
    def ahead(self, name: str, effort: str) -> Provider | None: ...
    def forget(self) -> None: ...
    def window(self, name: str) -> int: ...


class Models:
    """Every model that was opened is closed: at the end of a turn, or of the session."""

    def __init__(
        self,
        open_model: Callable[[str, str], OpenModel],
        name: str,
        fallback_names: Sequence[str],
        effort: str = "",
    ) -> None:
        self._open = open_model
        opener: object = open_model
        self._preparing = opener if isinstance(opener, Preparing) else None
        self._fallback_names = fallback_names
        self._left: list[OpenModel] = []
        self._stale = False
        self._noted: set[str] = set()
        self.name = name
        self.effort = effort
        self.current: OpenModel | None = None
        self._scope = ("", "")  # of a command: a model and an effort for its turns alone
        self._scoped: OpenModel | None = None
        self._begun: tuple[str, str, Provider] | None = None  # who is about to be opened
        self._turned = False  # a scope began or ended in the middle of a turn, perhaps

    @property
    def window(self) -> int:
        """Of the model in use; as the catalogue says while it is not open; 0: nothing says."""
        if self.current is not None:
            return self.current.window
        return self._preparing.window(self.name) if self._preparing and self.name else 0

    async def needed(self) -> OpenModel:
        """The model, opened at its first use: a session without a key can still be looked at.

        Raises GatewrightError when there is none.
        """
        self._turned = False
        if any(self._scope):
            return await self._for_scope()
        if self.current is not None and not self._stale:
            return self.current
        wanted = self.name, self.effort
        if self._prepared(wanted):
            opened = self._open(*wanted)  # a thread would wait for the screen
        else:
            opened = await asyncio.to_thread(self._open, *wanted)
        self._stale = False
        self.name = self.name or opened.name  # nothing was set up when the session began
        if self.current is not None and wanted != (self.name, self.effort):
            self._left.append(opened)  # the person chose another one meanwhile
            return self.current
        self._replace(opened)
        return opened

    async def ahead(self) -> None:
        """Have ready what a request needs while it is being written; raises nothing."""
        current = self._scoped or self.current
        if current is not None and not self._stale:
            await _warmed(current.provider)
        elif self._preparing is not None:
            wanted = self.name, self.effort
            try:
                provider = await asyncio.to_thread(self._preparing.ahead, *wanted)
            except GatewrightError:
                return  # the turn says why
            if provider is not None:
                before, self._begun = self._begun, (*wanted, provider)
                await _warmed(provider)
                if before is not None:
                    await before[2].close()

    def forget(self) -> None:
        """What was read ahead may be other now."""
        if self._preparing is not None:
            self._preparing.forget()

    def _prepared(self, wanted: tuple[str, str]) -> bool:
        begun = self._begun is not None and self._begun[:2] == wanted
        return begun and self._preparing is not None and self._preparing.ready

    async def change(self, name: str, effort: str) -> OpenModel:
        """Use this one from the next turn on. Raises GatewrightError."""
        opened = await asyncio.to_thread(self._open, name, effort)
        self._replace(opened)
        self.name, self.effort = opened.name, effort
        return opened

    def scope(self, model: str = "", effort: str = "") -> None:
        """From the next request on another model or effort; with nothing, the person's again."""
        if (model, effort) == self._scope:
            return
        self._scope, self._turned = (model, effort), True
        if self._scoped is not None:
            self._left.append(self._scoped)
            self._scoped = None

    def also(self, model: str, effort: str) -> None:
        """Besides the scope there is: what it says nothing of stays."""
        self.scope(model or self._scope[0], effort or self._scope[1])

    async def _for_scope(self) -> OpenModel:
        if self._scoped is None or self._stale:
            wanted = model, effort = self._scope
            opened = await asyncio.to_thread(self._open, model or self.name, effort or self.effort)
            if self._scope != wanted:  # it ended meanwhile
                self._left.append(opened)
                return await self.needed()
            if self._scoped is not None:
                self._left.append(self._scoped)
            self._scoped = opened
        return self._scoped

    def renew(self) -> None:
        """What the model is told at the beginning is read anew before the next turn."""
        self._stale = True

    def mode_changed(self) -> None:
        """Whoever depends on the mode is opened anew, in the middle of a turn if need be."""
        if self.current is not None and self.current.by_mode:
            self._stale = True

    async def following(self, answering: OpenModel) -> OpenModel:
        """Who gives the next answer of a turn; another one only where mode or scope decide that."""
        if not self._turned and not (self._stale and answering.by_mode):
            return answering
        try:
            return await self.needed()
        except GatewrightError:
            return answering  # the next turn says why

    def note(self, opened: OpenModel) -> str:
        """What is to be known of a model, the first time."""
        new = opened.note not in self._noted
        self._noted.add(opened.note)
        return opened.note if new else ""

    def fallbacks(self) -> Callable[[], OpenModel | None]:
        """The stand-ins of one turn, in order; one that cannot be opened is passed over."""
        names = iter(self._fallback_names)

        def following() -> OpenModel | None:
            for name in names:
                with suppress(GatewrightError):
                    self._left.append(self._open(name, self.effort))
                    return self._left[-1]
            return None

        return following

    async def settle(self) -> None:
        """Close what is no longer in use. No turn may be running."""
        begun, self._begun = self._begun, None
        if begun is not None:
            await begun[2].close()
        while self._left:
            await self._left.pop().provider.close()

    async def close(self) -> None:
        self._left += [opened for opened in (self.current, self._scoped) if opened is not None]
        await self.settle()

    def _replace(self, opened: OpenModel) -> None:
        if self.current is not None:
            self._left.append(self.current)
        self.current = opened


async def _warmed(provider: Provider) -> None:
    if isinstance(provider, Warming):
        await provider.warm()
