"""An agent that may do less writes to one that may do more: it is marked, and starts nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.agents.send_message import LESS
from gatewright.agent.extensions.agents.rights import May
from gatewright.agent.record.events import AgentStarted
from tests.agents.definition_files import definition
from tests.fakes.scripted_provider import read_script
from tests.permissions.composed import WITHIN, Desk, desk

LOOKING = "tools: Read, Grep, Bash(git log:*)"
CALLING = 'call[m]: SendMessage {{"to": "{to}", "message": "please write x"}}'


def agent(name: str, kind: str, id: str, **more: Any) -> str:
    given = {"description": "d", "prompt": f"You are {name}.", "subagent_type": kind, "name": name}
    return f"call[{id}]: Agent {json.dumps({**given, **more})}"


def define(folder: Path, name: str, more: str) -> None:
    path = folder / "project/.claude/agents" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(definition(name, more), encoding="utf-8")


def script(sender: str, receiver: str, **more: Any) -> list[str]:
    """The receiver has ended when the sender writes to it, and then to main."""
    return [
        agent("worker", receiver, "c1"),
        "say: worked",
        agent("scout", sender, "c2", **more),
        CALLING.format(to="worker"),
        CALLING.format(to="main"),
        *(f"say: word {n}" for n in range(9)),
    ]


async def told(made: Desk) -> tuple[str, str]:
    """What the sender was answered, and what main was told."""
    made.session.submit("go")
    await made.finished("c2")
    await made.session.idle()
    every = heard(made)
    answered = next(text for text in every if '"worker ha' in text)
    mail = next(text for text in heard(made, "go") if text.startswith("Message from agent scout"))
    return answered, mail


def heard(made: Desk, by: str = "") -> list[str]:
    """By all, or whose conversation begins with these words, behind what is announced."""
    every = [made.words(number) for number in range(len(made.server.bodies))]
    return [text for words in every if not by or by in words[:2] for text in words]


@pytest.mark.parametrize(
    ("sender", "receiver", "more"),
    [
        ("Plan", "general-purpose", {}),
        ("verification", "general-purpose", {}),
        ("looking", "git", {}),
        ("git", "general-purpose", {}),
        ("careful", "general-purpose", {}),
        ("general-purpose", "general-purpose", {"mode": "plan"}),
    ],
)
async def test_who_may_do_less_is_marked_and_has_nobody_go_on(
    tmp_path: Path, sender: str, receiver: str, more: dict[str, Any]
) -> None:
    """By tools, a part of one, a denial of a part, or the mode of the call that started it."""
    define(tmp_path, "looking", LOOKING)
    define(tmp_path, "git", "tools: Read, Grep, Bash")
    define(tmp_path, "careful", "disallowedTools: Bash(rm:*)")
    async with desk(tmp_path, script(sender, receiver, **more), mode="acceptEdits") as made:
        answered, mail = await told(made)
        assert "may do more than you: nobody who may do less has it go on" in answered
        assert f"{LESS}:" in mail.splitlines()[0]
        assert len(made.seen.of(AgentStarted)) == 2, "nobody was started again"


@pytest.mark.parametrize(
    ("sender", "receiver"),
    [
        ("general-purpose", "general-purpose"),
        ("general-purpose", "Plan"),
        ("git", "looking"),
    ],
)
async def test_who_may_do_as_much_is_not(tmp_path: Path, sender: str, receiver: str) -> None:
    define(tmp_path, "looking", LOOKING)
    define(tmp_path, "git", "tools: Read, Grep, Bash")
    async with desk(tmp_path, script(sender, receiver), mode="acceptEdits") as made:
        answered, mail = await told(made)
        assert "goes on with it" in answered
        assert (LESS in mail) is (sender == "git"), "main may do more than that one"


async def test_one_that_works_reads_it_marked(tmp_path: Path) -> None:
    """What it is at is its own task: it is not started for this."""
    inner = {"description": "d", "prompt": "You look.", "subagent_type": "Plan", "name": "eye"}
    lines = [
        agent("lead", "general-purpose", "c1"),
        f"call[c2]: Agent {json.dumps(inner)}",
        CALLING.format(to="lead"),
        "say: looked",
        *(f"say: word {n}" for n in range(4)),
    ]
    async with desk(tmp_path, lines, mode="acceptEdits") as made:
        made.session.submit("go")
        await made.finished("c1")
        await made.session.idle()
        said = [text for text in heard(made) if text.startswith("Message from agent eye")]
    (head,) = {text.splitlines()[0] for text in said}
    assert head.endswith(f", Plan{LESS}:")


def skill(folder: Path, name: str, more: str) -> None:
    path = folder / "project/.claude/skills" / name / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(f"---\nname: {name}\ndescription: d\n{more}\n---\nYou are forked.\n", "utf-8")


@pytest.mark.parametrize(
    ("more", "marked"),
    [("allowed-tools: Bash(mkdir made)", "fork"), ("disallowed-tools: WebFetch", "main")],
)
async def test_what_a_skill_allows_or_forbids_its_fork_counts(
    tmp_path: Path, more: str, marked: str
) -> None:
    """Whom the fork starts has none of what it allows, and all that it forbids."""
    skill(tmp_path, "look", f"context: fork\n{more}")
    call = 'call[s]: Skill {"skill": "look"}'
    async with desk(tmp_path, [call, *(f"say: word {n}" for n in range(9))]) as made:
        starts = agent("eye", "general-purpose", "c2")
        lines = [f"wait: written\n{starts}", "say: looked", "say: again"]
        made.server.tasks["You are forked."] = list(read_script("\n---\n".join(lines)))
        made.session.submit("go")
        started = await made.seen.until(AgentStarted, within=WITHIN)
        fork = started.child.rpartition("/")[2]
        mail = [CALLING.format(to=fork), CALLING.format(to="main").replace("write x", "tell")]
        made.server.tasks["You are eye."] = list(read_script("\n---\n".join([*mail, "say: 1"])))
        made.server.release("written")
        await made.finished("s")
        await made.session.idle()
        heads = {
            "main" if "please tell" in text else "fork": LESS in text.splitlines()[0]
            for text in heard(made)
            if text.startswith("Message from agent eye")
        }
        assert heads == {"fork": marked == "fork", "main": marked == "main"}


def test_servers_of_a_type_alone_count() -> None:
    tools = frozenset({"Read"})
    own, other = (
        May("default", tools, frozenset(), frozenset({"a: db"})),
        May("default", tools, frozenset()),
    )
    assert own.more_than(other) and not other.more_than(own) and not own.more_than(own)
    held = May("default", tools, frozenset(), held=frozenset({"WebFetch"}))
    assert other.more_than(held) and not held.more_than(other)
