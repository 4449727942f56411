"""The draft and what helps to write it: completion, history, chips, a stash for later."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from gatewright.agent.commands.registry import Mention
from gatewright.tools.protocol import Content
from gatewright.tui.prompt.attached import Attachment, mentioned
from gatewright.tui.prompt.box import Box
from gatewright.tui.prompt.complete import (
    NOTHING,
    Word,
    command_choices,
    mention_choices,
    word_at,
)
from gatewright.tui.prompt.looking_up import LookingUp
from gatewright.tui.prompt.menu import Menu
from gatewright.tui.rows import Drawn
from gatewright.tui.session_calls import Message, Talk

if TYPE_CHECKING:
    from gatewright.tui.app import AgentApp  # files are listed there


NO_MESSAGE = ("", "/", "!", "#")  # what a draft begins with that goes to no model


class Desk:
    """Keeps menu and prompt together; the screen forwards keys."""

    def __init__(
        self,
        box: Box,
        menu: Menu,
        attached: Drawn[tuple[Attachment, ...]],
        talk: Talk,
        app: AgentApp,
    ) -> None:
        self._attached = attached
        self._box = box
        self._menu = menu
        self._talk = talk
        self._files = app
        self._word: Word = NOTHING
        self._mentions: Sequence[Mention] = ()  # what servers offered last
        self._names = LookingUp(talk.mentions, talk.spawn, self._looked_up)
        self._stashed = ""
        self._writing = False  # a message, which the session knows of
        self._looked = False  # for commands that are new, since the menu opened
        self._offering = (
            ""  # the kind of word that is offered something, until the person closes it
        )

    def begin(self) -> None:
        """The session answers: list the files before they are asked for, and offer what fits."""
        self._files.refresh_files()
        self.complete()

    def send(self, text: str) -> None:
        """Send a draft with its chips unfolded, and remember it."""
        chips = self._box.chips
        try:
            attached: tuple[Content, ...] = chips.pictures(text)
        except OSError as error:
            self._talk.note(f"The picture cannot be sent: {error}", "error")
            return
        whole = chips.unfold(text)
        self._talk.send(whole, attached, self._box.keyword.typed(text))
        self._box.afterwards.then(partial(self._sent, whole))

    def _sent(self, whole: str) -> None:
        self.close_menu()
        self._box.put("")
        self._box.chips.trim()
        self._box.history_.project = str(self._files.folder())
        self._box.history_.add(whole)
        if self._stashed:  # what was put aside for this message is the draft again
            self._box.put(self._stashed)
            self._stashed = ""

    def take_back(self) -> bool:
        """What waits to be taken up is the draft again, with its pictures."""
        return self._talk.recall(self._draft_again)

    def put_back(self, *texts: str) -> None:
        """The draft again, before what was typed since."""
        self._box.afterwards.settle()
        draft = [self._box.text] if self._box.text.strip() else []
        self._box.put("\n".join([*texts, *draft]))

    def _draft_again(self, taken: Sequence[Message]) -> None:
        for message in taken:
            self._box.chips.restore(message.text, message.attached)
        self.put_back(*(message.text for message in taken))

    def stash(self) -> str:
        """Put the draft aside or take it back; says which. One put aside before is in history."""
        if self._box.text.strip():
            self._box.history_.add(self._box.chips.unfold(self._stashed))
            self._stashed = self._box.take()
            return "draft put aside until this is sent, ctrl+s takes it back"
        self._box.put(self._stashed)
        self._stashed = ""
        return ""

    # completion

    def complete(self, *, offer: bool = True) -> None:
        """Offer what fits the word at the cursor; nothing while the keys are somebody else's."""
        self._tell_typing()
        row, column = self._box.cursor_location
        self._word = word_at(self._box.document.get_line(row), column, row)
        offer = offer and not self._box.recalled  # else Up and Down would be the menu's
        kind = self._offering = self._word.kind if offer else ""
        if kind != "file":
            self._names.drop()
        match kind:
            case "command":
                self._menu.offer(command_choices(self._talk.commands(), self._word.text))
                if not self._looked:
                    self._looked = True
                    self._talk.spawn(self._look_again)
            case "file":
                self._files.refresh_files()
                self._offer_names()
                self._names.want(self._word.text)
            case _:
                self._menu.close()
        self._looked = self._looked and kind == "command"
        self._box.menu_open = self._menu.open
        self._list_attached(row, column)

    def _tell_typing(self) -> None:
        """Once for each message: what is no message needs nothing made ready."""
        writing = self._box.text.lstrip()[:1] not in NO_MESSAGE
        if writing and not self._writing:
            self._talk.typing()
        self._writing = writing and self._talk.session is not None

    async def _look_again(self) -> None:
        """Files of skills may be others by now: the menu gets them, no key waits.

        Also one that went away because nothing fitted what was typed meanwhile.
        """
        if await self._talk.commands().look() and self._offering == "command":
            self._menu.offer(command_choices(self._talk.commands(), self._word.text))
            self._box.menu_open = self._menu.open

    def _looked_up(self, mentions: Sequence[Mention]) -> None:
        if mentions != self._mentions:
            self._mentions = mentions
            self._offer_names()

    def _offer_names(self) -> None:
        choices, note = self._files.files(self._word.text)
        self._menu.offer([*choices, *mention_choices(self._mentions, self._word.text)], note)
        self._box.menu_open = self._menu.open

    def _list_attached(self, row: int, column: int) -> None:
        """What would be sent along; a name that is still being written is none yet."""
        text = self._box.text
        if "@" not in text and "[" not in text:
            self._attached.show(())
            return
        if self._word.kind == "file":
            lines = text.split("\n")
            lines[row] = lines[row][: self._word.start] + lines[row][column:]
            text = "\n".join(lines)
        pictures = self._box.chips.listed(text)
        self._attached.show((*pictures, *mentioned(text, self._files.folder())))

    def close_menu(self) -> None:
        self._names.drop()
        self._menu.close()
        self._box.menu_open, self._offering = False, ""

    def menu_key(self, key: str) -> bool:
        """Use a key for the open menu; False when it is not one of its keys."""
        if not self._menu.open:
            return False
        match key:
            case "up" | "down":
                self._menu.step(-1 if key == "up" else 1)
            case "tab" | "enter":
                self._pick(run=key == "enter")
            case "escape":
                self.close_menu()
            case _:
                return False
        return True

    def _pick(self, *, run: bool) -> None:
        choice = self._menu.chosen()
        if choice is None:
            return
        row, column = self._box.cursor_location
        self.close_menu()
        command = self._word.kind == "command"
        if run and command and (" " not in choice.label or self._word.text):
            self._box.put(choice.insert)
            self._box.post_message(Box.Submitted(self._box, choice.insert))
            return
        space = "" if choice.open else " "
        self._box.replace(choice.insert + space, (row, self._word.start), (row, column))
        if not space:
            self.complete()  # a folder, a server: offer what is in it
