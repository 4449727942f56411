"""What was invoked in a session: for a note instead of the same text, and for the next summary.

A fold over the events of all agents, stored ones too: the text of an invocation is the result of
its call, or what went before the person's line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec.structs import replace

from gatewright.agent.compact.estimate import text_tokens
from gatewright.agent.record.events import (
    Cleared,
    Compacted,
    Envelope,
    Rewound,
    SkillInvoked,
    ToolFinished,
    UserMessage,
)
from gatewright.tools.access import MAIN
from gatewright.tools.protocol import Content, TextContent

ONE, ALL = 5_000, 25_000  # tokens that come back after a summary
KEPT = 100  # skills of one agent
CUT = "\n[Cut here: invoke it again to read the rest.]"


class Invoked:
    def __init__(self, stored: Iterable[Envelope] = ()) -> None:
        self._texts: dict[str, dict[str, str]] = {}  # by agent and name, the newest last
        self._there: set[tuple[str, str]] = set()  # that the model still has, whole
        self._due: dict[tuple[str, str], SkillInvoked] = {}  # by agent and call: its text comes
        self._typed: list[tuple[str, SkillInvoked]] = []  # the same of a person's line
        self._last: dict[str, SkillInvoked] = {}  # of the main agent, by name
        self.files: dict[Path, None] = {}  # of skills that were at work
        for envelope in stored:
            self.saw(envelope)

    def saw(self, envelope: Envelope) -> None:
        agent = envelope.agent
        match envelope.event:
            case SkillInvoked() as invoked:
                self._begins(agent, invoked)
            case ToolFinished(call_id=call_id, ok=ok, content=content):
                if (due := self._due.pop((agent, call_id), None)) is not None and ok:
                    self._keep(agent, due.name, _text(content))
            case UserMessage(hidden=True, content=content):
                self._came(agent, _text(content))
            case Compacted() | Cleared() | Rewound() as event:
                self._there = {each for each in self._there if each[0] != agent}
                if not isinstance(event, Compacted):
                    self._texts.pop(agent, None)
            case _:
                pass

    def _begins(self, agent: str, invoked: SkillInvoked) -> None:
        self.files[Path(invoked.path)] = None
        if agent == MAIN:
            self._last[invoked.name] = invoked
        if invoked.carried:
            self._put(agent, invoked.name, invoked.carried)
        elif invoked.call_id:
            self._due[agent, invoked.call_id] = invoked
        else:
            self._typed.append((agent, invoked))

    def _came(self, agent: str, text: str) -> None:
        """Before a line stand other things, too."""
        for each in self._typed:
            if each[0] == agent and each[1].opens(text):
                self._typed.remove(each)
                self._keep(agent, each[1].name, text)
                return

    def has(self, agent: str, name: str, text: str) -> bool:
        """Whether the model of that agent still has this very text."""
        return (agent, name) in self._there and self._texts.get(agent, {}).get(name) == text

    def remains(self) -> Sequence[str]:
        """The newest text of each, for behind a summary: the last invoked first."""
        return [f"# The skill {n}, as it was invoked\n\n{text}" for n, text in self._newest()]

    def carried(self) -> Sequence[SkillInvoked]:
        """The same to be kept behind a boundary: nothing before one is read again."""
        return [replace(self._last[name], carried=text) for name, text in reversed(self._newest())]

    def _newest(self) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        left = ALL
        for name, text in reversed(self._texts.get(MAIN, {}).items()):
            text = _cut(text, min(ONE, left))
            left -= text_tokens(text)
            if left < 0:
                break
            found.append((name, text))
        return found

    def _keep(self, agent: str, name: str, text: str) -> None:
        self._put(agent, name, text)
        self._there.add((agent, name))

    def _put(self, agent: str, name: str, text: str) -> None:
        texts = self._texts.setdefault(agent, {})
        texts.pop(name, None)
        texts[name] = text
        if len(texts) > KEPT:
            del texts[next(iter(texts))]


def _text(content: Sequence[Content]) -> str:
    return "\n".join(part.text for part in content if isinstance(part, TextContent))


def _cut(text: str, tokens: int) -> str:
    if text_tokens(text) <= tokens:
        return text
    size = max(0, len(text) * tokens // max(1, text_tokens(text)) - len(CUT))
    return text[:size] + CUT
