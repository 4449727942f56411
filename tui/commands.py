"""Commands that only a screen can do, and the lists behind `/mode`, `/model` and others.

They join the session's registry, so completion and `/help` know them like any other.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol

from gatewright.agent.commands.diff import Diffs
from gatewright.agent.commands.outcome import Outcome, Panel, Say, Secret, Sessions
from gatewright.agent.commands.panels import (
    ConfigPanel,
    DoctorPanel,
    RulesPanel,
    SettingChanged,
)
from gatewright.agent.commands.plan import PlanFile
from gatewright.agent.commands.registry import Command, CommandContext, Commands, Handler
from gatewright.agent.commands.tasks import Tasks
from gatewright.agent.errors import GatewrightError
from gatewright.tools.blocks import Block, Table, Text
from gatewright.tui.keys import KEYS
from gatewright.tui.panels.checks import ChecksView
from gatewright.tui.panels.config import ConfigView
from gatewright.tui.panels.diff_panel import DiffScreen, open_diffs
from gatewright.tui.panels.rules import RulesView
from gatewright.tui.panels.sheet import Sheet, View
from gatewright.tui.panels.tasks_panel import open_tasks
from gatewright.tui.picker import Picking
from gatewright.tui.prompt.menu import Choice
from gatewright.tui.resuming import choices_of
from gatewright.tui.style.theme import Palette

if TYPE_CHECKING:
    from gatewright.agent.commands.panels import SettingsBook


class Screen(DiffScreen, Protocol):
    """What the commands do to the screen."""

    @property
    def theme_name(self) -> str: ...
    @property
    def palettes(self) -> Mapping[str, Palette]: ...
    def use_theme(self, name: str, *, keep: bool) -> None: ...
    def copy_answer(self, which: str) -> str: ...
    def edit(self, text: str, save: Callable[[str], Awaitable[Say]]) -> None: ...
    def ask_secret(self, asked: Secret) -> None: ...
    def show_panel(self, make: Callable[[Sheet], View]) -> None: ...
    def take_up(self, key: str, book: SettingsBook) -> None: ...
    def toggle_vim(self) -> bool: ...


def add_screen_commands(commands: Commands, screen: Screen) -> None:
    """Register what is not there yet."""
    for command in screen_commands(screen):
        if commands.find(command.name) is None:
            commands.add(command)


def screen_commands(screen: Screen) -> tuple[Command, ...]:
    def of(name: str, summary: str, run: Handler, args: str = "") -> Command:
        return Command(name=name, summary=summary, run=run, args=args, screen=True)

    async def theme(args: str, context: CommandContext) -> Outcome:  # noqa: ARG001
        return _theme(args, screen)

    async def copy(args: str, context: CommandContext) -> Outcome:  # noqa: ARG001
        return Say.text(screen.copy_answer(args), "dim")

    async def vim(args: str, context: CommandContext) -> Outcome:  # noqa: ARG001
        on = screen.toggle_vim()
        said = "Vim keys are on. Esc leaves insert mode." if on else "Vim keys are off."
        try:
            if context.settings is not None:
                await context.settings.set("ui.vim", "true" if on else "false")
        except GatewrightError as error:
            return Say.text(f"{said} For this session only: {error}")
        return Say.text(said)

    async def keys(args: str, context: CommandContext) -> Outcome:  # noqa: ARG001
        return Say((Table(("Key", "What it does"), tuple((k.keys, k.help) for k in KEYS)),))

    return (
        of("theme", "Colours of the screen", theme, "[name|list]"),
        of("copy", "Copy the last answer, or its code", copy, "[n|code]"),
        of("vim", "Vim keys in the prompt, on or off", vim),
        of("keys", "What the keys do", keys),
    )


def _theme(args: str, screen: Screen) -> Outcome:
    if args == "list":
        rows = tuple(
            ("*" if p.name == screen.theme_name else "", p.name, p.summary)
            for p in screen.palettes.values()
        )
        return Say((Table(("", "Theme", ""), rows),))
    if args in screen.palettes:
        screen.use_theme(args, keep=True)
        return Say.text(f"Theme: {args}", "dim")
    if args:
        return Say.text(f"There is no theme {args}: {', '.join(screen.palettes)}.", "warning")
    before = screen.theme_name
    choices = [Choice(p.name, p.name, p.summary) for p in screen.palettes.values()]
    screen.pick(
        Picking(
            "Theme",
            choices,
            pick=lambda choice: screen.use_theme(choice.insert, keep=True),
            preview=lambda choice: screen.use_theme(choice.insert, keep=False),
            cancel=lambda: screen.use_theme(before, keep=False),
            at=list(screen.palettes).index(before),
        )
    )
    return Say(())


def panel(outcome: Panel, screen: Screen) -> bool:
    """Open what a command's panel stands for; False when the screen has none."""
    if isinstance(outcome, Secret):
        screen.ask_secret(outcome)
        return True
    if isinstance(outcome, Sessions):
        screen.pick(_sessions(outcome, screen))
        return True
    if (opened := _live(outcome, screen)) is not None:
        return opened
    opener = PANELS.get(outcome.name)
    if opener is None:
        return False
    picking = opener(outcome.fallback.blocks, screen)
    if picking is None:
        return False
    screen.pick(picking)
    return True


