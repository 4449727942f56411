"""Doing the steps of the keyboard fuzz on the real app, and what must hold around them.

Keys carry a time of their own, so that typing by hand and bursts differ whatever the machine does.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual import events
from textual.geometry import Size
from textual.keys import _character_to_key  # pyright: ignore[reportPrivateUsage]

from gatewright.agent.client.port import SessionClient
from gatewright.agent.commands.outcome import Say, Secret
from gatewright.agent.record.events import Answered, Asked
from gatewright.agent.settings.schema import Ui
from gatewright.tools.interact import Answer
from gatewright.tui.app import AgentApp
from gatewright.tui.style.theme import PALETTES
from tests.fakes.books import Books
from tests.fakes.fake_session import FakeSession
from tests.tui.fuzz_rules import Broken, check
from tests.tui.fuzz_steps import HUGE, Step
from tests.tui.happenings import TEXTS, Chance, happening
from tests.tui.panel_samples import BY_COMMAND, MADE
from tests.tui.scenes import SCENES
from tests.tui.stage import Clock, Stage, driven
from tests.tui.test_sheets import RULES

BY_HAND, BURST = 0.09, 0.002  # seconds between keys
CHARACTERS = {"enter": "\r", "tab": "\t", "escape": "\x1b", "backspace": "\x7f", "space": " "}
MARK = "s3cret-marker"
WAITS = 5.0  # seconds for something in the background to end
MOUSE: dict[str, type[events.MouseEvent]] = {
    "down": events.MouseDown,
    "up": events.MouseUp,
    "move": events.MouseMove,
    "drag": events.MouseMove,
    "wheel-up": events.MouseScrollUp,
    "wheel-down": events.MouseScrollDown,
}


class Play:
    """One app, from its first frame until it is left or the steps end."""

    def __init__(self, s: Stage, gate: asyncio.Event) -> None:
        self.s = s
        self._gate = gate
        self._time = time.monotonic() + 1e6  # never before now: no key is late
        self._asked = 100

    @property
    def over(self) -> bool:
        return self.s.session.closed or self.s.app._exit  # pyright: ignore[reportPrivateUsage]

    async def do(self, step: Step) -> None:
        act: Callable[..., Awaitable[None]] = getattr(self, "do_" + step.kind.replace("-", "_"))
        await act(*step.arguments)

    # waiting

    async def look(self) -> None:
        """Let everything that was done have its effect, then check the rules."""
        s = self.s
        for _ in range(3):
            await s.pilot.pause(0)
        await self._until(lambda: s.app.taken >= s.session.published or not self._gate.is_set())
        await self._until(self._laid_out)
        await s.pilot.pause(0)
        if s.failure is not None:
            raise s.failure
        if self.over:
            return
        try:
            check(s.app)
        except Broken:  # a timer may just have gone off: what is broken stays so
            await s.pilot.pause(0.05)
            if not self.over:
                check(s.app)

    async def settle(self) -> None:
        """Also wait for what is held, edited or runs in the background."""
        await self.look()
        await self._until(lambda: not self._held())
        await self.look()

    def _laid_out(self) -> bool:
        """The framework waits for more resizes before it acts on one."""
        size = self.s.app.screen._compositor.size  # pyright: ignore[reportPrivateUsage]
        return size == self.s.app.size

    def _held(self) -> bool:
        app = self.s.app
        held = (app.repl.box._held, app.repl.reply._held, app.repl.panel._held)  # pyright: ignore[reportPrivateUsage]
        return any(held) or app.editor.running or app.talk.busy_shell

    async def _until(self, fact: Callable[[], bool]) -> None:
        end = time.monotonic() + WAITS
        while not fact() and not self.over and self.s.failure is None:
            if time.monotonic() > end:
                break
            await self.s.pilot.pause(0.01)

    # what a person does

    def press(self, key: str, gap: float = BY_HAND) -> None:
        character = CHARACTERS.get(key) or (key if len(key) == 1 else None)
        name = _character_to_key(key) if len(key) == 1 else key
        if key.startswith("ctrl+") and len(key) == 6 and key[5].isalpha():
            character = chr(ord(key[5]) - 96)
        event = events.Key(name, character)
        self._time += gap
        self.s.clock.now += gap
        event.time = self._time
        self.s.app.post_message(event)

    async def do_look(self) -> None:
        await self.look()

    async def do_key(self, key: str) -> None:
        self.press(key)

    async def do_text(self, text: str) -> None:
        for character in text:
            self.press(character)

    async def do_type(self, text: str) -> None:
        await self.do_text(text)

    async def do_burst(self, text: str) -> None:
        for character in text:
            self.press("enter" if character == "\r" else character, BURST)

    async def do_paste(self, text: str) -> None:
        self.s.app.post_message(events.Paste(text))

    async def do_huge(self, number: int) -> None:
        text = Chance(number).choice([*TEXTS[4:], "word ", "\n"])
        self.s.app.post_message(events.Paste(text * (HUGE // len(text))))

    async def do_mouse(self, what: str, x: int, y: int) -> None:
        if what == "click":
            await self.do_mouse("down", x, y)
            await self.do_mouse("up", x, y)
            return
        size = self.s.app.size
        x, y = min(x, size.width + 1), min(y, size.height + 1)
        button = int(what not in ("move", "wheel-up", "wheel-down"))
        event = MOUSE[what](None, x, y, 0, 0, button, False, False, False, x, y)
        self.s.app.post_message(event)

    async def do_size(self, width: int, height: int) -> None:
        size = Size(width, height)
        driver = self.s.app._driver  # pyright: ignore[reportPrivateUsage]
        if driver is not None:
            driver._size = (width, height)  # pyright: ignore[reportPrivateUsage]
        self.s.app.post_message(events.Resize(size, size))
        await self.s.pilot.pause(0)

    async def do_focus(self, on: bool) -> None:
        self.s.app.post_message(events.AppFocus() if on else events.AppBlur())

    async def do_clock(self, seconds: float) -> None:
        self.s.clock.now += seconds
        self._time += seconds

    async def do_wait(self, _number: int) -> None:
        """As long as an answer is held."""
        await self.s.wait(0.3)

    async def do_leave(self) -> None:
        self.s.app.talk.leave_now()
        await self._until(lambda: False)

    # what the session does

    async def do_open(self, *_setup: Any) -> None:
        """The session is there now, at the latest."""
        self._gate.set()

    async def do_event(self, number: int, *, gentle: bool = False) -> None:
        event, agent = happening(number, gentle=gentle)
        self.s.session.publish(event, agent=agent)

    async def do_scene(self, name: str) -> None:
        SCENES[name](self.s.session)

    async def do_ask(self, number: int, kind: str = "") -> None:
        self._asked += 1
        self.s.session.publish(Asked(id=self._asked, ask=Chance(number).ask(kind)))

    async def do_settled(self, _number: int) -> None:
        """Somebody else answered."""
        asks = self.s.app.repl.view.asks
        if asks:
            self.s.session.publish(Answered(id=asks[0].id, answer=Answer(cancelled=True)))

    async def do_busy(self, on: bool) -> None:
        self.s.session.busy = on

    async def do_command(self, number: int, arguments: str) -> None:
        names = sorted(c.name for c in self.s.session.commands if c.name != "exit")
        self.s.app.talk.send(f"/{names[number % len(names)]} {arguments}".rstrip())

    async def do_panel(self, number: int) -> None:
        """Anything that can be opened, with rows of any kind."""
        chance = Chance(number)
        chosen = chance.choice([*MADE, *BY_COMMAND.values()])
        if self.s.app.session is None:
            return
        if isinstance(chosen, type):
            self.s.app.repl.reach.open_panel(MADE[chosen](chance))
        else:
            self.s.app.talk.send(str(chosen))

    async def do_vim(self, on: bool) -> None:
        self.s.app.repl.box.use_vim(on=on)

    async def do_theme(self, number: int) -> None:
        names = sorted(self.s.app.look.palettes)
        self.s.app.themed.use(names[number % len(names)], keep=False)

    # what must hold around some steps

    def _free(self) -> bool:
        """Whether the keys go to the prompt and nothing else is there."""
        app = self.s.app
        repl = app.repl
        opened = repl.picker.open or repl.secret.open or repl.sheet.open
        opened = opened or repl.watching.open  # what is sent there goes elsewhere
        busy = repl.view.asks or opened or app.session is None
        return not self.over and app.screen is repl and repl.focused is repl.box and not busy

    async def do_send(self, word: str) -> None:
        """What is sent is what stands in the prompt, once, whole."""
        await self.settle()
        box = self.s.app.repl.box
        if not self._free() or not box.inserting:
            return
        await self.do_text(word)
        if box.menu_open:
            self.press("escape")
        await self.settle()
        if not self._free() or box.menu_open or not box.inserting:
            return
        text, sent = box.text, len(self.s.session.sent)
        row, column = box.cursor_location
        open_line = box.document.get_line(row)[:column].endswith("\\")
        self.press("enter")
        await self.settle()
        if self.over or text.lstrip().startswith(("/", "!", "#")):
            return
        wanted = [] if open_line or not text.strip() else [text]
        got = self.s.session.sent[sent:]
        if len(got) != len(wanted):
            raise Broken(f"{text!r} in the prompt was sent {len(got)} times: {got!r:.300}")
        if wanted and (box.text or ("[Pasted" not in text and got != wanted)):
            raise Broken(f"sent {got!r:.300} for {text!r:.300}, {box.text!r:.300} is left")

    async def do_answer(self, key: str) -> None:
        """After a pause every question can be answered."""
        await self.settle()
        await self.do_clock(2.0)
        self.press(key)
        await self.settle()

    async def do_rush(self, number: int, keys: Sequence[str]) -> None:
        """A key within 400 ms of a question's appearance never means yes."""
        await self.settle()
        repl = self.s.app.repl
        if self.over or self.s.app.screen is not repl or repl.view.asks or repl.secret.open:
            return
        for n in range(1 + number % 2):
            await self.do_ask(number + n, "permission")
        if number % 2:  # the second appears when the first is answered
            await self.do_answer("escape")
        await self.settle()
        pending, before = repl.panel.pending, len(self.s.session.answers)
        if pending is None or self.over:
            return
        for key in keys:
            self.press(key)
        await self.settle()
        for ask, answer in self.s.session.answers[before:]:
            if ask == pending.id and {"once", "always"} & {*answer.choices}:
                raise Broken(f"{keys} just after a question appeared answered {answer}")

    async def do_still(self, *steps: Sequence[Any]) -> None:
        """What is no key changes neither the draft nor where the keys go."""
        await self.settle()
        app = self.s.app
        if not self._free():
            return
        text = app.repl.box.text
        for kind, arguments in steps:
            gentle = {"gentle": True} if kind == "event" else {}
            await getattr(self, f"do_{kind}")(*arguments, **gentle)
            await self.look()
        await self.settle()
        if not self.over and (app.repl.box.text != text or app.focused is not app.repl.box):
            raise Broken(f"the draft was {text!r:.300}, is {app.repl.box.text!r:.300}: {steps}")

    async def do_secret(self, number: int) -> None:
        """What is typed into a masked field is nowhere on the screen and reaches its taker."""
        await self.settle()
        app, chance, taken = self.s.app, Chance(number), list[str]()

        async def take(text: str) -> Say:
            taken.append(text)
            return Say((*chance.view(),))

        if self.over or app.session is None or app.screen is not app.repl:
            return
        about = (chance.row(), chance.row())
        title = chance.row()
        app.repl.reach.open_panel(Secret(fallback=Say(()), title=title, about=about, take=take))
        await self.look()
        end = chance.choice(("enter", "escape"))
        await self.do_text(MARK)
        await self.look()
        self._hidden()
        self.press(end)
        await self.settle()
        self._hidden()
        if not self.over and taken != ([MARK] if end == "enter" else []):
            raise Broken(f"the secret reached its taker as {taken}")

    def _hidden(self) -> None:
        repl = self.s.app.repl
        places = (self.s.text(), repl.box.text, repl.reply.text, *repl.box.history_.entries()[-2:])
        if any(MARK in place for place in places):
            raise Broken("a secret is seen")

    async def end(self) -> None:
        """From wherever it is: Escape leads back to a prompt that works."""
        if self.over:
            return
        self._gate.set()
        await self.settle()
        await self.s.recover()
        box = self.s.app.repl.box
        box.use_vim(on=False)
        self.press("o")
        self.press("k")
        await self.settle()
        if box.text != "ok":
            raise Broken(f"the prompt does not work any more: {box.text!r:.300}")


