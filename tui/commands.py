"""Commands that only a screen can do: a source of the session's registry like any other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatewright.agent.commands.outcome import Outcome, Problem, Say
from gatewright.agent.commands.registry import Command, CommandContext, Handler
from gatewright.tools.blocks import Table, Text
from gatewright.tui.panels.keys_page import KeysPage
from gatewright.tui.picker import Picking
from gatewright.tui.prompt.menu import Choice

if TYPE_CHECKING:
    from gatewright.tui.command_effects import Reach  # it opens what these lead to


def screen_commands(screen: Reach) -> tuple[Command, ...]:
    def of(name: str, summary: str, run: Handler, args: str = "") -> Command:
        return Command(name=name, summary=summary, run=run, args=args, screen=True)

    async def theme(context: CommandContext) -> Outcome:
        if context.args not in screen.look.palettes:
            await screen.look_for_themes()
        return _theme(context.args, screen)

    async def copy(context: CommandContext) -> Outcome:
        return Say.text(screen.copy_answer(context.args), "dim")

    async def vim(context: CommandContext) -> Outcome:  # noqa: ARG001  one signature
        on = screen.toggle_vim()
        said = "Vim keys are on. Esc leaves insert mode." if on else "Vim keys are off."
        match await screen.talk.keep_setting("ui.vim", "true" if on else "false"):
            case Problem(blocks=(Text(text=why), *_)):
                return Say.text(f"{said} For this session only: {why}")
            case _:
                return Say.text(said)

    async def keys(context: CommandContext) -> Outcome:  # noqa: ARG001  one signature
        screen.show_panel(lambda _sheet: KeysPage(), high=True)
        return Say(())

    return (
        of("theme", "Colours of the screen", theme, "[name|list]"),
        of("copy", "Copy the last answer, or its code", copy, "[n|code]"),
        of("vim", "Vim keys in the prompt, on or off", vim),
        of("keys", "What the keys do", keys),
    )


def _theme(args: str, screen: Reach) -> Outcome:
    themed = screen.themed
    if args == "list":
        rows = tuple(
            ("*" if name == themed.chosen else "", name, summary)
            for name, summary in themed.offered
        )
        return Say((Table(("", "Theme", ""), rows),))
    if themed.knows(args):
        screen.use_theme(args, keep=True)
        return Say.text(f"Theme: {args}", "dim")
    names = [name for name, _ in themed.offered]
    if args:
        return Problem.of(f"There is no theme {args}: {', '.join(names)}.")
    before = themed.chosen
    screen.pick(
        Picking(
            "Theme",
            [Choice(name, name, summary) for name, summary in themed.offered],
            pick=lambda choice: screen.use_theme(choice.insert, keep=True),
            preview=lambda choice: screen.use_theme(choice.insert, keep=False),
            cancel=lambda: screen.use_theme(before, keep=False),
            at=names.index(before) if before in names else 0,
        )
    )
    return Say(())