def _live(outcome: Panel, screen: Screen) -> bool | None:
    """The panels that draw from live data; None for any other."""
    match outcome:
        case RulesPanel(book=book, tab=tab):
            screen.show_panel(lambda sheet: RulesView(sheet, book, tab).listing)
        case ConfigPanel(book=settings):
            themes = [(p.name, p.summary) for p in screen.palettes.values()]
            follow = partial(_take_up, screen, settings)
            screen.show_panel(lambda sheet: ConfigView(sheet, outcome, themes, follow).listing)
        case Tasks():
            open_tasks(outcome, screen)
        case Diffs():
            open_diffs(outcome, screen)
        case PlanFile(text=text, save=save):
            screen.edit(text, save)
        case DoctorPanel(checks=checks):
            screen.show_panel(lambda sheet: ChecksView(sheet, checks))
        case SettingChanged(key=key, book=settings):
            screen.take_up(key, settings)
            return False  # what is said about it stands in the transcript
        case _:
            return None
    return True


def _take_up(screen: Screen, book: SettingsBook, key: str) -> None:
    screen.take_up(key, book)


def _table(blocks: Sequence[Block], columns: int) -> Table | None:
    return next((b for b in blocks if isinstance(b, Table) and len(b.headers) == columns), None)


def _mode(blocks: Sequence[Block], screen: Screen) -> Picking | None:
    table = _table(blocks, 3)
    if table is None:
        return None
    choices = [Choice(name, name, runs) for _mark, name, runs in table.rows]
    at = _marked(table)
    return Picking("Mode", choices, lambda c: screen.run_line(f"/mode {c.insert}"), at=at)


def _sessions(outcome: Sessions, screen: Screen) -> Picking:
    return Picking(
        "Go on with which session? Esc stays here",
        choices_of(outcome.table),
        lambda choice: screen.run_line(f"/resume {choice.insert}"),
    )


def _rewind(blocks: Sequence[Block], screen: Screen) -> Picking | None:
    """Messages to go back to; where files changed since, what goes back is asked too."""
    table = _table(blocks, 4)
    if table is None:
        return None
    choices = [Choice(number, text, files, at) for number, at, text, files in table.rows]
    changed = {c.insert: any(o.detail for o in choices[: n + 1]) for n, c in enumerate(choices)}

    def pick(choice: Choice) -> None:
        if changed[choice.insert]:
            screen.pick(_going_back(choice, screen))
        else:
            screen.run_line(f"/rewind {choice.insert}")

    return Picking("Go back to", choices, pick)


