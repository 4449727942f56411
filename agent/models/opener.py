"""Opens models for a session: provider, request frame and prices, from the settings in force."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from gatewright.agent.context.briefing import Briefing
from gatewright.agent.context.readable import Readable
from gatewright.agent.errors import GatewrightError
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.models.model import OpenModel
from gatewright.agent.providers.catalog import ModelFacts, load_catalog
from gatewright.agent.providers.limiter import unknown
from gatewright.agent.providers.presets import endpoint
from gatewright.agent.providers.protocol import Provider
from gatewright.agent.providers.registry import (
    Chosen,
    Opened,
    choose,
    default_model,
    facts_of,
    open_provider,
)
from gatewright.agent.providers.shared import SharedProviders
from gatewright.agent.session.start.resume import Start
from gatewright.agent.settings.live_settings import LiveSettings
from gatewright.agent.settings.workspace import Surroundings
from gatewright.agent.turn.request import RequestFrame
from gatewright.tools.protocol import JsonObject, ToolSpec

NO_MODEL = (
    "No model is set up. Set ANTHROPIC_API_KEY or OPENAI_API_KEY, keep a key with {login}, "
    "or name a model with {model}. --model demo needs neither key nor network."
)
INSIDE = NO_MODEL.format(login="`agent login` or /login", model="--model or /model")
ALONE = NO_MODEL.format(login="`agent login`", model="--model")  # nobody is there to type commands
OUTPUT_ENV = "CLAUDE_CODE_MAX_OUTPUT_TOKENS"
USUAL_OUTPUT = 32_000  # more is asked for only by an answer that needs it
SMALL_WINDOW = 32_000  # a model with less gets the short descriptions of tools


class Offering(Protocol):
    """The tools that a session offers to a model, the same ones at each opening."""

    def __call__(self, *, model: str, short: bool, window: int) -> tuple[ToolSpec, ...]: ...


class ModelOpener:
    def __init__(
        self,
        live: LiveSettings,
        offered: Offering,
        session: str,
        briefing: Briefing,
        *,
        planning: Callable[[], bool] = lambda: False,
        rank: Callable[[str], int] = unknown,
    ) -> None:
        self._live = live
        self.briefing = briefing
        self._offered = offered
        self._short: dict[str, bool] = {}  # by model
        self._session = session
        self._planning = planning
        self._shared = SharedProviders(rank)

    async def close(self) -> None:
        """The session is over: whatever is still open for it."""
        await self._shared.close()

    def __call__(self, name: str, effort: str) -> OpenModel:
        """Raises GatewrightError: no key, no such provider."""
        around = self._live.around
        name = name or wanted_model(around, "")  # there may be a key by now
        if not name:
            raise GatewrightError(self._no_model())
        meant = load_catalog().meant(name, planning=self._planning())
        opened = open_provider(
            meant, settings=around.providers, env=around.env, sharing=self._shared.of
        )
        facts, (usual, most) = opened.facts, output_limits(opened.facts, around.env)
        frame = RequestFrame(
            model=opened.model,
            system=self.briefing.blocks(),
            tools=self._frozen(opened.name, facts.window),
            max_output=usual,
            raised_output=most,
            effort=facts.effort(effort or around.settings.effort),
            session=self._session,
            schema=_enforced(around.options),
        )
        return OpenModel(
            name=name if meant != name else opened.name or name,
            provider=self._provider(opened),
            frame=frame,
            window=facts.window,
            price=facts.cost,
            lack=opened.lack,
            structured=facts.structured,
            by_mode=meant != name,
            note=opened.note,
            aside=opened.aside,
        )

    def ahead(self, name: str, effort: str) -> Provider | None:
        """Who will be asked, with all read that opening needs; nothing of it counts yet.

        Raises GatewrightError: no key, no such provider.
        """
        del effort  # nothing of it is needed
        around = self._live.around
        if around.options.replay or not (name := name or wanted_model(around, "")):
            return None
        self.briefing.ahead()
        meant = load_catalog().meant(name, planning=self._planning())
        return open_provider(
            meant, settings=around.providers, env=around.env, sharing=self._shared.of
        ).provider

    def window(self, name: str) -> int:
        """Of a model that is not opened; 0 where that is not certain."""
        around = self._live.around
        try:
            meant = load_catalog().meant(name, planning=self._planning())
            chosen = choose(meant, settings=around.providers, env=around.env)
            server = endpoint(chosen.provider, around.providers, around.env)
        except GatewrightError:
            return 0
        facts, own = facts_of(server, around.env)(chosen.model), server.settings.models
        said = facts.known or (chosen.model in own and own[chosen.model].window)
        return facts.window if said and not chosen.wide else 0

    @property
    def ready(self) -> bool:
        """Opening the one that was prepared waits for nothing."""
        return self.briefing.ready

    def forget(self) -> None:
        """What was read ahead may be other now."""
        self.briefing.forget()

    def _frozen(self, model: str, window: int) -> tuple[ToolSpec, ...]:
        """In the form as it was first, also when settings change what is known of the window.

        Print mode is short, too: it pays for every byte of what is mostly one question.
        """
        brief = window < SMALL_WINDOW or self._live.around.options.print_mode
        short = self._short.setdefault(model, brief)
        return self._offered(model=model, short=short, window=window)

    def _no_model(self) -> str:
        """What to do about it; a model server on this machine is offered, never chosen."""
        from gatewright.agent.providers.listing import listening  # noqa: PLC0415  lazy: only here

        around = self._live.around
        local = [f"--model {name}/..." for name in listening(around.providers, around.env)]
        typing = around.interactive and not around.options.print_mode
        told = INSIDE if typing else ALONE
        if not local:
            return told
        return f"{told} A server on this machine answers too: {' or '.join(local)}"

    def _provider(self, opened: Opened) -> Provider:
        recording = self._live.around.options.replay
        if not recording:
            return opened.provider
        from gatewright.agent.models.replay import replayed  # noqa: PLC0415  lazy: 5 ms, rarely wanted

        return replayed(Path(recording))


def output_limits(facts: ModelFacts, env: Mapping[str, str]) -> tuple[int, int]:
    """Tokens an answer usually may have, and one that was cut short: a person may name both.

    More than a model can give is refused by its server, so what is known of it stays the limit.
    """
    named = env.get(OUTPUT_ENV, "").strip()
    if not (named.isascii() and named.isdigit() and int(named[:9])):
        return min(facts.max_output, USUAL_OUTPUT), facts.max_output
    limit = min(int(named[:9]), facts.max_output) if facts.known else int(named[:9])
    return limit, limit


def wanted_model(around: Surroundings, stored: str) -> str:
    """Command line, then what the session used, then settings, then whoever has a key.

    An empty name: nothing is configured, and the first turn says so.
    """
    named = around.options.model or stored or around.settings.model
    return named or default_model(around.providers, around.env) or ""


def small_model(around: Surroundings, start: Start, open_model: ModelOpener) -> OpenModel:
    """Settings name it, else it is the small one of whoever answers. Raises GatewrightError."""
    return open_model(small_name(around, wanted_model(around, start.model)), "")


def small_name(around: Surroundings, wanted: str) -> str:
    """The small model beside the wanted one; empty where none is known."""
    chosen = understood(around, wanted)
    small = understood(around, f"{chosen.provider}/small") if chosen is not None else None
    has_tier = small is not None and small.model != "small"
    return around.settings.small_model or (small.name if small is not None and has_tier else "")


def understood(around: Surroundings, model: str) -> Chosen | None:
    """The provider and model that a name stands for; None where it stands for none here."""
    try:
        return choose(model, settings=around.providers, env=around.env) if model else None
    except GatewrightError:
        return None


def system_blocks(around: Surroundings, readable: Readable) -> tuple[str, ...]:
    """The system prompt of a session in these surroundings."""
    return Briefing(lambda: around, readable).blocks()


def _enforced(options: LaunchOptions) -> JsonObject | None:
    """The schema for the provider, where an API can enforce it."""
    if not options.json_schema:
        return None
    from gatewright.agent.turn.structured_answer import Shape  # noqa: PLC0415  lazy: 1 ms

    shape = Shape(options.json_schema)
    return shape.schema if shape.enforceable else None
