"""Each event that programs of the person may hear of happens in a whole session, at its place."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from gatewright.agent import build
from gatewright.agent.commands.outcome import Problem
from gatewright.agent.commands.rules.rule_editor import PermissionBook
from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.extensions.listed import EXTENSIONS
from gatewright.agent.record import events
from gatewright.agent.record.events import AnyEvent, Envelope, MessageRedrawn, Noticed
from gatewright.agent.session.children import AgentSpec
from gatewright.tools import moments
from gatewright.tools.blocks import plain
from gatewright.tools.moments import Moment, Verdict
from gatewright.tools.registry import INTERACTIVE
from gatewright.tui.reduce import reduce
from gatewright.tui.state import Appended, Patched, View
from gatewright.tui.transcript.items import Prose
from tests.fakes.hostile_git import Trapped
from tests.fakes.near_server import instead
from tests.fakes.waiting import eventually
from tests.mcp.test_elicitation import OWN, SCHEMA, asking
from tests.mcp.test_session import connected
from tests.permissions.composed import WITHIN, Desk, desk

HERE = "tests.agent.test_every_moment"
LISTENING = Extension(name="who listens", plug=lambda host: asyncio.sleep(0, Contribution()))
MAIN = "main"


class Heard:
    """Says what it is told to, and keeps what it heard."""

    def __init__(self) -> None:
        self.moments: list[Moment] = []
        self.events: list[Envelope] = []
        self.says: Callable[[Moment], Verdict] = lambda moment: Verdict()

    async def at(self, moment: Moment) -> Verdict:
        self.moments.append(moment)
        return self.says(moment)

    async def plug(self, host: Host) -> Contribution:
        return Contribution(moments=self, folds=(self.events.append,))

    def of(self, kind: type[Moment] | type[AnyEvent], agent: str | None = None) -> int:
        found = [each for each in self.moments if isinstance(each, kind)]
        if agent is not None:
            found = [each for each in found if (each.agent == MAIN) == (agent == MAIN)]
        return len(found) + sum(isinstance(each.event, kind) for each in self.events)


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> Heard:
    made = Heard()
    listening = Extension(name="who listens", plug=made.plug)
    monkeypatch.setitem(globals(), "LISTENING", listening)
    monkeypatch.setattr(build, "EXTENSIONS", (*EXTENSIONS, f"{HERE}:LISTENING"))
    return made


# The event's name in the settings -> what it is here, and where it comes from.
MOMENTS: dict[str, tuple[type[Moment], str]] = {
    "SessionStart": (moments.SessionStarts, "session/session_moments.py"),
    "Setup": (moments.SetUp, "Session.set_up"),
    "SessionEnd": (moments.SessionEnds, "Session.close, and a clear"),
    "UserPromptSubmit": (moments.InputArrives, "session/agent.py, for the runner"),
    "UserPromptExpansion": (moments.CommandExpands, "Session.run_command"),
    "MessageDisplay": (moments.MessageShown, "session/session_moments.py"),
    "PreToolUse": (moments.CallPrepared, "the gate"),
    "PermissionRequest": (moments.PersonNeeded, "the gate"),
    "PermissionDenied": (moments.CallDenied, "the gate"),
    "PostToolUse": (moments.CallEnded, "turn/call_moments.py"),
    "PostToolUseFailure": (moments.CallEnded, "turn/call_moments.py"),
    "PostToolBatch": (moments.BatchEnded, "turn/call_moments.py"),
    "SubagentStart": (moments.AgentStarts, "session/children.py"),
    "SubagentStop": (moments.TurnWouldEnd, "turn/loop.py, of another agent"),
    "Stop": (moments.TurnWouldEnd, "turn/loop.py"),
    "TaskCreated": (moments.TaskMoves, "tools/tasks"),
    "TaskCompleted": (moments.TaskMoves, "tools/tasks"),
    "WorktreeCreate": (moments.WorktreeWanted, "worktrees/project_trees.py"),
    "WorktreeRemove": (moments.WorktreeGone, "worktrees/project_trees.py"),
    "TeammateIdle": (moments.AgentIdles, "extensions/teams"),
    "PreCompact": (moments.Compacting, "compact/compactor.py"),
    "PostCompact": (moments.CompactionEnded, "compact/compactor.py"),
    "ConfigChange": (moments.SettingsChange, "extensions/settings_changes.py"),
    "PreModelSwitch": (moments.ModelChange, "Session.set_model, and a stand-in"),
    "Elicitation": (moments.Elicits, "extensions/servers/elicitations.py"),
    "ElicitationResult": (moments.Elicited, "extensions/servers/elicitations.py"),
}
FOLDS: dict[str, tuple[type[AnyEvent], str]] = {
    "Notification": (events.Asked, "with Answered, TurnEnded and AgentFinished"),
    "StopFailure": (events.TurnEnded, "where it has a failure"),
    "InstructionsLoaded": (events.InstructionsLoaded, "extensions/instructions.py"),
    "CwdChanged": (events.Moved, "session/agent.py"),
    "DirectoryAdded": (events.DirectoryAdded, "extensions/gate.py"),
    "PostModelSwitch": (events.ModelChanged, "session/outcomes.py"),
}
# The moment is there, and who comes to that place asks at it.
WAITING: dict[str, tuple[type[Moment] | None, str]] = {
    "FileChanged": (None, "whoever watches files tells it to itself"),
}


def test_no_moment_is_there_for_nobody() -> None:
    named = {kind for kind, _ in (*MOMENTS.values(), *WAITING.values()) if kind is not None}
    made = {
        kind
        for kind in vars(moments).values()
        if isinstance(kind, type) and issubclass(kind, Moment) and kind is not Moment
    }
    assert made == named
    assert len(MOMENTS) + len(FOLDS) + len(WAITING) == 33


SCRIPT = (
    'call[c1]: Read {"file_path": "sub/a.txt"}\ncall[c2]: Read {"file_path": "nowhere.txt"}',
    'call[c3]: Write {"file_path": "b.txt", "content": "x"}',
    'call[c4]: Bash {"command": "curl example.org"}',
    'call[c5]: Bash {"command": "cd sub"}',
    'call[c6]: TaskCreate {"subject": "Mend it"}',
    'call[c7]: TaskUpdate {"taskId": "1", "status": "completed"}',
    "call[c8]: mcp__fake__sign {}",
    'call[c9]: EnterWorktree {"name": "t"}',
    'call[c10]: LeaveWorktree {"action": "remove"}',
    'call[c11]: TeamCreate {"team_name": "web"}',
    'call[c12]: Agent {"description": "look", "prompt": "look", "name": "ann"}',
    "say: from ann",
    "say: done",
    "say: expanded",
    "say: from a child",
    "say: <summary>All was done.</summary>",
    "say: after the clear",
)


async def story(made: Desk, heard: Heard) -> None:
    """A session in which everything happens that can happen without teams and trees."""
    session, project = made.session, made.project
    session.submit("go" + " on" * 20_000)  # enough for a summary
    asked = await made.asked()
    made.answer(asked, "once")
    made.answer(await made.asked(2), "decline")
    await made.ended()
    await session.idle()
    await session.run_command("/init")
    await made.ended(2)
    await session.idle()
    run = session.spawn(AgentSpec(name="a1", kind="general", prompt="look"))
    async with asyncio.timeout(WITHIN):
        await run.idle()
    await run.close()
    other = project.parent / "other"
    other.mkdir()
    await session.run_command(f"/add-dir {other}")
    made.settings({"permissions": {"deny": ["Bash(curl *)"]}, "effort": "low"})
    await session.run_command("/config")
    await eventually(lambda: heard.of(moments.SettingsChange) > 0)
    await session.run_command("/compact")
    await session.run_command("/model demo")
    await session.set_up("init")
    await session.run_command("/clear")
    session.submit("again")
    await made.ended(3)


async def test_every_one_of_them_happens(
    tmp_path: Path, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    instead(monkeypatch, asking({"message": "Who?", "requestedSchema": SCHEMA}))
    sub = tmp_path / "project" / "sub"
    sub.mkdir(parents=True)
    (sub / "a.txt").write_text("a", encoding="utf-8")
    (sub / "AGENTS.md").write_text("Be brief.", encoding="utf-8")
    Trapped.make(tmp_path / "project", tmp_path / "marks")
    denied = {
        "permissions": {"deny": ["Bash(curl *)"], "allow": ["EnterWorktree", "LeaveWorktree"]}
    }
    tools = (
        *INTERACTIVE,
        "TaskCreate",
        "TaskUpdate",
        "EnterWorktree",
        "LeaveWorktree",
        "TeamCreate",
        "Agent",
    )
    async with desk(
        tmp_path, SCRIPT, settings=denied, own={**OWN, "agents": {"teams": True}}, tools=tools
    ) as made:
        await connected(made)
        await story(made, heard)
    expected = [*MOMENTS.items(), *FOLDS.items()]
    missing = [name for name, (kind, _) in expected if not heard.of(kind)]
    assert missing == []
    assert heard.of(moments.TurnWouldEnd, "main") >= 3
    assert heard.of(moments.TurnWouldEnd, "others") == 2
    ended = [each for each in heard.moments if isinstance(each, moments.CallEnded)]
    assert {each.result.ok for each in ended} == {True, False}
    moved = [each.completed for each in heard.moments if isinstance(each, moments.TaskMoves)]
    assert moved == [False, True]
    began = [each.source for each in heard.moments if isinstance(each, moments.SessionStarts)]
    assert began == ["startup", "clear"]
    ends = [each.reason for each in heard.moments if isinstance(each, moments.SessionEnds)]
    assert ends == ["clear", "other"]
    assert not [kind for kind, _ in WAITING.values() if kind is not None and heard.of(kind)]


def says(kind: type[Moment], verdict: Verdict) -> Callable[[Moment], Verdict]:
    return lambda moment: verdict if isinstance(moment, kind) else Verdict()


async def test_a_command_that_is_refused_is_not_sent(tmp_path: Path, heard: Heard) -> None:
    heard.says = says(moments.CommandExpands, Verdict(word="deny", text="Not on Fridays."))
    async with desk(tmp_path, ["say: never"]) as made:
        said = await made.session.run_command("/init")
        assert isinstance(said, Problem) and "Not on Fridays." in plain(said.blocks[0])
        assert made.server.bodies == []


async def test_what_the_screen_shows_may_be_another_text(tmp_path: Path, heard: Heard) -> None:
    heard.says = says(moments.MessageShown, Verdict(output="hi"))
    async with desk(tmp_path, ["say: hello", "say: again"]) as made:
        made.session.submit("go")
        drawn = await made.seen.until(MessageRedrawn, within=WITHIN)
        assert drawn.text == "hi"
        view, texts = View(), list[str]()
        for envelope in made.seen.envelopes:
            view, changes = reduce(view, envelope)
            texts = [
                c.item.text
                for c in changes
                if isinstance(c, Patched | Appended) and isinstance(c.item, Prose)
            ]
        assert texts == ["hi"]
        made.session.submit("more")
        await made.ended(2)
        assert "hello" in made.words(1) and "hi" not in made.words(1)


async def test_a_task_that_is_refused_is_taken_back(tmp_path: Path, heard: Heard) -> None:
    heard.says = says(moments.TaskMoves, Verdict(word="deny", text="One at a time."))
    script = (
        'call[c1]: TaskCreate {"subject": "Mend it"}',
        "call[c2]: TaskList {}",
        "say: done",
    )
    async with desk(tmp_path, script, tools=("TaskCreate", "TaskList")) as made:
        made.session.submit("go")
        assert await made.finished("c1") == "One at a time."
        assert "Mend it" not in await made.finished("c2")


async def test_settings_that_are_refused_stay_as_they_were(tmp_path: Path, heard: Heard) -> None:
    heard.says = says(moments.SettingsChange, Verdict(word="deny", text="Ask me first."))
    write = 'call[c{0}]: Write {{"file_path": "{0}.txt", "content": "x"}}'
    script = (write.format(1), "say: done", write.format(2), "say: done")
    async with desk(tmp_path, script, settings={"permissions": {"allow": ["Edit"]}}) as made:
        made.session.submit("go")
        await made.ended()
        made.settings({"permissions": {"deny": ["Edit"]}})
        await made.session.run_command("/config")
        await made.seen.until(Noticed, where=lambda e: "Ask me first" in e.text, within=WITHIN)
        made.session.submit("go on")
        await made.ended(2)
        assert (made.project / "2.txt").exists(), "the rule of before still counts"
        heard.says = lambda moment: Verdict()
        made.settings({"permissions": {"deny": ["Edit", "Read"]}})
        await made.session.run_command("/config")
        book = made.session.part(PermissionBook)
        assert book is not None
        await eventually(lambda: "Read" in str(book.rows()))


async def test_a_new_beginning_is_told_before_the_next_input(tmp_path: Path, heard: Heard) -> None:
    heard.says = says(moments.SessionStarts, Verdict(context=("It is raining.",)))
    async with desk(tmp_path, ["say: one", "say: two"]) as made:
        made.session.submit("first")
        await made.ended()
        await made.session.idle()
        await made.session.run_command("/clear")
        made.session.submit("second")
        await made.ended(2)
        for request in (0, 1):
            words = made.words(request)
            assert "It is raining." in words and words.index("It is raining.") < len(words) - 1


async def test_the_end_says_why(tmp_path: Path, heard: Heard) -> None:
    async with desk(tmp_path, ["say: never"]) as made:
        await made.session.run_command("/exit")
    ends = [each.reason for each in heard.moments if isinstance(each, moments.SessionEnds)]
    assert ends == ["prompt_input_exit"]
