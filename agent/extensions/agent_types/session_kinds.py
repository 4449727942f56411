"""The kinds of agents as a session has them: places, rules and settings as they are at a moment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gatewright.agent.agents.definitions.book import KindBook, not_here
from gatewright.agent.agents.definitions.given import FLAG, of_entries, of_flag
from gatewright.agent.agents.definitions.misnamed import forbids_nothing
from gatewright.agent.agents.definitions.places import Ground
from gatewright.agent.agents.kind import AgentKind, OtherPrograms
from gatewright.agent.extensions.contribution import Root, part_of
from gatewright.agent.extensions.host import Host
from gatewright.agent.extensions.plugins.plugins_now import plugins_of
from gatewright.agent.launch.exits import UsageError
from gatewright.agent.plugins.parts import Plugin
from gatewright.agent.settings.paths import AGENTS
from gatewright.agent.settings.workspace import Surroundings
from gatewright.permissions.rulebook.rules import Bare, NameForm, Rule

if TYPE_CHECKING:
    from gatewright.agent.agents.definitions.found import Found


PLUGIN = "plugin:"
STYLES = "output-styles"
AGENT = "Agent"


class GivenKinds:
    """What a start and its client bring along, read once, and again what the client says later."""

    def __init__(self, around: Surroundings, client: Mapping[str, object]) -> None:
        """Raises UsageError for `--agents` that cannot be read."""
        self._flag = of_flag(around.options.agents, around.where.cwd)
        for kind in filter(None, (each.kind for each in self._flag)):
            for why in forbids_nothing(kind, unknown_tool):
                raise UsageError(f"{FLAG}: {kind.name}: {why}")
        self._client = of_entries(client)

    def __call__(self) -> Sequence[Found]:
        return (*self._flag, *self._client)

    def bring(self, client: Mapping[str, object]) -> None:
        """In place of what the client said before."""
        self._client = of_entries(client)


def ground_of(
    around: Surroundings, roots: Iterable[Root] = (), plugins: Iterable[Plugin] = ()
) -> Ground:
    """`plugins` say themselves where in their roots something lies."""
    named: dict[tuple[str, str], tuple[Path, ...]] = {}
    for plugin in plugins:
        named[(plugin.name, AGENTS)] = plugin.agents
        named[(plugin.name, STYLES)] = plugin.styles
    options = around.options
    folders = (
        (root.origin.removeprefix(PLUGIN), root.path)
        for root in roots
        if root.origin.startswith(PLUGIN)
    )
    return Ground(
        places=around.places,
        where=around.where,
        env=around.env,
        trusted=around.trusted,
        bare=options.bare,
        sources=options.setting_sources,
        roots=tuple(folders),
        named=named,
    )


def unknown_tool(rule: str) -> str:
    """What is wrong with the tool that a name or rule of a definition is about."""
    from gatewright.permissions.rulebook.known_tools import unknown  # noqa: PLC0415  lazy: 5 ms, with a list of tools
    from gatewright.permissions.rulebook.rules import tool_of  # noqa: PLC0415

    return unknown(tool_of(rule))


def denies(rules: Iterable[Rule], name: str) -> bool:
    """Whether one of the rules is about starting such an agent, or any."""
    return any(
        isinstance(rule.form, Bare)
        or (isinstance(rule.form, NameForm) and rule.form.name.casefold() == name.casefold())
        for rule in rules
        if rule.tool == AGENT
    )


def book_of(
    around: Callable[[], Surroundings],
    given: Callable[[], Sequence[Found]],
    rules: Callable[[], Iterable[Rule]],
    elsewhere: Callable[[AgentKind], str] = not_here,
    roots: Callable[[], Iterable[Root]] = tuple,
    plugins: Callable[[], Iterable[Plugin]] = tuple,
) -> KindBook:
    return KindBook(
        lambda: ground_of(around(), roots(), plugins()),
        given=given,
        disabled=lambda: disabled_by(around()),
        denied=lambda name: denies(rules(), name),
        elsewhere=elsewhere,
        unknown=unknown_tool,
    )


def disabled_by(around: Surroundings) -> frozenset[str]:
    return frozenset(name.strip().casefold() for name in around.settings.agents.disabled)


def kinds_of(host: Host) -> tuple[KindBook, GivenKinds]:
    """Of a session. Raises UsageError for `--agents` that cannot be read."""
    given = GivenKinds(host.around, host.client.agents)

    def elsewhere(kind: AgentKind) -> str:
        others = part_of(host.brought, OtherPrograms)
        return others.refusal(kind) if others is not None else not_here(kind)

    book = book_of(
        lambda: host.around,
        given,
        lambda: host.policy.rules().deny,
        elsewhere,
        lambda: host.roots,
        lambda: plugins_of(host.brought),
    )
    return book, given
