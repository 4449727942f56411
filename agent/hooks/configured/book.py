"""The handlers in force: those of all sources together, in the order in which answers count."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
from msgspec.structs import replace

from gatewright.agent.hooks.configured.matchers import compiled
from gatewright.agent.hooks.configured.reading import CheckRule, Read, origin_of, read_layer
from gatewright.agent.hooks.events import EVENTS
from gatewright.agent.hooks.handlers import OF_PROJECT, STEADY, Fault, Handler, Origin
from gatewright.agent.settings.hook_layers import HookLayer
from gatewright.agent.settings.schema import Settings

KNOWN = 256  # pairs of an event and what its matchers look at


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """What decides which sources count."""

    trusted: bool
    bare: bool = False
    managed_only: bool = False
    claude: bool = True
    strict: bool = False  # hooksStrict

    @classmethod
    def of(cls, settings: Settings, *, trusted: bool, bare: bool) -> Terms:
        return cls(
            trusted=trusted,
            bare=bare,
            managed_only=settings.allow_managed_hooks_only,
            claude=settings.read_claude_hooks,
            strict=settings.hooks_strict,
        )


class Off(msgspec.Struct, frozen=True):
    """A handler that is there and does not run, and why."""

    handler: Handler
    why: str


class Book(msgspec.Struct, frozen=True):
    """An event under way keeps the book it began with: nothing in it changes."""

    handlers: tuple[Handler, ...] = ()  # the strongest source first
    off: tuple[Off, ...] = ()
    faults: tuple[Fault, ...] = ()
    by_event: dict[str, tuple[Handler, ...]] = {}
    doubled: frozenset[str] = frozenset()  # events with handlers that are the same twice
    known: dict[tuple[str, str], tuple[Handler, ...]] = {}  # who heard of what was asked before

    def matching(self, event: str, value: str) -> tuple[Handler, ...]:
        """Those that hear of this one, each once; `if` is not judged yet."""
        if (found := self.known.get((event, value))) is not None:
            return found
        row = EVENTS[event]
        fits = {each.matcher: compiled(each.matcher, row) for each in self.by_event.get(event, ())}
        hit = frozenset(matcher for matcher, matches in fits.items() if matches(value))
        found = tuple(each for each in self.by_event.get(event, ()) if each.matcher in hit)
        found = joined(found) if event in self.doubled else found
        if len(self.known) < KNOWN:
            self.known[(event, value)] = found
        return found


def book_of(
    layers: Sequence[HookLayer], given: Iterable[Read], terms: Terms, check: CheckRule
) -> Book:
    """`given` is what clients, plugins, agents and skills bring."""
    everything_off = _everything_off(layers)
    reads = [(read_layer(each, check), _why_off(each, terms, everything_off)) for each in layers]
    reads += ((each, _why_given(each, terms, everything_off)) for each in given)
    counting = (handler for each, why in reads if not why for handler in each.handlers)
    handlers = tuple(
        replace(each, strict=each.strict or (terms.strict and EVENTS[each.event].strict))
        for each in sorted(counting, key=lambda each: each.place.rank)
    )
    by_event: dict[str, list[Handler]] = {}
    for handler in handlers:
        by_event.setdefault(handler.event, []).append(handler)
    doubled = {
        event for event, each in by_event.items() if len({one.key for one in each}) < len(each)
    }
    return Book(
        handlers,
        tuple(Off(handler, why) for each, why in reads if why for handler in each.handlers),
        tuple(fault for each, _ in reads for fault in each.faults),
        {event: tuple(each) for event, each in by_event.items()},
        frozenset(doubled),
    )


def joined(handlers: Sequence[Handler]) -> tuple[Handler, ...]:
    """Identical ones once: under the strongest source, strict if any is, the longest timeout."""
    found: dict[tuple[object, ...], Handler] = {}
    for each in handlers:
        first = found.setdefault(each.key, each)
        if first is not each:
            strict, timeout = first.strict or each.strict, max(first.timeout, each.timeout)
            found[each.key] = replace(first, strict=strict, timeout=timeout)
    return tuple(found.values())


def _everything_off(layers: Iterable[HookLayer]) -> str:
    for layer in layers:
        if layer.disabled and origin_of(layer) not in OF_PROJECT:
            return f"disableAllHooks in {layer.where}"
    return ""


def _why_off(layer: HookLayer, terms: Terms, everything_off: str) -> str:
    origin = origin_of(layer)
    if origin == "managed":
        return ""
    if why := _off(origin, terms, everything_off):
        return why
    if layer.disabled and origin in OF_PROJECT:
        return f"disableAllHooks in {layer.where}"
    if layer.claude and not terms.claude:
        return "readClaudeHooks is off"
    return "the project is not trusted" if layer.committed and not terms.trusted else ""


def _why_given(given: Read, terms: Terms, everything_off: str) -> str:
    origin = given.handlers[0].place.origin if given.handlers else "sdk"
    return _off(origin, terms, everything_off)


def _off(origin: Origin, terms: Terms, everything_off: str) -> str:
    if origin not in STEADY:
        if terms.managed_only:
            return "allowManagedHooksOnly is set"
        if terms.bare:
            return "--bare"
    return everything_off if origin != "managed" else ""
