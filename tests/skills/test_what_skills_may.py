"""What an invoked skill may do and for how long, by its own fields and by whose it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatewright.agent.record.events import Asked, Decided, Noticed
from gatewright.tools.blocks import plain
from tests.skills.invocations import MAKE, call, opened, skill, texts, turns


@pytest.mark.parametrize("place", ["project", "home"])
async def test_its_rules_hold_until_the_next_message(tmp_path: Path, place: str) -> None:
    skill(tmp_path / place, "deploy", "Deploy.\n", "allowed-tools: Bash(mkdir made)")
    script = (call("deploy"), MAKE, "say: 1", MAKE.replace("[m]", "[n]"), "say: 2")
    async with opened(tmp_path, *script, interactive=False) as made:
        await turns(made, "go", "again")
        first, second = await made.decided("m"), await made.decided("n")
        assert (first.behavior, first.source) == ("allow", "command")
        assert "the skill deploy (" in first.reason and "SKILL.md)" in first.reason
        assert second.behavior == "deny"


WIDE = ("Bash", "Bash(*)", "*", "Bash(python3:*)", "Bash(bash:*)", "WebFetch", "mcp__x")


@pytest.mark.parametrize("place", ["project", "home"])
async def test_wide_rules_of_any_origin_permit_nothing(tmp_path: Path, place: str) -> None:
    rules = "\n".join(f"  - {rule!r}" for rule in WIDE)
    skill(tmp_path / place, "deploy", "!`mkdir inline`\n", f"allowed-tools:\n{rules}")
    run = """call[m]: Bash {"command": "python3 -c 1"}"""
    async with opened(tmp_path, call("deploy"), MAKE, run, "say: 1", interactive=False) as made:
        await turns(made, "go")
        assert "`mkdir inline` was not run" in await made.finished("s1")
        assert {e.behavior for e in made.seen.of(Decided) if e.tool == "Bash"} == {"deny"}
        assert not list(made.project.glob("*ade")) and not (made.project / "inline").exists()
        assert [e for e in made.seen.of(Noticed) if "too broad" in e.text]


async def test_what_it_may_not_allow_is_said_in_one_line_that_names_it(tmp_path: Path) -> None:
    allowed = "allowed-tools: Read, Grep, Bash(python3 *), Write, Bash(git log:*)"
    skill(tmp_path / "home", "deploy", "Deploy.\n", allowed)
    skill(tmp_path / "home", "look", "Look.\n", "allowed-tools: Read, Grep, Glob, TodoWrite")
    async with opened(tmp_path, "say: 1", "say: 2") as made:
        await turns(made, "/deploy")
        told = [e.text for e in made.seen.of(Noticed)]
        await turns(made, "/look")
        after = [e.text for e in made.seen.of(Noticed)][len(told) :]
    assert told == [
        "/deploy: Bash(python3 *), Write are too broad to allow, so they still ask.",
        "/deploy until your next message: allows Bash(git log:*)",
    ]
    assert after == []  # what is read in the project asks nobody anyway


async def test_an_untrusted_projects_skill_acts_in_nothing(tmp_path: Path) -> None:
    hook = 'hooks:\n  PreToolUse:\n    - hooks: [{type: command, command: "touch hooked"}]'
    front = f"allowed-tools: Bash(mkdir made)\nmodel: other\neffort: max\n{hook}"
    skill(tmp_path / "project", "deploy", "Look: !`touch ran`\n", front)
    async with opened(tmp_path, "say: hm", MAKE, "say: no", trust=False, interactive=False) as made:
        await turns(made, "/deploy", "/deploy now")
        assert "[This project is not trusted: its command was not run]" in texts(made)
        assert sorted(path.name for path in made.project.iterdir()) == [".claude"]
        assert {e.behavior for e in made.seen.of(Decided)} == {"deny"}
        assert {body["model"] for body in made.server.bodies} == {"claude-sonnet-5-5"}
        told = made.seen.of(Noticed)[0].text
        assert told.startswith("/deploy: allowed-tools, hooks, model, effort do not count, for")


async def test_an_untrusted_projects_skill_is_asked_about_once(tmp_path: Path) -> None:
    skill(tmp_path / "project", "deploy", "Deploy.\n")
    script = (call("deploy"), call("deploy", "2", "s2"), "say: done")
    async with opened(tmp_path, *script, trust=False) as made:
        made.session.submit("go")
        asked = await made.asked()
        made.answer(asked, "always")
        await made.ended()
        assert (await made.decided("s1")).answer == "always"
        second = await made.decided("s2")
        assert (second.answer, second.rule) == ("", "Skill(deploy)")


async def test_disallowed_tools_and_two_scopes_add_up(tmp_path: Path) -> None:
    project = tmp_path / "project"
    skill(project, "one", "One.\n", "allowed-tools: Bash(mkdir made)")
    skill(project, "two", "Two.\n", "disallowed-tools: Bash(ls:*)")
    look = """call[l]: Bash {"command": "ls"}"""
    script = (call("one"), call("two", id="s2"), MAKE, look, "say: 1", look.replace("[l]", "[k]"))
    async with opened(tmp_path, *script, "say: 2", interactive=False) as made:
        await turns(made, "go", "again")
        assert (await made.decided("m")).behavior == "allow"
        denied = await made.decided("l")
        assert denied.behavior == "deny" and "the skill two" in denied.reason
        assert (await made.decided("k")).behavior == "allow"


async def test_a_limit_is_one_only_where_it_says_so(tmp_path: Path) -> None:
    project = tmp_path / "project"
    skill(project, "free", "Free.\n", "allowed-tools: Read")
    skill(project, "kept", "Kept.\n", "allowed-tools: Read\nenforce-allowed-tools: true")
    look = """call[l]: Glob {"pattern": "*"}"""
    todo = """call[t]: TodoWrite {"todos": []}"""
    script = (call("free"), look, call("kept", id="s2"), look.replace("[l]", "[k]"), todo)
    async with opened(tmp_path, *script, call("free", "x", "s3"), "say: 1") as made:
        await turns(made, "go")
        assert (await made.decided("l")).behavior == "allow"
        denied = await made.decided("k")
        assert (denied.behavior, denied.stage) == ("deny", "skill")
        assert (await made.decided("t")).behavior == "allow"
        assert (await made.decided("s3")).behavior == "allow"


async def test_its_model_answers_for_it(tmp_path: Path) -> None:
    front = "model: anthropic/claude-haiku-4-5"
    skill(tmp_path / "project", "quick", "Quick.\n", front)
    skill(tmp_path / "project", "wrong", "Wrong.\n", "model: openai/gpt-9")
    async with opened(tmp_path, *["say: 1"] * 3) as made:
        await turns(made, "/quick", "again", "/wrong")
        models = [body["model"] for body in made.server.bodies]
        assert models == ["claude-haiku-4-5", "claude-sonnet-5-5", "claude-sonnet-5-5"]
        told = [e.text for e in made.seen.of(Noticed)]
        assert any("/quick until your next message: is answered by" in text for text in told)
        assert any("/wrong: " in text and "Your own model answers" in text for text in told)


HOOKED = """hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - {type: command, command: "echo one >> hooked"}
        - {type: command, command: "echo once >> hooked", once: true}"""


async def test_its_hooks_count_from_then_to_the_end(tmp_path: Path) -> None:
    skill(tmp_path / "project", "watch", "Watch.\n", HOOKED)
    look = """call[{}]: Bash {{"command": "ls"}}"""
    script = (look.format("a"), call("watch"), look.format("b"), "say: 1", look.format("c"))
    async with opened(tmp_path, *script, "say: 2") as made:
        await turns(made, "go", "again")
        lines = (made.project / "hooked").read_text(encoding="utf-8").split()
        assert sorted(lines) == ["once", "one", "one"]


async def test_what_a_projects_skill_would_do_is_in_the_question_of_trust(tmp_path: Path) -> None:
    front = f"allowed-tools: Bash(make:*)\n{HOOKED}"
    skill(tmp_path / "project", "deploy", "Now: !`git push origin`\n", front)
    skill(tmp_path / "home", "mine", "Mine: !`make`\n")
    async with opened(tmp_path, "say: 1", trust=False) as made:
        asked = await made.seen.until(Asked)
        assert asked.ask.kind == "trust"
        said = "\n".join(map(plain, asked.ask.body))
        assert "command git push origin of skill deploy" in said
        assert "rules Bash(make:*) of skill deploy" in said
        assert "echo once >> hooked" in said
        assert "mine" not in said
