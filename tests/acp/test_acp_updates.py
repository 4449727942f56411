"""Updates as they are on the wire: a turn of every kind of call, exact, and valid by the schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.frontends.acp.shown_blocks import applied, content, fenced
from gatewright.agent.frontends.acp.updates import Updates
from gatewright.agent.frontends.acp.whole_texts import WholeTexts
from gatewright.agent.record.events import (
    AgentStarted,
    AnyEvent,
    AssistantMessage,
    Envelope,
    ModeChanged,
    Noticed,
    TextDelta,
    ThinkingDelta,
    TitleChanged,
    ToolFinished,
    ToolProgressed,
    ToolStarted,
    UsageChanged,
    UserMessage,
)
from gatewright.agent.record.messages import TextPart, ThinkingPart, Usage
from gatewright.tools.access import Where
from gatewright.tools.blocks import (
    Block,
    Code,
    Command,
    Diff,
    Hunk,
    Image,
    Markdown,
    Output,
    Share,
    Shares,
    Table,
    Text,
    Todo,
    TodoItem,
    Unknown,
)
from gatewright.tools.files.diff import diff
from gatewright.tools.protocol import ImageContent, TextContent
from tests.acp.fake_editor import editor

GOLDEN = Path(__file__).with_name("golden_turn.json")
BLOCKS: tuple[Block, ...] = (
    Text("t"), Markdown("# m"), Code("c", "py"), Command("ls", "sub"), Output("out\n", 1),
    Output(""), Table(("a",), (("b",),)), Shares((Share("x", 1),), 2), Image("image/png", "alt"),
    Unknown("new", {"a": 1}), Diff("notes.txt", (Hunk(1, 1, ("-a", "+b")),), 1, 1),
)  # fmt: skip


def story() -> list[tuple[str, AnyEvent]]:
    """A call of each kind, what it shows, and everything else an editor is told of."""
    found: list[tuple[str, AnyEvent]] = [
        ("main", UserMessage(content=(TextContent("go"), ImageContent("image/png", "AAAA")))),
        ("main", ThinkingDelta(text="Hm")),
        ("main", TextDelta(text="I ")),
        ("main", TextDelta(text="look.")),
        (
            "main",
            AssistantMessage(
                id="m", model="x", parts=(ThinkingPart("Hm."), TextPart("I look. So."))
            ),
        ),
    ]
    for number, block in enumerate(BLOCKS):
        id = f"call_{number}"
        does = ("read", "search", "edit", "execute", "fetch", "think", "other")[number % 7]
        found.append(
            ("main", ToolStarted(
                call_id=id, name="T", input={"n": number}, verb="Do", target=f"it {number}",
                view=(block,), does=does, paths=("/p/a.txt",),  # type: ignore[arg-type]
            ))
        )  # fmt: skip
        found.append(("main", ToolProgressed(call_id=id, tail="so far", size=6, seconds=1.0)))
        found.append(
            ("main", ToolFinished(
                call_id=id, ok=number % 2 == 0, content=(TextContent("for the model"),),
                view=(block,) if number % 3 else (),
            ))
        )  # fmt: skip
    todo = Todo((TodoItem("one", "completed"), TodoItem("two", "in_progress"), TodoItem("three")))
    again = ToolStarted(call_id="call_0", name="T", input={}, verb="Again", target="")
    found += [
        ("main", again),
        ("main", ToolFinished(call_id="call_0", ok=True, content=(), view=(todo,))),
        ("main", AgentStarted(child="main/a1", kind="Explore", prompt="p", name="scout")),
        ("main/a1", ToolStarted(call_id="c", name="Read", input={}, verb="Read", target="x")),
        ("main/a1", ToolFinished(
            call_id="c", ok=True, content=(ImageContent("image/png", "AAAA"),),
        )),
        ("main", ModeChanged(mode="plan", by="user")),
        ("main", TitleChanged(title="A title")),
        ("main", UsageChanged(usage=Usage(1, 2), cost=0.5, context=3, window=100)),
        ("main", Noticed(text="Mind this.", tone="warning")),
    ]  # fmt: skip
    return found


def updates(tmp_path: Path, *, replays: bool = False) -> list[Any]:
    where = Where(cwd=tmp_path, root=tmp_path, home=tmp_path)
    fold = Updates(WholeTexts(lambda: where), replays=replays)
    envelopes = [
        Envelope(seq=n, agent=agent, event=event, uuid=f"u{n}", parent="", timestamp=float(n))
        for n, (agent, event) in enumerate(story(), 1)
    ]
    return [update for envelope in envelopes for update in fold.of(envelope)]


def test_a_turn_of_everything_is_what_it_was(tmp_path: Path) -> None:
    """Made anew with: rm tests/acp/golden_turn.json, and this test once more."""
    (tmp_path / "notes.txt").write_text("b\n", encoding="utf-8")
    told = updates(tmp_path, replays=True)
    text = json.dumps(told, indent=1, ensure_ascii=False).replace(str(tmp_path), "/p") + "\n"
    if not GOLDEN.exists():
        GOLDEN.write_text(text, encoding="utf-8")
        pytest.fail("the file was not there; look at what was written")
    assert json.loads(text) == json.loads(GOLDEN.read_text(encoding="utf-8"))


def test_each_is_valid_by_the_protocols_own_schema(tmp_path: Path) -> None:
    schema = pytest.importorskip("acp.schema", reason="the package is in the extra dev")
    for update in updates(tmp_path, replays=True):
        told = {"sessionId": "s", "update": update}
        read = schema.SessionNotification.model_validate(told)
        assert read.update.session_update == update["sessionUpdate"]


async def test_what_a_session_answers_is_valid_too(tmp_path: Path) -> None:
    schema = pytest.importorskip("acp.schema", reason="the package is in the extra dev")
    async with editor(tmp_path, "say: Yes.", 'call: Bash {"command": "touch x"}') as ed:
        ed.answers("no")
        hello = await ed.ask("initialize", protocolVersion=1)
        schema.InitializeResponse.model_validate(hello)
        opened = await ed.ask("session/new", cwd=str(ed.project), mcpServers=[])
        schema.NewSessionResponse.model_validate(opened)
        session = opened["sessionId"]
        schema.PromptResponse.model_validate(await ed.turn(session, "one"))
        await ed.turn(session, "two")
        schema.ListSessionsResponse.model_validate(await ed.ask("session/list"))
        (asked,) = ed.asked("session/request_permission")
        schema.RequestPermissionRequest.model_validate(asked)
        for message in ed.heard:
            if message.get("method") == "session/update":
                schema.SessionNotification.model_validate(message["params"])


CASES = [
    ("a\nb\nc\n", "a\nx\nc\n"), ("", "new\n"), ("a\n" * 50, "a\n" * 20 + "b\n" + "a\n" * 29),
    ("a\r\nb\r\n", "a\r\nc\r\n"), ("gone\n", ""), ("a\n", "a\nb\n"), ("a\nold", "a\nnew"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new"), CASES)
def test_both_sides_of_a_change_are_found(old: str, new: str) -> None:
    block = diff("f", old, new)
    assert applied(old, block.hunks) == new
    assert applied(new, block.hunks, back=True) == old


def test_a_change_in_another_copy_of_the_project_names_no_file_of_this_one(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("a\n", encoding="utf-8")
    where = Where(cwd=tmp_path, root=tmp_path, home=tmp_path)
    fold = Updates(WholeTexts(lambda: where), elsewhere=lambda agent: agent == "main/1")
    shown = [content(BLOCKS[-1], fold.foreseen(agent)) for agent in ("main", "main/1")]
    assert [each["type"] for each in shown] == ["diff", "content"]
    assert str(tmp_path) not in json.dumps(shown[1])


def test_a_file_that_is_another_by_now_has_only_hunks(tmp_path: Path) -> None:
    block = diff("notes.txt", "a\nb\n", "a\nc\n")
    assert applied("something\nelse\n", block.hunks) is None
    assert content(block)["type"] == "content"


@pytest.mark.parametrize("text", ["```", "a\n````\nb", "~~~", "``` ```` ```"])
def test_nothing_in_a_text_closes_its_fence(text: str) -> None:
    fence, *_, last = fenced(text).split("\n")
    assert fence == last
    assert fence not in [line.strip() for line in text.split("\n")]
