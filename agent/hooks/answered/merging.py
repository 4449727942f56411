"""Of the answers of several handlers one verdict: the strictest word, all texts, the first rewrite.

Answers come in the order of their sources, never in that of finishing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from gatewright.agent.hooks.answered.answers import Answer
from gatewright.agent.hooks.answered.words import blamed, harmless, labelled
from gatewright.agent.hooks.events import EVENTS, TURN_ENDS
from gatewright.agent.hooks.handlers import BROUGHT, OF_PERSON, Handler
from gatewright.agent.hooks.kinds.running import Output
from gatewright.tools.moments import Verdict, Word
from gatewright.tools.protocol import JsonObject
from gatewright.tools.system.untyped_json import obj

_RANK: Sequence[Word] = ("", "allow", "ask", "defer", "deny")
STOPPED = "A hook ended the turn."


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """A handler that ran, and what its answer came to."""

    handler: Handler
    output: Output
    answer: Answer

    @property
    def failed(self) -> bool:
        return bool(self.answer.failure)

    @property
    def refuses(self) -> bool:
        """By its word, or as a strict one that failed. A turn is never kept alive by a failure."""
        event, answer = self.handler.event, self.answer
        can = EVENTS[event].block == "refuses"
        if self.failed:
            can = (can and event not in TURN_ENDS) or event == "PermissionRequest"
            return can and (self.handler.strict or self.output.blocks)
        return answer.word == "deny" or (answer.blocks and can)

    @property
    def word(self) -> Word:
        """What plugins, agents and skills bring permits nothing: no rule of theirs could."""
        if self.refuses:
            return "deny"
        permits = self.answer.word == "allow" and self.handler.place.origin in BROUGHT
        return "" if permits else self.answer.word

    @property
    def answers(self) -> bool:
        """Whether it may answer a question to the person: it is the person's own, or above."""
        return self.word == "allow" and self.handler.place.origin in OF_PERSON


def merged(event: str, runs: Sequence[Ran]) -> Verdict:
    """The whole of it; who gets which part is the event's own."""
    word, texts = _word(runs)
    stopped = [run for run in runs if run.answer.stops]
    if stopped:
        word = "stop"
        texts = [run.answer.stop_reason or run.answer.reason or STOPPED for run in stopped]
    rewrites = [run for run in runs if run.answer.input is not None and not run.refuses]
    open = word not in ("deny", "stop")
    first = rewrites[0] if rewrites and open else None
    return Verdict(
        word=word,
        text="\n".join(filter(None, texts)),
        input=first.answer.input if first is not None else _reply(runs) if open else None,
        answers=first is not None and first.answers,
        output=_output(runs),
        context=tuple(_context(event, runs, rewrites)),
        notice="\n".join(run.answer.notice for run in runs if run.answer.notice),
    )


def _reply(runs: Sequence[Ran]) -> JsonObject | None:
    """What is answered to a server: the first that is the person's own; others only decline."""
    for run in runs:
        action = run.answer.parts.get("action")
        own = run.handler.place.origin in OF_PERSON
        if not run.refuses and action in (("accept", "decline", "cancel") if own else ("decline",)):
            return {"action": action, "content": run.answer.parts.get("content")}
    return None


def _word(runs: Sequence[Ran]) -> tuple[Word, list[str]]:
    words: list[Word] = [run.word for run in runs]
    word = max(words, key=_RANK.index) if words else _RANK[0]
    heard = [run for run in runs if word and run.word == word]
    if word != "deny":  # one that permits without a reason refused nothing
        return word, [harmless(_reason(run)) for run in heard]
    return word, [blamed(run.handler, _reason(run)) for run in heard]


def _reason(run: Ran) -> str:
    if run.failed:
        why = "is strict" if run.handler.strict else "nothing goes on without its answer"
        return f"it failed ({run.answer.failure}) and {why}"
    message = obj(run.answer.parts.get("decision")).get("message")
    reason = run.answer.reason or (message if isinstance(message, str) else "")
    return f"The hook {run.handler.name} asks: {reason}" if run.word == "ask" else reason


def _output(runs: Sequence[Ran]) -> str | None:
    if any(run.refuses and run.answer.parts.get("suppressOriginalPrompt") for run in runs):
        return ""  # nothing of it is put back
    return next((output for _, output in _outputs(runs)), None)


def _outputs(runs: Sequence[Ran]) -> Iterator[tuple[Ran, str]]:
    for run in runs:
        for name in ("updatedMCPToolOutput", "updatedToolOutput", "displayContent"):
            value = run.answer.parts.get(name)
            if value is not None:
                yield run, value if isinstance(value, str) else _json(value)


def _context(event: str, runs: Sequence[Ran], rewrites: Sequence[Ran]) -> Iterator[str]:
    for run in runs:
        text = run.answer.context or (run.answer.plain if EVENTS[event].plain else "")
        if text:
            yield labelled(run.handler, text)
        if run.answer.parts.get("retry") is True:
            yield labelled(run.handler, "The call may be tried again.")
    first = rewrites[0].answer.input if rewrites else None
    for run in rewrites[1:]:
        if run.answer.input != first:
            yield labelled(run.handler, "Its other rewrite of the input was not used.")
    for run, output in list(_outputs(runs))[1:]:
        if output != _output(runs):
            yield labelled(run.handler, "Its other rewrite of the output was not used.")


def _json(value: JsonObject | object) -> str:
    return msgspec.json.encode(value).decode()
