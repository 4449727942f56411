"""The steps of the keyboard fuzz as plain data: a seed makes them, JSON keeps them.

What a step means is in `fuzz.py`; this is only what there is to choose from, and how often.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from gatewright.tui.picker import STEPS as PICKER_STEPS
from gatewright.tui.picker import TURNS
from gatewright.tui.prompt.box import NEWLINES, SCREEN_KEYS
from tests.tui.happenings import TEXTS
from tests.tui.scenes import SCENES

Make: TypeAlias = Callable[[random.Random], tuple[Any, ...]]


class Step(NamedTuple):
    kind: str
    arguments: tuple[Any, ...] = ()


LEAVING = ("ctrl+c", "ctrl+d")  # rarely, else no run gets far
KEYS = tuple(
    sorted(
        {*SCREEN_KEYS, *NEWLINES, *PICKER_STEPS, *TURNS}
        | {"enter", "home", "end", "backspace", "delete", "insert", "f1", "f24", "ctrl+home"}
        | {f"ctrl+{letter}" for letter in "abefhijklmnopqtuvwxyz"}
        | {f"alt+{letter}" for letter in "bdfyz"}
        | {f"shift+{key}" for key in ("left", "right", "home", "end", "enter", "tab", "delete")}
        | {f"ctrl+{key}" for key in ("left", "right", "end", "backspace", "delete", "@", "pageup")}
        | {"ctrl+shift+z", "ctrl+underscore", "ctrl+backslash", "menu", "<ignore>", "ctrl+alt+b"}
        - set(LEAVING)
    )
)
OFTEN = ("enter", "escape", "up", "down", "tab", "backspace", "left", "ctrl+r", "ctrl+t", "delete")
LETTERS = "yYntaq1234 vVgGNnjkhlwbdcxipPoOuU0$/@!?#\\[]~'\"`:.eé\u6f22\u0301\u200d\u202e\U0001f600"
WORDS = (
    *("fix the typo", "/mo", "/model ", "/help", "/nothing at all", "@", 'see @"a b', "@src/../"),
    *("! ls", "!", "# keep this", "yes, do it", "dd3wp", "ciw x", "\\", "////", "/ /", "@/", "y"),
)
PASTES = (
    *("", "two\nlines", "/help", "y\n", "y\ny\ny\n", "x" * 3000, "row\n" * 40, "a\r\nb\rc\x00"),
    *("\x1b[2J\u202e", "\x1b[201~y\n", "[Pasted 41 lines #1]", "'/tmp/a.png'", "file:///tmp/b.png"),
    *("~" * 5000 + ".png", "\ud800", "\U0001f468\u200d\U0001f469\u200d\U0001f467" * 30),
    *("\t" * 50, "e" + "\u0301" * 200, "hostile \x9b31m \x07", *TEXTS),
)
HUGE = 400_000  # characters of the largest paste
ARGUMENTS = ("", "", "list", "1", "-1", "default", "light", "remove", "\u202e\x1b[2J", "x" * 500)
SIZES = (
    *((80, 24), (80, 24), (120, 40), (200, 60), (40, 10), (300, 80), (60, 12), (39, 9)),
    *((20, 5), (10, 3), (1, 1), (2, 40), (300, 2)),
)
ANSWERS = ("y", "Y", "enter", "space", "1", "a", "up", "down", "tab", "escape", "n", "t")
QUIET = ("mouse", "size", "focus", "event", "clock")  # no keys
BUTTONS = ("down", "up", "move", "drag", "wheel-up", "wheel-down", "click")


def _key(chance: random.Random) -> tuple[str]:
    if chance.random() < 0.02:
        return (chance.choice(LEAVING),)
    return (chance.choice(OFTEN if chance.random() < 0.5 else KEYS),)


def _burst(chance: random.Random) -> tuple[str]:
    return ("".join(chance.choices(LETTERS + "\r", k=chance.randrange(2, 12))),)


def _mouse(chance: random.Random) -> tuple[str, int, int]:
    return chance.choice(BUTTONS), chance.randrange(-2, 300), chance.randrange(-2, 80)


def _rush(chance: random.Random) -> tuple[int, tuple[str, ...]]:
    return chance.randrange(10**6), tuple(chance.choices(ANSWERS, k=chance.randrange(1, 5)))


def _still(chance: random.Random) -> tuple[Step, ...]:
    kinds = (chance.choice(QUIET) for _ in range(chance.randrange(1, 12)))
    return tuple(Step(kind, KINDS[kind][1](chance)) for kind in kinds)


def _of(*values: Any) -> Make:
    return lambda chance: (chance.choice(values),)


def _number(chance: random.Random) -> tuple[int]:
    return (chance.randrange(10**6),)


def _command(chance: random.Random) -> tuple[int, str]:
    return chance.randrange(1000), chance.choice(ARGUMENTS)


KINDS: dict[str, tuple[float, Make]] = {  # how often, and with what
    "key": (42, _key),
    "text": (24, lambda chance: (chance.choice(LETTERS),)),
    "type": (4, _of(*WORDS)),
    "burst": (2, _burst),
    "paste": (3, _of(*PASTES)),
    "mouse": (4, _mouse),
    "size": (3, lambda chance: chance.choice(SIZES)),
    "focus": (1, _of(True, False)),
    "clock": (3, _of(0.01, 0.3, 0.5, 1.0, 3.0)),
    "event": (12, _number),
    "ask": (2, _number),
    "settled": (1, _number),
    "command": (2, _command),
    "panel": (2, _number),
    "scene": (0.6, _of(*SCENES)),
    "busy": (1, _of(True, False)),
    "send": (1, _of(*WORDS)),
    "answer": (1.5, _of("y", "n", "enter", "escape", "1", "t", "down", "space")),
    "rush": (1.2, _rush),
    "still": (1.2, _still),
    "secret": (0.6, _number),
    "vim": (0.3, _of(True, False)),
    "theme": (0.3, _number),
    "huge": (0.05, _number),
    "wait": (0.3, _number),
    "leave": (0.04, lambda _: ()),
}


def one_of(chance: random.Random) -> Step:
    """One thing that a person, a terminal or the session may do."""
    kind = chance.choices(list(KINDS), [often for often, _ in KINDS.values()])[0]
    return Step(kind, KINDS[kind][1](chance))


def script(seed: int, count: int) -> list[Step]:
    """So many steps in batches: first how the screen is set up, a look after each batch."""
    chance = random.Random(seed)
    setup = (chance.choice(SIZES[:6]), chance.randrange(100), chance.random() < 0.25)
    steps = [Step("open", (*setup, chance.random() < 0.2))]
    while len(steps) < count:
        steps += [one_of(chance) for _ in range(chance.randrange(1, 15))]
        steps.append(Step("look"))
    return [*steps[:count], Step("look")]