def _going_back(to: Choice, screen: Screen) -> Picking:
    choices = [
        Choice("both", "Conversation and files"),
        Choice("talk", "Conversation", "the files stay as they are"),
        Choice("code", "Files", "the conversation stays"),
        Choice("preview", "See what would change", "nothing is done yet"),
    ]
    return Picking(
        f"Go back to before: {to.label}",
        choices,
        lambda c: screen.run_line(f"/rewind {to.insert} {c.insert}"),
        cancel=lambda: screen.run_line("/rewind"),
    )


def _model(blocks: Sequence[Block], screen: Screen) -> Picking | None:
    """Models with window and prices; the last choice leads to more of them."""
    table = _table(blocks, 6)
    if table is None:
        return None
    sizes = [max(map(len, column), default=0) for column in zip(*table.rows, strict=True)]
    choices = [
        Choice(name, name, _facts((window, paid, earned), sizes[2:5]), "in use" if mark else why)
        for mark, name, window, paid, earned, why in table.rows
    ]
    choices.append(Choice("", "other models", "log in to a provider"))

    def pick(choice: Choice) -> None:
        screen.run_line(f"/model {choice.insert}" if choice.insert else "/login")

    title = "Model: window, then dollars per million tokens in and out"
    return Picking(title, choices, pick, at=_marked(table))


def _facts(cells: Sequence[str], sizes: Sequence[int]) -> str:
    window, paid, earned = (cell.rjust(size) for cell, size in zip(cells, sizes, strict=True))
    return f"{window}   {paid}  {earned}"


def _effort(blocks: Sequence[Block], screen: Screen) -> Picking | None:
    table = _table(blocks, 3)
    if table is None:
        return None
    choices = [Choice(n, n, means, "in use" if mark else "") for mark, n, means in table.rows]
    at = _marked(table)
    return Picking("Effort", choices, lambda c: screen.run_line(f"/effort {c.insert}"), at=at)


def _login(blocks: Sequence[Block], screen: Screen) -> Picking | None:
    table = _table(blocks, 3)
    if table is None:
        return None
    choices = [
        Choice(name, name, "" if key == "none" else f"has one: {key}", page)
        for name, key, page in table.rows
    ]
    return Picking("Store a key for", choices, lambda c: screen.run_line(f"/login {c.insert}"))


def _setup(blocks: Sequence[Block], screen: Screen) -> Picking | None:
    table = _table(blocks, 3)
    if table is None:
        return None
    choices = [Choice(line, name, about) for name, about, line in table.rows]
    return Picking("What shall answer?", choices, lambda c: screen.run_line(c.insert))


def _agreement(blocks: Sequence[Block], screen: Screen) -> Picking | None:
    """No is under the cursor: an Enter too many changes nothing."""
    table = _table(blocks, 2)
    if table is None:
        return None
    about = tuple(block.text for block in blocks if isinstance(block, Text))
    choices = [Choice(line, label) for label, line in table.rows]

    def pick(choice: Choice) -> None:
        if choice.insert:
            screen.run_line(choice.insert)

    return Picking("Work without asking?", choices, pick, about=about)


def _logout(blocks: Sequence[Block], screen: Screen) -> Picking | None:
    table = _table(blocks, 1)
    if table is None:
        return None
    choices = [Choice(name, name) for (name,) in table.rows]
    return Picking("Forget the key for", choices, lambda c: screen.run_line(f"/logout {c.insert}"))


def _marked(table: Table) -> int:
    """The row of what is in force."""
    return next((n for n, row in enumerate(table.rows) if row[0]), 0)


PANELS: dict[str, Callable[[Sequence[Block], Screen], Picking | None]] = {
    "mode": _mode,
    "agreement": _agreement,
    "model": _model,
    "effort": _effort,
    "login": _login,
    "setup": _setup,
    "logout": _logout,
    "rewind": _rewind,
}
