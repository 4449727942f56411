"""Commands come from live sources: who has the short name, and who hears of a change."""

from __future__ import annotations

import time

from gatewright.agent.commands.outcome import Outcome, Problem, Say
from gatewright.agent.commands.registry import (
    Command,
    CommandContext,
    Commands,
    Looking,
    always,
)
from gatewright.tui.prompt.complete import command_choices
from tests.fakes.commands import Desk, told

BUDGET = 0.016  # seconds: a frame


async def _who(context: CommandContext) -> Outcome:
    return Say.text(f"{context.name}|{context.args}|{context.raw}")


def made(name: str, source: str = "project", *aliases: str) -> Command:
    about = f"{name} of {source}"
    return Command(name=name, summary=about, run=_who, source=source, aliases=aliases)


async def test_a_second_name_is_a_loser_that_keeps_its_qualified_name() -> None:
    known = Commands(always(made("deploy")), always(made("deploy", "plugin")))
    assert [command.name for command in known] == ["deploy", "plugin:deploy"]
    assert told(await known.run("/deploy now")) == "deploy|now|/deploy now"
    assert told(await known.run("/plugin:deploy a")) == "plugin:deploy|a|/plugin:deploy a"
    winner = known.find("project:deploy")
    assert winner is not None and winner.name == "deploy", "the winner answers to both"


async def test_one_that_was_written_a_moment_before_is_run_when_it_is_typed_at_once() -> None:
    names: list[str] = []
    looked = [0]

    async def look() -> None:
        looked[0] += 1
        if not names:
            names.append("new")
            known.changed()

    known = Commands(always(made("old")), Looking(lambda: [made(name) for name in names], look))
    assert told(await known.run("/old")) == "old||/old" and looked == [0]
    assert known.find("new") is None
    assert told(await known.run("/new")) == "new||/new"
    assert isinstance(await known.run("/none"), Problem) and looked == [2]


def test_what_is_built_in_comes_first_whenever_it_was_added() -> None:
    known = Commands(always(made("theme"), made("Help", "project", "q")))
    known.add(always(made("theme", "built-in"), made("exit", "built-in", "q")))
    assert [command.name for command in known] == ["theme", "exit", "project:theme", "Help"]
    quits = known.find("q")
    assert quits is not None and quits.source == "built-in"
    lost = known.find("help")
    assert lost is not None and lost.aliases == ()


def test_one_name_twice_in_one_source_is_one_command() -> None:
    known = Commands(always(made("deploy"), made("deploy")))
    assert [command.name for command in known] == ["deploy"]


def test_a_source_tells_that_it_changed_and_is_not_asked_before() -> None:
    asked, names = [0], ["one"]

    def source() -> list[Command]:
        asked[0] += 1
        return [made(name) for name in names]

    known = Commands(source)
    for _ in range(3):
        assert [command.name for command in known] == ["one"]
    assert asked == [1]
    names.append("two")
    assert known.find("two") is None, "nobody polls"
    before = known.revision
    known.changed()
    assert known.revision == before + 1
    assert known.find("two") is not None
    assert asked == [2]


async def test_help_completion_and_the_nearest_name_read_the_one_registry() -> None:
    known = Desk().commands()
    known.add(always(made("deploy"), made("mode"), made("deploy", "plugin")))
    listed = told(await known.run("/help"))
    for name in ("/deploy", "/project:mode", "/plugin:deploy"):
        assert name in listed
    assert "From: plugin" in told(await known.run("/help plugin:deploy"))
    choices = command_choices(known, "dep")
    assert [choice.insert for choice in choices] == ["/deploy", "/plugin:deploy"]
    assert [choice.source for choice in choices] == ["project", "plugin"]
    missing = await known.run("/deplyo")
    assert isinstance(missing, Problem)
    assert told(missing) == "There is no command /deplyo. Did you mean /deploy?"


def test_nobody_who_begins_a_name_gets_what_goes_by_another() -> None:
    """Enter runs the first one, and /clear is also called /reset and /new."""
    for query in ("r", "re", "res", "n", "ne"):
        labels = [choice.label for choice in command_choices(Desk().commands(), query)]
        assert not labels[0].startswith("/clear"), query
    assert "/clear (/new)" in labels
    (clear, *_) = command_choices(Desk().commands(), "new")
    assert (clear.insert, clear.label) == ("/clear", "/clear (/new)")


def test_the_menu_of_five_hundred_commands_costs_less_than_a_frame() -> None:
    known = Desk().commands()
    known.add(lambda: [made(f"command-{number}") for number in range(500)])
    assert len(list(known)) > 500
    spent: list[float] = []
    for query in ("", "c", "co", "com4", "cmd", "mnd49"):
        began = time.thread_time()
        command_choices(known, query)
        spent.append(time.thread_time() - began)
    assert min(spent) < BUDGET and sorted(spent)[len(spent) // 2] < BUDGET, spent
