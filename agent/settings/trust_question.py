"""The question whether a project's own configuration may act, asked once when a session opens."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gatewright.agent.errors import SettingsError
from gatewright.agent.record.events import Noticed
from gatewright.agent.servers.written import of_project
from gatewright.agent.settings.hook_layers import said
from gatewright.agent.settings.layers.sources import Loaded
from gatewright.agent.settings.live_settings import LiveSettings
from gatewright.agent.settings.paths import AGENTS, HOMES, folders_down
from gatewright.agent.settings.traits import COMMITTED
from gatewright.agent.settings.trust import TrustStore
from gatewright.agent.settings.workspace import Surroundings
from gatewright.agent.text.printable import escaped
from gatewright.tools.blocks import Text
from gatewright.tools.interact import Ask, Option
from gatewright.tools.protocol import Asker

if TYPE_CHECKING:
    from gatewright.agent.session.start.base import Base  # it looks at what is here

TRUST, GO_ON, LEAVE = "trust", "continue", "exit"
SHOWN = 200  # all of them, as a rule: the question scrolls
SKILLS = ("skills", "commands")  # directories of a project that may have some
VALUE_SHOWN = 4000
ALLOWS = "allow "
YES = "Trust it: these settings count from now on"
REASON = "Its settings would let commands run or change how the agent works."
CHANGED = "This has changed while you were asked: it is all that would count now."
NOTHING_YET = (
    "Nothing in it waits for that now. Once it is trusted its settings, hooks, servers, agents and "
    "skills count as soon as there are some, and language servers may read it."
)
TRUSTED = "Trusted. agent trust remove takes it back."


def would_act(loaded: Loaded) -> tuple[str, ...]:
    """What of the project's configuration counts only once it is trusted, one line each.

    Programs first: nothing that is written besides may push them out of sight.
    """
    lines = [f"hook {text}" for each in loaded.hooks if each.committed for text in said(each)]
    lines += [
        f"{problem.key} = {_cut(problem.value)} (in {problem.where})"
        for problem in loaded.problems
        if problem.level == "untrusted"
    ]
    for source, rules in (*loaded.rules.items(), *loaded.legacy.items()):
        if source in COMMITTED:
            lines += [f"{ALLOWS}{rule} ({source} settings)" for rule in rules.allow]
    return tuple(map(escaped, lines))


def _cut(value: str) -> str:
    return value if len(value) <= VALUE_SHOWN else value[: VALUE_SHOWN - 1] + "…"


def question(around: Surroundings) -> Ask | None:
    """What to ask at the beginning: None where there is nothing to trust or nobody to ask."""
    if around.trusted or not can_ask(around):
        return None
    if not (lines := _all_that_act(around)):
        return None
    return Ask(
        kind="trust",
        title=_title(around),
        body=(Text(_listed(lines)),),
        options=(
            Option(TRUST, YES, "y"),
            Option(GO_ON, _without(lines), "n"),
            Option(LEAVE, "Leave", "q", leaves=True),
        ),
        reason=REASON,
    )


def later_question(around: Surroundings) -> Ask:
    """The same for who asks for it later on, also where nothing of the project waits yet."""
    lines = _all_that_act(around)
    return Ask(
        kind="trust",
        title=_title(around),
        body=(Text(_listed(lines) if lines else NOTHING_YET),),
        options=(
            Option(TRUST, YES, "y"),
            Option(GO_ON, _without(lines) if lines else "Leave it as it is", "n"),
        ),
        reason=REASON if lines else "",
    )


def _title(around: Surroundings) -> str:
    return f"Do you trust {around.where.root}?"


def _all_that_act(around: Surroundings) -> Sequence[str]:
    lines = (
        *would_act(around.loaded),
        *map(escaped, of_project(around)),
        *map(escaped, _of_agents(around)),
        *map(escaped, _of_skills(around)),
    )
    return tuple(line.replace(f"(in {around.where.root}/", "(in ") for line in lines)


def _of_agents(around: Surroundings) -> Sequence[str]:
    """What definitions of agents would do: read only where there is one."""
    folders = folders_down(around.where.root, around.where.cwd)
    places = (folder / home / AGENTS for folder in folders for home in HOMES)
    if around.options.bare or not any(place.is_dir() for place in places):
        return ()
    from gatewright.agent.agents.definitions.acting import would_act  # noqa: PLC0415  lazy: 12 ms
    from gatewright.agent.agents.definitions.places import Ground  # noqa: PLC0415

    env, where = around.env, around.where
    return tuple(would_act(Ground(places=around.places, where=where, env=env, trusted=False)))


def _of_skills(around: Surroundings) -> Sequence[str]:
    """What skills and command files would do: read only where there are some."""
    folders = folders_down(around.where.root, around.where.cwd)
    places = (folder / home / kind for folder in folders for home in HOMES for kind in SKILLS)
    if around.options.bare or not any(place.is_dir() for place in places):
        return ()
    from gatewright.agent.extensions.skills.skill_acts import would_act  # noqa: PLC0415  lazy: 15 ms

    return tuple(would_act(around))


def notice(around: Surroundings) -> str:
    """The one line where nobody can be asked."""
    lines = would_act(around.loaded)
    if around.trusted or can_ask(around) or not lines:
        return ""
    one = "One setting of this project is"
    count = one if len(lines) == 1 else f"{len(lines)} settings of this project are"
    return (
        f"{count} ignored because it is not trusted{_but(lines)}; "
        "--trust counts them this time, `agent trust add` from now on."
    )


def _without(lines: Sequence[str]) -> str:
    return f"Go on without: they are ignored{_but(lines)}"


def _but(lines: Sequence[str]) -> str:
    """What counts all the same, so that nobody takes the rest of it for all."""
    allows = any(line.startswith(ALLOWS) for line in lines)
    return ", but for narrow allow rules inside it" if allows else ""


def can_ask(around: Surroundings) -> bool:
    """Where tools are served, only calls are asked about."""
    return around.interactive and not around.options.served


def _listed(lines: Sequence[str]) -> str:
    shown = list(lines[:SHOWN])
    if len(lines) > SHOWN:
        shown.append(f"and {len(lines) - SHOWN} more")
    return "\n".join(shown)


async def ask_for_trust(base: Base, env: Mapping[str, str], live: LiveSettings, ask: Asker) -> None:
    """Before the first turn; who chooses to leave is let out by the front end that asked."""
    if not await says_yes(live, ask, question):
        return
    if problem := await trusted(live, env):
        base.warn(problem)
    else:
        base.publish(Noticed(text=TRUSTED))


async def says_yes(
    live: LiveSettings, ask: Asker, make: Callable[[Surroundings], Ask | None]
) -> bool:
    """Whether what is there now is trusted: what changed while it was asked is asked about anew."""
    live.refresh()
    about = make(live.around)
    while about is not None and (await ask(about)).choice == TRUST:
        live.refresh()
        now = make(live.around)
        if now is not None and now.body == about.body:
            return True
        about = replace(now, reason=CHANGED) if now is not None else None
    return False


async def trusted(live: LiveSettings, env: Mapping[str, str]) -> str:
    """Let the project's configuration count; says why that is for this session only, if it is."""
    around = live.around
    try:
        await asyncio.to_thread(TrustStore(around.places, env).add, around.where.root)
    except SettingsError as error:
        problem = f"Trusted for this session only. {error}"
    else:
        problem = ""
    live.trust()
    return problem