def setup(step: Step) -> tuple[tuple[int, int], Ui, bool]:
    """What the first step says: size, settings of the screen, whether the session comes late."""
    size, number, vim, late = step.arguments
    theme = list(PALETTES)[int(number) % len(PALETTES)]
    return (size[0], size[1]), Ui(theme=theme, vim=vim, reduced_motion=number % 3 == 0), late


@asynccontextmanager
async def opened(first: Step, cwd: str) -> AsyncGenerator[Play]:
    size, ui, late = setup(first)
    gate, clock = asyncio.Event(), Clock()
    session = FakeSession(cwd=cwd)
    session.know("effort", "login", "logout", "config", "doctor", "compact", "context", "rewind")
    session.know("rename", "resume", "export", "memory", "init", "tasks", "plan", "bug", "diff")
    books = Books(Path(tempfile.mkdtemp(dir=cwd)), user=RULES)
    session.permissions, session.settings = books.permissions, books.settings

    async def open_session() -> SessionClient:
        await gate.wait()
        return session.facade()

    app = AgentApp(open_session, ui=ui, monotonic=clock, now=lambda: session.now)
    async with driven(app, size=size) as pilot:
        play = Play(Stage(app, pilot, session, clock), gate)
        if not late:
            gate.set()
            await play.look()
        yield play


async def run(steps: Sequence[Step], cwd: str) -> int:
    """Do the steps; a screen that is left makes room for another. Raises what does not hold."""
    first, rest = steps[0], list(steps[1:])
    number = lives = 0
    while number < len(rest):
        lives += 1
        step = Step("open")
        try:
            async with opened(first, cwd) as play:
                while number < len(rest) and not play.over:
                    step = rest[number]
                    number += 1
                    await play.do(step)
                step = Step("end")
                await play.end()
        except Exception as error:
            raise Failure(number, step, error) from error
    return lives


class Failure(Exception):
    """Something broke in a step; `number` steps after the first were needed at most."""

    def __init__(self, number: int, step: Step, error: Exception) -> None:
        super().__init__(f"step {number} {step.kind}: {type(error).__name__}: {error!s:.600}")
        self.number = number
        self.kind = type(error).__name__, str(error)[:12]
