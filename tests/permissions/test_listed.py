"""Rules as people look at them and type them, decisions that stay explainable, doubts."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatewright.permissions.context import Call
from gatewright.permissions.decide import decide
from gatewright.permissions.decision import DecisionRecord
from gatewright.permissions.doubts import doubt
from gatewright.permissions.paths import Place
from gatewright.permissions.policy import Policy, PolicyConfig
from gatewright.permissions.recent import KEPT, Judged, Recent
from gatewright.permissions.rulebook.rules import RuleTexts
from gatewright.tools.access import Access, ShellText, Where

PLACE = Place(root="/w/proj", cwd="/w/proj", home="/home/u", start="/w/proj")


def policy(folder: Path, *, trusted: bool = True, mode: str = "default", **lists: str) -> Policy:
    texts = {name: (text,) for name, text in lists.items()}
    config = PolicyConfig(
        root=folder,
        cwd=folder,
        home=folder / "home",
        rules={"project": RuleTexts(**texts)},
        trusted=trusted,
        mode=mode,
        auto_available=True,
    )
    return Policy(config)


def run(book: Policy, root: Path, command: str) -> None:
    call = Call("Bash", {"command": command}, Access(runs=ShellText(command, root)))
    context = book.context(Where(root, root, root / "home"))
    decision = decide(call, context)
    record = DecisionRecord("c", "Bash", command, "deny", str(decision.reason.stage), "because")
    book.recent.add(record, Judged(call, context, decision))


@pytest.mark.parametrize(
    ("lists", "trusted", "mode", "mark", "about"),
    [
        (
            {"allow": "Bash(git:*)"},
            True,
            "default",
            "",
            "Allows git, alone or with anything behind it.",
        ),
        ({"allow": "Bash("}, True, "default", "invalid", "It is not of the form Tool(specifier)"),
        ({"deny": "Bash( )"}, True, "default", "invalid", "it counts as a rule for all of Bash."),
        ({"allow": "Read(a) (b)"}, True, "default", "", "Allows reading and searching"),
        ({"allow": "Bash"}, False, "default", "ignored", "too broad for a project"),
        ({"allow": "Edit(src/../**)"}, False, "default", "ignored", "too broad for a project"),
        ({"allow": "Edit(//home/**)"}, False, "default", "ignored", "too broad for a project"),
        ({"allow": "Bash"}, True, "auto", "ignored", "Auto mode leaves it out"),
        ({"allow": "Bash(ls)", "deny": "Bash"}, True, "default", "shadowed", "deny Bash (project)"),
    ],
)
def test_what_is_wrong_stands_beside_the_rule(
    tmp_path: Path, lists: dict[str, str], trusted: bool, mode: str, mark: str, about: str
) -> None:
    book = policy(tmp_path, trusted=trusted, mode=mode, **lists)
    wanted = next(iter(lists.values()))
    (row,) = [row for row in book.listed() if row.text == wanted]
    assert row.mark == mark
    assert about in row.about
    assert row.source == "project"


def test_built_in_questions_come_last(tmp_path: Path) -> None:
    rows = policy(tmp_path, ask="Bash(ls)").listed()
    assert [row.source for row in rows][:2] == ["project", "builtin"]


@pytest.mark.parametrize(
    ("behavior", "text", "valid", "says"),
    [
        ("allow", "", False, "Bash(npm test)"),
        ("allow", "Bash(npm run *)", True, "Allows commands that look like npm run *"),
        ("ask", "Bash(git push:*)", True, "Asks before git push, alone or with anything"),
        ("deny", "Bash(make)", True, "Forbids the command make, exactly so."),
        ("deny", "Read(src/**)", True, "Forbids reading and searching {root}/src/**."),
        ("deny", "Read(.env)", True, "reading and searching .env in whatever directory."),
        ("deny", "Edit(~/x)", True, "Forbids changing {root}/home/x."),
        ("deny", "Write(//etc/x)", True, "Forbids Write of /etc/x."),
        ("allow", "WebFetch(domain:a.org)", True, "pages of a.org and of what is below it"),
        ("allow", "WebFetch(domain:*.a.org)", True, "pages below a.org."),
        ("allow", "mcp__git__log", True, "the tool log of the server git"),
        ("allow", "mcp__git", True, "every tool of the server git"),
        ("allow", "Skill(commit)", True, "the skill commit"),
        ("allow", "Agent(Explore)", True, "agents of the kind Explore"),
        ("allow", "SlashCommand(/n:*)", True, "/n, with any arguments"),
        ("deny", "Agent(model:opus)", True, "calls of Agent whose model is opus"),
        ("ask", "Edit", True, "every call of Edit, also of MultiEdit, NotebookEdit, Write."),
        ("deny", "*", True, "every call of every tool"),
        ("allow", "Bash(", False, "It is not of the form Tool(specifier)"),
        ("allow", "Skill(com*)", False, "needs an exact name"),
        ("deny", "(x)", False, "names no tool"),
    ],
)
def test_a_rule_says_what_it_is_about_while_it_is_typed(
    tmp_path: Path, behavior: str, text: str, valid: bool, says: str
) -> None:
    found = policy(tmp_path).proposed(behavior, text)
    assert found.valid is valid, found
    assert says.format(root=tmp_path) in found.text


@pytest.mark.parametrize(
    ("behavior", "text", "hint"),
    [
        ("allow", "Bash(rm x)", "It would never count: deny Bash(rm:*) (project) forbids it."),
        ("deny", "Bash(rm:*)", "There is deny Bash(rm:*) already (project)."),
        ("allow", "Bsh(ls)", "No tool is called Bsh. Did you mean Bash?"),
        ("allow", "Bash(python3:*)", "What it allows can run any code."),
        ("deny", "Bash(make:*)", "Of the last calls it fits make all · make it."),
        ("allow", "Bash(make all)", "Of the last calls it fits make all."),
    ],
)
def test_hints_before_a_rule_is_added(tmp_path: Path, behavior: str, text: str, hint: str) -> None:
    book = policy(tmp_path, deny="Bash(rm:*)")
    for command in ("ls", "make it", "make all", "make all"):
        run(book, tmp_path, command)
    assert hint in book.proposed(behavior, text).hints


def test_a_session_rule_is_removed_from_one_list(tmp_path: Path) -> None:
    book = policy(tmp_path)
    book.add("allow", "Bash(ls)")
    book.add("deny", "Bash(ls)")
    book.remove("Bash(ls)", "deny")
    assert [(row.behavior, row.text) for row in book.listed() if row.source == "session"] == [
        ("allow", "Bash(ls)")
    ]


def test_a_decision_keeps_its_number_while_others_are_made(tmp_path: Path) -> None:
    book = policy(tmp_path)
    book.recent = Recent(now=iter(range(1000)).__next__)
    run(book, tmp_path, "make one")
    first = book.past()[0]
    assert (first.tool, first.target, first.at) == ("Bash", "make one", 0)
    run(book, tmp_path, "make two")
    assert [past.target for past in book.past()] == ["make two", "make one"]
    assert "make one" in str(book.explain(first.serial)[0])
    for number in range(KEPT):
        run(book, tmp_path, f"true {number}")
    with pytest.raises(ValueError, match="too long ago"):
        book.explain(first.serial)


@pytest.mark.parametrize(
    ("directory", "never", "says"),
    [
        ("/", True, "whole machine"),
        ("/home/u/.gatewright", True, "never opened"),
        ("/w/other/.gatewright/x", True, "never opened"),
        ("/home/u/.ssh", False, "can run code"),
        ("/home/u/.aws/x", False, "~/.aws holds keys"),
        ("/w/other/.git/hooks", False, "can run code"),
        ("/home/u", False, "whole home"),
        ("/home", False, "whole home"),
        ("/w", False, "this project and all that lies beside it"),
        ("/etc/nginx", False, "belongs to the system"),
        ("/w/other", False, ""),
        ("/home/u/other", False, ""),
        ("/etcetera", False, ""),
    ],
)
def test_doubts_about_a_directory(directory: str, never: bool, says: str) -> None:
    found = doubt(directory, PLACE)
    assert found.never is never
    assert says in found.text
    assert bool(found.text) is bool(says)
