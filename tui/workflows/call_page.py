"""One agent of a run: what it was asked, what it did last, what came of it; shown as it goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from gatewright.agent.workflows.runs.views import CallView
from gatewright.tools.blocks import Block, Markdown, Text
from gatewright.tui.agents.strip_rows import clock, spent
from gatewright.tui.line import Line
from gatewright.tui.panels.page import PageView
from gatewright.tui.panels.sheet import Press
from gatewright.tui.transcript.figures import count
from gatewright.tui.workflows.words import ENDED

GONE = Text("Nothing is known of this agent any more.", "warning")
SCROLLS = {"j": "down", "k": "up"}


class CallPage:
    """Implements a page of the panel."""

    def __init__(
        self,
        read: Callable[[], CallView | None],
        *,
        back: Callable[[], None],
        watch: Callable[[str], None],
        acts: Mapping[str, tuple[str, Callable[[], None]]],
    ) -> None:
        self._read, self._back, self._watch, self._acts = read, back, watch, acts
        self._blocks: tuple[Block, ...] = ()
        self._page = PageView("", ())

    @property
    def keys(self) -> Sequence[str]:
        call = self._read()
        watch = ("enter transcript",) if call is not None and call.agent_path else ()
        ended = call is None or call.now.state in ENDED  # nothing can be done to it any more
        acts = () if ended else tuple(f"{key} {label}" for key, (label, _) in self._acts.items())
        return (*watch, *acts, *self._page.keys)

    def press(self, press: Press) -> bool:
        key, character, settled = press
        if key == "left":
            self._back()
        elif key in ("enter", "right"):
            call = self._read()
            if call is not None and call.agent_path:
                self._watch(call.agent_path)
        elif character in self._acts:
            if settled:
                self._acts[character][1]()
        else:
            return self._page.press(press._replace(key=SCROLLS.get(key, key)))
        return True

    def paste(self, text: str) -> None:
        """Nothing is typed here."""

    def lines(self, width: int, height: int) -> list[Line]:
        call = self._read()
        blocks = (GONE,) if call is None else tuple(_blocks(call))
        if blocks != self._blocks:
            self._blocks = blocks
            self._page.change(call.now.label if call is not None else "", blocks)
        return self._page.lines(width, height)


def _blocks(call: CallView) -> Iterator[Block]:
    now = call.now
    facts = [now.state, now.phase, now.model]
    facts += [f"{count(now.tokens)} tokens" if now.tokens else "", spent(now.cost)]
    facts += [clock(now.seconds) if now.seconds else "", f"agent {now.agent}" if now.agent else ""]
    yield Text(" · ".join(filter(None, facts)), "dim")
    if now.error:
        yield Text(f"{now.error}: {now.doing}".strip(": "), "warning")
    yield Text("Asked", "dim")
    yield Markdown(call.prompt)
    if call.last:
        yield Text("Did last", "dim")
        yield Text("\n".join(call.last))
    if call.result:
        yield Text("Result", "dim")
        yield Markdown(call.result)
    if call.worktree:
        yield Text(f"Work tree: {call.worktree}", "dim")
    if call.transcript is not None:
        yield Text(f"Transcript: {call.transcript}", "dim")
