"""What was invoked in a session: for a note instead of the same text, and for the next summary.

A fold over the events of all agents, stored ones too: the text of an invocation is the result of
its call, or what went before the person's line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

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
        self._due: dict[tuple[str, str], str] = {}  # by agent and call: whose text comes
        self.files: dict[Path, None] = {}  # of skills that were at work
        for envelope in stored:
            self.saw(envelope)

    def saw(self, envelope: Envelope) -> None:
        agent = envelope.agent
        match envelope.event:
            case SkillInvoked(name=name, path=path, call_id=call_id):
                self._due[agent, call_id] = name
                self.files[Path(path)] = None
            case ToolFinished(call_id=call_id, ok=ok, content=content):
                if (name := self._due.pop((agent, call_id), "")) and ok:
                    self._keep(agent, name, _text(content))
            case UserMessage(hidden=True, content=content):
                if name := self._due.pop((agent, ""), ""):
                    self._keep(agent, name, _text(content))
            case Compacted() | Cleared() | Rewound() as event:
                self._there = {each for each in self._there if each[0] != agent}
                if not isinstance(event, Compacted):
                    self._texts.pop(agent, None)
            case _:
                pass

    def has(self, agent: str, name: str, text: str) -> bool:
        """Whether the model of that agent still has this very text."""
        return (agent, name) in self._there and self._texts.get(agent, {}).get(name) == text

    def remains(self) -> Sequence[str]:
        """The newest text of each, for behind a summary: the last invoked first."""
        sections: list[str] = []
        left = ALL
        for name, text in reversed(self._texts.get(MAIN, {}).items()):
            text = _cut(text, min(ONE, left))
            left -= text_tokens(text)
            if left < 0:
                break
            sections.append(f"# The skill {name}, as it was invoked\n\n{text}")
        return sections

    def _keep(self, agent: str, name: str, text: str) -> None:
        texts = self._texts.setdefault(agent, {})
        texts.pop(name, None)
        texts[name] = text
        self._there.add((agent, name))
        if len(texts) > KEPT:
            del texts[next(iter(texts))]


def _text(content: Sequence[Content]) -> str:
    return "\n".join(part.text for part in content if isinstance(part, TextContent))


def _cut(text: str, tokens: int) -> str:
    if text_tokens(text) <= tokens:
        return text
    size = max(0, len(text) * tokens // max(1, text_tokens(text)) - len(CUT))
    return text[:size] + CUT
