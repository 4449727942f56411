"""/agents: which types there are, one of them, trying one, writing one."""

from __future__ import annotations

from pathlib import Path

from gatewright.agent.commands.outcome import Draft, Form, Listing, Offer, Outcome, Problem, Say
from gatewright.agent.commands.registry import Front
from gatewright.tools.blocks import plain
from tests.agents.test_types_at_work import define
from tests.permissions.composed import Desk, desk


async def line(made: Desk, text: str) -> tuple[Outcome, str]:
    outcome = await made.session.run_command(text, Front(panels=True))
    said = outcome.fallback if isinstance(outcome, Offer) else outcome
    return outcome, "\n".join(map(plain, said.blocks)) if isinstance(said, Say) else ""


async def test_all_of_them(tmp_path: Path) -> None:
    path = define(tmp_path, "reader", "tools: Read")
    define(tmp_path, "reader", where="home/.claude/agents")
    bad = define(tmp_path, "bad", "maxTurns: none")
    async with desk(tmp_path, ["say: x"]) as made:
        outcome, text = await line(made, "/agents")
        assert isinstance(outcome, Listing)
        rows = {(row.label, row.source): row for row in outcome.rows()}
        assert rows["reader", "user"].detail == "shadowed"
        assert rows["reader", "project"].detail == "About reader."
        (wrong,) = [row for row in rows.values() if row.source == "wrong"]
        assert wrong.label.startswith(f"{bad.relative_to(tmp_path / 'project')}:4: ")
        assert bad.name in plain((await outcome.read(wrong.id))[0])
        shown = "\n".join(map(plain, await outcome.read(rows["reader", "project"].id)))
        assert str(path.relative_to(tmp_path / "project")) in shown and "You work." in shown
        other = "\n".join(map(plain, await outcome.read(rows["reader", "user"].id)))
        assert "the project one comes first" in other and "You work." not in other
        assert "reader" in text and "maxTurns is no number above 0" in text


async def test_one_by_name(tmp_path: Path) -> None:
    async with desk(tmp_path, ["say: x"]) as made:
        outcome, text = await line(made, "/agents explore")
        assert isinstance(outcome, Say)
        assert "Bash, Glob, Grep, Read, WebFetch" in text
        outcome, text = await line(made, "/agents nobody")
        assert isinstance(outcome, Problem)
        assert "There is no type of agent 'nobody'" in text
        outcome, _ = await line(made, "/agents try Explore")
        assert isinstance(outcome, Problem)


async def test_trying_one_asks_the_model_for_it(tmp_path: Path) -> None:
    async with desk(tmp_path, ["say: x"]) as made:
        await line(made, "/agents try Explore find the tests")
        await made.ended()
        assert "Start the agent Explore" in made.words(0)[-1]
        assert "find the tests" in made.words(0)[-1]


async def test_the_key_for_trying_one_writes_the_line_that_the_task_is_put_behind(
    tmp_path: Path,
) -> None:
    bad = define(tmp_path, "bad", "maxTurns: none")
    async with desk(tmp_path, ["say: x"]) as made:
        outcome, _ = await line(made, "/agents")
        assert isinstance(outcome, Listing)
        by_label = {row.label: row.id for row in outcome.rows()}
        act = next(act for act in outcome.acts if act.key == "t")
        drafted = await act.run(by_label["Explore"])
        assert isinstance(drafted, Draft)
        assert drafted.text == "/agents try Explore "
        wrong = next(id for label, id in by_label.items() if bad.name in label)
        assert isinstance(await act.run(wrong), Problem)


async def test_writing_and_changing_one(tmp_path: Path) -> None:
    async with desk(tmp_path, ["say: x"]) as made:
        outcome, _ = await line(made, "/agents new tester Runs the tests: all of them")
        assert isinstance(outcome, Form)
        path = tmp_path / "project/.gatewright/agents/tester.md"
        assert path.read_text(encoding="utf-8") == outcome.text
        done = await outcome.take(outcome.text.replace("---\n\n", "model: [x]\n---\n\n", 1))
        assert isinstance(done, Problem) and "model is no text" in plain(done.blocks[0])
        done = await outcome.take(outcome.text)
        assert not isinstance(done, Problem)
        listing, _ = await line(made, "/agents")
        assert isinstance(listing, Listing)
        (row,) = [row for row in listing.rows() if row.label == "tester"]
        edit = next(act for act in listing.acts if act.key == "e")
        again = await edit.run(row.id)
        assert isinstance(again, Form) and again.text == outcome.text
        outcome, text = await line(made, "/agents new tester again")
        assert isinstance(outcome, Problem) and "is there already" in text
        builtin = next(row for row in listing.rows() if row.label == "Plan")
        assert isinstance(await edit.run(builtin.id), Problem)
