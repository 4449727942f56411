"""What happens in a session as updates of the Agent Client Protocol: a pure fold over its events.

Stored and live events give the same updates: a message that streamed is not said again when it is
whole. What the client typed itself is only said in a replay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Protocol

from gatewright.agent.frontends.acp.shown_blocks import (
    Whole,
    WholeOf,
    contents,
    fenced,
    plan,
    results,
    terminal_content,
    text_content,
    unknown,
)
from gatewright.agent.frontends.must_know import MustKnow, waiting
from gatewright.agent.record.events import (
    AgentStarted,
    AnyEvent,
    AssistantMessage,
    Cleared,
    Decided,
    Envelope,
    InputRefused,
    MessageDropped,
    ModeChanged,
    RetryScheduled,
    SessionStarted,
    TasksChanged,
    TextDelta,
    ThinkingDelta,
    TitleChanged,
    ToolFinished,
    ToolProgressed,
    ToolStarted,
    TurnEnded,
    UsageChanged,
    UserMessage,
)
from gatewright.agent.record.messages import TextPart, ThinkingPart
from gatewright.tools.access import MAIN
from gatewright.tools.blocks import Diff, Output, Text, Todo
from gatewright.tools.protocol import Content, ImageContent, TextContent
from gatewright.tools.system.untyped_json import Json

BELOW = (ToolStarted, ToolFinished)  # of agents below, beside what is told of them anyway
CHUNKS = frozenset({"agent_message_chunk", "agent_thought_chunk", "user_message_chunk"})
BETWEEN = 0.25  # seconds from one word of a running call to the next
DROPPED = "\n\n(The answer broke off and is asked for again.)\n\n"
CLEARED = "\n\n> The conversation begins anew: the model knows nothing of what stands above.\n\n"
GOES_ON = "backgroundTaskId"  # in the data of a call that is not over with its result
ENDED = "{} has ended in the background: {}."
EARLY = 16  # ends of background work that are told before the result of its call
LEFT = "Interrupted: nobody knows how this call ended."


class Texts(Protocol):
    """Both sides of a change, as far as they are known; paths from how people read them."""

    def foreseen(self, diff: Diff) -> Whole | None: ...
    def done(self, event: str, diff: Diff) -> Whole | None: ...


class Updates:
    """`replays`: the client gets what was said before it came, its own words too.

    `elsewhere` says who works in another copy of the project: its paths are not the client's.
    """

    def __init__(
        self,
        texts: Texts,
        *,
        replays: bool = False,
        elsewhere: Callable[[str], bool] = lambda agent: agent == "",
    ) -> None:
        self._texts, self._elsewhere = texts, elsewhere
        self.replays = replays
        self._ended = False  # a turn before the one that begins
        self._said: list[str] = []  # of the message that streams
        self._thought: list[str] = []
        self._ids: dict[tuple[str, str], str] = {}  # of calls, by agent and the server's own id
        self._used: dict[str, int] = {}
        self._open: dict[str, str] = {}  # titles of calls that run, by our id
        self._agents: dict[str, str] = {}  # what people call them, by path
        self._told_at: dict[str, float] = {}
        self._background: dict[str, str] = {}  # work that outlives its call, with our id of that
        self._early: dict[str, TasksChanged] = {}
        self._known = MustKnow()
        self._paths: dict[str, tuple[str, ...]] = {}  # of calls that run, by our id
        self._terminals: dict[tuple[str, str], str] = {}  # of calls that run, by agent and call
        self._behind: dict[str, str] = {}  # of calls whose work goes on, by our id
        self._notes: dict[str, str] = {}  # what is to be said of a file with a call's result

    def of(self, envelope: Envelope) -> Iterator[Json]:
        event, agent = envelope.event, envelope.agent
        match event:
            case AgentStarted(child=child, name=name, kind=kind):
                self._agents[child] = name or kind or child
            case ToolStarted():
                yield from self._started(event, agent)
            case ToolProgressed(call_id=id, tail=tail) if self._due(agent, id, envelope.timestamp):
                yield self._about(agent, id, content=[text_content(fenced(tail))])
            case ToolFinished():
                yield from self._finished(event, agent, envelope.uuid)
            case SessionStarted():  # what ran in the process before ended with it
                self._background.clear()
                self._behind.clear()
            case TasksChanged(ended=id) if id:
                yield from self._over(event)
            case Decided() | ToolProgressed():
                pass  # a call that was refused says so itself
            case _ if agent == MAIN:
                yield from self._main(event)
            case _:
                pass
        if not isinstance(event, Decided) and (told := self._known.saw(envelope)):
            yield chunk("agent_message_chunk", f"\n\n> {told}\n\n", notice=True)

    def streamed(self, text: str) -> None:
        """A piece of an answer: by far the most there is, so who follows may say it itself."""
        self._said.append(text)

    def id_of(self, agent: str, call: str) -> str:
        """How the client knows a call; empty where it was told of none."""
        return self._ids.get((agent, call), "")

    def name_of(self, agent: str) -> str:
        """What people call an agent below the main one; empty for that one."""
        return self._agents.get(agent, "") if agent != MAIN else ""

    def note(self, path: str, text: str) -> None:
        """Something to say with the result of a call that runs and is about this file."""
        if any(path in paths for paths in self._paths.values()):
            self._notes[path] = text

    def in_terminal(self, agent: str, call: str, terminal: str) -> Iterator[Json]:
        """A command of this call runs in a terminal of the client."""
        self._terminals[agent, call] = terminal
        if self.id_of(agent, call) in self._open:
            yield self._about(agent, call, content=[terminal_content(terminal)])

    def foreseen(self, agent: str) -> WholeOf:
        """What is known of files before a change; of another copy of the project nothing is."""
        return unknown if self._elsewhere(agent) else self._texts.foreseen

    def title_of(self, id: str) -> str:
        return self._open.get(id, "")

    def left_open(self) -> Iterator[Json]:
        """Calls that a crash left without an end."""
        for id in tuple(self._open):
            yield {**_call(id), "status": "failed", "content": [text_content(LEFT)]}
        self._open.clear()

    def _main(self, event: AnyEvent) -> Iterator[Json]:
        match event:
            case TextDelta(text=text):
                self.streamed(text)
                yield chunk("agent_message_chunk", text)
            case ThinkingDelta(text=text):
                self._thought.append(text)
                yield chunk("agent_thought_chunk", text)
            case AssistantMessage():
                yield from self._whole(event)
            case UserMessage(hidden=True) if self._ended:
                self._ended = False
                yield chunk("agent_message_chunk", "\n\n")  # it woke by itself: a new paragraph
            case MessageDropped():
                if self._said or self._thought:
                    yield chunk("agent_message_chunk", DROPPED)
                self._forget()
            case UserMessage(hidden=False, content=content, source=source):
                self._ended = False
                if self.replays or source:
                    yield from _own(list(filter(_shown, content)))
            case _:
                yield from _facts(event)
        if isinstance(event, TurnEnded):
            self._ended = True
            self._known.taken()

    def _whole(self, message: AssistantMessage) -> Iterator[Json]:
        """What of it did not stream."""
        thought = "".join(part.text for part in message.parts if isinstance(part, ThinkingPart))
        said = "".join(part.text for part in message.parts if isinstance(part, TextPart))
        for kind, whole, pieces in (
            ("agent_thought_chunk", thought, self._thought),
            ("agent_message_chunk", said, self._said),
        ):
            streamed = "".join(pieces)
            rest = whole[len(streamed) :] if whole.startswith(streamed) else f"\n\n{whole}"
            if rest:
                yield chunk(kind, rest)
        self._forget()

    def _forget(self) -> None:
        self._said, self._thought = [], []

    def _started(self, event: ToolStarted, agent: str) -> Iterator[Json]:
        id = self._new_id(event.call_id, agent)
        name = self.name_of(agent)
        title = " ".join(f"{event.verb} {event.target}".split())[:500] or event.name
        title = f"{name}: {title}" if name else title
        self._open[id], self._paths[id] = title, event.paths
        update: dict[str, Any] = {
            "sessionUpdate": "tool_call",
            "toolCallId": id,
            "title": title,
            "kind": kind_of(event),
            "status": "in_progress",
            "rawInput": event.input,
        }
        terminal = self._terminals.get((agent, event.call_id), "")
        if shown := contents(event.view, self.foreseen(agent)):
            update["content"] = [terminal_content(terminal)] if terminal else shown
        if event.paths:
            update["locations"] = [{"path": path} for path in event.paths]
        about = {"agent": name, "path": agent} if name else {"tool": event.name}
        yield {**update, "_meta": {"gatewright": about}}

    def _finished(self, event: ToolFinished, agent: str, uuid: str) -> Iterator[Json]:
        id = self.id_of(agent, event.call_id) or self._new_id(event.call_id, agent)
        self._open.pop(id, None)
        self._told_at.pop(id, None)
        known = partial(self._texts.done, uuid)
        view = () if GOES_ON in event.data else event.view
        terminal = self._terminals.pop((agent, event.call_id), "")
        if terminal and view:
            view = tuple(block for block in view if not isinstance(block, Output))
            view = view or ((Text(event.summary),) if not event.ok else ())
        shown = [terminal_content(terminal)] if terminal else []
        shown += contents(view, unknown if self._elsewhere(agent) else known)
        pictures = [part for part in event.content if isinstance(part, ImageContent)]
        said = terminal and GOES_ON not in event.data
        shown += list(results(pictures if view or said else event.content))
        for path in self._paths.pop(id, ()):
            if note := self._notes.pop(path, ""):
                shown.append(text_content(note))
        yield {**_call(id), "status": "completed" if event.ok else "failed", "content": shown}
        if task := event.data.get(GOES_ON):
            self._background[str(task)] = id
            if terminal:
                self._behind[id] = terminal
            if (over := self._early.pop(str(task), None)) is not None:
                yield from self._over(over)
        if agent == MAIN and event.ok:
            yield from (plan(block) for block in event.view if isinstance(block, Todo))

    def _over(self, end: TasksChanged) -> Iterator[Json]:
        """What went on in the background, on the card of the call that began it."""
        if (id := self._background.pop(end.ended, "")) == "":
            self._early[end.ended] = end
            while len(self._early) > EARLY:
                del self._early[next(iter(self._early))]
            return
        told = text_content(ENDED.format(end.ended, end.status))
        last = [text_content(fenced(end.tail))] if end.tail.strip() else []
        if terminal := self._behind.pop(id, ""):
            last = [terminal_content(terminal)]
        yield {**_call(id), "content": [told, *last]}

    def _about(self, agent: str, call: str, **more: object) -> Json:
        return {**_call(self.id_of(agent, call)), **more}

    def _due(self, agent: str, call: str, now: float) -> bool:
        id = self.id_of(agent, call)
        if (agent, call) in self._terminals:
            return False  # the client shows it by itself
        due = bool(id) and now - self._told_at.get(id, 0.0) >= BETWEEN
        if due:
            self._told_at[id] = now
        return due

    def _new_id(self, call: str, agent: str) -> str:
        """Ids are a server's own, and some count from one in every answer."""
        base = call if agent == MAIN else f"{agent}:{call}"
        self._used[base] = count = self._used.get(base, 0) + 1
        id = base if count == 1 else f"{base}#{count}"
        self._ids[agent, call] = id
        return id


