"""Conversing line by line: what is printed, in reading order, and what typed words do."""

from __future__ import annotations

import asyncio
import io
import os
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from gatewright.agent.frontends.line import GREETING, Conversation, Ports
from gatewright.agent.frontends.reader import LineReader
from gatewright.agent.frontends.sentences import Spoken, answer_from, question
from gatewright.agent.record.events import (
    AnyEvent,
    Asked,
    AssistantMessage,
    Envelope,
    TextDelta,
    ToolFinished,
    ToolStarted,
)
from gatewright.agent.record.messages import TextPart
from gatewright.tools.blocks import Command
from gatewright.tools.interact import Answer, Ask, Option
from gatewright.tools.protocol import ToolCall, ToolContext, ToolResult
from gatewright.tui.sanitize import stripped
from gatewright.tui.session_calls import remembered
from gatewright.tui.shell import OwnShell
from tests.fakes.executor import FakeExecutor
from tests.fakes.fake_session import FakeSession
from tests.fakes.house import House, house
from tests.fakes.waiting import PATIENCE, eventually

ASK = Ask(
    kind="permission",
    title="Run a command?",
    body=(Command("make"),),
    options=(
        Option("once", "Yes, once", "y"),
        Option("always", "Always", "Y"),
        Option("no", "No", "n"),
    ),
    reason="No rule allows it.",
    free_text=True,
)


class Page(io.StringIO):
    """Where the conversation is printed; a test can wait for words on it."""

    def __init__(self) -> None:
        super().__init__()
        self._written = asyncio.Event()

    def write(self, text: str, /) -> int:
        self._written.set()
        return super().write(text)

    async def shows(self, words: str, *, count: int = 1) -> None:
        async with asyncio.timeout(PATIENCE):
            while self.getvalue().count(words) < count:
                self._written.clear()
                await self._written.wait()


