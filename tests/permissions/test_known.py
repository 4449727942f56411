"""A rule for a tool that nobody has is never silent; names of others' tools are."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatewright.permissions.policy import Policy, PolicyConfig
from gatewright.permissions.rulebook.known_tools import TOLD, is_known, remarks, unknown
from gatewright.permissions.rulebook.rules import RuleTexts, rule_set
from gatewright.permissions.rulebook.tools_table import ALIASES
from gatewright.permissions.rulebook.tools_table import TOOLS as ROWS
from gatewright.tools.blocks import plain
from gatewright.tools.registry import ALIASES as OLD_NAMES
from gatewright.tools.registry import TOOLS


@pytest.mark.parametrize(
    "name",
    [*TOOLS, *OLD_NAMES, *ROWS, "bash", "Task", "Skill", "SlashCommand", "ToolSearch", "LSP",
     "TodoRead", "TeamCreate", "CronCreate", "mcp__github__get", "mcp__github", "*", "mcp__*",
     "Web*", "*Edit", "M*", "Task*"],
)  # fmt: skip
def test_names_of_tools_are_kept_without_a_word(name: str) -> None:
    assert is_known(name)
    assert unknown(name) == ""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Bsh", "No tool is called Bsh. Did you mean Bash?"),
        ("raed", "No tool is called raed. Did you mean Read?"),
        ("Wbe*", "No tool is called Wbe*"),
        ("Zzzzzz", "No tool is called Zzzzzz."),
        ("mcp_github", "No tool is called mcp_github"),
        ("B" * 100_000, f"No tool is called {'B' * 64}…"),
    ],
)
def test_another_name_is_said_with_the_nearest(name: str, text: str) -> None:
    assert unknown(name).startswith(text)


def test_a_rule_for_an_older_name_is_about_the_tool_that_answers_to_it() -> None:
    assert {old: ALIASES[old] for old in OLD_NAMES} == dict(OLD_NAMES)


def problems(**lists: tuple[str, ...]) -> tuple[str, ...]:
    texts = {"user": RuleTexts(**lists)}
    return remarks(texts, rule_set(texts, trusted=True).problems)


@pytest.mark.parametrize(
    ("behavior", "nothing"),
    [("deny", "forbids nothing"), ("ask", "asks about nothing"), ("allow", "allows nothing")],
)
@pytest.mark.parametrize("rule", ["Bsh", "Bsh(rm:*)", "Bsh(rm"])
def test_a_rule_for_no_tool_is_one_sentence(behavior: str, nothing: str, rule: str) -> None:
    (told,) = problems(**{behavior: (rule,)})
    begin = f"The {behavior} rule '{rule}' (user) {nothing}."
    assert told == f"{begin} No tool is called Bsh. Did you mean Bash?"


def test_a_name_is_said_once_for_each_place_and_many_are_counted() -> None:
    assert len(problems(deny=("Bsh(a)", "Bsh(b)"), allow=("Bsh",))) == 1
    many = problems(deny=tuple(f"Zzz{number}" for number in range(1000)))
    assert len(many) == TOLD + 1
    assert many[-1] == "995 more names in rules (user) are of no tool either."


def book(folder: Path, **lists: tuple[str, ...]) -> Policy:
    rules = {"user": RuleTexts(**lists)}
    return Policy(PolicyConfig(root=folder, cwd=folder, home=folder, rules=rules))


def test_the_rules_of_a_session_mark_it(tmp_path: Path) -> None:
    policy = book(tmp_path, deny=("Bsh",), allow=("Agent",))
    rows = {rule.text: (rule.mark, rule.about) for rule in policy.listed()}
    assert rows["Bsh"] == ("unknown", "No tool is called Bsh. Did you mean Bash?")
    assert rows["Agent"][0] == ""
    assert "forbids nothing" in "\n".join(map(plain, policy.table()))
    assert policy.add("deny", "Raed").endswith("No tool is called Raed. Did you mean Read?")
    assert policy.add("deny", "Read") == "Added for this session: deny Read"


def test_delegate_needs_somebody_to_delegate_to(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no agents to delegate to"):
        book(tmp_path).set("delegate")
