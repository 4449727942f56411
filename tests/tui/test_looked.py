"""Runs of reads and searches: one row while all goes well."""

from __future__ import annotations

from collections.abc import Sequence

from gatewright.agent.record import events as ev
from gatewright.agent.turn.stop import Stop
from gatewright.tools.access import Looks
from gatewright.tools.blocks import Output, Text
from gatewright.tools.protocol import TextContent
from gatewright.tui.transcript.draw import chunks_of
from gatewright.tui.transcript.items import Item, Looked
from gatewright.tui.transcript.records import Records
from tests.fakes.fake_session import FakeSession
from tests.tui.stage import stage
from tests.tui.test_state import items, play


def begun(id: str, target: str, looks: Looks = "file") -> ev.ToolStarted:
    verb = "Read" if looks == "file" else "Search"
    return ev.ToolStarted(call_id=id, name=verb, input={}, verb=verb, target=target, looks=looks)


def done(id: str, *, ok: bool = True, said: str = "9 lines") -> ev.ToolFinished:
    view = (Text(said, "dim"),) if ok else (Text(said, "error"),)
    content = (TextContent("the text"),)
    return ev.ToolFinished(
        call_id=id, ok=ok, content=content, view=view, summary=said if ok else "failed", ms=12
    )


def rows(found: Sequence[Item], width: int = 90, *, expanded: bool = False) -> list[str]:
    made = [chunk for item in found for chunk in chunks_of(item, expanded=expanded)]
    return [row.plain.rstrip() for chunk in made for row in chunk.rows(width)]


def test_one_read_looks_as_any_call_and_a_second_joins_it() -> None:
    _view, changes = play(begun("a", "a.py"), done("a"))
    assert rows(items(changes)) == ["● Read  a.py  9 lines"]
    _view, changes = play(begun("a", "a.py"), done("a"), begun("b", "b.py"), done("b"))
    (group,) = items(changes)
    assert isinstance(group, Looked)
    assert rows([group]) == ["● Read 2 files  a.py, b.py"]


def test_files_are_counted_once_and_searches_beside_them() -> None:
    happened: list[ev.AnyEvent] = [
        *(begun("a", "a.py"), done("a"), begun("b", "x in src", "pattern"), done("b")),
        *(begun("c", "b.py"), done("c"), begun("d", "a.py"), done("d")),
    ]
    _view, changes = play(*happened)
    assert rows(items(changes)) == ["● Read 2 files, searched 1 pattern  a.py, b.py, x in src"]


def test_calls_side_by_side_are_one_row_from_the_start() -> None:
    """What is not done is not said to be: it may wait for a yes."""
    view, begins = play(begun("a", "a.py"), begun("b", "b.py"), done("b"))
    assert rows(items(begins)) == ["● Read 1 file, reading 1 file  a.py, b.py"]
    _view, changes = play(done("a"), view=view)
    changes = [*begins, *changes]
    assert rows(items(changes)) == ["● Read 2 files  a.py, b.py"]


def test_what_failed_stands_below_with_its_reason() -> None:
    _view, changes = play(
        *(begun("a", "a.py"), done("a"), begun("b", "b.py"), done("b", ok=False, said="no such")),
        *(begun("c", "c.py"), done("c")),
    )
    assert rows(items(changes)) == [
        "● Read 2 files  a.py, c.py",
        "● Read  b.py  failed",
        "    no such",
    ]


def test_something_else_between_them_begins_another_row() -> None:
    other = ev.ToolStarted(call_id="x", name="Bash", input={}, verb="Run", target="ls")
    _view, changes = play(
        begun("a", "a.py"), other, done("a"), begun("b", "b.py"), done("b"), done("x")
    )
    assert rows(items(changes))[::2] == ["● Read  a.py  9 lines", "● Read  b.py  9 lines"]


def test_a_call_that_is_cut_off_is_stopped_in_its_row() -> None:
    ended = ev.TurnEnded(stop=Stop.ABORTED_TOOLS)
    view, changes = play(begun("a", "a.py"), done("a"), begun("b", "b.py"), ended)
    group = next(item for item in items(changes) if isinstance(item, Looked))
    assert [run.state for run in group.runs] == ["ok", "stopped"]
    assert view.looks == ()


def test_opened_it_names_each_and_everything_shows_what_the_model_read() -> None:
    hits = Output("a.py:1: x")
    _view, changes = play(
        *(begun("a", "a.py"), done("a"), begun("b", "x", "pattern")),
        ev.ToolFinished(call_id="b", ok=True, content=(), view=(hits,), summary="1 hit"),
    )
    (group,) = items(changes)
    assert rows([group], expanded=True) == ["● Read  a.py  9 lines", "● Search  x  1 hit"]
    records = Records()
    records.append(group)
    records.open_everything(on=True)
    shown = [row.plain.strip() for n in range(records.chunks(0)) for row in records.rows(0, n)]
    assert "the text" in shown
    assert "a.py:1: x" in shown


def test_a_very_long_run_is_several_records() -> None:
    numbers = map(str, range(120))
    happened: list[ev.AnyEvent] = [e for n in numbers for e in (begun(n, f"{n}.py"), done(n))]
    _view, changes = play(*happened)
    assert [len(item.runs) for item in items(changes) if isinstance(item, Looked)] == [50, 50, 20]


async def test_the_row_stays_where_it_is_while_calls_join_it() -> None:
    session = FakeSession()
    async with stage(session) as s:
        session.publish(ev.TurnStarted(), begun("0", "0.py"))
        await s.see("0.py")
        places: set[int] = set()
        for number in range(1, 5):
            session.publish(done(str(number - 1)), begun(str(number), f"{number}.py"))
            text = await s.see(f"{number}.py")
            places.add(next(n for n, row in enumerate(text.splitlines()) if "● Read" in row))
        assert len(places) == 1