class Asking(FakeExecutor):
    """Its tools ask first and say what was answered."""

    async def act(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        return ToolResult.text("", summary=str(await ctx.ask(ASK)))


class Talk:
    """A conversation over a pipe."""

    def __init__(self, built: House, *, hand: bool) -> None:
        self.built = built
        self.out = Page()
        reader, self._writer = os.pipe()
        self._reader = reader
        ports = Ports(stripped, remembered, OwnShell())
        lines = LineReader(reader)
        self.conversation = Conversation(built.session, self.out, lines, ports, hand=hand)
        self.task = asyncio.create_task(self.conversation.run(""))

    def type(self, text: str) -> None:
        os.write(self._writer, text.encode())

    def end(self) -> None:
        if self._writer >= 0:
            os.close(self._writer)
            self._writer = -1


@asynccontextmanager
async def talking(
    script: str, executor: FakeExecutor | None = None, *, hand: bool = False
) -> AsyncGenerator[Talk]:
    async with house(script, executor=executor) as built:
        talk = Talk(built, hand=hand)
        try:
            yield talk
        finally:
            talk.end()
            async with asyncio.timeout(PATIENCE):
                await talk.task


async def test_a_conversation_to_its_end() -> None:
    async with talking("say: Looking.\ncall: Read {}\n---\nsay: One\n---\nsay: Two") as talk:
        talk.type("first\n")
        await talk.out.shows("One")
        talk.type("second")  # and the input ends without a newline
    assert talk.task.result() == 0
    text = talk.out.getvalue()
    assert text.startswith(GREETING)
    assert text.index("Looking.") < text.index("Read") < text.index("One") < text.index("Two")


async def test_commands_are_run_and_exit_ends() -> None:
    async with talking("say: x") as talk:
        talk.type("/status\n/exit\n")
        async with asyncio.timeout(PATIENCE):
            assert await talk.task == 0
    assert "Mode" in talk.out.getvalue()


async def test_what_was_written_ahead_of_an_exit_is_done() -> None:
    async with talking("say: Nothing to list.\n---\nsay: Too late.") as talk:
        talk.type("list it\n/exit\nmore\n")
        async with asyncio.timeout(PATIENCE):
            assert await talk.task == 0
        assert "Nothing to list." in talk.out.getvalue()
        assert "Too late." not in talk.out.getvalue()


async def test_a_question_after_the_exit_is_answered_by_nobody() -> None:
    async with talking("call: Bash {}\n---\nsay: Done.", Asking()) as talk:
        talk.type("list it\n/exit\ny\n")
        async with asyncio.timeout(PATIENCE):
            assert await talk.task == 0
        assert "cancelled=True" in talk.out.getvalue()


async def test_a_hand_that_exits_leaves_at_once() -> None:
    async with talking("wait: never", hand=True) as talk:
        talk.type("go\n")
        await talk.built.session.subscribe().batch()
        talk.type("/exit\n")
        async with asyncio.timeout(PATIENCE):
            assert await talk.task == 0


async def test_a_question_is_answered_by_typing() -> None:
    async with talking("call: Bash {}\n---\nsay: Done.", Asking()) as talk:
        talk.type("go\n")
        await talk.out.shows("Run a command?")
        talk.type("Y\n")
        await talk.out.shows("choices=('always',)")


async def test_a_line_typed_before_the_question_is_no_answer_to_it() -> None:
    async with talking("call: Bash {}\n---\nsay: Done.", Asking()) as talk:
        talk.type("go\n!sleep 0.3\ny\n")  # read while the own command runs
        await talk.out.shows("Run a command?")
        await talk.out.shows("so it is no answer to it")
        assert "choices" not in talk.out.getvalue()
        talk.type("n\n")
        await talk.out.shows("choices=('no',)")


async def test_the_next_question_is_printed_once_the_first_is_answered() -> None:
    session, out = FakeSession(), Page()
    ours, theirs = os.pipe()
    ports = Ports(stripped, remembered, OwnShell())
    talk = Conversation(session.facade(), out, LineReader(ours), ports)
    running = asyncio.create_task(talk.run(""))
    await out.shows(GREETING)
    session.publish(Asked(id=1, ask=ASK), Asked(id=2, ask=ASK))
    await out.shows("Run a command?")
    assert out.getvalue().count("Run a command?") == 1
    os.write(theirs, b"y\ny\n")
    await out.shows("so it is no answer to it")
    await out.shows("Run a command?", count=2)
    assert session.answers == [(1, Answer(("once",)))]
    os.write(theirs, b"n\n")
    os.close(theirs)
    async with asyncio.timeout(PATIENCE):
        await running
    assert session.answers[1] == (2, Answer(("no",)))


class Slow(LineReader):
    """Gets to its second line only once `go` is set, as on a machine that is busy."""

    def __init__(self, fd: int) -> None:
        self.go = threading.Event()
        self._given = 0
        super().__init__(fd)

    def _put(self, line: str | None, at: float) -> None:
        self._given += 1
        if self._given == 2:
            assert self.go.wait(PATIENCE)
        super()._put(line, at)


async def test_a_line_that_came_with_the_answer_is_none_to_the_next_question() -> None:
    session, out = FakeSession(), Page()
    ours, theirs = os.pipe()
    lines = Slow(ours)
    talk = Conversation(session.facade(), out, lines, Ports(stripped, remembered, OwnShell()))
    running = asyncio.create_task(talk.run(""))
    session.publish(Asked(id=1, ask=ASK), Asked(id=2, ask=ASK))
    await out.shows("Run a command?")
    os.write(theirs, b"y\ny\n")
    await out.shows("Run a command?", count=2)
    lines.go.set()
    await out.shows("so it is no answer to it")
    os.close(theirs)
    async with asyncio.timeout(PATIENCE):
        await running
    assert session.answers == [(1, Answer(("once",))), (2, Answer(cancelled=True))]


class Prompt(LineReader):
    """Tells when a line came in."""

    def __init__(self, fd: int) -> None:
        self.came = threading.Event()
        super().__init__(fd)

    def _put(self, line: str | None, at: float) -> None:
        super()._put(line, at)
        self.came.set()


async def test_a_program_may_answer_as_soon_as_it_has_read_the_whole_question() -> None:
    session = FakeSession()
    ours, theirs = os.pipe()
    lines = Prompt(ours)

    class Quick(Page):
        def write(self, text: str, /) -> int:
            written = super().write(text)
            if self.getvalue().endswith("what to do instead.\n"):
                os.write(theirs, b"y\n")
                assert lines.came.wait(PATIENCE)
            return written

    talk = Conversation(session.facade(), Quick(), lines, Ports(stripped, remembered, OwnShell()))
    running = asyncio.create_task(talk.run(""))
    session.publish(Asked(id=1, ask=ASK))
    await eventually(lambda: session.answers == [(1, Answer(("once",)))])
    os.close(theirs)
    async with asyncio.timeout(PATIENCE):
        await running


async def test_a_hand_that_answers_at_once_has_read_nothing() -> None:
    async with talking("call: Bash {}\n---\nsay: Done.", Asking(), hand=True) as talk:
        talk.type("go\n")
        await talk.out.shows("Run a command?")
        talk.type("y\n")
        await talk.out.shows("so it is no answer to it")
        assert "choices" not in talk.out.getvalue()


async def test_interrupting_when_idle_leaves() -> None:
    async with talking("say: x") as talk:
        talk.conversation.interrupt()
        async with asyncio.timeout(PATIENCE):
            assert await talk.task == 0


def test_a_question_tells_a_host_that_reads_as_another() -> None:
    ask = Ask(
        kind="permission",
        title="Run",
        body=(Command("curl https://\u0430pple.com/"),),
        options=(Option("once", "Yes", "y"),),
    )
    assert "\u0430pple.com is really xn--pple-43d.com\n" in question(ask)


def test_a_question_shows_everything_at_stake() -> None:
    assert question(ASK).splitlines() == [
        "Run a command?",
        "$ make",
        "No rule allows it.",
        "  y: Yes, once",
        "  Y: Always",
        "  n: No",
        "Type your answer, or what to do instead.",
    ]


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("y", Answer(choices=("once",))),
        ("Y", Answer(choices=("always",))),
        (" n ", Answer(choices=("no",))),
        ("1", Answer(choices=("once",))),
        ("3", Answer(choices=("no",))),
        ("ALWAYS", Answer(choices=("always",))),
        ("yes, once", Answer(choices=("once",))),
        ("use npm instead", Answer(text="use npm instead")),
        ("N", Answer(text="N")),
        ("", None),
    ],
)
def test_typed_words_as_answers(typed: str, answer: Answer | None) -> None:
    assert answer_from(ASK, typed) == answer


