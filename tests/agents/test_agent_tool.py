"""The Agent tool in a whole session: what comes back, to whom, and what keeps one from starting."""

from __future__ import annotations

import json
from pathlib import Path

from gatewright.agent.record.events import AgentFinished, AgentStarted, ToolFinished, TurnEnded
from tests.fakes.scripted_provider import read_script
from tests.permissions.composed import Desk, desk


def agent(prompt: str, **fields: object) -> str:
    given = {"description": "look around", "prompt": prompt, **fields}
    return f"call[c1]: Agent {json.dumps(given)}"


async def asked(opened: Desk, text: str = "go") -> None:
    opened.session.submit(text)
    await opened.ended()


async def test_its_report_is_the_result(tmp_path: Path) -> None:
    script = [agent("find the tests"), "say: they are in tests/", "say: all done"]
    async with desk(tmp_path, script) as opened:
        await asked(opened)
        (started,), (ended,) = opened.seen.of(AgentStarted), opened.seen.of(AgentFinished)
        assert (started.kind, started.prompt) == ("general-purpose", "find the tests")
        assert (started.call_id, started.description) == ("c1", "look around")
        assert (ended.status, ended.report, ended.ok) == ("completed", "they are in tests/", True)
        (done,) = opened.seen.of(ToolFinished)
        id = ended.child.rpartition("/")[2]
        assert await opened.finished("c1") == f"they are in tests/\nagentId: {id}"
        assert done.data["status"] == "completed"
        assert done.data["totalTokens"] > 0
        assert opened.words(1)[-1].endswith("find the tests")


async def test_twenty_in_one_message_end_each_in_its_own_way(tmp_path: Path) -> None:
    """Every call has its one result, in the order of the calls; the sums are the server's."""
    calls = [agent(f"task {n}").replace("c1", f"c{n}") for n in range(20)]
    async with desk(tmp_path, ["\n".join(calls), *["say: one"] * 20, "say: all"]) as opened:
        await asked(opened)
        done = [event for event in opened.seen.of(ToolFinished) if event.call_id.startswith("c")]
        assert [event.call_id for event in done] == [f"c{n}" for n in range(20)]
        ended = opened.seen.of(AgentFinished)
        assert sorted(event.call_id for event in ended) == sorted(f"c{n}" for n in range(20))
        assert all(event.data["status"] == "completed" for event in done)
        assert opened.session.spent.usage.input == 22 * 10
        assert opened.session.spent.usage.output == 22 * 5


async def test_what_keeps_it_from_starting_is_an_error_that_says_so(tmp_path: Path) -> None:
    calls = [
        agent("x", subagent_type="nobody"),
        agent("x", name="Not A Name"),
        agent("x", isolation="chroot"),
        agent(" "),
        agent("x", mode="nonsense"),
    ]
    numbered = [call.replace("c1", f"c{n}") for n, call in enumerate(calls)]
    async with desk(tmp_path, ["\n".join(numbered), "say: oh"]) as opened:
        await asked(opened)
        told = [await opened.finished(f"c{n}") for n in range(5)]
        assert "There are: Explore, Plan, general-purpose, verification" in told[0]
        assert "a-z, 0-9 and hyphens" in told[1]
        assert "one isolation" in told[2]
        assert "empty" in told[3]
        assert "nonsense" in told[4]
        assert opened.seen.of(AgentStarted) == []


async def test_the_older_name_is_the_same_tool(tmp_path: Path) -> None:
    script = [agent("look").replace("Agent", "Task"), "say: there", "say: done"]
    async with desk(tmp_path, script) as opened:
        await asked(opened)
        assert (await opened.finished("c1")).startswith("there\nagentId: ")


async def test_the_same_prompt_again_and_again_is_noticed_then_refused(tmp_path: Path) -> None:
    calls = [agent("the same").replace("c1", f"c{n}") for n in range(5)]
    async with desk(tmp_path, ["\n".join(calls), *["say: one"] * 4, "say: all"]) as opened:
        await asked(opened)
        told = [await opened.finished(f"c{n}") for n in range(5)]
        assert ["same prompt" in text for text in told] == [False, False, True, True, True]
        assert "not started" in told[4]


async def test_in_the_background_its_report_comes_by_itself(tmp_path: Path) -> None:
    script = [agent("look", run_in_background=True), "say: going on", "say: found", "say: heard"]
    async with desk(tmp_path, script) as opened:
        await asked(opened)
        launched = await opened.finished("c1")
        assert "works in the background" in launched
        await opened.ended(2)
        said = [opened.words(n) for n in range(len(opened.server.bodies))]
        notices = [text for words in said[-1:] for text in words if text.startswith("Agent a")]
        assert len(notices) == 1


async def test_a_rule_forbids_a_kind(tmp_path: Path) -> None:
    settings = {"permissions": {"deny": ["Agent(Explore)"]}}
    script = [agent("look", subagent_type="Explore"), "say: oh"]
    async with desk(tmp_path, script, settings=settings) as opened:
        await asked(opened)
        assert opened.seen.of(AgentStarted) == []
        assert "Explore" in await opened.finished("c1")
        (tools,) = [body["tools"] for body in opened.server.bodies[:1]]
        (told,) = [tool["description"] for tool in tools if tool["name"] == "Agent"]
        assert "- Explore:" not in told