def chunk(kind: str, text: str, *, notice: bool = False) -> Json:
    update: Json = {"sessionUpdate": kind, "content": {"type": "text", "text": text}}
    return {**update, "_meta": {"gatewright": {"notice": True}}} if notice else update


def kind_of(event: ToolStarted) -> str:
    """From the facts of the call; events that are older than those say what they look at."""
    if event.does:
        return event.does
    if any(isinstance(block, Diff) for block in event.view):
        return "edit"
    return {"file": "read", "pattern": "search"}.get(event.looks, "other")


def _call(id: str) -> Json:
    return {"sessionUpdate": "tool_call_update", "toolCallId": id}


def _shown(part: Content) -> bool:
    return isinstance(part, ImageContent) or (isinstance(part, TextContent) and bool(part.text))


def _own(parts: Sequence[Content]) -> Iterator[Json]:
    """Each for itself: what went along does not run into the person's words."""
    for at, part in enumerate(parts):
        if isinstance(part, ImageContent):
            image = {"type": "image", "data": part.data, "mimeType": part.media_type}
            yield {"sessionUpdate": "user_message_chunk", "content": image}
        elif isinstance(part, TextContent):
            yield chunk("user_message_chunk", f"\n\n{part.text}" if at else part.text)


def _facts(event: AnyEvent) -> Iterator[Json]:
    match event:
        case Cleared():
            yield chunk("agent_message_chunk", CLEARED, notice=True)
        case InputRefused(reason=reason):
            yield chunk("agent_message_chunk", f"Not sent: {reason}", notice=True)
        case RetryScheduled():
            yield chunk("agent_thought_chunk", f"\n{waiting(event)}\n", notice=True)
        case ModeChanged(mode=mode):
            yield {"sessionUpdate": "current_mode_update", "currentModeId": mode}
        case TitleChanged(title=title):
            yield {"sessionUpdate": "session_info_update", "title": title}
        case UsageChanged(context=used, window=size, cost=cost) if size:
            money = {"amount": round(cost, 6), "currency": "USD"}
            yield {"sessionUpdate": "usage_update", "used": used, "size": size, "cost": money}
        case _:
            pass


def stamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def joined(updates: Sequence[Json]) -> list[Json]:
    """Chunks of one kind that follow each other as one."""
    found: list[Json] = []
    texts: list[str] = []
    for update in updates:
        if found and alike(found[-1], update):
            texts.append(update["content"]["text"])
        else:
            _end(found, texts)
            found.append(update)
            texts = [update["content"]["text"]] if alike(update, update) else []
    _end(found, texts)
    return found


def _end(found: list[Json], texts: list[str]) -> None:
    if len(texts) > 1:
        found[-1] = {**found[-1], "content": {"type": "text", "text": "".join(texts)}}


def alike(one: Json, two: Json) -> bool:
    """Whether they are chunks of text of one kind."""
    kind = one.get("sessionUpdate")
    if kind != two.get("sessionUpdate") or "_meta" in one or "_meta" in two:
        return False
    if kind not in CHUNKS:
        return False
    return bool(one["content"]["type"] == two["content"]["type"] == "text")
