"""Random keys, pastes, resizes and events over every screen: nothing may crash.

`python -m tests.tui.fuzz [--keys 20000] [--seed N]` runs longer than the tests do.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys

from textual import events
from textual.geometry import Size

from tests.tui.scenes import SCENES
from tests.tui.stage import Stage, stage

KEYS = (
    *("enter", "escape", "tab", "shift+tab", "up", "down", "left", "right", "home", "end"),
    *("pageup", "pagedown", "backspace", "delete", "insert", "f1"),
    *(f"ctrl+{letter}" for letter in "abefgjklnoprstuwyz"),
    *("alt+b", "alt+d", "alt+f", "alt+y", "alt+enter", "shift+enter", "shift+up", "shift+down"),
    *("ctrl+home", "ctrl+end", "ctrl+underscore", "ctrl+left", "ctrl+right"),
)
TEXTS = ("/", "@", "!", "?", "\\", "y", "Y", "n", "t", "q", "v", "a", " ", "\u6f22", "e\u0301", "[")
PASTES = ("x" * 3000, "row\n" * 40, "\x1b[2J\u202e", "", "/help", "two\nlines", "\U0001f468\u200d")
SIZES = ((80, 24), (40, 10), (120, 40), (300, 60), (20, 5), (1, 1))
COMMANDS = ("/help", "/keys", "/theme", "/mode", "/permissions", "/copy", "/clear", "/nothing")


async def act(s: Stage, chance: random.Random) -> None:
    """One random thing a person, a terminal or the session may do."""
    app, roll = s.app, chance.random()
    if roll < 0.55:
        app.post_message(events.Key(chance.choice(KEYS), None))
    elif roll < 0.85:
        text = chance.choice(TEXTS)
        name = {" ": "space", "/": "slash", "?": "question_mark"}.get(text, text)
        app.post_message(events.Key(name, text))
    elif roll < 0.89:
        app.post_message(events.Paste(chance.choice(PASTES)))
    elif roll < 0.92:
        size = Size(*chance.choice(SIZES))
        app.post_message(events.Resize(size, size))
    elif roll < 0.95:
        chance.choice(list(SCENES.values()))(s.session)
    elif roll < 0.98:
        app.talk.send(chance.choice(COMMANDS))
    else:
        s.clock.now += 1


async def fuzz(seed: int, count: int) -> None:
    """Raises what the screen raised; checks that it still works at the end."""
    chance = random.Random(seed)
    async with stage() as s:
        for number in range(count):
            await act(s, chance)
            if number % 20 == 0:
                await s.pilot.pause()
            if s.failure is not None:
                raise AssertionError(f"seed {seed}, after {number} steps") from s.failure
        await s.recover()
        await s.type("still here")
        assert "still here" in s.app.repl.box.text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for number in range(max(1, options.keys // 1000)):
        asyncio.run(fuzz(options.seed + number, min(1000, options.keys)))
        print(f"seed {options.seed + number}: fine", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
