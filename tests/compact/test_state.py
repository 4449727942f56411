"""What stands beside a summary is as it is at that moment, within its limits."""

from __future__ import annotations

from pathlib import Path

from gatewright.agent.compact.budget import Budget
from gatewright.agent.compact.state import Remains
from gatewright.agent.compact.summary import fitting, opening
from gatewright.agent.context.readable import Readable, Verdict
from gatewright.agent.record.events import AnyEvent, Cleared, Compacted, ToolFinished, ToolStarted
from gatewright.agent.record.session_state import FILES, Standing
from gatewright.tools.blocks import Todo, TodoItem

OPEN = Readable(lambda path, real: Verdict("yes"))


def touched(path: str, *, ok: bool = True, view: tuple[Todo, ...] = ()) -> list[AnyEvent]:
    started = ToolStarted(call_id=path, name="X", input={"file_path": path}, verb="", target="")
    return [started, ToolFinished(call_id=path, ok=ok, content=(), view=view)]


TODO = Todo((TodoItem("paint the jetty", "in_progress"), TodoItem("rest")))


async def test_plan_tasks_and_files_in_order(tmp_path: Path) -> None:
    (tmp_path / "plan.md").write_text("First this.", encoding="utf-8")
    events: list[AnyEvent] = []
    for number in range(FILES + 1):
        (tmp_path / f"{number}.py").write_text(f"code {number}", encoding="utf-8")
        events += touched(f"{number}.py")
    events += touched("missing.py")[:1]
    events += touched("failed.py", ok=False)
    events += touched("1.py", view=(TODO,))
    (tmp_path / "5.py").write_text("x" * 50_000, encoding="utf-8")
    (tmp_path / "4.py").write_bytes(b"\0binary")
    standing = Standing.after(events)
    remains = Remains(lambda: standing.now, tmp_path / "plan.md", tmp_path.joinpath, OPEN)
    sections = await remains(5_000)
    heads = [text.partition("\n")[0] for text in sections]
    assert heads == [
        f"# The plan, from {tmp_path}/plan.md",
        "# Task list",
        f"# {tmp_path}/1.py, as it is now",
        f"# {tmp_path}/5.py",
        f"# {tmp_path}/3.py, as it is now",
        f"# {tmp_path}/2.py, as it is now",
    ]
    assert "[>] paint the jetty" in sections[1]
    assert "too long to repeat" in sections[3]


async def test_nothing_where_there_is_nothing(tmp_path: Path) -> None:
    remains = Remains(lambda: Standing().now, tmp_path / "plan.md", tmp_path.joinpath, OPEN)
    assert await remains(5_000) == []


def test_it_survives_boundaries_but_not_a_clear() -> None:
    standing = Standing.after([*touched("a.py", view=(TODO,))])
    compacted = standing.stamped(Compacted(summary="", trigger="", tokens_before=0))
    again = Standing.after([compacted, *touched("b.py")])
    assert again.now.todo == TODO.items
    assert again.now.files == ("a.py", "b.py")
    assert Standing.after([standing.stamped(Cleared())]).now.todo == ()


def test_the_sections_that_fit() -> None:
    assert fitting(["a" * 40, "b" * 4_000, "c" * 40], 25) == ("a" * 40, "c" * 40)
    text = opening("The summary.", ["first words", "second words"], ["# Task list"])
    assert text.index("The summary.") < text.index("first words") < text.index("second words")
    assert text.endswith("# Task list")
    assert "word for word" not in opening("s", [], [])
    assert Budget.of(200_000, 8_000).state > 0