async def test_what_it_is_told_and_given(tmp_path: Path) -> None:
    script = [agent("look", subagent_type="Explore"), "say: there", "say: done"]
    async with desk(tmp_path, script, own={"smallModel": ""}) as opened:
        (opened.project / "AGENTS.md").write_text("Use tabs.", encoding="utf-8")
        await asked(opened)
        body = opened.server.bodies[1]
        assert "haiku" in body["model"], "the small one where the other costs more"
        names = [tool["name"] for tool in body["tools"]]
        assert names == ["Bash", "Glob", "Grep", "Read", "WebFetch"]
        system = json.dumps(body["system"])
        assert "How agents work here" in system
        assert "Use tabs" not in system
        assert "go" not in opened.words(1), "nothing of its parent's conversation"


async def test_a_second_no_of_the_person_ends_it(tmp_path: Path) -> None:
    make = 'call: Bash {"command": "mkdir one"}'
    other = 'call: Bash {"command": "mkdir two"}'
    async with desk(tmp_path, [agent("make"), make, other, "say: done"]) as opened:
        opened.session.submit("go")
        first = await opened.asked()
        assert [option.key for option in first.ask.options][-1] == "x"
        opened.answer(first, "no")
        second = await opened.asked(2)
        opened.answer(second, "no")
        await opened.ended()
        (end,) = opened.seen.of(AgentFinished)
        assert (end.status, end.refused) == ("stopped", 2)
        assert not (opened.project / "one").exists()
        assert "stopped" in await opened.finished("c1")


async def test_an_answer_can_stop_it_at_once(tmp_path: Path) -> None:
    script = [agent("make"), 'call: Bash {"command": "mkdir one"}', "say: done"]
    async with desk(tmp_path, script) as opened:
        opened.session.submit("go")
        opened.answer(await opened.asked(), "stop")
        await opened.ended()
        assert opened.seen.of(AgentFinished)[0].status == "stopped"


async def test_delegating_leaves_only_what_coordinates(tmp_path: Path) -> None:
    script = [
        agent("make"),
        "say: going on",
        'call: Bash {"command": "ls"}',
        "say: made",
        "say: ok",
    ]
    async with desk(tmp_path, script) as opened:
        opened.session.set_mode("delegate")
        await asked(opened)
        names = {tool["name"] for tool in opened.server.bodies[0]["tools"]}
        assert {"Agent", "SendMessage", "TaskStop"} <= names
        assert not names & {"Bash", "Edit", "Write", "Read", "Grep"}
        assert "works in the background" in await opened.finished("c1")
        await opened.seen.until(AgentFinished)
        given = {tool["name"] for tool in opened.server.bodies[-1]["tools"]}
        assert given
        (end,) = opened.seen.of(AgentFinished)
        assert (end.status, end.tools, end.refused) == ("completed", 1, 0)


async def test_one_that_fails_says_what_happened(tmp_path: Path) -> None:
    script = [agent("look"), "error: refused status=400 message=No.", "say: oh"]
    async with desk(tmp_path, script) as opened:
        await asked(opened)
        (end,) = opened.seen.of(AgentFinished)
        assert (end.status, end.ok) == ("failed", False)
        assert "[failed: " in await opened.finished("c1")


def mixed(n: int) -> tuple[str, str]:
    """How the agent of that number ends, and its script."""
    ends = (
        ("completed", f"say: fine {n}"),
        ("failed", "error: refused status=400 message=No."),
        ("completed", f"error: rate status=429 retry_after=0\n---\nsay: late {n}"),
        ("failed", "\n---\n".join(['call: Read {"file_path": "a.txt"}'] * 6)),
        ("completed", f'call: Bash {{"command": "mkdir m{n}"}}\n---\nsay: refused {n}'),
        (
            "budget_exhausted",
            'usage: in=900000 out=5\nsay: dear\ncall: Read {"file_path": "a.txt"}\n---\nsay: more',
        ),
    )
    return ends[n % len(ends)]


async def test_twenty_of_one_message_with_mixed_ends(tmp_path: Path) -> None:
    calls = [agent(f"task number {n}.").replace("c1", f"c{n}") for n in range(20)]
    own = {"agents": {"maxBudgetUsd": 0.5}}
    script = ["\n".join(calls), "say: all"]
    async with desk(tmp_path, script, own=own, interactive=False) as opened:
        (opened.project / "a.txt").write_text("x", encoding="utf-8")
        for n in range(20):
            opened.server.tasks[f"task number {n}."] = list(read_script(mixed(n)[1]))
        opened.session.submit("go")
        await opened.seen.until(TurnEnded, within=60)
        done = [event for event in opened.seen.of(ToolFinished) if event.call_id.startswith("c")]
        assert [event.call_id for event in done] == [f"c{n}" for n in range(20)]
        assert [event.data.get("status") for event in done] == [mixed(n)[0] for n in range(20)]
        assert [event.ok for event in done] == [mixed(n)[0] != "failed" for n in range(20)]
        refused = [await opened.finished(f"c{n}") for n in range(4, 20, 6)]
        assert all("Refused to it: 1 call. Bash mkdir m" in text for text in refused)
        dear, errors = 3, 7  # of twenty; a rate limit is asked again
        usual = len(opened.server.bodies) - dear - errors
        assert opened.session.spent.usage.input == 900_000 * dear + 10 * usual
