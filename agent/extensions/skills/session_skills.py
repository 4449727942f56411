"""The skills as a session has them: places, rules and settings as they are at a moment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from gatewright.agent.extensions.contribution import Root
from gatewright.agent.extensions.host import Host
from gatewright.agent.extensions.plugins.plugins_now import plugins_of
from gatewright.agent.extensions.skills.telling import SkillTelling
from gatewright.agent.extensions.skills.uses import Uses
from gatewright.agent.models.opener import understood
from gatewright.agent.providers.catalog import load_catalog
from gatewright.agent.record.clock import SystemClock
from gatewright.agent.settings.paths import claude_home, user_home
from gatewright.agent.settings.workspace import Surroundings
from gatewright.permissions.rulebook.rules import Bare, NameForm, Rule
from gatewright.skills.book import Choices, SkillBook
from gatewright.skills.index import Index
from gatewright.skills.places import COMMANDS, SKILL, SKILLS, Ground, PluginPlace
from gatewright.skills.shown.listing import budget

PLUGIN = "plugin:"
TOOL = "Skill"
INDEX, USES = "skills", "skills.json"  # below the program's state


def ground_of(around: Surroundings, plugins: Iterable[PluginPlace] = ()) -> Ground:
    options, env = around.options, around.env
    return Ground(
        managed=around.places.managed,
        homes=(around.places.home, user_home(env) / ".agents", claude_home(env)),
        root=around.where.root,
        cwd=around.where.cwd,
        trusted=around.trusted,
        bare=options.bare,
        bundled=not around.settings.disable_bundled_skills,
        sources=options.setting_sources,
        plugins=tuple(plugins),
    )


def nothing(name: str) -> bool:
    """No skill is kept from the model."""
    return name == ""


def choices_of(
    around: Surroundings, rules: Iterable[Rule], kept_out: Callable[[str], bool] = nothing
) -> Choices:
    settings, denying = around.settings, tuple(rule for rule in rules if rule.tool == TOOL)
    return Choices(
        disabled=frozenset(name.strip() for name in settings.skills.disabled),
        overrides=settings.skill_overrides,
        denied=lambda name: denies(denying, name) or kept_out(name),
    )


def denies(rules: Iterable[Rule], name: str) -> bool:
    """Whether one of the rules is about invoking such a skill, or any."""
    return any(
        isinstance(rule.form, Bare)
        or (isinstance(rule.form, NameForm) and rule.form.name.casefold() == name.casefold())
        for rule in rules
        if rule.tool == TOOL
    )


def book_of(
    around: Callable[[], Surroundings],
    rules: Callable[[], Iterable[Rule]],
    plugins: Callable[[], Iterable[PluginPlace]] = tuple,
    kept_out: Callable[[str], bool] = nothing,
) -> SkillBook:
    return SkillBook(
        lambda: ground_of(around(), plugins()),
        lambda: choices_of(around(), rules(), kept_out),
        Index(around().places.state / INDEX),
    )


def skills_of(host: Host, kept_out: Callable[[str], bool] = nothing) -> SkillBook:
    """Of a session."""
    return book_of(
        lambda: host.around,
        lambda: host.policy.rules().deny,
        lambda: _plugins(host),
        kept_out,
    )


def uses_of(host: Host) -> Uses:
    return Uses(host.around.places.state / USES, SystemClock().time)


def telling_of(host: Host, book: SkillBook, uses: Uses) -> SkillTelling:
    """What the session's model is told of them."""
    return SkillTelling(
        book,
        uses,
        room=lambda: budget(_window(host), host.around.settings.skills.listing_percent),
        cwd=lambda: host.around.where.cwd,
        warn=host.warn,
        tell=lambda text: host.session.tell(text, wakes=False),
    )


def _window(host: Host) -> int:
    """The tokens of the model's window; 0 where no model is known."""
    chosen = understood(host.around, host.base.model_name)
    return load_catalog().facts(chosen.provider, chosen.model).window if chosen is not None else 0


def _plugins(host: Host) -> Iterator[PluginPlace]:
    """Those that say themselves what lies where, then plain directories."""
    known = plugins_of(host.brought)
    for each in known:
        yield PluginPlace(each.name, each.root, each.skills, each.commands)
    said = {each.origin for each in known}
    yield from plugins_in(root for root in host.roots if root.origin not in said)


def plugins_in(roots: Iterable[Root]) -> Iterator[PluginPlace]:
    """As plugins are laid out that say nothing else."""
    for root in roots:
        if root.origin.startswith(PLUGIN):
            name = root.origin.removeprefix(PLUGIN)
            yield PluginPlace(name, root.path, (_skills(root.path),), (root.path / COMMANDS,))


def _skills(root: Path) -> Path:
    return root if (root / SKILL).exists() else root / SKILLS
