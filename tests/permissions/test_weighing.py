"""Rules that a person types while they are asked: what each would do, whether it may be kept."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from gatewright.permissions.check import call_and_context
from gatewright.permissions.context import Call
from gatewright.permissions.decide import decide
from gatewright.permissions.decision import Ask, DecisionRecord, Stage
from gatewright.permissions.policy import Policy, PolicyConfig
from gatewright.permissions.recent import Judged, Put
from gatewright.permissions.rulebook.rules import Bare, RuleTexts, ShellForm
from gatewright.permissions.shell.danger.danger_table import SUBCOMMANDS
from gatewright.permissions.shell.danger.examples import OTHERS, examples
from gatewright.tools.access import Access, RemoteTool, ShellText, Where
from gatewright.tools.interact import Weighed

PUSH = "git push origin main"
ALL_PUSHES = RuleTexts(ask=("Bash(git push:*)",))
THERE = RuleTexts(ask=("Bash(git push origin:*)",))
NONE = "It would not cover this call"


def policy(folder: Path, *, mode: str = "default", **sources: RuleTexts) -> Policy:
    config = PolicyConfig(
        root=folder,
        cwd=folder,
        home=folder.parent,
        rules=sources,
        trusted=True,
        mode=mode,
        auto_available=True,
    )
    return Policy(config)


def judged(book: Policy, folder: Path, command: str) -> Judged:
    call = Call("Bash", {"command": command}, Access(runs=ShellText(command, folder)))
    return judged_call(book, folder, call)


def judged_call(book: Policy, folder: Path, call: Call) -> Judged:
    context = book.context(Where(folder, folder, folder.parent))
    return Judged(call, context, decide(call, context))


def asked(book: Policy, folder: Path, command: str, *rules: str) -> Weighed:
    """What these rules would do for a command that is asked about now."""
    book.put = Put("c", "main", judged(book, folder, command))
    return book.weigh("c", rules)


def past(book: Policy, folder: Path, *commands: str) -> None:
    for command in commands:
        one = judged(book, folder, command)
        stage = str(one.decision.reason.stage)
        book.recent.add(DecisionRecord("p", "Bash", command, "allow", stage, "because"), one)


@pytest.mark.parametrize(
    ("command", "rule", "problem"),
    [
        (PUSH, "Bash(git push:*)", ""),
        (PUSH, "Bash(git push origin main)", ""),
        (PUSH, "Bash(git push origin *)", ""),
        (PUSH, "Bash(git:*)", ""),
        (PUSH, "Bash", ""),
        (PUSH, "*", ""),
        (PUSH, "  Bash(git push:*) ", ""),
        (PUSH, "Bash(git pull:*)", f"{NONE}."),
        (PUSH, "Bash(git push origin dev)", f"{NONE}."),
        (PUSH, "Bash(git pus:*)", f"{NONE}."),
        (PUSH, "Read(src/**)", f"{NONE}."),
        (PUSH, "mcp__git", f"{NONE}."),
        (PUSH, "", "That is no rule yet."),
        (PUSH, "Bash(", "That is no rule yet."),
        (PUSH, "Bash()", "That is no rule yet."),
        (PUSH, "Bash(:*)", "That is no rule yet."),
        ("make all && git fetch", "Bash(make all)", f"{NONE}: git fetch."),
        ("make all && git fetch", "Bash(make:*)", f"{NONE}: git fetch."),
        ("make all && git fetch", "Bash(make all && git fetch)", ""),
        ("make $TARGET", "Bash(make:*)", f"{NONE}."),
        ("make $TARGET", "Bash(make $TARGET)", ""),
        ('npm test "$(date)"', "Bash(npm test:*)", ""),
        ("git push > log", "Bash(git push:*)", "No rule settles this call"),
        ("rm -rf /", "Bash(rm:*)", "No rule settles this call"),
        ("rm -rf src", "Bash(rm:*)", "No rule settles this call"),
    ],
)
def test_whether_a_rule_settles_the_call(
    tmp_path: Path, command: str, rule: str, problem: str
) -> None:
    found = asked(policy(tmp_path), tmp_path, command, rule)
    assert found.problem.startswith(problem)
    assert bool(found.problem) is bool(problem)


@pytest.mark.parametrize(
    ("lists", "rule", "problem"),
    [
        (ALL_PUSHES, "Bash(git push origin:*)", ""),
        (ALL_PUSHES, "Bash(git:*)", "asked all the same, by Bash(git push:*) (managed)."),
        (ALL_PUSHES, "Bash", "asked all the same, by Bash(git push:*) (managed)."),
        (THERE, "Bash(git push origin main)", ""),
        (THERE, "Bash(git push:*)", "asked all the same, by Bash(git push origin:*) (managed)."),
    ],
)
def test_settings_that_would_overrule_it_are_named(
    tmp_path: Path, lists: RuleTexts, rule: str, problem: str
) -> None:
    found = asked(policy(tmp_path, managed=lists), tmp_path, PUSH, rule)
    assert found.problem == (f"This call is {problem}" if problem else "")


def test_a_denial_that_came_meanwhile_is_named(tmp_path: Path) -> None:
    book = policy(tmp_path)
    assert asked(book, tmp_path, PUSH, "Bash(git push:*)").problem == ""
    book.add("deny", "Bash(git push:*)")
    found = book.weigh("c", ["Bash(git push:*)"])
    assert found.problem == "This call is refused all the same, by Bash(git push:*) (session)."


def test_an_answered_question_has_no_rules(tmp_path: Path) -> None:
    book = policy(tmp_path)
    assert book.weigh("c", ["Bash"]).problem == "That question is answered already."
    assert asked(book, tmp_path, PUSH, "Bash(git push:*)").problem == ""
    assert book.weigh("other", ["Bash"]).problem == "That question is answered already."


@pytest.mark.parametrize(
    ("rule", "about", "warning", "wide"),
    [
        ("Bash(git push:*)", "Allows git push, alone or with anything behind it.", "force", False),
        (
            "Bash(git push origin main)",
            "Allows the command git push origin main, exactly",
            "",
            False,
        ),
        ("Bash(git *)", "where * is anything", "git branch -D old", False),
        ("Bash", "Allows every call of Bash", "can run any code", True),
        ("Bash", "Allows every call of Bash", "rm -rf src", True),
        ("Bash(sudo:*)", "Allows sudo, alone", "can run any code", True),
        ("Bash(npm run:*)", "Allows npm run, alone", "can run any code", True),
        ("Bash(*)", "Allows commands that look like *", "can run any code", True),
        ("*", "Allows every call of every tool", "can run any code", True),
        ("Bsh(git push:*)", "", "Did you mean Bash?", False),
        ("WebFetch(domain:p\u0443pi.org)", "", "xn--", False),
    ],
)
def test_what_a_rule_would_do_and_what_to_know_before(
    tmp_path: Path, rule: str, about: str, warning: str, *, wide: bool
) -> None:
    (found,) = asked(policy(tmp_path), tmp_path, PUSH, rule).rules
    assert about in found.about
    assert warning in " ".join(found.warnings)
    assert bool(warning) is bool(found.warnings)
    assert found.wide is wide


def test_a_variable_holds_whatever_it_is_by_then(tmp_path: Path) -> None:
    (found,) = asked(policy(tmp_path), tmp_path, "make $T", "Bash(make $T)").rules
    assert found.warnings == ("It holds whatever $T is by then.",)


def test_earlier_calls_that_it_would_have_let_run(tmp_path: Path) -> None:
    """Those that were asked about; once each, and not this one."""
    book = policy(tmp_path, user=RuleTexts(ask=("Bash(git push --tags)",)))
    past(book, tmp_path, "git push origin dev", "ls", "make all", "git push", PUSH, "git push")
    past(book, tmp_path, "git push --tags", "git push --force")
    (found,) = asked(book, tmp_path, PUSH, "Bash(git push:*)").rules
    assert found.others == ("git push --force", "git push", "git push origin dev")
    assert "Still asked: Bash(git push --tags) (user)." in found.warnings
    (narrow,) = book.weigh("c", ["Bash(git push origin main)"]).rules
    assert narrow.others == ()
    past(book, tmp_path, *(f"git push origin b{n}" for n in range(5)))
    (found,) = asked(book, tmp_path, PUSH, "Bash(git push:*)").rules
    assert len(found.others) == 4
    assert found.others[-1] == "5 more"


def test_what_other_rules_allow_by_now_is_not_told_of_this_one(tmp_path: Path) -> None:
    book = policy(tmp_path)
    past(book, tmp_path, "git push origin dev", "make all")
    book.add("allow", "Bash(git push:*)")
    (found,) = asked(book, tmp_path, "git fetch", "Bash(git:*)").rules
    assert found.others == ()
    assert not any("git push --force" in each for each in found.warnings)
    assert any("git branch -D old" in each for each in found.warnings)


def test_what_of_it_is_refused_all_the_same(tmp_path: Path) -> None:
    book = policy(tmp_path, managed=RuleTexts(deny=("Bash(git push --force:*)",)))
    (found,) = asked(book, tmp_path, PUSH, "Bash(git push:*)").rules
    assert "Still refused: Bash(git push --force:*) (managed)." in found.warnings
    assert not any("let run unasked: git push --force" in each for each in found.warnings)


def test_auto_mode_keeps_nothing_that_runs_any_code(tmp_path: Path) -> None:
    book = policy(tmp_path)
    assert asked(book, tmp_path, "python3 a.py", "Bash(python3 a.py)").problem == ""
    book.set("auto")
    found = book.weigh("c", ["Bash(python3 a.py)"])
    assert found.problem == f"{NONE}. Auto mode leaves it out, as it can run any code."


def test_a_tool_of_a_server_may_be_allowed_with_all_others(tmp_path: Path) -> None:
    book = policy(tmp_path)
    access = Access(remote=RemoteTool("tracker", "list"))
    call = Call("mcp__tracker__list", {}, access)
    book.put = Put("c", "main", judged_call(book, tmp_path, call))
    assert book.weigh("c", ["mcp__tracker__list"]).problem == ""
    assert book.weigh("c", ["mcp__tracker"]).problem == ""
    assert book.weigh("c", ["mcp__other"]).problem == f"{NONE}."


@pytest.mark.parametrize("name", sorted({*OTHERS, *SUBCOMMANDS}))
def test_every_example_of_a_loss_is_one(name: str) -> None:
    found = [*examples(ShellForm("prefix", name, name))]
    assert found
    for command in found:
        call, context = call_and_context({"tool": "Bash", "input": {"command": command}})
        decision = decide(call, context)
        assert decision.reason.stage is Stage.SAFETY, command
    assert {*examples(Bare())}


@pytest.mark.parametrize(
    ("command", "steps"),
    [
        (
            PUSH,
            f"{PUSH} · {PUSH}:* · git push origin:* · git push:* · git:*",
        ),
        ("pytest", "pytest · pytest:*"),
        ("rm x", "rm x"),
        ("python3 a.py", "python3 a.py"),
        ("npm run build -- --x", "npm run build -- --x · npm run build:*"),
        ("make all", "make all · make all:*"),
        ("cat ../x", "cat ../x"),
    ],
)
def test_narrower_and_wider_ones_are_at_hand(tmp_path: Path, command: str, steps: str) -> None:
    """All of them settle the call, none lets run any code, each holds more than the one before."""
    book = policy(tmp_path)
    decision = judged(book, tmp_path, command).decision
    assert isinstance(decision, Ask)
    (grant,) = decision.grants
    assert " · ".join(step[len("Bash(") : -1] for step in grant.steps) == steps
    assert grant.rule in grant.steps
    for step in grant.steps:
        assert asked(book, tmp_path, command, step).problem == ""


@pytest.mark.parametrize(
    ("command", "could", "told"),
    [
        ("rm $X", "", "No rule can hold rm $X: only the shell knows what $X is."),
        (
            "make $T",
            "Bash(make $T)",
            "Only word for word could make $T be a rule: only the shell knows what $T is.",
        ),
        (
            "npm test $X",
            "Bash(npm test $X)",
            "what $X is; without it Bash(npm test:*) could be one.",
        ),
        (
            "npm test && rm $X",
            "",
            "npm test alone could be a rule: Bash(npm test:*). No rule can hold rm $X",
        ),
        ("$X all", "", "No rule can hold $X all: only the shell knows which program $X is."),
        ("cat $X", "", "No rule can hold cat $X"),
        ("python3 $X", "", "No rule can hold python3 $X"),
        ("make $T > log", "", "No rule can hold make $T: only the shell knows what $T is."),
        (
            'npm test "$(date)"',
            "Bash(npm test:*)",
            'Bash(npm test:*) would hold npm test "$(date)" whatever comes',
        ),
        ("for f in a b; do make $f; done", "Bash(for f in a b; do make $f; done)", "word for word"),
        ("python3 -c 1", "", "No rule can hold python3 -c 1: it carries the program that it runs."),
        ("npx node -e 1", "", "No rule can hold npx node -e 1: it carries the program"),
        ("npx -c 1", "", "No rule can hold npx -c 1: it carries the program that it runs."),
        ("echo hi > out", "", ""),
        ("touch ../x", "", ""),
        (PUSH, "", ""),
    ],
)
def test_a_line_without_always_says_which_part_could_be_a_rule(
    tmp_path: Path, command: str, could: str, told: str
) -> None:
    book = policy(tmp_path)
    decision = judged(book, tmp_path, command).decision
    assert isinstance(decision, Ask)
    assert told in decision.unruled
    assert bool(told) is bool(decision.unruled)
    assert [grant.rule for grant in decision.could] == ([could] if could else [])
    if could:
        assert decision.grants == ()
        assert asked(book, tmp_path, command, could).problem == ""


@pytest.mark.parametrize("command", ["npx tsc -p web/tsconfig.json", "uvx ruff check -e x"])
def test_a_program_that_is_named_is_not_carried(tmp_path: Path, command: str) -> None:
    decision = judged(policy(tmp_path), tmp_path, command).decision
    assert isinstance(decision, Ask)
    assert decision.unruled == ""
    assert [grant.rule for grant in decision.grants] == [f"Bash({command})"]


def test_a_keystroke_costs_little(tmp_path: Path) -> None:
    """With all that is remembered, a key is weighed far faster than anybody types."""
    book = policy(tmp_path)
    past(book, tmp_path, *(f"git push origin b{n} && make all{n}" for n in range(50)))
    asked(book, tmp_path, PUSH, "Bash(git push:*)")
    begun = time.process_time()
    for length in range(20):
        book.weigh("c", ["Bash(git push origin main)"[:length] + ":*)"])
    assert (time.process_time() - begun) / 20 < 0.1
