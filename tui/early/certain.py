"""Whether it is certain how the first frame will look, and its frame if so.

Looks at the environment and at the few files that name a theme; whatever is unusual is uncertain,
and then nothing is painted before the framework does it.
"""

from __future__ import annotations

import os
from stat import S_ISREG

from gatewright.tui.early.frame import LEAST_COLUMNS, LEAST_ROWS, Frame
from gatewright.tui.early.ground import MUTE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import TypeGuard

THEMES = os.path.join(os.path.dirname(os.path.dirname(__file__)), "style", "themes.json")  # noqa: PTH118, PTH120  pathlib: 4 ms
MANAGED = "/etc/gatewright/settings.json"
OWN = ".gatewright"
FILES = ("settings.json", "settings.local.json")
DEEP = ("truecolor", "24bit")
# Terminals of which the framework takes 256 colours for certain where they promise no more.
PLENTY = ("-256color", "kitty")
UNUSUAL = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
MOST = 256 * 1024  # bytes of a settings file that is looked at
LARGEST = 20_000  # cells: beyond that is no terminal of a person
NAMES = frozenset({"dark", "light", "minimal", "high-contrast", "colour-blind"})  # not "ansi"
AUTO = "auto"


def first_frame(env: Mapping[str, str], columns: int, rows: int) -> Frame | None:
    """None where somebody else should begin."""
    if columns < LEAST_COLUMNS or rows < LEAST_ROWS or columns * rows > LARGEST:
        return None
    if any(name in env for name in UNUSUAL) or any(name.startswith("TEXTUAL") for name in env):
        return None
    deep = env.get("COLORTERM", "").strip().lower() in DEEP
    term = env.get("TERM", "")
    if not (term.endswith(PLENTY) or (deep and term.startswith("xterm-"))):
        return None
    name = _theme(env)
    if not name:
        return None
    palettes = _json(THEMES)
    palette = palettes.get("dark" if name == AUTO else name)
    light = palettes.get("light") if name == AUTO and asks(env) else None
    if not _is_object(palette):
        return None
    return Frame(palette, columns, rows, deep=deep, light=light if _is_object(light) else None)


def asks(env: Mapping[str, str]) -> bool:
    """Whether this terminal may be asked for its background."""
    return not (env.get("TERM") or "dumb").startswith(("dumb", *MUTE))


def _theme(env: Mapping[str, str]) -> str:
    """The name of the theme; empty where it is not certain."""
    home = env.get("GATEWRIGHT_HOME") or f"{env.get('HOME', '')}/{OWN}"
    if not home.startswith("/") or any(b'"ui' in _read(path) for path in _others(home)):
        return ""
    try:
        settings = _json(f"{home}/settings.json")
    except ValueError:
        return ""
    ui = settings.get("ui", {})
    if not _is_object(ui) or ui.get("vim") or any(key.startswith("ui.") for key in settings):
        return ""
    name = ui.get("theme", AUTO)
    if not isinstance(name, str) or name not in {*NAMES, AUTO}:
        return ""
    meant = ("dark", "light") if name == AUTO else (name,)
    own = any(os.path.exists(f"{home}/themes/{one}.json") for one in meant)  # noqa: PTH110
    return "" if own else name


def _others(home: str) -> Iterator[str]:
    """Files that might say something of the screen, wherever the project begins."""
    yield MANAGED
    folder = os.getcwd()  # noqa: PTH109
    while True:
        for name in FILES:
            if f"{folder}/{OWN}" != home or name != FILES[0]:
                yield f"{folder.rstrip('/')}/{OWN}/{name}"
        if folder in ("/", ""):
            return
        folder = folder.rpartition("/")[0] or "/"


def _json(path: str) -> dict[str, object]:
    """Raises ValueError for what is no object."""
    text = _read(path)
    if not text:
        return {}
    from json import loads  # noqa: PLC0415  lazy: 2 ms

    found = loads(text)
    if not _is_object(found):
        raise ValueError
    return found


def _is_object(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)


def _read(path: str) -> bytes:
    """Empty where there is none; what is no plain small file makes everything uncertain."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except OSError:
        return b'"ui'
    try:
        found = os.fstat(fd)
        plain = S_ISREG(found.st_mode) and found.st_size < MOST
        return os.read(fd, MOST) if plain else b'"ui'
    except OSError:
        return b'"ui'
    finally:
        os.close(fd)
