"""What must hold on the screen at any moment, whatever was typed."""

from __future__ import annotations

import re

from textual.widget import Widget
from textual.widgets import TextArea

from gatewright.tools.access import MAIN
from gatewright.tui import cells
from gatewright.tui.app import AgentApp
from gatewright.tui.screens.reader import Reader

# Nothing of this may reach a terminal in a row: controls, reordering, halves of pairs.
UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200b\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
LINK = re.compile(r"https?://[\x21-\x7e]*\Z")


class Broken(AssertionError):
    """A rule does not hold."""


def check(app: AgentApp) -> None:
    """Raise `Broken` with the first rule that does not hold."""
    rows_are_whole(app)
    focus_is_sensible(app)


def rows_are_whole(app: AgentApp) -> None:
    """Every row fills the screen exactly and holds only what a terminal may get."""
    width, height = app.size
    compositor = app.screen._compositor  # pyright: ignore[reportPrivateUsage]
    strips = compositor.render_strips()
    if len(strips) != height:
        raise Broken(f"{len(strips)} rows on a screen of {height}")
    regions = (box.region for box in app.screen.query(TextArea) if box.display)
    framework = {y for region in regions for y in range(region.y, region.bottom)}  # its own measure
    for y, strip in enumerate(strips):
        text = strip.text
        found = UNSAFE.search(text)
        if found is not None:
            raise Broken(f"row {y} holds {found[0]!r}: {text!r}")
        size = width if y in framework else sum(cells.width(part.text) for part in strip)
        if size != width or strip.cell_length != width:
            raise Broken(f"row {y} has {size} cells of {width}: {text!r}")
        for segment in strip:
            link = segment.style.link if segment.style is not None else None
            if link and not LINK.match(link):
                raise Broken(f"row {y} links to {link!r}")


def focus_is_sensible(app: AgentApp) -> None:
    """Keys go to what is open and seen, else to the question, else to the prompt."""
    screen, repl = app.screen, app.repl
    if screen is not repl:
        if isinstance(screen, Reader) and screen.focused is not None:
            raise Broken(f"the reader gave its keys to {screen.focused!r}")
        return
    focused = repl.focused
    if focused is None or not _shown(focused):
        raise Broken(f"the keys go to {focused!r}, which nobody sees")
    if repl.secret.open and focused is not repl.secret:
        raise Broken(f"a secret is typed into {focused!r}")
    if focused is repl.box and (repl.view.asks or repl.picker.open or repl.sheet.open):
        raise Broken("the prompt has the keys, though something above it is open")
    if (focused is repl.picker and not repl.picker.open) or (
        focused is repl.sheet and not repl.sheet.open
    ):
        raise Broken("a closed list has the keys")
    if (focused is repl.agents) != repl.agents.entered:
        raise Broken(f"the strip of agents and {focused!r} disagree about who has the keys")
    if (app.talk.to != MAIN) != repl.watching.open or app.talk.to != repl.watching.path:
        raise Broken(f"what is typed goes to {app.talk.to}, seen is {repl.watching.path}")
    if focused in (repl.panel, repl.reply) and not repl.view.asks:
        raise Broken("the keys go to a question that is gone")


def _shown(widget: Widget) -> bool:
    return all(part.display for part in widget.ancestors_with_self if isinstance(part, Widget))
