"""Modes, launches and agents of workflows: the table, and that no call gets past its row."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from gatewright.permissions.context import Call
from gatewright.permissions.decide import decide
from gatewright.permissions.decision import Allow, Ask, Decision, Deny
from gatewright.permissions.modes import MODES, for_workflow
from gatewright.permissions.policy import Policy, PolicyConfig
from gatewright.permissions.rulebook.grants import options_for
from gatewright.permissions.rulebook.rules import RuleTexts
from gatewright.tools.access import MAIN, Access, Where
from tests.agents.test_never_more import RULES, calls, inputs

AGENT = "main/a1"
BELOW = "main/a1/b2"
# mode: with a person, without one, of its agents
TABLE: Mapping[str, tuple[str, str, str]] = {
    "default": ("dialog", "starts", "acceptEdits"),
    "acceptEdits": ("dialog", "starts", "acceptEdits"),
    "work": ("dialog", "starts", "acceptEdits"),
    "autoInProject": ("dialog", "starts", "acceptEdits"),
    "auto": ("dialog", "starts", "auto"),
    "dontAsk": ("refused", "refused", "dontAsk"),
    "plan": ("refused", "refused", "plan"),
    "delegate": ("refused", "refused", "default"),
    "bypassPermissions": ("starts", "starts", "acceptEdits"),
    "fullAccess": ("starts", "starts", "acceptEdits"),
}


def policy(
    tmp_path: Path, mode: str, rules: RuleTexts | None = None, *, interactive: bool = True
) -> Policy:
    root = tmp_path / "project"
    made = Policy(
        PolicyConfig(
            root=root,
            cwd=root,
            home=tmp_path / "home",
            trusted=True,
            agents=True,
            interactive=interactive,
            auto_available=True,
            rules={"user": rules or RuleTexts()},
        )
    )
    made.set(mode)
    return made


def where(tmp_path: Path) -> Where:
    root = tmp_path / "project"
    return Where(root, root, tmp_path / "home")


def launch(made: Policy, tmp_path: Path, subject: str = "", agent: str = MAIN) -> Decision:
    access = Access(kind="workflow", subject=subject)
    call = Call("Workflow", {"name": subject} if subject else {"script": "x"}, access)
    return decide(call, made.context(where(tmp_path), agent=agent))


def test_the_table_has_every_mode() -> None:
    assert set(TABLE) == set(MODES)


@pytest.mark.parametrize("mode", TABLE)
@pytest.mark.parametrize("interactive", [True, False])
def test_what_a_launch_comes_to(tmp_path: Path, mode: str, *, interactive: bool) -> None:
    with_person, alone, _ = TABLE[mode]
    expected = with_person if interactive else alone
    decision = launch(policy(tmp_path, mode, interactive=interactive), tmp_path)
    match decision:
        case Ask(answerer="human", grants=grants) as ask:
            assert expected == "dialog"
            assert [grant.session for grant in grants] == [True]
            labels = [option.label for option in options_for(ask, "nowhere")]
            assert labels == ["Yes", "Yes, don't ask again this session", "No"]
        case Allow():
            assert expected == "starts"
        case Deny():
            assert expected == "refused"
        case _:
            pytest.fail(str(decision))


@pytest.mark.parametrize("mode", TABLE)
def test_a_rule_starts_where_a_dialog_or_nothing_would(tmp_path: Path, mode: str) -> None:
    made = policy(tmp_path, mode, RuleTexts(allow=("Workflow(review)",)))
    decision = launch(made, tmp_path, "review")
    assert isinstance(decision, Allow) == (mode not in ("plan", "delegate", "auto"))
    another = launch(made, tmp_path)
    assert isinstance(another, Allow) == (TABLE[mode][0] == "starts"), "not a script of that name"
    denied = policy(tmp_path, mode, RuleTexts(deny=("Workflow",)))
    assert isinstance(launch(denied, tmp_path, "review"), Deny)


def test_consent_is_the_sessions_and_is_stored_nowhere(tmp_path: Path) -> None:
    made = policy(tmp_path, "default")
    made.consented |= {"Workflow"}
    for mode, (row, _, _) in TABLE.items():
        made.set(mode)
        decision = launch(made, tmp_path)
        assert isinstance(decision, Deny if row == "refused" else Allow), mode
    made.set("default")
    made.consented -= {"Workflow"}
    assert isinstance(launch(made, tmp_path), Ask)
    assert not made.problems


@pytest.mark.parametrize("mode", TABLE)
def test_its_agents_have_the_mode_of_the_row_and_follow_it(tmp_path: Path, mode: str) -> None:
    made = policy(tmp_path, "default")
    view = made.views.begins(AGENT)
    view.lead(for_workflow)
    assert view.mode == "acceptEdits"
    made.set(mode)
    assert view.mode == made.view(BELOW).mode == TABLE[mode][2]
    assert view.edits == made.view(BELOW).edits == (mode == "dontAsk")


def test_what_a_person_says_for_agents_counts_where_nothing_is_asked(tmp_path: Path) -> None:
    made = policy(tmp_path, "bypassPermissions")
    view = made.views.begins(AGENT)
    view.lead(lambda above: for_workflow(above, "fullAccess"))
    assert view.mode == "fullAccess"
    made.set("default")
    assert view.mode == "acceptEdits"


def test_a_mode_in_the_options_only_tightens(tmp_path: Path) -> None:
    made = policy(tmp_path, "default")
    view = made.views.begins(AGENT)
    assert view.lead(for_workflow, "plan") == "plan"
    assert view.lead(for_workflow, "bypassPermissions") == "acceptEdits"
    assert view.lead(for_workflow, "default") == "default"
    made.set("dontAsk")
    assert (view.mode, view.edits) == ("dontAsk", True)


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.proof)])
@pytest.mark.parametrize("interactive", [True, False])
@pytest.mark.parametrize("mode", TABLE)
def test_no_call_is_allowed_that_the_row_forbids(
    tmp_path: Path, mode: str, every: int, *, interactive: bool
) -> None:
    plan = tmp_path / "home" / ".gatewright" / "plans" / "s.md"
    allowed = 0
    for number, rules in enumerate(RULES):
        if number % every:
            continue
        made = policy(tmp_path, mode, rules, interactive=interactive)
        made.views.begins(AGENT).lead(for_workflow)
        row = policy(tmp_path, TABLE[mode][2], rules, interactive=interactive)
        for tool, access in calls(tmp_path / "project", plan):
            call = Call(tool, inputs(tool, access), access)
            for agent in (AGENT, BELOW):
                mine = decide(call, made.context(where(tmp_path), agent=agent))
                over = decide(call, row.context(where(tmp_path), agent=MAIN))
                edits = mode == "dontAsk" and access.writes and isinstance(mine, Allow)
                if edits:  # besides the row of that mode: what it edits inside
                    inside = policy(tmp_path, "acceptEdits", rules, interactive=interactive)
                    over = decide(call, inside.context(where(tmp_path), agent=MAIN))
                allowed += isinstance(mine, Allow)
                assert not isinstance(mine, Allow) or isinstance(over, Allow), (tool, access)
    assert allowed
