"""Skills that are another agent's work, and those that an agent begins with."""

from __future__ import annotations

import json
from pathlib import Path

from gatewright.agent.commands.outcome import Problem, Say
from gatewright.agent.record.events import AgentStarted, Noticed
from gatewright.tools.blocks import plain
from tests.skills.invocations import call, opened, skill, texts, turns


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
