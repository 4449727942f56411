"""The built-in slash commands, as outcomes; every panel can also be said."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from gatewright.agent.commands.outcome import (
    Change,
    ClearHistory,
    Outcome,
    Pick,
    Problem,
    Quit,
    SetMode,
    SetModel,
)
from gatewright.agent.commands.registry import Commands, always
from gatewright.tools.blocks import Block, Text
from tests.fakes.commands import Desk, InUse, built_in
from tests.fakes.commands import told as said


class Rules:
    def __init__(self) -> None:
        self.rules: list[tuple[str, str]] = []

    def table(self) -> Sequence[Block]:
        return [Text(f"{behavior} {rule}") for behavior, rule in self.rules]

    def why(self, number: int) -> Sequence[Block]:
        return (Text(f"because of {number}"),)

    def add(self, behavior: str, rule: str) -> str:
        if rule.startswith("("):
            raise ValueError(f"{rule} is no rule.")
        self.rules.append((behavior, rule))
        return f"Added {rule}."

    def remove(self, rule: str) -> str:
        return f"Removed {rule}."


async def run(line: str, rules: Rules | None = None) -> Outcome:
    return await Desk(rules=rules or Rules(), in_use=InUse("demo/demo")).run(line)


async def test_help_names_signs_where_they_count() -> None:
    before, _, screen = said(await run("/help")).partition("on the screen")
    assert all(sign in before for sign in ("! runs", "@ names", "# keeps"))  # line by line too
    assert "? on" in screen


async def test_help_lists_every_command() -> None:
    text = said(await run("/help"))
    for command in built_in():
        assert f"/{command.name}" in text
        assert command.summary in text


async def test_help_about_one() -> None:
    text = said(await run("/help /clear"))
    assert "Also: /new, /reset" in text
    assert "Did you mean /clear?" in said(await run("/help claer"))


async def test_what_is_chosen_from_can_be_said_too() -> None:
    outcome = await run("/mode")
    assert isinstance(outcome, Pick)
    assert [choice.typed for choice in outcome.choices] == [
        "/mode default",
        "/mode acceptEdits",
        "/mode plan",
    ]
    assert await outcome.choose("plan") == Change(SetMode("plan"))
    assert "Runs without asking" in said(outcome)


@pytest.mark.parametrize(
    ("line", "outcome"),
    [
        ("/mode plan", Change(SetMode("plan"))),
        ("/model openai/x", Change(SetModel("openai/x"))),
        ("/clear", Change(ClearHistory())),
        ("/NEW", Change(ClearHistory())),
        ("/exit", Quit()),
        ("/quit", Quit()),
    ],
)
async def test_changes_are_data(line: str, outcome: Outcome) -> None:
    assert await run(line) == outcome


async def test_a_mode_that_asks_nothing_is_agreed_to_first() -> None:
    outcome = await run("/mode reckless")
    assert isinstance(outcome, Pick)
    assert said(await outcome.choose(outcome.choices[0].id)) == ""
    assert await outcome.choose(outcome.choices[1].id) == Change(SetMode("reckless"))
    assert "It asks nothing." in said(outcome)
    assert "No, stay in default" in said(outcome)
    assert await run("/mode reckless yes") == Change(SetMode("reckless"))


async def test_mode_marks_the_current_one() -> None:
    rows = said(await run("/mode")).splitlines()
    assert [row for row in rows if row.startswith("*")] == ["*  default"]


async def test_rules_are_added_and_removed() -> None:
    rules = Rules()
    assert said(await run("/permissions allow Bash(npm test)", rules)) == "Added Bash(npm test)."
    assert rules.rules == [("allow", "Bash(npm test)")]
    assert said(await run("/permissions", rules)) == "allow Bash(npm test)"
    assert said(await run("/permissions remove Bash", rules)) == "Removed Bash."
    assert said(await run("/permissions deny (", rules)) == "( is no rule."


@pytest.mark.parametrize(
    ("args", "answer"),
    [("", "because of 1"), (" 3", "because of 3"), (" x", "takes a number"), (" -1", "takes")],
)
async def test_why_is_about_a_number(args: str, answer: str) -> None:
    assert answer in said(await run(f"/permissions why{args}"))


@pytest.mark.parametrize("args", ["allow", "permit Bash", "remove"])
async def test_permissions_explains_itself(args: str) -> None:
    assert said(await run(f"/permissions {args}")).startswith("Usage: /permissions")


async def test_status_names_model_and_mode() -> None:
    text = said(await run("/status"))
    assert "demo/demo" in text
    assert "default" in text


async def test_an_unknown_command_names_the_nearest() -> None:
    outcome = await run("/hlep")
    assert isinstance(outcome, Problem)
    assert said(outcome) == "There is no command /hlep. Did you mean /help?"


def test_names_are_taken_once() -> None:
    assert len(list(Commands(always(*built_in())))) == len(built_in())
    names = [name for each in built_in() for name in (each.name, *each.aliases)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("line", "near"),
    [("/perm", "/permissions"), ("/statu", "/status"), ("/trusted", ""), ("/todos", "")],
)
async def test_only_a_name_that_is_near_is_offered(line: str, near: str) -> None:
    hint = f"Did you mean {near}?" if near else "/help lists them."
    assert said(await run(line)) == f"There is no command {line}. {hint}"


async def test_a_list_of_commands_is_short_where_the_command_tells_all() -> None:
    listed, told = said(await run("/help")), said(await run("/help permissions"))
    assert "/permissions \u2026" in listed
    assert "[--SCOPE]" in told
    assert "[--SCOPE]" not in listed