def test_several_choices() -> None:
    options = (Option("a", "Red"), Option("b", "Green"), Option("c", "Blue"))
    ask = Ask(kind="question", title="Which?", body=(), options=options, multiple=True)
    assert answer_from(ask, "1, Blue") == Answer(choices=("a", "c"))
    assert answer_from(ask, "1 yellow") is None


def test_text_is_held_until_its_line_is_complete() -> None:
    spoken = Spoken()

    def said(event: TextDelta | AssistantMessage) -> str:
        return spoken.text(
            Envelope(seq=0, uuid="", parent="", timestamp=0, agent="main", event=event)
        )

    assert said(TextDelta(text="One li")) == ""
    assert said(TextDelta(text="ne\nTwo")) == "One line\n"
    assert said(AssistantMessage(id="", model="", parts=(TextPart("One line\nTwo"),))) == "Two\n"
    assert said(AssistantMessage(id="", model="", parts=(TextPart("Whole"),))) == "Whole\n"


def test_results_of_calls_side_by_side_are_told_with_their_names() -> None:
    spoken = Spoken()

    def told(*events: AnyEvent) -> str:
        made = (
            Envelope(seq=1, uuid="", parent="", timestamp=0.0, agent="main", event=event)
            for event in events
        )
        return "".join(map(spoken.text, made))

    def begun(id: str) -> ToolStarted:
        return ToolStarted(call_id=id, name="Read", input={}, verb="Read", target=id)

    def ended(id: str) -> ToolFinished:
        return ToolFinished(call_id=id, ok=True, content=(), summary="3 lines")

    assert told(begun("a"), ended("a")) == "Read a\n  ok: 3 lines\n"
    both = told(begun("a"), begun("b"), ended("a"), ended("b"))
    assert both == "Read a\nRead b\nRead a: ok: 3 lines\nRead b: ok: 3 lines\n"
