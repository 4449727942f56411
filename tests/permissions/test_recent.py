"""What `/permissions` shows: rules with what is wrong with them, directories, last decisions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gatewright.permissions.context import Call
from gatewright.permissions.decide import decide
from gatewright.permissions.decision import DecisionRecord
from gatewright.permissions.policy import Policy, PolicyConfig
from gatewright.permissions.recent import KEPT, SHOWN, Judged, Recent
from gatewright.permissions.rulebook.rules import RuleTexts
from gatewright.permissions.rulebook.shadowed import sentence, shadows
from gatewright.tools.access import Access, ShellText, Where
from gatewright.tools.blocks import Table, Text, plain
from tests.fakes.commands import told as said
from tests.permissions.composed import desk


def policy(folder: Path, allow: str = "", ask: str = "", deny: str = "") -> Policy:
    lists = RuleTexts(*((text,) if text else () for text in (allow, ask, deny)))
    rules = {"user": lists}
    home = folder / "home"
    return Policy(
        PolicyConfig(
            root=folder, cwd=folder, home=home, directories=(folder.parent / "added",), rules=rules
        )
    )


SHADOWED: list[tuple[str, str]] = [
    ("Bash(git push)", "Bash(git:*)"),
    ("Bash(git push:*)", "Bash(git:*)"),
    ("Bash(git:*)", "Bash(git:*)"),
    ("Bash(git  push)", "Bash(git push)"),
    ("Bash(git push:*)", "Bash(git *)"),
    ("Bash(npm run *)", "Bash(npm run *)"),
    ("Bash(ls)", "Bash"),
    ("Bash(ls)", "*"),
    ("mcp__s__t", "mcp__s"),
    ("mcp__s__t", "mcp__s__*"),
    ("Edit(src/a/**)", "Edit(src/**)"),
    ("Edit(src/**)", "Edit(src/**)"),
    ("WebFetch(domain:a.b.org)", "WebFetch(domain:b.org)"),
    ("WebFetch(domain:b.org)", "WebFetch(domain:b.org)"),
    ("WebFetch(domain:b.org)", "WebFetch"),
    ("Skill(x)", "Skill(x)"),
]
COUNTS: list[tuple[str, str]] = [
    ("Bash(git:*)", "Bash(git push:*)"),
    ("Bash(gitk)", "Bash(git:*)"),
    ("Bash(git push:*)", "Bash(git push)"),
    ("Bash(git push:*)", "Bash(git *--force)"),
    ("Bash(npm run *)", "Bash(npm run b*)"),
    ("mcp__s__t", "mcp__s__u"),
    ("Edit(src/**)", "Edit(src/a/**)"),
    ("Edit(srcs/a)", "Edit(src/**)"),
    ("Read(src/a)", "Edit(src/**)"),
    ("WebFetch(domain:b.org)", "WebFetch(domain:a.b.org)"),
    ("WebFetch(domain:b.org)", "WebFetch(domain:*.b.org)"),
    ("Skill(x)", "Skill(y)"),
    ("Bash(ls)", "Edit"),
]


@pytest.mark.parametrize("behavior", ["allow", "ask"])
@pytest.mark.parametrize(("rule", "deny"), SHADOWED)
def test_a_rule_that_never_counts_is_marked(
    tmp_path: Path, behavior: str, rule: str, deny: str
) -> None:
    book = policy(tmp_path, deny=deny, **{behavior: rule})
    ((found, by),) = shadows(book.rules())
    assert (found.text, by.text) == (rule, deny)
    told = [block.text for block in book.table() if isinstance(block, Text)]
    assert told == [sentence(found, by)]
    assert rule in told[0]


@pytest.mark.parametrize(("rule", "deny"), COUNTS)
def test_a_rule_that_may_count_is_not(tmp_path: Path, rule: str, deny: str) -> None:
    assert list(shadows(policy(tmp_path, allow=rule, deny=deny).rules())) == []


def test_rules_come_first_then_directories(tmp_path: Path) -> None:
    rules, told, directories = policy(tmp_path, allow="Bash(").table()
    assert isinstance(rules, Table)
    assert rules.rows[0] == ("allow", "Bash(", "user")
    assert isinstance(told, Text)
    assert "it is ignored" in told.text
    assert isinstance(directories, Table)
    assert directories.rows == (
        (str(tmp_path), "the project, not trusted"),
        (str(tmp_path.parent / "added"), "added"),
    )


def judged(book: Policy, root: Path, command: str) -> tuple[DecisionRecord, Judged]:
    access = Access(runs=ShellText(command, root))
    call = Call("Bash", {"command": command}, access)
    context = book.context(Where(root, root, root / "home"))
    decision = decide(call, context)
    record = DecisionRecord("c", "Bash", command, "deny", str(decision.reason.stage), "because")
    return record, Judged(call, context, decision)


def test_decisions_are_kept_up_to_a_limit(tmp_path: Path) -> None:
    book, recent = policy(tmp_path), Recent()
    assert recent.table() is None
    with pytest.raises(ValueError, match="Nothing was decided"):
        recent.why(1)
    for number in range(KEPT + 5):
        recent.add(*judged(book, tmp_path, f"make {number}"))
    table = recent.table()
    assert table is not None
    assert len(table.rows) == SHOWN
    assert table.rows[0][:4] == ("1", "deny", "Bash", f"make {KEPT + 4}")
    assert "make 5:" in plain(recent.why(KEPT)[0])
    with pytest.raises(ValueError, match=f"There are {KEPT} decisions"):
        recent.why(KEPT + 1)


async def test_why_tells_how_it_was_decided_then(tmp_path: Path) -> None:
    calls = [f"call[c{n}]: Bash {json.dumps({'command': 'npm test'})}" for n in (1, 2)]
    async with desk(tmp_path, [*calls, "say: done"]) as opened:
        assert "Nothing was decided" in said(await opened.session.run_command("/permissions why"))
        opened.session.submit("go")
        opened.answer(await opened.asked(), "always")
        await opened.ended()
        shown = said(await opened.session.run_command("/permissions"))
        assert "Bash(npm test:*) (" in shown
        assert "you (always)" in shown
        last = said(await opened.session.run_command("/permissions why"))
        assert "> trusted allow rules: allow." in last
        first = said(await opened.session.run_command("/permissions why 2"))
        assert "> mode: ask." in first
        assert '"always" would store: Bash(npm test:*)' in first
        none = said(await opened.session.run_command("/permissions why 3"))
        assert none == "There are 2 decisions to explain."
