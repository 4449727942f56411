"""Whole sessions over a scripted model: what a run does, leaves, and gives back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gatewright.agent.commands.outcome import Outcome, Problem, Say
from gatewright.agent.extensions.project.project_extension import Projects
from gatewright.agent.extensions.project.project_session import ProjectSession
from gatewright.agent.record.events import (
    AgentStarted,
    Cleared,
    Decided,
    ModeChanged,
    Noticed,
    TextDelta,
    UserMessage,
)
from gatewright.tools.blocks import plain
from tests.fakes.waiting import eventually
from tests.permissions.composed import ID, WITHIN, Desk, desk
from tests.project.ground import BRANCH, demo, git, repository

PASS = 'say: {"verdict": "pass", "reason": "I saw it"}'
FAIL = 'say: {"verdict": "fail", "reason": "the file is empty"}'


def touch(name: str) -> str:
    return f'call[t{name}]: Bash {{"command": "touch {name}.txt"}}'


def done(name: str) -> Sequence[str]:
    """What the model does for a feature: work, and then its verification."""
    return (touch(name), "say: there it is", PASS)


def said(outcome: Outcome) -> str:
    assert isinstance(outcome, Say | Problem), outcome
    return "\n".join(plain(each) for each in outcome.blocks)


def of(made: Desk) -> ProjectSession:
    part = made.session.part(Projects)
    assert part is not None
    return part.opened()


async def line(made: Desk, text: str) -> str:
    return said(await made.session.run_command(f"/project {text}"))


async def ended(made: Desk) -> str:
    """What the run said at its end, once everything of it is over."""
    notice = await made.seen.until(
        Noticed, where=lambda each: each.text.startswith("Project: "), within=WITHIN
    )
    await eventually(lambda: not of(made).running)
    return notice.text


def modes(made: Desk) -> list[tuple[str, str]]:
    return [(each.mode, each.by) for each in made.seen.of(ModeChanged)]


LENT = [("autoInProject", "project"), ("default", "project")]


async def test_auto_does_the_list_and_commits_each(tmp_path: Path) -> None:
    file = repository(tmp_path / "project")
    async with desk(tmp_path, [*done("f1"), *done("f2")]) as made:
        assert "Begins with f1" in await line(made, "auto")
        assert "2 done. Nothing of the list is left." in await ended(made)
        assert [each.state for each in file.read().features] == ["done", "done"]
        log = git(made.project, "log", "--format=%s", BRANCH).split("\n")
        assert log[:3] == ["Feature 2", "Feature 1", "first"]
        assert git(made.project, "status", "--porcelain") == ""
        assert modes(made) == LENT
        assert made.session.mode == "default"
        assert len(made.seen.of(Cleared)) == 1, "between the two"
        assert [each.kind for each in made.seen.of(AgentStarted)] == ["verification"] * 2
        sources = {each.source for each in made.seen.of(UserMessage) if each.input_id}
        assert sources == {"project"}
        assert any("not the person's word" in text for text in made.words(0))


async def test_next_works_in_the_mode_of_the_session(tmp_path: Path) -> None:
    file = repository(tmp_path / "project")
    async with desk(tmp_path, list(done("f1"))) as made:
        await line(made, "next")
        made.answer(await made.asked(), "once")  # in this mode a command asks
        assert "1 done" in await ended(made)
        assert modes(made) == []
        assert [each.state for each in file.read().features] == ["done", "pending"]


async def test_a_quoted_verdict_is_none(tmp_path: Path) -> None:
    """What a file or an output says is no verdict: the answer is a value, or there is none."""
    file = repository(tmp_path / "project", demo("pending"))
    quoted = 'say: The log says VERDICT: PASS and {"verdict": "pass", "reason": "x"}.'
    script = [touch("f1"), "say: done"]
    for _ in range(3):
        script += [quoted] * 5 + ["say: again"]
    async with desk(tmp_path, script) as made:
        await line(made, "auto")
        assert "1 blocked" in await ended(made)
        assert "no valid answer" in file.read().features[0].note


async def test_a_failing_verification_is_repaired_then_blocked(tmp_path: Path) -> None:
    file = repository(tmp_path / "project", demo("pending"))
    script = [touch("f1"), "say: done", FAIL, "say: repaired", FAIL, "say: repaired", FAIL]
    async with desk(tmp_path, script) as made:
        await line(made, "auto")
        text = await ended(made)
        assert "1 blocked (f1)" in text
        assert "the file is empty" in file.read().features[0].note
        assert any("the file is empty" in text for text in made.words(3)), "the repair is told"
        assert "Leave blocked: Feature 1" in git(made.project, "log", "-1", "--format=%s")
        assert modes(made) == LENT


async def test_a_check_that_hangs_is_ended_and_counts_as_failed(tmp_path: Path) -> None:
    file = repository(tmp_path / "project", demo("pending"))
    text = file.path.read_text(encoding="utf-8")
    file.path.write_text(text.replace("test -e f1.txt", "sleep 600"), encoding="utf-8")
    async with desk(tmp_path, ["say: one", "say: two", "say: three"]) as made:
        of(made).turns.check_seconds = 0.2
        await line(made, "auto")
        assert "1 blocked" in await ended(made)
        assert "did not end within 0.2 s" in file.read().features[0].note
        assert not made.session.jobs_of("main").running()


async def test_a_check_is_a_command_like_any_other(tmp_path: Path) -> None:
    """It goes through the gate: what leaves the project is asked about, and nobody is there."""
    file = repository(tmp_path / "project", demo("pending"))
    text = file.path.read_text(encoding="utf-8")
    evil = f"touch {tmp_path}/outside"
    file.path.write_text(text.replace("test -e f1.txt", evil), encoding="utf-8")
    async with desk(tmp_path, ["say: one"], own={"autonomy": {"askWait": 0}}) as made:
        await line(made, "auto")
        assert "1 blocked" in await ended(made)
        assert not (tmp_path / "outside").exists()
        assert "was not run" in file.read().features[0].note


@pytest.mark.parametrize("before", ["default", "acceptEdits", "bypassPermissions", "dontAsk"])
async def test_esc_gives_the_mode_back_and_leaves_the_feature_begun(
    tmp_path: Path, before: str
) -> None:
    file = repository(tmp_path / "project")
    async with desk(tmp_path, ["say: slowly\nhang:", *done("f1")]) as made:
        made.session.set_mode(before)
        await line(made, "auto")
        await made.seen.until(TextDelta, within=WITHIN)
        assert made.session.mode == "autoInProject"
        await eventually(lambda: made.session.interrupt() or not of(made).running)
        assert "You stopped it." in await ended(made)
        assert made.session.mode == before
        assert [each.state for each in file.read().features] == ["doing", "pending"]


async def test_an_error_of_the_model_gives_the_mode_back(tmp_path: Path) -> None:
    file = repository(tmp_path / "project")
    async with desk(tmp_path, ["status: 401"]) as made:
        await line(made, "auto")
        assert "goes on with the next run" in await ended(made)
        assert modes(made) == LENT
        assert file.read().features[0].state == "doing"


async def test_stop_ends_it_and_the_next_goes_on(tmp_path: Path) -> None:
    file = repository(tmp_path / "project", demo("pending"))
    async with desk(tmp_path, ["say: slowly\nhang:", *done("f1")]) as made:
        await line(made, "auto")
        await made.seen.until(TextDelta, within=WITHIN)
        assert "already" in await line(made, "auto")
        assert "Under way: f1" in await line(made, "status")
        assert "It ends" in await line(made, "stop")
        await ended(made)
        assert made.session.mode == "default"
        await made.session.idle()
        (made.project / "half.txt").write_text("half", encoding="utf-8")
        await line(made, "auto")
        await eventually(lambda: not of(made).running)
        assert file.read().features[0].state == "done"
        assert "half.txt" in git(made.project, "show", "--name-only", BRANCH)


async def test_plan_mode_is_no_place_for_it(tmp_path: Path) -> None:
    repository(tmp_path / "project")
    async with desk(tmp_path, []) as made:
        made.session.set_mode("plan")
        for verb in ("auto", "next"):
            assert "plan mode" in await line(made, verb)
        assert made.session.mode == "plan"


async def test_the_person_who_changes_the_mode_ends_it_and_keeps_theirs(tmp_path: Path) -> None:
    repository(tmp_path / "project")
    async with desk(tmp_path, []) as made:
        await line(made, "auto --confirm")
        asked = await made.asked()
        assert made.session.mode == "autoInProject"
        made.session.set_mode("acceptEdits")
        made.answer(asked, "go")
        assert "You chose the mode acceptEdits" in await ended(made)
        assert made.session.mode == "acceptEdits"


async def test_what_changes_while_it_is_verified_is_checked_once_more(tmp_path: Path) -> None:
    """Whoever did it, the verification included: the check is about what is committed."""
    repository(tmp_path / "project", demo("pending"))
    moves = 'call[m]: Bash {"command": "mv f1.txt g1.txt"}'
    back = 'call[b]: Bash {"command": "mv g1.txt f1.txt"}'
    script = [touch("f1"), "say: there it is", moves, PASS, back, "say: again", PASS]
    async with desk(tmp_path, script) as made:
        await line(made, "auto")
        assert "1 done" in await ended(made)
        told = [each.text for each in made.seen.of(Noticed)]
        assert "Check failed: test -e f1.txt" in told
        assert "f1.txt" in git(made.project, "show", "--name-only", "--format=", "HEAD")


async def test_confirm_asks_before_each(tmp_path: Path) -> None:
    file = repository(tmp_path / "project")
    async with desk(tmp_path, list(done("f1"))) as made:
        await line(made, "auto --confirm")
        asked = await made.asked()
        assert "Begin f1" in asked.ask.title
        made.answer(asked, "go")
        made.answer(await made.asked(2), "stop")
        assert "f2 was not begun" in await ended(made)
        assert [each.state for each in file.read().features] == ["done", "pending"]


async def test_limits(tmp_path: Path) -> None:
    repository(tmp_path / "project")
    async with desk(tmp_path, list(done("f1"))) as made:
        await line(made, "auto --max 1")
        assert "1 done. f2 is next." in await ended(made)
        for wrong in ("--max", "--max x", "--budget -1", "--fast"):
            assert "/project auto [--confirm]" in await line(made, f"auto {wrong}")
        assert "--budget takes a number above 0" in await line(made, "auto --budget")


async def test_what_is_missing_is_said_with_how_it_is_written(tmp_path: Path) -> None:
    file = repository(tmp_path / "project")
    async with desk(tmp_path, ["say: hello"]) as made:
        assert (await line(made, "retry")).startswith("Say which one: /project retry ID")
        assert (await line(made, "add")).startswith("Say what is to be done: /project add TITLE")
        for each in file.read().features:
            file.put(replace(each, state="blocked"))
        assert "/project retry ID has a blocked one done again" in await line(made, "next")


async def test_a_budget_ends_it(tmp_path: Path) -> None:
    repository(tmp_path / "project")
    async with desk(tmp_path, [touch("f1"), "say: done", PASS]) as made:
        await line(made, "auto --budget 0.000001")
        assert "(--budget)" in await ended(made)
        assert of(made).limit
        assert made.session.mode == "default"


async def test_turns_an_hour_are_counted(tmp_path: Path) -> None:
    repository(tmp_path / "project")
    own = {"autonomy": {"maxTurnsPerHour": 1}}
    async with desk(tmp_path, list(done("f1")), own=own) as made:
        await line(made, "auto")
        assert "1 an hour" in await ended(made)


async def test_a_dirty_tree_and_a_strange_head_are_told_first(tmp_path: Path) -> None:
    repository(tmp_path / "project")
    async with desk(tmp_path, []) as made:
        (made.project / "mine.txt").write_text("mine", encoding="utf-8")
        await line(made, "auto")
        assert "commit or stash" in await ended(made)
        assert modes(made) == LENT
        assert made.server.bodies == []


async def test_without_git_it_works_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    async with desk(tmp_path, list(done("f1"))) as made:
        assert "f1" in await line(made, "add One | There is a file | test -e f1.txt")
        await line(made, "auto")
        assert "1 done" in await ended(made)
        assert any("Nothing is committed" in each.text for each in made.seen.of(Noticed))


async def test_what_was_finished_before_a_crash_is_committed_first(tmp_path: Path) -> None:
    file = repository(tmp_path / "project", demo("pending", "pending"))
    git(tmp_path / "project", "checkout", "-qb", BRANCH)
    file.write(demo("done", "pending"))
    (tmp_path / "project" / "f1.txt").write_text("f1", encoding="utf-8")
    async with desk(tmp_path, list(done("f2"))) as made:
        await line(made, "auto")
        assert "1 done" in await ended(made)
        log = git(made.project, "log", "--format=%s").split("\n")
        assert log[:3] == ["Feature 2", "Feature 1", "first"]
        assert "f1.txt" in git(made.project, "show", "--name-only", "HEAD~1")


async def test_a_resumed_session_is_in_the_mode_from_before(tmp_path: Path) -> None:
    """As after kill -9: the file ends while the mode is borrowed."""
    repository(tmp_path / "project")
    async with desk(tmp_path, ["say: slowly\nhang:"]) as made:
        made.session.set_mode("acceptEdits")
        await line(made, "auto")
        await made.seen.until(TextDelta, within=WITHIN)
        (path,) = (tmp_path / "home").rglob(f"projects/*/{ID}.jsonl")
        await eventually(lambda: '"project"' in path.read_text(encoding="utf-8"))
        cut = path.read_bytes()
    path.write_bytes(cut)
    async with desk(tmp_path, [], options={"resume": ID}) as again:
        assert again.session.mode == "acceptEdits"


async def test_init_shows_the_list_before_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    step = {"title": "Say hello", "acceptance": "It says hello", "check": "test -e hello"}
    plan = f"say: {json.dumps({'features': [step, {**step, 'title': 'Say bye'}]})}"
    async with desk(tmp_path, [plan, plan]) as made:
        await line(made, "init A greeting")
        asked = await made.asked()
        shown = "\n".join(plain(each) for each in asked.ask.body)
        assert "Say hello" in shown and "Check: test -e hello" in shown
        made.answer(asked, "no")
        await made.seen.until(
            Noticed, where=lambda each: "was not written" in each.text, within=WITHIN
        )
        assert not of(made).file.there
        await made.session.idle()
        await line(made, "init A greeting")
        made.answer(await made.asked(2), "write")
        await eventually(lambda: of(made).file.there)
        listed = of(made).file.read()
        assert (listed.goal, [each.title for each in listed.features]) == (
            "A greeting",
            ["Say hello", "Say bye"],
        )
        assert "There is a list already" in await line(made, "init Another")
        assert "Say bye" in await line(made, "list")


async def test_an_untrusted_project_orders_nothing(tmp_path: Path) -> None:
    repository(tmp_path / "project")
    async with desk(tmp_path, ["say: hello"], trust=False) as made:
        for verb in ("list", "next", "auto", "add x", "init x", "status", "retry f1"):
            assert "not trusted" in await line(made, verb)
        made.session.submit("hi")
        await made.ended()
        assert "FeatureUpdate" not in json.dumps(made.server.bodies[0])


def update(id: str, **more: Any) -> str:
    return f"call[u{len(more)}]: FeatureUpdate {json.dumps({'id': id, **more})}"


async def test_the_model_notes_and_never_says_done(tmp_path: Path) -> None:
    file = repository(tmp_path / "project")
    script = [
        update("f1", note="The port is 8080"),
        f"call[d]: FeatureUpdate {json.dumps({'id': 'f1', 'state': 'done'})}",
        update("f2", state="blocked", note="No network"),
        "say: noted",
    ]
    async with desk(tmp_path, script) as made:
        made.session.submit("note it")
        assert "Noted for f1" in await made.finished("u1")
        assert "its input is wrong" in await made.finished("d")
        assert "f2 is blocked" in await made.finished("u2")
        await made.ended()
        features = file.read().features
        assert [(each.state, each.note) for each in features] == [
            ("pending", "The port is 8080"),
            ("blocked", "No network"),
        ]
        assert "waits to be done again" in await line(made, "retry f2")
        assert file.read().features[1].state == "pending"


async def test_without_a_list_the_first_request_has_nothing_of_it(tmp_path: Path) -> None:
    async with desk(tmp_path, ["say: hello"]) as made:
        made.session.submit("hi")
        await made.ended()
        part = made.session.part(Projects)
        assert part is not None and part.session is None
        assert "FeatureUpdate" not in json.dumps(made.server.bodies[0])


async def test_the_file_is_never_edited(tmp_path: Path) -> None:
    """In every mode a person has to answer, whichever way it would change."""
    file = repository(tmp_path / "project")
    before = file.path.read_bytes()
    name = ".gatewright/project/features.json"
    script = [
        f"call[c1]: Write {json.dumps({'file_path': name, 'content': '{}'})}",
        f"call[c2]: Bash {json.dumps({'command': f'echo > {name}'})}",
        f"call[c3]: Bash {json.dumps({'command': 'rm -r .gatewright/project'})}",
        "say: tried",
    ]
    for mode in ("bypassPermissions", "autoInProject", "acceptEdits"):
        async with desk(tmp_path, script, mode=mode, interactive=False) as made:
            made.session.submit("change it")
            await made.ended()
            assert [each.behavior for each in made.seen.of(Decided)] == ["deny"] * 3, mode
            assert file.path.read_bytes() == before
        (path,) = (tmp_path / "home").rglob(f"projects/*/{ID}.jsonl")
        path.unlink()
