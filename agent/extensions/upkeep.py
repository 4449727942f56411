"""Plugs in what a session does once, outside of its turns: load what is needed soon, clean up."""

from __future__ import annotations

from gatewright.agent.extensions.contribution import Close, Contribution
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.launch.preload import import_all
from gatewright.agent.record.events import TurnEnded, TurnStarted
from gatewright.agent.record.journal import of_main
from gatewright.agent.session.housekeeping import Housekeeping, cleaning
from gatewright.agent.session.start.readiness import Idle, Readiness
from gatewright.tools.registry import TOOLS
from gatewright.tools.system.sweep import sweep_abandoned

SOON, SOME_TIME = 0.1, 0.5  # seconds a turn lasts before more of it is awaited, alone later
CALL = (  # what judges and runs any call
    "gatewright.agent.turn.tool_calls",
    "gatewright.permissions.gate",
    "gatewright.permissions.inquiry",
    "gatewright.tools.shell.output",
)
FIRST_CALL = (  # 45 ms to judge and run it
    *CALL,
    "gatewright.permissions.calls.shell_call",
    "gatewright.tools.shell.bash",
    "gatewright.tools.files.read",
    "gatewright.tools.search.grep",
    "gatewright.tools.files.edit",
)
LOOKS = 0.2  # seconds a person at least needs before a first message is typed
FIRST_REQUEST = (  # 15 ms between Enter and its first byte
    "gatewright.agent.providers.listed",
    "gatewright.agent.providers.direct",
    "gatewright.agent.providers.apis.anthropic_events",
    "gatewright.agent.providers.apis.anthropic_request",
    "gatewright.agent.providers.transport.http",
    "encodings.idna",
)
FIRST_COMMANDS = (  # what the menu of / is made of
    "gatewright.agent.session.own_commands",
    "gatewright.agent.agents.definitions.agents_command",
    "gatewright.agent.servers.server_command",
    "gatewright.agent.extensions.skills.skills_command",
    "gatewright.agent.extensions.styles.style_command",
    "gatewright.agent.commands.hook_listing",
)
SHELL = "gatewright.tools.shell.bash"
JUDGED = {SHELL: ("gatewright.permissions.calls.shell_call",)}  # what the gate takes for it


def _needed(place: str) -> tuple[str, ...]:
    module = place.partition(":")[0]
    return (*CALL, *JUDGED.get(module, ()), module)


NEEDS = {name: _needed(place) for name, place in TOOLS.items()}


async def plug_upkeep(host: Host) -> Contribution:
    works = [Housekeeping(TurnStarted, sweep_abandoned)]
    ready = Readiness(import_all, FIRST_CALL, after=SOON if host.around.interactive else SOME_TIME)
    close: list[Close] = [works[0].settled, ready.over]
    if host.around.interactive:
        works.append(keeping := Housekeeping(TurnEnded, cleaning(host.around)))
        soon = (*FIRST_REQUEST, *FIRST_COMMANDS)
        close += (keeping.close, Idle(import_all, soon, after=LOOKS).over)
    folds = [work.saw for work in works] + [lambda event: ready.saw(event, NEEDS)]
    return Contribution(folds=tuple(map(of_main, folds)), close=tuple(close))


UPKEEP = Extension(name="upkeep", plug=plug_upkeep)
