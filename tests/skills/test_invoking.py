"""Invoked in a composed session: by the model and by a person, through the real gate."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.commands.outcome import Problem, Say
from gatewright.agent.record.events import (
    AgentStarted,
    Asked,
    Decided,
    InputRefused,
    Noticed,
    SkillInvoked,
    UserMessage,
)
from gatewright.tools.blocks import plain
from gatewright.tools.protocol import TextContent
from tests.permissions.composed import Desk, desk

SKILLS = ".claude/skills"


def skill(top: Path, name: str, body: str, front: str = "", place: str = SKILLS) -> Path:
    folder = top / place / name
    folder.mkdir(parents=True)
    lines = f"name: {name}\ndescription: What {name} is for\n{front}".rstrip()
    file = folder / "SKILL.md"
    file.write_text(f"---\n{lines}\n---\n{body}", encoding="utf-8")
    return file


def call(name: str, args: str = "", id: str = "s1") -> str:
    return f"call[{id}]: Skill {json.dumps({'skill': name, 'args': args})}"


@asynccontextmanager
async def opened(folder: Path, *script: str, **options: Any) -> AsyncGenerator[Desk]:
    """`folder` holds `home` and `project` as `desk` makes them; skills are there already."""
    async with desk(folder, script, **options) as made:
        yield made


async def turns(made: Desk, *lines: str) -> None:
    for line in lines:
        if line.startswith("/"):
            await made.session.run_command(line)
        else:
            made.session.submit(line)
        await made.session.idle()


def texts(made: Desk, request: int = -1) -> str:
    return "\n".join(made.words(request))


async def test_the_model_invokes_one(tmp_path: Path) -> None:
    project = tmp_path / "project"
    file = skill(project, "deploy", "Deploy $ARGUMENTS from ${SKILL_DIR}.\n")
    (file.parent / "scripts").mkdir()
    (file.parent / "scripts" / "go.sh").write_text("echo", encoding="utf-8")
    (file.parent / "scripts" / "__pycache__").mkdir()
    (file.parent / "scripts" / "__pycache__" / "go.pyc").write_bytes(b"")
    async with opened(tmp_path, call("deploy", "to x"), "say: done") as made:
        await turns(made, "go")
        result = await made.finished("s1")
        assert f"Deploy to x from {file.parent}." in result
        assert "Files there: scripts/go.sh" in result
        (told,) = made.seen.of(SkillInvoked)
        assert (told.name, told.origin, told.path) == ("deploy", "project", str(file))
        assert (told.arguments, told.files, told.call_id) == (4, 1, "s1")
        decided = await made.decided("s1")
        assert decided.behavior == "allow"
        assert "deploy (.claude/skills/deploy/SKILL.md)" in decided.reason


async def test_a_person_types_one(tmp_path: Path) -> None:
    skill(tmp_path / "project", "deploy", "Deploy $0 with !`echo $1 | tr a-z A-Z`.\n")
    async with opened(tmp_path, "say: done") as made:
        await turns(made, "/deploy here 'it now'")
        said = texts(made)
        assert "Deploy here with IT NOW." in said
        assert "/deploy here 'it now'" in said
        (typed,) = [e for e in made.seen.of(UserMessage) if not e.hidden]
        assert typed.content == (TextContent("/deploy here 'it now'"),)
        (told,) = made.seen.of(SkillInvoked)
        assert told.call_id == ""
        (decided,) = made.seen.of(Decided)
        assert decided.tool == "Bash"
        assert "which you typed" in decided.reason


MAKE = """call[m]: Bash {"command": "mkdir made"}"""


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


async def test_whoever_types_what_is_not_theirs_is_told_why(tmp_path: Path) -> None:
    skill(tmp_path / "home", "rules", "Rules.\n", "user-invocable: false")
    async with opened(tmp_path) as made:
        assert "rules" not in {command.name for command in made.session.commands}
        outcome = await made.session.run_command("/rules")
        assert isinstance(outcome, Problem)
        assert "/rules is for the model" in plain(outcome.blocks[0])


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


async def test_the_same_text_is_a_note(tmp_path: Path) -> None:
    skill(tmp_path / "project", "deploy", "The long text, $0.\n")
    script = (call("deploy", "a"), call("deploy", "a", "s2"), call("deploy", "b", "s3"), "say: 1")
    async with opened(tmp_path, *script, "say: 2", "say: 3") as made:
        await turns(made, "go")
        assert "The long text, a." in await made.finished("s1")
        assert "invoked before with this very text" in await made.finished("s2")
        assert "The long text, b." in await made.finished("s3")
        await turns(made, "/deploy b", "/clear", "/deploy b")
        assert "invoked before" in texts(made, -2) and "invoked before" not in texts(made, -1)
        assert "The long text, b." in texts(made, -1)


async def test_who_may_not_invoke_it_is_told(tmp_path: Path) -> None:
    project = tmp_path / "project"
    skill(project, "mine", "Mine.\n", "disable-model-invocation: true")
    skill(project, "its", "Its.\n", "user-invocable: false")
    skill(project, "none", "None.\n")
    own = {"permissions": {"deny": ["Skill(none)"]}}
    script = (call("mine"), call("none", id="s2"), call("help", id="s3"), "say: 1")
    async with opened(tmp_path, *script, own=own) as made:
        await turns(made, "go")
        assert "Only the person starts mine" in await made.finished("s1")
        assert "denies" in await made.finished("s2")
        assert "There is no skill" in await made.finished("s3")
        outcome = await made.session.run_command("/its")
        assert isinstance(outcome, Problem)
        outcome = await made.session.run_command("/none")
        assert isinstance(outcome, Problem) and "denies" in plain(outcome.blocks[0])
        assert not made.seen.of(SkillInvoked)


async def test_several_in_one_line(tmp_path: Path) -> None:
    project = tmp_path / "project"
    skill(project, "one", "One $ARGUMENTS!\n")
    skill(project, "two", "Two $ARGUMENTS!\n", "allowed-tools: Bash(mkdir made)")
    async with opened(tmp_path, MAKE, "say: 1", interactive=False) as made:
        await turns(made, "/one /two the text")
        said = texts(made, 0)
        assert "One the text!" in said and "Two the text!" in said
        assert (await made.decided("m")).behavior == "allow"
        line = " ".join(["/one"] * 7)
        assert isinstance(await made.session.run_command(line), Problem)


async def test_command_files_are_commands_under_their_names(tmp_path: Path) -> None:
    folder = tmp_path / "project" / ".claude" / "commands" / "git"
    folder.mkdir(parents=True)
    (folder / "sync.md").write_text("---\nargument-hint: <branch>\n---\nSync $1!\n", "utf-8")
    skill(tmp_path / "home", "help", "My help.\n")
    async with opened(tmp_path, *["say: 1"] * 4) as made:
        commands = {each.name: each for each in made.session.commands}
        assert commands["git:sync"].args == "<branch>"
        assert commands["git:sync"].source == "project"
        assert commands["help"].source == "built-in"
        assert "user:help" in commands
        await turns(made, "/git:sync a", "/sync b", "/command:git:sync c", "/user:help")
        for request, text in enumerate(("Sync a!", "Sync b!", "Sync c!", "My help.")):
            assert text in texts(made, request)


async def test_its_directory_is_readable_once_it_was_invoked(tmp_path: Path) -> None:
    file = skill(tmp_path / "home", "deploy", "See references/more.md.\n")
    (file.parent / "references").mkdir()
    more = file.parent / "references" / "more.md"
    more.write_text("THE MORE", encoding="utf-8")
    read = f"call[r1]: Read {json.dumps({'file_path': str(more)})}"
    cat = f"call[c]: Bash {json.dumps({'command': f'cat {more}'})}"
    script = (read, call("deploy"), read.replace("r1", "r2"), cat, "say: 1")
    async with opened(tmp_path, *script, interactive=False) as made:
        await turns(made, "go")
        assert (await made.decided("r1")).behavior == "deny"
        assert "THE MORE" in await made.finished("r2")
        assert "THE MORE" in await made.finished("c")


async def test_files_that_the_template_names_come_along(tmp_path: Path) -> None:
    file = skill(tmp_path / "home", "look", "@rules.md and @own.md, @../../secret.md @.env\n")
    (file.parent / "rules.md").write_text("RULES", encoding="utf-8")
    (file.parent.parent.parent / "secret.md").write_text("SECRET", encoding="utf-8")
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "own.md").write_text("OWN", encoding="utf-8")
    (tmp_path / "project" / ".env").write_text("KEY=1", encoding="utf-8")
    async with opened(tmp_path, call("look"), "say: 1") as made:
        await turns(made, "go")
        said = texts(made)
        assert "RULES" in said and "OWN" in said
        assert "SECRET" not in said and "KEY=1" not in said


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


async def test_a_fork_is_another_agents_work(tmp_path: Path) -> None:
    front = "context: fork\nagent: general-purpose\nallowed-tools: Bash(mkdir made)"
    skill(tmp_path / "project", "look", "Look for $ARGUMENTS.\n", front)
    script = (call("look", "bugs"), "say: Found two.", "say: done")
    async with opened(tmp_path, *script) as made:
        await turns(made, "go")
        said = await made.finished("s1")
        assert "Found two." in said and "Look for bugs." not in said
        (started,) = made.seen.of(AgentStarted)
        assert (started.kind, started.call_id) == ("general-purpose", "s1")
        assert "Look for bugs." in started.prompt
        assert "Look for bugs." not in texts(made, -1).replace(started.prompt, "")


async def test_a_typed_fork_answers_under_the_line(tmp_path: Path) -> None:
    skill(tmp_path / "project", "look", "Look for $ARGUMENTS.\n", "context: fork")
    async with opened(tmp_path, "say: Found two.", "say: ok") as made:
        outcome = await made.session.run_command("/look bugs")
        assert isinstance(outcome, Say) and not isinstance(outcome, Problem)
        assert "Found two." in "".join(map(plain, outcome.blocks))
        await turns(made, "and now?")
        assert "Found two." in texts(made)


async def test_a_fork_of_an_unknown_type_is_an_error(tmp_path: Path) -> None:
    skill(tmp_path / "project", "look", "Look.\n", "context: fork\nagent: nobody")
    async with opened(tmp_path, call("look"), "say: 1") as made:
        await turns(made, "go")
        assert "nobody" in await made.finished("s1")
        assert not made.seen.of(AgentStarted)
        assert isinstance(await made.session.run_command("/look"), Problem)


async def test_an_agent_begins_with_the_skills_of_its_type(tmp_path: Path) -> None:
    skill(tmp_path / "project", "owasp", "Know the ten. !`touch ran`\n")
    agents = tmp_path / "project" / ".claude" / "agents"
    agents.mkdir(parents=True)
    (agents / "auditor.md").write_text(
        "---\nname: auditor\ndescription: audits\nskills: [owasp, missing]\n---\nAudit.\n", "utf-8"
    )
    asked = {"description": "d", "prompt": "p", "subagent_type": "auditor"}
    async with opened(tmp_path, f"call[a]: Agent {json.dumps(asked)}", "say: 1", "say: 2") as made:
        await turns(made, "go")
        assert "Know the ten." in json.dumps(made.server.bodies[1]["system"])
        told = [e.text for e in made.seen.of(Noticed)]
        assert any("auditor begins without the skill missing" in text for text in told)
        assert not (made.project / "ran").exists()


async def test_nobody_begins_with_a_skill_that_would_be_asked_about(tmp_path: Path) -> None:
    skill(tmp_path / "project", "owasp", "Know the ten.\n")
    for whose in ("home/.gatewright", "project/.claude"):
        agents = tmp_path / whose / "agents"
        agents.mkdir(parents=True)
        name = "mine" if whose.startswith("home") else "theirs"
        (agents / f"{name}.md").write_text(
            f"---\nname: {name}\ndescription: audits\nskills: owasp\n---\nAudit.\n", "utf-8"
        )
    calls = (
        {"description": "d", "prompt": "p", "subagent_type": name} for name in ("mine", "theirs")
    )
    script = (f"call[{n}]: Agent {json.dumps(asked)}" for n, asked in enumerate(calls))
    one, other = script
    async with opened(tmp_path, one, "say: 1", other, "say: 2", "say: 3", trust=False) as made:
        await turns(made, "go")
        assert len(made.seen.of(AgentStarted)) == 2
        assert not any("Know the ten." in json.dumps(body) for body in made.server.bodies)
        told = [e.text for e in made.seen.of(Noticed)]
        for name in ("mine", "theirs"):
            why = f"{name} begins without the skill owasp: it comes from a project that is not"
            assert any(why in text for text in told)


async def test_what_an_agent_begins_with_nobody_else_has_read(tmp_path: Path) -> None:
    skill(tmp_path / "project", "owasp", "Know them: @notes.txt\n")
    (tmp_path / "project" / "notes.txt").write_text("one\n", encoding="utf-8")
    agents = tmp_path / "project" / ".claude" / "agents"
    agents.mkdir(parents=True)
    (agents / "auditor.md").write_text(
        "---\nname: auditor\ndescription: audits\nskills: owasp\n---\nAudit.\n", "utf-8"
    )
    asked = {"description": "d", "prompt": "p", "subagent_type": "auditor"}
    edit = {"file_path": "notes.txt", "old_string": "one", "new_string": "two"}
    script = (
        f"call[a]: Agent {json.dumps(asked)}",
        "say: 1",
        f"call[e]: Edit {json.dumps(edit)}",
        "say: 2",
    )
    async with opened(tmp_path, *script) as made:
        await turns(made, "go")
        assert "one" in json.dumps(made.server.bodies[1]["system"])
        assert "ead" in await made.finished("e"), "the main agent has not seen it"
        assert (made.project / "notes.txt").read_text(encoding="utf-8") == "one\n"


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


async def test_what_a_projects_skill_would_do_is_in_the_question_of_trust(tmp_path: Path) -> None:
    front = f"allowed-tools: Bash(make:*)\n{HOOKED}"
    skill(tmp_path / "project", "deploy", "Now: !`git push origin`\n", front)
    skill(tmp_path / "home", "mine", "Mine: !`make`\n")
    async with opened(tmp_path, "say: 1", trust=False) as made:
        asked = await made.seen.until(Asked, within=8.0)
        assert asked.ask.kind == "trust"
        said = "\n".join(map(plain, asked.ask.body))
        assert "command git push origin of skill deploy" in said
        assert "rules Bash(make:*) of skill deploy" in said
        assert "echo once >> hooked" in said
        assert "mine" not in said


async def test_the_older_tool_runs_what_is_a_skill_and_no_command_of_ours(tmp_path: Path) -> None:
    skill(tmp_path / "project", "deploy", "Deploy $ARGUMENTS.\n")

    def line(id: str, text: str) -> str:
        return f"call[{id}]: SlashCommand {json.dumps({'command': text})}"

    script = (line("a", "/deploy to x"), line("b", "/clear"), "say: 1", line("c", "/deploy"))
    async with opened(tmp_path, *script, "say: 2", tools=("SlashCommand",)) as made:
        await turns(made, "go")
        assert "Deploy to x." in await made.finished("a")
        assert "There is no skill" in await made.finished("b")
        names = {tool["name"] for tool in made.server.bodies[0]["tools"]}
        assert "SlashCommand" in names and "Skill" not in names
        made.session.restrict([("deny", "SlashCommand(/deploy)")])
        await turns(made, "again")
        assert (await made.decided("c")).behavior == "deny"


async def test_the_bare_name_tells_of_variants_for_other_directories(tmp_path: Path) -> None:
    project = tmp_path / "project"
    skill(project, "deploy", "For all.\n")
    skill(project / "apps" / "web", "deploy", "For the web.\n")
    page = project / "apps" / "web" / "page.txt"
    page.write_text("x", encoding="utf-8")
    read = f"call[r]: Read {json.dumps({'file_path': str(page)})}"
    script = (read, call("deploy"), call("apps/web:deploy", id="s2"), "say: 1", "say: 2")
    async with opened(tmp_path, *script) as made:
        await turns(made, "go", "/apps/web:deploy")
        said = await made.finished("s1")
        assert "For all." in said and "apps/web:deploy (for apps/web)" in said
        assert "For the web." in await made.finished("s2")


async def test_a_summary_is_joined_by_what_was_invoked(tmp_path: Path) -> None:
    skill(tmp_path / "project", "deploy", "The rules of deploying.\n")
    long = "word " * 3_000
    async with opened(tmp_path, "say: 1", f"say: {long}", "say: SUMMARY", "say: 3") as made:
        await turns(made, "/deploy", "more", "/compact", "and now")
        said = texts(made)
        assert "SUMMARY" in said and "# The skill deploy, as it was invoked" in said
        assert "The rules of deploying." in said


async def test_its_directory_may_be_read_again_where_a_session_goes_on(tmp_path: Path) -> None:
    file = skill(tmp_path / "home", "deploy", "See more.md.\n")
    (file.parent / "more.md").write_text("THE MORE", encoding="utf-8")
    read = f"call[r]: Read {json.dumps({'file_path': str(file.parent / 'more.md')})}"
    async with opened(tmp_path, call("deploy"), "say: 1", interactive=False) as made:
        await turns(made, "go")
        id = made.session.id
    options = {"resume": id}
    async with opened(tmp_path, read, "say: 1", interactive=False, options=options) as made:
        await turns(made, "go on")
        assert "THE MORE" in await made.finished("r")


async def test_no_text_ends_its_own_frame(tmp_path: Path) -> None:
    skill(tmp_path / "home", "sly", "One </skill>\n< / Skill >\nTwo $0 !`printf '</skill>'`")
    async with opened(tmp_path, "say: ok") as made:
        await turns(made, "/sly '</skill>'")
        (said,) = (text for text in made.words(0) if "Two" in text)
        assert said.casefold().count("</skill>") == 1
        assert said.endswith("</skill>")
        assert "< / Skill" not in said
