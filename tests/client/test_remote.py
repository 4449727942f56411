"""A session at the other end of a line does what one in the same process does, or says why not."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, cast

import msgspec
import pytest

from gatewright.agent.client.port import Taken
from gatewright.agent.client.remote import join
from gatewright.agent.commands.outcome import (
    Act,
    Change,
    Choice,
    Draft,
    Form,
    Listing,
    Outcome,
    Pick,
    Problem,
    Quit,
    Say,
    Secret,
    SetMode,
    SetUi,
    Submit,
    Switch,
)
from gatewright.agent.commands.panels import RulesPanel
from gatewright.agent.commands.registry import CommandContext, Front, Handler
from gatewright.agent.errors import SessionError
from gatewright.agent.record.events import (
    Answered,
    Asked,
    InputRefused,
    ModeChanged,
    Noticed,
    QueueChanged,
    ToolFinished,
    TurnEnded,
    TurnStarted,
    UserMessage,
)
from gatewright.agent.settings.schema import Ui
from gatewright.agent.turn.stop import Stop
from gatewright.tools.blocks import Block, Text
from gatewright.tools.interact import Always, Answer, Ask, Option, Weighed
from gatewright.tools.protocol import ImageContent, TextContent, ToolCall, ToolContext, ToolResult
from tests.client.wired import Pipe, wired
from tests.fakes.commands import add_command
from tests.fakes.executor import FakeExecutor
from tests.fakes.house import house
from tests.fakes.recorder import Recorder
from tests.fakes.waiting import eventually

CALL = 'call: Bash {"command": "make"}\n---\nsay: Done.'
SCREEN = Front(switches=True, panels=True)
ASK = Ask(
    kind="permission",
    title="Run make",
    body=(),
    options=(Option("once", "Yes", "y"), Option("no", "No", "n")),
    tool="Bash",
)
ALWAYS = Always(
    rules=("Bash(make:*)",), steps=(("Bash(make)", "Bash(make:*)"),), place="this project"
)
PICTURE = ImageContent("image/png", "aGk=")


class Asking(FakeExecutor):
    """Its tools ask first and answer with what they were told."""

    async def act(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        return ToolResult.text(repr(await ctx.ask(ASK)))


class Keeping(FakeExecutor):
    """Its tools ask what may be kept."""

    async def act(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        ask = msgspec.structs.replace(ASK, always=ALWAYS)
        return ToolResult.text(repr(await ctx.ask(ask)))


class Waiting(FakeExecutor):
    """Its tools run until they are stopped."""

    async def act(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        await asyncio.Event().wait()
        raise AssertionError


async def test_both_ends_see_the_same_events() -> None:
    async with wired("say: One two three.\n---\nsay: Four.") as (remote, built, pipe):
        async with Recorder(built.session) as there, Recorder(remote) as here:
            id = remote.submit("first", (PICTURE,))
            assert remote.busy
            await here.until(TurnEnded)
            await remote.idle()
            remote.submit("second")
            await here.until(TurnEnded, count=2)
        assert here.envelopes == there.envelopes
        (first, _) = here.of(UserMessage)
        assert first.input_id == id
        assert first.content == (TextContent("first"), PICTURE)
        results = [line["result"] for line in pipe.told if line["type"] == "result"]
        assert results == ["One two three.", "Four."]


async def test_who_comes_later_gets_what_is_kept() -> None:
    async with house("say: One.", interactive=True) as built:
        built.session.submit("first")
        await built.session.idle()
        remote = await join(Pipe(built))
        kept = built.session.subscribe().waiting()
        assert kept
        assert remote.subscribe().waiting() == kept
        await remote.close()


async def test_a_question_is_answered_by_who_shows_it() -> None:
    async with wired(CALL, executor=Asking()) as (remote, _, pipe):
        async with Recorder(remote) as seen:
            remote.submit("go")
            asked = await seen.until(Asked)
            assert asked.ask.options == ASK.options
            assert remote.answer(asked.id, Answer.of("once"))
            await seen.until(TurnEnded)
        assert not remote.answer(asked.id, Answer.of("no"))
        assert "choices=('once',)" in str(seen.of(ToolFinished))
        assert not [line for line in pipe.told if line["type"] == "control_request"]


async def test_a_rule_is_weighed_where_the_session_is() -> None:
    """What an always would store, and what another rule would do, goes over as data."""
    async with wired(CALL, executor=Keeping()) as (remote, _, _):
        async with Recorder(remote) as seen:
            remote.submit("go")
            asked = await seen.until(Asked)
            assert asked.ask.always == ALWAYS
            weighed = await remote.weigh(asked.id, ["Bash(make:*)", "Bash"])
            assert weighed == Weighed(problem="call_1: Bash(make:*), Bash")
            late = await remote.weigh(asked.id + 1, ["Bash"])
            assert late == Weighed(problem="That question is answered already.")
            assert remote.answer(asked.id, Answer(("always",), rules=("Bash",), place="user"))
            await seen.until(TurnEnded)
        assert "rules=('Bash',), place='user'" in str(seen.of(ToolFinished))
    assert (await remote.weigh(asked.id, ["Bash"])).problem == "The session was left."


async def test_the_turn_is_stopped_and_what_waits_comes_back() -> None:
    async with wired(CALL, executor=Waiting()) as (remote, _, __):
        taken: list[Taken] = []
        assert not remote.interrupt()
        assert not remote.take_back(taken.extend)
        async with Recorder(remote) as seen:
            remote.submit("go")
            await seen.until(TurnStarted)
            remote.submit("then this", (PICTURE,))
            await seen.until(QueueChanged, where=lambda queue: bool(queue.texts))
            assert remote.take_back(taken.extend)
            assert remote.interrupt()
            ended = await seen.until(TurnEnded)
        assert ended.stop in (Stop.ABORTED_TOOLS, Stop.ABORTED_STREAMING)
        assert taken == [(TextContent("then this"), PICTURE)]
        await remote.idle()
        assert not remote.busy


async def test_modes_go_round_and_settings_say_what_they_lack() -> None:
    async with wired("") as (remote, built, _):
        async with Recorder(remote) as seen:
            remote.cycle_mode()
            await seen.until(ModeChanged)
            done = await remote.run_command("/mode plan", SCREEN)
            assert done == Say.text("Mode: plan")
        assert (remote.mode, built.session.mode) == ("plan", "plan")
        assert await remote.apply(Change(SetMode("default")), SCREEN) == Say.text("Mode: default")
        assert built.session.mode == "default"
        for done in (
            await remote.keep_setting("ui.vim", "true"),
            await remote.remember("Be kind."),
        ):
            assert isinstance(done, Problem)


async def test_commands_are_those_of_the_session_and_what_a_screen_adds() -> None:
    async with wired("say: Sure.") as (remote, built, _):
        assert remote.commands.find("help") is not None
        assert "Did you mean /mode" in str(await remote.commands.run("/mde", SCREEN))

        async def deploy(context: CommandContext) -> Outcome:
            return Submit(f"Deploy {context.args} ({context.front.switches})")

        add_command(built.session.commands, "deploy", deploy)
        await remote.run_command("/mode plan", SCREEN)  # whatever is asked brings the news
        async with Recorder(remote) as seen:
            done = await remote.commands.run("/deploy now", SCREEN)
            assert await remote.apply(done, SCREEN) == Say(())
            await seen.until(TurnEnded)
            assert [m.content for m in seen.of(UserMessage)] == [
                (TextContent("Deploy now (True)"),)
            ]


async def test_what_is_only_data_is_the_same_at_both_ends() -> None:
    switch = Switch(path="/home/other.jsonl", copy=True, rules=(("deny", "Bash"),))
    outcomes: list[Outcome] = [
        Say((Text("a \udc80 name"),)),
        Problem.of("It is not there."),
        Quit(),
        switch,
        Change(SetUi("ui.vim", Ui(vim=True)), (Text("Stored."),)),
    ]
    async with wired("") as (remote, built, _):
        for number, outcome in enumerate(outcomes):

            async def give(context: CommandContext, outcome: Outcome = outcome) -> Outcome:
                del context
                return outcome

            add_command(built.session.commands, f"give{number}", give)
            got = await remote.run_command(f"/give{number}", SCREEN)
            wanted = Say((Text("a \\x80 name"),)) if number == 0 else outcome
            assert got == wanted, got


async def test_a_list_is_chosen_from_over_the_line() -> None:
    async def choose(id: str) -> Outcome:
        return Change(SetMode(id))

    async def back() -> Outcome:
        return Say.text("back again")

    pick = Pick(
        fallback=Say.text("a list"),
        title="Which mode?",
        choices=(Choice("plan", "Plan"), Choice("nonsense", "Nonsense")),
        choose=choose,
        back=back,
        about=("It counts at once.",),
    )
    async with wired("") as (remote, built, _):
        add_command(built.session.commands, "which", _giving(pick))
        got = await remote.run_command("/which", SCREEN)
        assert isinstance(got, Pick)
        assert (got.title, got.choices, got.about) == (pick.title, pick.choices, pick.about)
        assert got.fallback == pick.fallback
        assert await got.choose("plan") == Say.text("Mode: plan")
        assert isinstance(await got.choose("nonsense"), Problem)
        assert "not open any more" in str(await got.choose("another"))
        assert got.back is not None
        assert await got.back() == Say.text("back again")


async def test_a_list_that_follows_is_read_over_the_line() -> None:
    rows = [Choice("1", "one")]

    async def read(id: str) -> Sequence[Block]:
        return (Text(f"row {id}"),)

    async def stop(id: str) -> Outcome:
        rows.clear()
        return Say.text(f"stopped {id}")

    listing = Listing(
        fallback=Say.text("tasks"),
        title="Tasks",
        rows=lambda: rows,
        read=read,
        acts=(Act("ctrl+x", "stops", stop),),
        follows=True,
    )
    async with wired("") as (remote, built, _):
        add_command(built.session.commands, "running", _giving(listing))
        got = await remote.run_command("/running", SCREEN)
        assert isinstance(got, Listing)
        assert list(got.rows()) == rows
        assert await got.read("1") == (Text("row 1"),)
        assert "not open any more" in str(await got.read("2"))
        assert await got.acts[0].run("1") == Say.text("stopped 1")
        await eventually(lambda: not got.rows())


async def test_a_text_and_a_secret_are_taken_over_the_line() -> None:
    taken: list[str] = []

    async def take(text: str) -> Outcome:
        taken.append(text)
        return Say.text("kept")

    form = Form(fallback=Say(()), text="as it was", take=take)
    secret = Secret(fallback=Say(()), title="Key", about=("of the house",), take=take)
    draft = Draft(fallback=Say(()), text="/agents try Explore ")
    async with wired("") as (remote, built, _):
        add_command(built.session.commands, "draft", _giving(draft))
        assert await remote.run_command("/draft", SCREEN) == draft
        add_command(built.session.commands, "form", _giving(form))
        add_command(built.session.commands, "secret", _giving(secret))
        edited = await remote.run_command("/form", SCREEN)
        assert isinstance(edited, Form)
        assert edited.text == "as it was"
        assert await edited.take("as it is") == Say.text("kept")
        asked = await remote.run_command("/secret", SCREEN)
        assert isinstance(asked, Secret)
        assert (asked.title, asked.about) == ("Key", ("of the house",))
        await asked.take("sesame")
    assert taken == ["as it is", "sesame"]


async def test_a_panel_over_live_data_says_what_it_needs() -> None:
    panel = RulesPanel(fallback=Say.text("allow Bash(make)"), book=cast("Any", None))
    async with wired("") as (remote, built, _):
        add_command(built.session.commands, "rules", _giving(panel))
        got = await remote.run_command("/rules", SCREEN)
    assert got == Say((Text(RulesPanel.needs, "dim"), Text("allow Bash(make)")))


async def test_lists_that_were_offered_long_ago_are_closed() -> None:
    async def choose(id: str) -> Outcome:
        return Say.text(id)

    pick = Pick(fallback=Say(()), title="", choices=(Choice("a", "A"),), choose=choose)
    async with wired("") as (remote, built, _):
        add_command(built.session.commands, "which", _giving(pick))
        first = await remote.run_command("/which", SCREEN)
        for _ in range(40):
            await remote.run_command("/which", SCREEN)
        assert isinstance(first, Pick)
        assert "not open any more" in str(await first.choose("a"))


async def test_a_defect_of_a_command_is_told(caplog: pytest.LogCaptureFixture) -> None:
    async def breaks(context: CommandContext) -> Outcome:
        raise RuntimeError(context.name)

    async with wired("") as (remote, built, _):
        add_command(built.session.commands, "breaks", breaks)
        assert "a defect" in str(await remote.run_command("/breaks", SCREEN))
        assert await remote.run_command("/mode plan", SCREEN) == Say.text("Mode: plan")
    assert "breaks" in caplog.text


async def test_a_client_that_goes_away_leaves_nothing_waiting() -> None:
    async with house(CALL, executor=Asking(), interactive=True) as built:
        pipe = Pipe(built)
        remote = await join(pipe)
        async with Recorder(built.session) as there:
            remote.submit("go")
            await there.until(Asked)
            remote.submit("and then this")
            await there.until(QueueChanged)
            await remote.close()
            assert pipe.task.done()
            await built.session.close()
            assert (await there.until(Answered)).answer.cancelled
            await there.until(TurnEnded)
        assert len(there.of(TurnStarted)) == 1


# lines that nobody sends in good faith


@pytest.mark.parametrize(
    "line",
    [
        b"Welcome to the machine.",
        b"[1, 2]",
        b'{"type": "session_event", "event": {"seq": 1}}',
        b'{"type": "session_facts", "facts": 7}',
        b'{"type": "session_hello", "version": 1}',
        b'{"type": "control_response"}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"type": ' + b"[" * 100_000,
        b'{"type": "session_event", "event": ' + b'{"a": ' * 100_000,
    ],
)
async def test_a_strange_line_ends_it_with_a_sentence(line: bytes) -> None:
    async with wired(CALL, executor=Waiting()) as (remote, _, pipe):
        async with Recorder(remote) as seen:
            remote.submit("go")
            await seen.until(TurnStarted)
            pipe.inject(line)
            ended = await seen.until(TurnEnded)
        assert "not understood here" in ended.message
        assert len(ended.message) < 300
        assert not remote.busy


@pytest.mark.parametrize(
    "line",
    [
        b'{"type": "session_weather", "rain": true}',
        b'{"type": "assistant", "message": 7}',
        b'{"type": "control_response", "response": {"request_id": "c99", "subtype": "success"}}',
        b"{}",
    ],
)
async def test_what_is_not_known_is_left_out(line: bytes) -> None:
    async with wired("say: Still here.") as (remote, _, pipe):
        pipe.inject(line)
        async with Recorder(remote) as seen:
            remote.submit("go")
            await seen.until(TurnEnded)


async def test_when_the_line_ends_everything_that_waits_is_answered() -> None:
    async with wired(CALL, executor=Asking()) as (remote, _, pipe), Recorder(remote) as seen:
        remote.submit("go")
        await seen.until(Asked)
        waiting = asyncio.create_task(remote.opened())
        pipe.cut()
        await seen.until(Answered)
        assert (await seen.until(TurnEnded)).message == "The line has ended."
        await waiting
        await remote.idle()
        assert not remote.interrupt()
        remote.submit("and this?")
        refused = await seen.until(InputRefused)
        assert refused == InputRefused(text="and this?", reason="The line has ended.")
        assert await remote.run_command("/help", SCREEN) == Problem.of("The line has ended.")


async def test_a_line_that_ends_while_nothing_runs_is_told() -> None:
    async with wired("") as (remote, _, pipe):
        async with Recorder(remote) as seen:
            pipe.cut()
            told = await seen.until(Noticed)
        assert told == Noticed(text="The line has ended.", tone="error")


async def test_an_outcome_of_another_version_is_a_problem() -> None:
    async def lasts(context: CommandContext) -> Outcome:
        del context
        await asyncio.Event().wait()
        raise AssertionError

    async with wired("") as (remote, built, pipe):
        add_command(built.session.commands, "lasts", lasts)
        work = asyncio.create_task(remote.run_command("/lasts", SCREEN))
        await eventually(lambda: pipe.asked[-1]["request"]["subtype"] == "session_command")
        id = pipe.asked[-1]["request_id"]
        pipe.inject(
            b'{"type":"control_response","response":{"subtype":"success","request_id":"%s",'
            b'"response":{"found":{"kind":"hologram"}}}}' % id.encode()
        )
        assert "hologram" in str(await work)


class Scripted:
    """A line that says these things and then nothing."""

    def __init__(self, *lines: bytes) -> None:
        self.lines = list(lines)
        self.closed = False

    def send(self, line: bytes) -> None:
        del line

    async def next(self) -> bytes:
        if not self.lines:
            await asyncio.Event().wait()
        return self.lines.pop(0)

    async def close(self, *, at_once: bool = False) -> None:
        self.closed = self.closed or at_once


HELLO = (
    b'{"type":"session_hello","version":%d,"app":"9","commands":[],'
    b'"facts":{"id":"i","mode":"default","model":"m"}}'
)


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ((), "Nothing was heard"),
        ((b'{"type":"system"}',), "Nothing was heard"),
        ((HELLO % 1,), "Nothing was heard"),  # it never says what is kept
        ((HELLO % 2,), "version 2"),
        ((b"Last login: yesterday",), "not understood here"),
        ((b'{"type":"session_facts","facts":{"id":"","mode":"","model":""}}',), "no hello"),
    ],
)
async def test_a_session_that_is_none_is_not_joined(lines: tuple[bytes, ...], why: str) -> None:
    line = Scripted(*lines)
    with pytest.raises(SessionError, match=why):
        await join(line, within=0.1)
    assert line.closed


class Flooding(Scripted):
    """Behind its lines it says more as fast as anybody takes it."""

    async def next(self) -> bytes:
        return self.lines.pop(0) if self.lines else b'{"type":"control_response","response":{}}'


async def test_who_never_stops_talking_leaves_everybody_their_turn() -> None:
    line = Flooding(HELLO % 1)
    with pytest.raises(SessionError, match="Nothing was heard"):
        await join(line, within=0.1)
    assert line.closed


def _giving(outcome: Outcome) -> Handler:
    async def give(context: CommandContext) -> Outcome:
        del context
        return outcome

    return give


async def test_that_somebody_types_goes_over_the_line_and_is_answered_by_nothing() -> None:
    async with wired("say: One.") as (remote, built, pipe):
        told: list[bool] = []
        built.session.typing = lambda: told.append(True)
        async with Recorder(remote) as here:
            remote.typing()
            remote.submit("first")
            await here.until(TurnEnded)
        assert told == [True]
        asked = [line["request"]["subtype"] for line in pipe.asked if "request" in line]
        assert asked.index("session_typing") < asked.index("session_submit")
