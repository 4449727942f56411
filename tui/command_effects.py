"""What commands may do to the screen: open lists, change the theme, copy, fill the prompt."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from gatewright.agent.commands.outcome import Offer, Outcome, Secret, SetUi
from gatewright.tools.blocks import Block
from gatewright.tui.agents.known import AgentRow
from gatewright.tui.panels.offers import open_offer
from gatewright.tui.panels.sheet import Sheet
from gatewright.tui.panels.sheet import View as PanelView
from gatewright.tui.picker import Picking
from gatewright.tui.prompt.editor import Edited
from gatewright.tui.screens.room import fit_lists
from gatewright.tui.session_calls import Talk
from gatewright.tui.style.look import Look
from gatewright.tui.style.palette_file import read_files
from gatewright.tui.terminal.clipboard import part_of_answers
from gatewright.tui.transcript.items import Prose, Shown

if TYPE_CHECKING:
    from gatewright.tui.app import AgentApp
    from gatewright.tui.screens.reader import Reader
    from gatewright.tui.screens.repl import Repl  # it makes this

AGAIN = 1.0  # seconds between two looks at what grows


class Reach:
    """The screen as commands see it."""

    def __init__(self, repl: Repl, look: Look, talk: Talk, host: AgentApp) -> None:
        self._repl = repl
        self.look = look
        self.themed = host.themed
        self.talk = talk
        self._host = host

    def use_theme(self, name: str, *, keep: bool) -> None:
        self.themed.use(name, keep=keep)

    async def look_for_themes(self) -> None:
        """Those of plugins that are on now can be chosen, too; what is wrong with one is told."""
        if (themes := self.themed.own) is None:
            return
        found, problems = await asyncio.to_thread(lambda: read_files(themes.more()))
        self.look.learn(found)
        for problem in problems:
            self.talk.note(problem, "warning")

    def pick(self, picking: Picking) -> None:
        self._repl.desk.close_menu()
        self._repl.picker.show(picking)

    def renew(self, old: Picking, new: Picking) -> bool:
        return self._repl.picker.renew(old, new)

    def give_back(self, text: str) -> None:
        """Words that reached nobody are in the prompt, behind what stands there."""
        self._repl.box.add(text)

    def every(self, seconds: float, work: Callable[[], bool]) -> None:
        """Again and again until it says that it is over."""

        def tick() -> None:
            if not work():
                timer.stop()

        timer = self._repl.set_interval(seconds, tick)

    def read(
        self,
        blocks: Sequence[Block],
        then: Callable[[], None],
        *,
        from_top: bool = False,
        again: Callable[[], Awaitable[Sequence[Block]]] | None = None,
    ) -> None:
        """Show this full screen; `then` is called once it is closed. `again` says how it is now."""
        self._repl.picker.close()
        reader = self._repl.read(_shown(blocks), then, from_top=from_top)
        if again is not None:
            self._follow(reader, again)

    def _follow(self, reader: Reader, again: Callable[[], Awaitable[Sequence[Block]]]) -> None:
        """Once a second, one look after the other."""
        looking = False

        async def look() -> None:
            nonlocal looking
            try:
                reader.renew(_shown(await again()))
            finally:
                looking = False

        def tick() -> bool:
            nonlocal looking
            if not reader.closed and not looking:
                looking = True
                self.talk.spawn(look)
            return not reader.closed

        self.every(AGAIN, tick)

    def return_focus(self) -> None:
        self._repl.return_focus()

    def show_panel(self, make: Callable[[Sheet], PanelView], *, high: bool = False) -> None:
        self._repl.desk.close_menu()
        self._repl.picker.close()
        self._repl.sheet.show(make(self._repl.sheet), high=high)
        fit_lists(self._repl)

    def into_panel(self, make: Callable[[Sheet], PanelView]) -> None:
        """A further page of the panel that is open."""
        self._repl.sheet.push(make(self._repl.sheet))

    def look_into(self, agent: str) -> None:
        """Open the live view of an agent."""
        self._repl.sheet.close()
        row = self._repl.view.agents.get(agent) or AgentRow(path=agent, over=True, state="done")
        self._repl.watching.show(row)

    def take_up(self, setting: SetUi) -> None:
        """A setting changed: what it means for this screen counts now."""
        repl, ui = self._repl, setting.ui
        match setting.key:
            case "ui.theme" if self.themed.knows(ui.theme):
                self.use_theme(ui.theme, keep=False)
            case "ui.vim":
                repl.box.use_vim(on=ui.vim)
            case "ui.ultracodeKeyword":
                repl.box.keyword.wanted = ui.ultracode_keyword
            case "ui.reducedMotion":
                repl.spinner.still = ui.reduced_motion
            case "ui.showThinking":
                repl.transcript.records.open_thoughts = ui.show_thinking
            case "ui.notify":
                self._host.call_by(ui.notify)
            case _:
                pass

    def ask_secret(self, asked: Secret) -> None:
        self._repl.desk.close_menu()
        self._repl.picker.close()
        self._repl.secret.show(asked)

    def draft(self, text: str) -> None:
        self._repl.picker.close()
        self._repl.sheet.close()
        self._repl.box.put(text)

    def edit(self, text: str, take: Callable[[str], Awaitable[Outcome]]) -> None:
        """Lend the terminal to an editor; `take` gets the changed text and says what to tell."""

        def done(edited: Edited) -> None:
            if edited.problem:
                self.talk.note(edited.problem, "warning")
            elif edited.text != text:
                self.talk.follow("", partial(take, edited.text))

        self._host.edit(text, done)

    def toggle_vim(self) -> bool:
        box = self._repl.box
        on = box.vim is None
        box.use_vim(on=on)
        return on

    def open_panel(self, offer: Offer) -> bool:
        return self._host.over or open_offer(offer, self)  # work begun now would never run

    def copy_answer(self, which: str) -> str:
        """Copy the n-th last answer, or the code in the last one; says what was done."""
        items = self._repl.transcript.records.all()
        said = [item.text for item in reversed(items) if isinstance(item, Prose)]
        text, told = part_of_answers(said, which)
        if text:
            self._host.copy(text)
        return told


def _shown(blocks: Sequence[Block]) -> list[Shown]:
    return [Shown(n, "", (block,)) for n, block in enumerate(blocks)]
