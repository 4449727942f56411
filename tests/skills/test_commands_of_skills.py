"""Commands in the text of a skill run through the gate, in order; what is planted never runs."""

from __future__ import annotations

from pathlib import Path

from gatewright.agent.record.events import Decided, InputRefused, Noticed, SkillInvoked
from tests.skills.invocations import call, opened, skill, texts, turns

PLANTED = "!`touch planted` $(touch planted) ${SKILL_DIR} $ARGUMENTS @notes.md"


async def test_what_is_planted_never_runs(tmp_path: Path) -> None:
    body = "About $ARGUMENTS.\n!`cat notes.md`\n@notes.md\n!`printf %s $ARGUMENTS`\n"
    skill(tmp_path / "project", "look", body)
    (tmp_path / "project" / "notes.md").write_text(PLANTED, encoding="utf-8")
    script = (call("look", PLANTED), "say: 1", "say: 2")
    async with opened(
        tmp_path, *script, own={"permissions": {"allow": ["Bash(printf:*)"]}}
    ) as made:
        await turns(made, "go", f"/look {PLANTED}")
        result = await made.finished("s1")
        assert result.count(PLANTED) == 4, "as it is, in arguments, output and file"
        assert texts(made).count(PLANTED) >= 4
        assert not list(made.project.rglob("planted"))


async def test_a_command_that_is_denied_ends_the_invocation(tmp_path: Path) -> None:
    skill(tmp_path / "project", "deploy", "Now: !`git push origin $0`\n")
    async with opened(tmp_path, call("deploy", "main"), "say: 1", interactive=False) as made:
        await turns(made, "go", "/deploy main")
        said = await made.finished("s1")
        assert "the command `git push origin main` was not run" in said
        assert "would permit it" in said and "Bash(git push" in said
        (refused,) = made.seen.of(InputRefused)
        assert refused.text == "/deploy main"
        assert "`git push origin main` was not run" in refused.reason
        assert not made.seen.of(SkillInvoked)
        assert len(made.server.bodies) == 2, "the refused line was sent to nobody"


async def test_how_a_command_ended_stands_in_its_place(tmp_path: Path) -> None:
    body = "[!`echo no; exit 3`|\n!`ls nothing-there`]\n"
    skill(tmp_path / "project", "deploy", body.replace("[!", "[ !"))
    own = {"permissions": {"allow": ["Bash(echo no; exit 3)"]}}
    async with opened(tmp_path, "say: 1", own=own) as made:
        await turns(made, "/deploy")
        said = texts(made)
        assert "no\n[exit 3]|" in said and "[exit 2]]" in said
        told = [e.text for e in made.seen.of(Noticed) if "exit 3" in e.text]
        assert told == ["/deploy: the command `echo no; exit 3`: exit 3"]


async def test_settings_keep_commands_from_running(tmp_path: Path) -> None:
    skill(tmp_path / "project", "deploy", "Now: !`touch ran`\n")
    own = {"disableSkillShellExecution": True}
    async with opened(tmp_path, "say: 1", own=own) as made:
        await turns(made, "/deploy")
        assert "Your settings run no commands of skills" in texts(made)
        assert not (made.project / "ran").exists()


async def test_a_person_is_asked_about_its_commands_as_usual(tmp_path: Path) -> None:
    skill(tmp_path / "project", "deploy", "Now: !`mkdir made && echo fine`\n")
    async with opened(tmp_path, "say: done") as made:
        await made.session.run_command("/deploy")
        asked = await made.asked()
        assert "For the skill deploy (.claude/skills/deploy/SKILL.md), which you typed." in str(
            asked
        )
        made.answer(asked, "once")
        await made.ended()
        assert "Now: fine" in texts(made)
        (decided,) = made.seen.of(Decided)
        assert (decided.behavior, decided.answer) == ("allow", "once")


async def test_an_interrupt_stops_the_invocation_and_gives_the_line_back(tmp_path: Path) -> None:
    skill(tmp_path / "project", "deploy", "Now: !`mkdir made`\n", "allowed-tools: Bash(ls)")
    async with opened(tmp_path, "say: done") as made:
        await made.session.run_command("/deploy x")
        await made.asked()
        assert made.session.interrupt()
        await made.session.idle()
        (refused,) = made.seen.of(InputRefused)
        assert (refused.text, refused.reason) == ("/deploy x", "Interrupted.")
        assert not made.server.bodies and not (made.project / "made").exists()
        await turns(made, "and now")
        assert "/deploy" not in texts(made)


async def test_safe_neighbours_run_side_by_side_and_the_rest_in_order(tmp_path: Path) -> None:
    body = "!`echo 1`\n!`mkdir a`\n!`ls -d a`\n!`echo 2`\n"
    own = {"permissions": {"allow": ["Bash(mkdir a)"]}}
    skill(tmp_path / "project", "many", body)
    async with opened(tmp_path, call("many"), "say: 1", own=own, interactive=False) as made:
        await turns(made, "go")
        assert "1\n\na\n2" in await made.finished("s1")
        calls = [event.call_id for event in made.seen.of(Decided)]
        assert sorted(calls) == ["s1", "s1-1", "s1-2", "s1-3", "s1-4"]
