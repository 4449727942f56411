"""A call is known by what it declared: what a tool leaves unsaid, and what it is named, asks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from gatewright.permissions.context import Call
from gatewright.permissions.decide import decide
from gatewright.permissions.decision import Allow, Ask, Decision, Deny
from gatewright.permissions.modes import MODES
from gatewright.permissions.policy import Policy, PolicyConfig
from gatewright.permissions.rulebook.rules import RuleTexts
from gatewright.permissions.rulebook.tools_table import TOOLS
from gatewright.tools.access import Access, Edited, Effect, RemoteTool, ShellText, Where

ROOT = Path("/w/proj")
WHERE = Where(ROOT, ROOT, Path("/home/u"))
ASKING = [mode for mode, row in MODES.items() if not row.bypass]
NOTHING: Mapping[str, object] = {}

# Every fact alone, as the default mode would let it run or a rule could grant it.
STATED = {
    "reads": Access(reads=(ROOT / "a",), effects=Effect.READ_ONLY),
    "runs": Access(runs=ShellText("ls", ROOT)),
    "effects": Access(effects=Effect.FREE),
    "origin": Access(kind="skill", subject="s", origin="user"),
}


def decided(
    tool: str,
    access: Access,
    *,
    mode: str = "default",
    given: Mapping[str, object] = NOTHING,
    allow: tuple[str, ...] = (),
    deny: tuple[str, ...] = (),
    interactive: bool = True,
    agents: bool = False,
) -> Decision:
    config = PolicyConfig(
        root=ROOT, cwd=ROOT, home=Path("/home/u"), trusted=True, mode=mode, auto_available=True,
        interactive=interactive,
        agents=agents,
        rules={"user": RuleTexts(allow=allow, deny=deny)},
    )  # fmt: skip
    return decide(Call(tool, given, access), Policy(config).context(WHERE))


@pytest.mark.parametrize("mode", ASKING)
@pytest.mark.parametrize("tool", [*TOOLS, "mcp__db__query", "Unheard"])
def test_a_call_that_declares_nothing_is_never_allowed(tool: str, mode: str) -> None:
    assert not isinstance(decided(tool, Access(), mode=mode), Allow)
    assert not isinstance(decided(tool, Access(effects=Effect.READ_ONLY), mode=mode), Allow)


@pytest.mark.parametrize(
    ("fact", "access"),
    [
        ("reads", Access(effects=Effect.READ_ONLY)),
        ("writes", Access()),
        ("runs", Access()),
        ("urls", Access()),
        ("effects", Access()),
        ("remote", Access(effects=Effect.OPEN_WORLD)),
        ("kind", Access(subject="s", origin="user")),
        ("subject", Access(kind="skill")),
        ("origin", Access(kind="skill", subject="s")),
        ("insist", Access()),
        ("unattended", Access()),
        ("by", Access(by="For the skill s.")),
        ("typed", Access(typed=True)),
        ("edits", Access(edits=(Edited(Path("/p/a"), "a", "b"),))),
    ],
)
def test_each_fact_left_at_its_default_asks(fact: str, access: Access) -> None:
    assert fact in Access.__struct_fields__
    assert isinstance(decided("Unheard", access), Ask)


def test_every_fact_is_in_that_test() -> None:
    """A new fact of `Access` has to say what its default means, here and above."""
    named = {"reads", "writes", "runs", "urls", "effects", "remote", "kind", "subject", "origin"}
    assert named | {"insist", "unattended", "by", "typed", "edits"} == set(Access.__struct_fields__)


@pytest.mark.parametrize("fact", STATED)
def test_what_is_stated_is_enough_whatever_the_name(fact: str) -> None:
    assert isinstance(decided("Unheard", STATED[fact]), Allow)


@pytest.mark.parametrize("origin", ["", "User", "somewhere", "plugin", "mcp"])
@pytest.mark.parametrize("kind", ["skill", "command"])
def test_a_skill_of_unknown_origin_asks(kind: str, origin: str) -> None:
    access = Access(kind="skill" if kind == "skill" else "command", subject="s", origin=origin)
    assert isinstance(decided("Skill", access), Ask)


@pytest.mark.parametrize(
    "name", ["query", "Write", "TodoWrite", "Skill", "Agent", "AskUserQuestion"]
)
def test_a_tool_of_a_server_asks_under_whatever_name(name: str) -> None:
    access = Access(remote=RemoteTool("db", "query"), effects=Effect.FREE | Effect.READ_ONLY)
    for mode in ASKING:
        assert not isinstance(decided(name, access, mode=mode), Allow)
    asked = decided(name, access, allow=(name, "mcp__other", "mcp__db__queries"))
    assert isinstance(asked, Ask)
    assert [grant.rule for grant in asked.grants] == ["mcp__db__query"]


@pytest.mark.parametrize("rule", ["mcp__db", "mcp__db__*", "mcp__db__query", "mcp__db__que*"])
def test_rules_for_servers_are_about_the_fact(rule: str) -> None:
    access = Access(remote=RemoteTool("db", "query"))
    assert isinstance(decided("anything", access, allow=(rule,)), Allow)
    assert isinstance(decided("anything", access, deny=(rule,)), Deny)
    assert isinstance(decided("mcp__db__query", Access(), allow=(rule,)), Ask)


def test_a_server_cannot_take_the_place_of_another_by_its_name() -> None:
    access = Access(remote=RemoteTool("db__x", "query"))
    assert isinstance(decided("mcp__db__x__query", access, allow=("mcp__db",)), Ask)
    asked = decided("mcp__db__x__query", access)
    assert isinstance(asked, Ask)
    assert asked.grants == ()


@pytest.mark.parametrize("tool", ["*", "q*", "q?", "[a-z]uery", "query(x)", "a,b", "", "q\u200b"])
def test_no_name_of_a_tool_becomes_a_rule_for_others(tool: str) -> None:
    asked = decided("anything", Access(remote=RemoteTool("db", tool)))
    assert isinstance(asked, Ask)
    assert all(grant.rule != f"mcp__db__{tool}" for grant in asked.grants)


def test_a_tool_is_denied_by_the_name_it_had_before_another_took_that_too() -> None:
    access = Access(remote=RemoteTool("db", "drop.all"))
    name = "mcp__db__drop_all_1f2e3d"  # as where there is a tool "drop all", too
    assert isinstance(decided(name, access, allow=("mcp__db",), deny=("mcp__db__drop_all",)), Deny)
    assert isinstance(decided(name, access, allow=("mcp__db__drop_all",)), Ask)


@pytest.mark.parametrize("effect", [Effect.DESTRUCTIVE, Effect.OPEN_WORLD])
def test_losing_data_and_talking_outside_ask_unless_another_fact_covers_them(
    effect: Effect,
) -> None:
    free = Access(effects=Effect.FREE | effect)
    reading = Access(reads=(ROOT / "a",), effects=Effect.READ_ONLY | effect)
    running = Access(runs=ShellText("ls", ROOT), effects=effect)
    for access in (free, reading, running, Access(effects=effect)):
        assert isinstance(decided("Unheard", access, mode="acceptEdits"), Ask)
        assert isinstance(decided("Unheard", access, allow=("Unheard",)), Allow)
    writing = Access(writes=(ROOT / "a",), effects=Effect.DESTRUCTIVE)
    assert isinstance(decided("Unheard", writing, mode="acceptEdits"), Allow)


@pytest.mark.parametrize(
    ("access", "rule"),
    [
        (Access(reads=(ROOT / "secret",)), "Read(/secret)"),
        (Access(writes=(ROOT / "gen/x",)), "Edit(/gen/**)"),
        (Access(writes=(ROOT / "secret",)), "Read(/secret)"),
        (Access(runs=ShellText("curl x", ROOT)), "Bash(curl:*)"),
        (Access(urls=("https://a.example/",)), "WebFetch(domain:a.example)"),
        (Access(effects=Effect.AGENT, subject="Explore"), "Agent(explore)"),
        (Access(effects=Effect.AGENT), "Agent(Explore)"),
        (Access(kind="skill", subject="s", origin="user"), "Skill(s)"),
        (Access(kind="command", subject="/s", origin="user"), "SlashCommand(/s)"),
        (Access(remote=RemoteTool("db", "q"), reads=(ROOT / "secret",)), "Read(/secret)"),
        (Access(runs=ShellText("ls", ROOT), writes=(ROOT / "gen/x",)), "Edit(/gen/**)"),
    ],
)
def test_a_denial_holds_for_what_a_call_does_not_for_what_it_is_called(
    access: Access, rule: str
) -> None:
    for name in ("Unheard", "mcp__db__q", "TodoWrite"):
        decision = decided(name, access, mode="bypassPermissions", deny=(rule,))
        assert isinstance(decision, Deny)
        assert decision.reason.rule == rule


def test_of_several_facts_the_strictest_answer_counts() -> None:
    both = Access(reads=(ROOT / "a",), writes=(ROOT / "b",))
    assert isinstance(decided("Unheard", both), Ask)
    assert isinstance(decided("Unheard", both, mode="acceptEdits"), Allow)
    outside = Access(reads=(Path("/etc/passwd"),), writes=(ROOT / "b",))
    assert isinstance(decided("Unheard", outside, mode="acceptEdits"), Ask)
    sending = Access(reads=(ROOT / "a",), urls=("https://a.example/",))
    asked = decided("Unheard", sending)
    assert isinstance(asked, Ask)
    assert "a.example" in asked.reason.text


def test_a_question_of_a_tool_does_not_answer_for_what_else_it_does() -> None:
    access = Access(effects=Effect.HUMAN, writes=(ROOT / "b",))
    asked = decided("Unheard", access)
    assert isinstance(asked, Ask)
    assert asked.reason.stage != "human"


@pytest.mark.parametrize(
    ("tool", "rule"),
    [("Bash", "Bash(rm:*)"), ("Edit", "Edit(/gen/**)"), ("WebFetch", "WebFetch(domain:a.b)")],
)
def test_a_rule_about_a_fact_that_is_not_stated_fires(tool: str, rule: str) -> None:
    assert isinstance(decided(tool, Access(), mode="bypassPermissions", deny=(rule,)), Deny)


ALLOWED = (
    ("TodoWrite", Access(effects=Effect.FREE)),
    ("Read", Access(reads=(ROOT / "a",), effects=Effect.READ_ONLY)),
    ("Bash", Access(runs=ShellText("ls", ROOT))),
    ("mcp__db__q", Access(remote=RemoteTool("db", "q"))),
    ("AskUserQuestion", Access(effects=Effect.HUMAN)),
)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("tool", "access"), ALLOWED)
def test_where_a_tool_insists_a_person_answers_in_every_mode(
    tool: str, access: Access, mode: str
) -> None:
    insists = replace(access, insist="The tool says that a person has to be there.")
    found = decided(tool, insists, mode=mode, allow=("mcp__db", "*", tool), agents=True)
    if isinstance(found, Deny):
        assert mode in ("dontAsk", "delegate", "plan")
        return
    assert isinstance(found, Ask)
    assert (found.reason.stage, found.grants, found.answerer) == ("floor", (), "human")
    assert found.reason.text == insists.insist


def test_where_a_tool_insists_nobody_there_is_a_denial() -> None:
    access = Access(effects=Effect.FREE, insist="It has to be seen.")
    found = decided("TodoWrite", access, interactive=False)
    assert isinstance(found, Deny)


@pytest.mark.parametrize("mode", ASKING)
def test_work_that_goes_on_where_nobody_looks_asks(mode: str) -> None:
    access = Access(effects=Effect.FREE, unattended=True)
    assert not isinstance(decided("TodoWrite", access, mode=mode), Allow)
    assert isinstance(decided("TodoWrite", access, allow=("TodoWrite",)), Allow)
