"""Work that goes on behind its call: its end and its last lines are on the card of that call."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gatewright.agent.frontends.acp.updates import EARLY, Updates
from gatewright.agent.frontends.acp.whole_texts import WholeTexts
from gatewright.agent.record.events import (
    AnyEvent,
    Envelope,
    SessionStarted,
    TasksChanged,
    ToolFinished,
    ToolStarted,
)
from gatewright.tools.access import MAIN, Where
from gatewright.tools.protocol import TextContent
from tests.acp.fake_editor import Editor, editor


def told(events: Sequence[AnyEvent], agent: str = MAIN) -> list[dict[str, Any]]:
    where = Where(Path("/p"), Path("/p"), Path("/h"))
    fold = Updates(WholeTexts(lambda: where))
    found: list[dict[str, Any]] = []
    for event in events:
        whose = MAIN if isinstance(event, TasksChanged | SessionStarted) else agent
        place = Envelope(seq=1, uuid="u", parent="", timestamp=1.0, agent=whose, event=event)
        found += map(dict, fold.of(place))
    return found


def begun(call: str, task: str) -> list[AnyEvent]:
    said = (TextContent(f"Running in the background as {task}."),)
    return [
        ToolStarted(call_id=call, name="Bash", input={}, verb="Run", target="x"),
        ToolFinished(call_id=call, ok=True, content=said, data={"backgroundTaskId": task}),
    ]


def end(task: str, tail: str = "") -> TasksChanged:
    return TasksChanged(running=(), ended=task, status="exit 3", title="x", tail=tail)


def texts(update: dict[str, Any]) -> list[str]:
    return [each["content"]["text"] for each in update["content"]]


def test_its_end_is_on_the_card_of_the_call() -> None:
    last = told([*begun("c1", "shell_1"), *begun("c2", "shell_2"), end("shell_1", "one\ntwo")])[-1]
    assert last["toolCallId"] == "c1"
    said = "shell_1 has ended in the background: exit 3."
    assert texts(last) == [said, "```\none\ntwo\n```"]
    assert texts(told([*begun("c1", "shell_1"), end("shell_1")])[-1]) == [said]


def test_of_an_agent_below_too() -> None:
    last = told([*begun("c1", "shell_1"), end("shell_1")], agent="main/a1")[-1]
    assert last["toolCallId"] == "main/a1:c1"


def test_an_end_before_the_result_of_the_call_is_told_behind_it() -> None:
    started, finished = begun("c1", "shell_1")
    found = told([started, end("shell_1"), finished])
    assert [each.get("status") for each in found] == ["in_progress", "completed", None]
    assert "exit 3" in texts(found[-1])[0]


def test_what_ended_without_a_card_is_not_kept_for_ever() -> None:
    others = [end(f"a{number}") for number in range(EARLY)]
    assert len(told([end("shell_1"), *others, *begun("c1", "shell_1")])) == 2
    assert len(told([end("shell_1"), *others[1:], *begun("c1", "shell_1")])) == 3


def test_the_work_of_a_process_before_is_nobodys_card() -> None:
    started = SessionStarted(model="m", mode="default", cwd="/p", app="0")
    found = told([*begun("c1", "shell_1"), started, end("shell_1"), *begun("c2", "shell_1")])
    assert found[-1]["toolCallId"] == "c2"


async def test_a_command_in_the_background(tmp_path: Path) -> None:
    script = (
        'call: Bash {"command": "cat fifo; echo over", "run_in_background": true}',
        "say: It runs.",
        "say: It ended.",
    )
    (tmp_path / "project").mkdir()
    os.mkfifo(tmp_path / "project" / "fifo")
    async with editor(tmp_path, *script) as ed:
        ed.answers("once")
        session = await ed.new()
        await ed.turn(session, "go")
        (call,) = ed.updates(session, "tool_call")
        done = card(ed, session, call["toolCallId"])[-1]
        assert done["status"] == "completed"
        assert "Running in the background as shell_1" in texts(done)[0]
        (tmp_path / "project" / "fifo").write_bytes(b"from outside\n")
        await ed.until(lambda: "It ended." in ed.text(session))
        assert ed.text(session).endswith("It runs.\n\nIt ended.")
        last = card(ed, session, call["toolCallId"])[-1]
        assert texts(last) == [
            "shell_1 has ended in the background: exit 0.",
            "```\nfrom outside\nover\n```",
        ]


def card(ed: Editor, session: str, call: str) -> list[dict[str, Any]]:
    return [
        each
        for each in ed.updates(session, "tool_call_update")
        if each["toolCallId"] == call and "content" in each
    ]
