"""Drafts of skills: made of what a session did, without its secrets; kept apart until approved."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path

import pytest

from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.skills.learning.drafting import NoDraft, as_skill, drafted
from gatewright.agent.extensions.skills.learning.drafts import DAY, DAYS, MOST, Drafts
from gatewright.agent.extensions.skills.learning.material import WHOLE, material
from gatewright.agent.extensions.skills.learning.repeats import Repeats
from gatewright.agent.record.events import (
    AnyEvent,
    Decided,
    Envelope,
    ToolFinished,
    ToolStarted,
    UserMessage,
)
from gatewright.agent.text.redact import Redactor
from gatewright.skills.reading import read_data
from gatewright.tools.protocol import TextContent

SECRET = "sk-" + "x1" * 12
GOOD = "---\nname: release\ndescription: Makes a release. Use when one is due.\n---\n\n1. Tag it.\n"
KEY = "-----BEGIN PRIVATE KEY-----\n" + "abcd1234" * 400 + "\n-----END PRIVATE KEY-----"


def called(number: int, name: str, **input: str) -> list[AnyEvent]:
    id = f"c{number}"
    about = input.get("file_path", "")
    return [
        ToolStarted(call_id=id, name=name, input=dict(input), verb="", target=about),
        ToolFinished(call_id=id, ok=True, content=(TextContent("what it printed"),)),
    ]


def said(text: str, *, hidden: bool = False, source: str = "") -> UserMessage:
    return UserMessage(content=(TextContent(text),), hidden=hidden, source=source)


def wrapped(events: Sequence[AnyEvent], agent: str = "main") -> list[Envelope]:
    return [
        Envelope(seq=n, uuid=f"i{n}", parent="", timestamp=0.0, agent=agent, event=event)
        for n, event in enumerate(events)
    ]


def test_it_is_the_persons_words_and_what_was_called() -> None:
    refused = Decided(
        call_id="c9", tool="Bash", target="", behavior="deny", stage="", reason="", answer="no"
    )
    failed = ToolFinished(call_id="c3", ok=False, content=(TextContent("no such tag\nmore"),))
    events = [
        said("Release it, please"),
        said("a notice", hidden=True),
        said("done in the background", source="job"),
        *called(1, "Bash", command="git tag -a v1"),
        *called(2, "Read", file_path="/p/CHANGELOG.md"),
        failed,
        refused,
    ]
    envelopes = [*wrapped(events), *wrapped(called(7, "Bash", command="of an agent"), "main/a1")]
    assert material(envelopes, Redactor({})).split("\n") == [
        "PERSON: Release it, please",
        "CALL: Bash git tag -a v1",
        "CALL: Read /p/CHANGELOG.md",
        "FAILED: no such tag",
        "REFUSED BY THE PERSON: Bash",
    ]
    assert material(wrapped([said("only talk")]), Redactor({})) == ""


def test_secrets_are_taken_out_before_anything_is_cut() -> None:
    events = [said(f"the key is {SECRET} and\n{KEY}"), *called(1, "Bash", command=f"x {SECRET}")]
    text = material(wrapped(events), Redactor({"MY_TOKEN": "hunter2hunter2"}))
    assert SECRET not in text and "abcd1234abcd" not in text
    assert text.count("[redacted]") == 3
    long = [event for n in range(3_000) for event in called(n, "Bash", command=f"step {n}")]
    text = material(wrapped(long), Redactor({}))
    assert len(text) < WHOLE + 100 and "step 0" in text and "step 2999" in text


async def test_what_a_model_writes_is_made_a_skill_that_acts_in_nothing() -> None:
    answers = [
        "I cannot",
        "```markdown\n---\nname: release\ndescription: 'It: releases'\nallowed-tools: Bash\n"
        "hooks: {}\n---\nRun !`rm -rf x` and\n```!\nls\n```\n and use " + SECRET + "\n```",
    ]
    asked: list[str] = []

    async def ask(system: str, text: str) -> str:
        asked.append(text)
        return answers[len(asked) - 1]

    name, text = await drafted(ask, "CALL: x", "", Redactor({}))
    assert name == "release" and "was no use: it does not begin with ---" in asked[1]
    assert "allowed-tools" not in text and "hooks" not in text
    assert "!`" not in text and "```!" not in text and SECRET not in text
    read = read_data(text.encode(), Path("/x/release/SKILL.md"), "release", "skill")
    assert read.diagnostics == () and read.said is not None
    assert read.said.description == "It: releases"


async def test_no_procedure_and_no_skill() -> None:
    async def nothing(system: str, text: str) -> str:
        return "NOTHING."

    async def rubbish(system: str, text: str) -> str:
        return "---\nname: Bad Name\ndescription: x\n---\nDo.\n"

    with pytest.raises(NoDraft, match="found no procedure"):
        await drafted(nothing, "m", "", Redactor({}))
    with pytest.raises(NoDraft, match="other characters"):
        await drafted(rubbish, "m", "", Redactor({}))
    assert (await drafted(rubbish, "m", "mine", Redactor({})))[0] == "mine"


@pytest.mark.parametrize(
    "text", ["", "x", "---\nname: a\n---\n", "---\nname: a\ndescription: b\n---\n"]
)
def test_an_answer_that_is_none(text: str) -> None:
    with pytest.raises(ValueError):
        as_skill(text, "")


def test_drafts_are_kept_changed_and_gone(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path)
    kept = drafts.save("release", GOOD)
    assert kept.wrong == () and kept.description.startswith("Makes a release")
    assert (tmp_path / "skill-drafts/release/SKILL.md").is_file()
    with pytest.raises(GatewrightError, match="is no name"):
        drafts.save("../up", GOOD)
    with pytest.raises(GatewrightError, match=r"no draft 'other'\. Drafts: release"):
        drafts.find("other")
    drafts.discard("release")
    assert drafts.all() == [] and not (tmp_path / "skill-drafts/release").exists()


def test_the_oldest_go_and_what_is_too_old(tmp_path: Path) -> None:
    now = 10_000_000.0
    drafts = Drafts(tmp_path, lambda: now)
    for number in range(MOST + 2):
        path = drafts.folder / f"d{number}" / "SKILL.md"
        path.parent.mkdir(parents=True)
        path.write_text(GOOD, encoding="utf-8")
        os.utime(path, (now - number, now - number))
    assert [draft.name for draft in drafts.all()] == [f"d{n}" for n in range(MOST)]
    os.utime(drafts.folder / "d3" / "SKILL.md", (0, now - (DAYS + 1) * DAY))
    assert "d3" not in {draft.name for draft in drafts.all()}
    for number in range(5):
        drafts.save(f"big{number}", GOOD + "x" * 240_000)
        os.utime(drafts.folder / f"big{number}" / "SKILL.md", (now + number, now + number))
    assert len([draft for draft in drafts.all() if draft.name.startswith("big")]) == 4


def test_approving_makes_it_a_skill(tmp_path: Path) -> None:
    drafts, skills = Drafts(tmp_path / "home"), tmp_path / "project/.gatewright/skills"
    drafts.save("release", GOOD)
    path = drafts.approve("release", skills, inside=tmp_path / "project", replace=False)
    assert path.read_text(encoding="utf-8") == GOOD
    assert drafts.all() == []
    drafts.save("release", GOOD + "2. Say so.\n")
    with pytest.raises(GatewrightError, match="say replace"):
        drafts.approve("release", skills, inside=tmp_path / "project", replace=False)
    drafts.approve("release", skills, inside=tmp_path / "project", replace=True)
    assert "Say so" in path.read_text(encoding="utf-8")


def test_what_is_put_into_the_home_is_private(tmp_path: Path) -> None:
    drafts, home = Drafts(tmp_path / "drafts"), tmp_path / "home"
    drafts.save("release", GOOD)
    drafts.approve("release", home / "skills", inside=None, replace=False)
    made = (home, home / "skills", home / "skills" / "release")
    assert [stat.S_IMODE(path.stat().st_mode) for path in made] == [0o700] * 3


def test_none_is_put_outside_the_project_or_where_it_is_no_skill(tmp_path: Path) -> None:
    drafts, project = Drafts(tmp_path / "home"), tmp_path / "project"
    project.mkdir()
    (tmp_path / "elsewhere").mkdir()
    (project / "skills").symlink_to(tmp_path / "elsewhere")
    drafts.save("release", GOOD)
    with pytest.raises(GatewrightError, match="leads out of the project"):
        drafts.approve("release", project / "skills", inside=project, replace=False)
    assert not list((tmp_path / "elsewhere").rglob("SKILL.md"))
    drafts.save("bad", "---\nname: bad\n")
    with pytest.raises(GatewrightError, match="is no skill yet"):
        drafts.approve("bad", project, inside=None, replace=False)


def fed(events: Sequence[AnyEvent]) -> Repeats:
    repeats = Repeats()
    for event in events:
        repeats.saw(event)
    return repeats


def round_(at: int) -> list[AnyEvent]:
    return [
        *called(at, "Edit", file_path=f"/p/{at}.py"),
        *called(at + 1, "Bash", command=f"npm test -- {at}"),
        *called(at + 2, "Bash", command=f"git commit -m 'part {at}'"),
    ]


def test_what_was_done_three_times_is_a_procedure() -> None:
    once, other = round_(0), called(50, "Bash", command="ls")
    assert fed([*once, *round_(10), *other]).procedure() == ()
    found = fed([*once, *other, *round_(10), *other, *round_(20)]).procedure()
    assert found == ("Edit", "Bash npm test", "Bash git commit")


def test_looking_around_is_none_and_what_failed_does_not_count() -> None:
    reads = [event for n in range(30) for event in called(n, "Read", file_path=f"/{n}")]
    grep = [event for n in range(9) for event in (*called(n, "Read"), *called(n, "Grep"))]
    assert fed(reads).procedure() == fed(grep).procedure() == ()
    failed = [
        ToolFinished(call_id=e.call_id, ok=False, content=()) if isinstance(e, ToolFinished) else e
        for n in range(0, 30, 10)
        for e in round_(n)
    ]
    assert fed(failed).procedure() == ()
