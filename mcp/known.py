"""What is known of a server from the last time: so that it need not run to be offered.

One file a signature, without a value of any variable, header or token. Pins are kept for good:
what a tool was when it was first listed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from gatewright.mcp.described import Described, Hello, Listing
from gatewright.mcp.offered.listed import Prompt
from gatewright.tools.system import private
from gatewright.tools.system.regular import read_regular

FRESH = 7 * 24 * 3600.0
FORM = 1
MAX_BYTES = 32 * 1024 * 1024


class Known(msgspec.Struct, frozen=True, kw_only=True):
    form: int = FORM
    at: float = 0.0
    hello: Hello = Hello()
    tools: tuple[Described, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    pins: dict[str, str] = {}  # tool -> of its accepted definition
    pinned: bool = False  # there was a first listing, which may have been empty
    accepted: tuple[Described, ...] = ()  # as they were, where they are not what is listed now
    told: tuple[str, ...] = ()  # what we had said that we can do, at listings that were first
    version: str = ""  # that the server gave itself at the first of these

    @property
    def seen(self) -> bool:
        """Something was accepted once, and be it that there are no tools."""
        return self.pinned or bool(self.pins) or bool(self.at)

    def fresh(self, now: float) -> bool:
        return 0 <= now - self.at < FRESH and bool(self.hello.era)


class KnownServers:
    """`state/mcp/`. What cannot be read or written is as if it were not there.

    Where a server is only tried nothing `keeps`: it may show more to a session, and what it shows
    first is what is accepted. `tells` is what servers hear of us that is not so in every front end:
    some list more tools where we can do more.
    """

    def __init__(self, folder: Path, *, keeps: bool = True, tells: str = "nothing") -> None:
        self._folder, self._keeps, self._tells = folder, keeps, tells

    def read(self, signature: str) -> Known:
        try:
            known = msgspec.json.decode(read_regular(self._path(signature), MAX_BYTES), type=Known)
        except FileNotFoundError:
            return Known()
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return Known(pins={"": ""})  # something was accepted, and nobody knows what: all asks
        return (
            known
            if known.form == FORM
            else Known(pins=known.pins, pinned=known.seen, accepted=known.accepted)
        )  # of another form nothing is believed that accepts more

    def listed(
        self, signature: str, hello: Hello, listing: Listing, *, accept: bool = False
    ) -> Known:
        """Keep what was listed; the first listing is accepted, and so is one to `accept`."""
        before = self.read(signature)
        now = {tool.name: tool.pin for tool in listing.tools}
        pins = self._pins(before, hello, now, accept=accept)
        first = not before.seen or (before.told and self._tells not in before.told)
        old = {tool.name: tool for tool in (*before.accepted, *before.tools)}
        accepted = tuple(
            old[name]
            for name, pin in pins.items()
            if now.get(name) != pin and name in old and old[name].pin == pin
        )
        known = Known(
            at=time.time(),
            hello=hello,
            tools=listing.tools,
            prompts=listing.prompts,
            pins=dict(pins),
            pinned=True,
            accepted=accepted,
            told=(*before.told, self._tells) if first else before.told,
            version=before.version if before.seen else hello.server,
        )
        self._write(signature, known)
        return known

    def _pins(
        self, before: Known, hello: Hello, now: Mapping[str, str], *, accept: bool
    ) -> Mapping[str, str]:
        """What is accepted from now on.

        The first listing to a front end that tells servers something else may hold more tools:
        these are accepted once, where the same version says of all the others what it said.
        """
        if not before.seen:
            return now
        if accept:  # what it lists elsewhere stays accepted, too
            return {**{name: pin for name, pin in before.pins.items() if name}, **now}
        more = before.told and self._tells not in before.told
        same = bool(hello.server) and hello.server == before.version
        if more and same and all(now.get(name, pin) == pin for name, pin in before.pins.items()):
            return {**now, **before.pins}
        return before.pins

    def forget(self, signature: str) -> None:
        """All but the pins."""
        before = self.read(signature)
        accepted = (*before.accepted, *before.tools)
        kept = Known(
            pins=before.pins, pinned=before.seen, accepted=accepted, told=before.told,
            version=before.version,
        )  # fmt: skip
        self._write(signature, kept)

    def _write(self, signature: str, known: Known) -> None:
        if not self._keeps:
            return
        path = self._path(signature)
        fresh = path.with_suffix(f".{os.getpid()}.new")  # another session may write, too
        with suppress(OSError, msgspec.MsgspecError, UnicodeEncodeError):
            private.write(fresh, msgspec.json.encode(known))
            fresh.replace(path)

    def _path(self, signature: str) -> Path:
        return self._folder / f"{signature}.json"
