"""What is each agent's own at the gate: its mode, its refusals and its scopes."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatewright.agent.commands.outcome import Scope
from gatewright.permissions.context import Call
from gatewright.permissions.decide import decide
from gatewright.permissions.decision import Allow, Deny
from gatewright.permissions.modes import COLUMNS, MODES, columns, looser, tightest
from gatewright.permissions.policy import Policy, PolicyConfig
from gatewright.tools.access import Access, RemoteTool, ShellText, Where

CHILD = "main/a1"


def policy(root: Path, mode: str = "default") -> Policy:
    return Policy(
        PolicyConfig(root=root, cwd=root, home=root.parent, mode=mode, trusted=True, agents=True)
    )


def test_a_child_follows_its_parent_live(tmp_path: Path) -> None:
    made = policy(tmp_path)
    grandchild = made.view(f"{CHILD}/b2")
    assert (made.view(CHILD).mode, grandchild.mode) == ("default", "default")
    made.set("acceptEdits")
    assert (made.view(CHILD).mode, grandchild.mode) == ("acceptEdits", "acceptEdits")
    made.set("delegate")
    assert (made.view().mode, made.view(CHILD).mode) == ("delegate", "default")


def test_a_mode_of_its_own_stays_and_is_capped_live(tmp_path: Path) -> None:
    made = policy(tmp_path, "acceptEdits")
    child = made.view(CHILD)
    assert child.keep("default") == "default"
    assert child.keep("acceptEdits") == "acceptEdits"
    made.set("default")
    assert child.mode == "default"
    made.set("plan")
    assert child.mode == "plan"
    made.leave_plan()
    made.set("acceptEdits")
    assert child.mode == "acceptEdits"
    with pytest.raises(ValueError, match="no mode"):
        child.keep("nonsense")


@pytest.mark.parametrize("parent", MODES)
@pytest.mark.parametrize("wanted", MODES)
def test_no_column_of_a_child_is_looser_than_its_parents(parent: str, wanted: str) -> None:
    over = columns("default" if parent == "delegate" else parent)
    given = columns(tightest(parent, wanted))
    assert all(given[column] <= over[column] for column in COLUMNS)


def test_two_modes_may_each_be_looser_than_the_other() -> None:
    """A rank would let a child of one have what only the other lets run."""
    assert looser("acceptEdits", "autoInProject") and looser("autoInProject", "acceptEdits")
    assert tightest("autoInProject", "acceptEdits") == "autoInProject"
    assert tightest("acceptEdits", "autoInProject") == "acceptEdits"
    assert tightest("acceptEdits", "work") == "acceptEdits"
    assert tightest("bypassPermissions", "acceptEdits") == "acceptEdits"


def test_refusals_are_counted_for_each_agent(tmp_path: Path) -> None:
    made = policy(tmp_path)
    assert [made.view(CHILD).refused("k") for _ in range(3)] == [1, 2, 3]
    assert made.view().refused("k") == 1
    made.view(CHILD).granted("k")
    assert made.view(CHILD).refused("k") == 1


def decided(made: Policy, root: Path, agent: str, command: str) -> object:
    where = Where(root, root, root.parent)
    call = Call("Bash", {"command": command}, Access(runs=ShellText(command, root)))
    return decide(call, made.context(where, agent=agent))


def test_a_scope_is_its_agents_alone_and_ends(tmp_path: Path) -> None:
    made = policy(tmp_path)
    made.view(CHILD).enter(Scope(by="x", allow=("Bash(make test)",), deny=("Bash(ls:*)",)))
    assert isinstance(decided(made, tmp_path, CHILD, "make test"), Allow)
    assert isinstance(decided(made, tmp_path, CHILD, "ls"), Deny)
    assert not isinstance(decided(made, tmp_path, "main", "make test"), Allow)
    assert isinstance(decided(made, tmp_path, "main", "ls"), Allow)
    made.add("deny", "Bash(make:*)")
    assert isinstance(decided(made, tmp_path, CHILD, "make test"), Deny), "later rules count too"
    made.remove("Bash(make:*)")
    made.view(CHILD).enter(Scope(by="x"))
    assert not isinstance(decided(made, tmp_path, CHILD, "make test"), Allow)
    assert isinstance(decided(made, tmp_path, CHILD, "ls"), Allow)


@pytest.mark.parametrize("rule", ["Bash", "Bash(*)", "*", "Bash(python:*)"])
def test_a_scope_grants_nothing_wide(tmp_path: Path, rule: str) -> None:
    made = policy(tmp_path)
    made.view().enter(Scope(by="x", allow=(rule,)))
    assert not isinstance(decided(made, tmp_path, "main", "python x.py"), Allow)


def test_an_agent_that_is_gone_is_forgotten_once_nobody_is_below_it(tmp_path: Path) -> None:
    made, below = policy(tmp_path, "acceptEdits"), f"{CHILD}/b"
    made.views.begins(CHILD).keep("plan")
    made.views.begins(below).enter(Scope(by="x", deny=("Bash(ls:*)",)))
    made.forget(CHILD)
    assert made.view(below).mode == "plan"
    assert isinstance(decided(made, tmp_path, below, "ls"), Deny), "it has not ended"
    made.views.begins(CHILD)
    assert made.view(below).mode == "acceptEdits", "who started it goes on, with no mode of its own"
    made.forget(CHILD)
    assert made.views.stands(CHILD)
    made.forget(below)
    assert not made.views.stands(CHILD) and not made.views.stands(below)
    assert isinstance(decided(made, tmp_path, below, "ls"), Allow)


def test_what_a_scope_forbids_binds_those_below_it(tmp_path: Path) -> None:
    made = policy(tmp_path)
    below = f"{CHILD}/b"
    made.view(CHILD).enter(Scope(by="x", allow=("Bash(make test)",), deny=("Bash(ls:*)",)))
    assert isinstance(decided(made, tmp_path, below, "ls"), Deny)
    assert not isinstance(decided(made, tmp_path, below, "make test"), Allow), "a grant does not"
    made.view(CHILD).enter(Scope(by="x", only=("Read", "Bash")))
    assert isinstance(decided(made, tmp_path, below, "ls"), Allow)
    made.view(below).enter(Scope(by="x", only=("Bash", "Glob")))
    assert isinstance(decided(made, tmp_path, below, "ls"), Allow), "both lists name it"
    made.view(CHILD).enter(Scope(by="x", only=("Read", "Glob")))
    assert isinstance(decided(made, tmp_path, below, "ls"), Deny)
    assert isinstance(decided(made, tmp_path, "main", "ls"), Allow)
    made.view(CHILD).enter(Scope(by="x", only=()))
    assert isinstance(decided(made, tmp_path, CHILD, "ls"), Deny), "an empty list names nothing"


def test_a_strangers_tool_is_not_the_one_that_is_named(tmp_path: Path) -> None:
    made = policy(tmp_path)
    made.view().enter(Scope(by="x", only=("mcp__own__*", "Read", "nonsense(")))
    where = Where(tmp_path, tmp_path, tmp_path.parent)
    for server, named in (("own", True), ("other", False)):
        access = Access(remote=RemoteTool(server, "Read"))
        call = Call(f"mcp__{server}__Read", {}, access)
        assert isinstance(decide(call, made.context(where)), Deny) is not named
