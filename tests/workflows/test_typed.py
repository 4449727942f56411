"""A saved workflow as a command, in a composed session: what a typed line comes to."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.commands.outcome import Problem
from gatewright.agent.record.events import (
    InputRefused,
    UltracodeSwitched,
    WorkflowEnded,
    WorkflowStarted,
)
from gatewright.tools.blocks import plain
from tests.fakes.scripted_provider import read_script
from tests.permissions.composed import WITHIN, Desk, desk

META = "export const meta = {{ name: '{name}', description: 'What {name} is for'{more} }}\n"
ECHO = "return [typeof args, args ?? null, await agent('Say a word.')]\n"
SCHEMA = ", args: { type: 'object', properties: { depth: { type: 'integer' } } }"


def save(top: Path, name: str = "sweep", body: str = ECHO, more: str = "") -> Path:
    path = top / "project" / ".claude" / "workflows" / f"{name}.js"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(META.format(name=name, more=more) + body, encoding="utf-8")
    return path


@asynccontextmanager
async def opened(top: Path, *script: str, **more: Any) -> AsyncGenerator[Desk]:
    """Agents of scripts answer with a word; `script` is of the main agent."""
    async with desk(top, script, **more) as made:
        made.server.tasks["Say a word."] = list(read_script("\n---\n".join(["say: word"] * 9)))
        yield made


async def ended(made: Desk) -> WorkflowEnded:
    return await made.seen.until(WorkflowEnded, within=WITHIN)


@pytest.mark.parametrize(
    ("words", "args"),
    [
        ("", ["undefined", None]),
        ("the cellar", ["string", "the cellar"]),
        ('{"depth": 2}', ["object", {"depth": 2}]),
        ("[1, 2]", ["object", [1, 2]]),
        ("42", ["number", 42]),
        ('{"depth": 2', ["string", '{"depth": 2']),
    ],
)
async def test_the_words_behind_it_are_its_args(
    tmp_path: Path, words: str, args: list[Any]
) -> None:
    save(tmp_path)
    async with opened(
        tmp_path, "say: It runs.", "say: It is done.", mode="bypassPermissions"
    ) as made:
        await made.session.run_command(f"/sweep {words}".strip())
        end = await ended(made)
        assert end.status == "done" and json.loads(end.result) == [*args, "word"]
        (started,) = made.seen.of(WorkflowStarted)
        assert started.name == "sweep"
        await made.ended(2)
        every = range(len(made.server.bodies))  # the script's agent may have asked before
        begun = "\n".join(text for number in every for text in made.words(number))
        assert "<workflow-begun>" in begun and started.run in begun and "/sweep" in begun
        assert "Do not begin it again" in begun


async def test_it_is_asked_about_and_a_no_sends_nothing(tmp_path: Path) -> None:
    save(tmp_path)
    async with opened(tmp_path) as made:
        await made.session.run_command("/sweep")
        asked = await made.asked()
        assert [option.label for option in asked.ask.options] == [
            "Yes",
            "Yes, don't ask again this session",
            "No",
        ]
        made.answer(asked, "no")
        refused = await made.seen.until(InputRefused, within=WITHIN)
        assert refused.declined and made.server.bodies == []
        assert refused.reason == "/sweep was not begun."
        assert made.seen.of(WorkflowStarted) == []


@pytest.mark.parametrize(
    ("mode", "rules", "why"),
    [
        ("plan", {}, "Workflows do not start in plan mode."),
        ("dontAsk", {}, "A workflow starts many agents. In dontAsk mode nothing is asked."),
        (
            "default",
            {"deny": ["Workflow(sweep)"]},
            "A deny rule forbids it: Workflow(sweep) (user).",
        ),
    ],
)
async def test_why_it_does_not_begin_is_said_to_a_person(
    tmp_path: Path, mode: str, rules: dict[str, Any], why: str
) -> None:
    """What the model would be advised about it is not for them."""
    save(tmp_path)
    async with opened(tmp_path, mode=mode, own={"permissions": rules}) as made:
        await made.session.run_command("/sweep")
        refused = await made.seen.until(InputRefused, within=WITHIN)
        assert (refused.reason, refused.text, refused.declined) == (why, "/sweep", False)


async def test_a_yes_for_the_session_asks_once(tmp_path: Path) -> None:
    save(tmp_path)
    async with opened(tmp_path, *["say: ok"] * 4) as made:
        await made.session.run_command("/sweep")
        made.answer(await made.asked(), "always")
        await ended(made)
        await made.session.run_command("/sweep again")
        await made.seen.until(WorkflowEnded, count=2, within=WITHIN)


async def test_words_for_a_schema_are_the_models_to_put_in_order(tmp_path: Path) -> None:
    save(tmp_path, more=SCHEMA)
    call = f"call[w1]: Workflow {json.dumps({'name': 'sweep', 'args': {'depth': 3}})}"
    async with opened(
        tmp_path, call, "say: It runs.", "say: Done.", mode="bypassPermissions"
    ) as made:
        await made.session.run_command("/sweep three deep")
        end = await ended(made)
        assert json.loads(end.result)[1] == {"depth": 3}
        told = "\n".join(made.words(0))
        assert "<workflow-typed>" in told and '"depth"' in told and "/sweep three deep" in told


async def test_wrong_args_are_told_and_begin_nothing(tmp_path: Path) -> None:
    save(tmp_path, more=SCHEMA)
    async with opened(tmp_path, mode="bypassPermissions") as made:
        await made.session.run_command('/sweep {"depth": "deep"}')
        refused = await made.seen.until(InputRefused, within=WITHIN)
        assert "depth" in refused.reason and made.seen.of(WorkflowStarted) == []


async def test_an_untrusted_projects_is_listed_and_not_run(tmp_path: Path) -> None:
    save(tmp_path)
    async with opened(tmp_path, trust=False) as made:
        command = made.session.commands.find("sweep")
        assert command is not None and "not trusted" in command.summary
        outcome = await made.session.run_command("/sweep")
        assert isinstance(outcome, Problem) and "agent trust add" in str(outcome.blocks)


async def test_ranks_of_names(tmp_path: Path) -> None:
    for name in ("help", "tidy", "deploy"):
        save(tmp_path, name)
    skill = tmp_path / "project" / ".claude" / "skills" / "tidy" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: tidy\ndescription: Tidy\n---\nTidy.\n", encoding="utf-8")
    file = tmp_path / "project" / ".claude" / "commands" / "deploy.md"
    file.parent.mkdir(parents=True)
    file.write_text("Deploy it.\n", encoding="utf-8")
    async with opened(tmp_path) as made:
        found = {
            name: made.session.commands.find(name)
            for name in (
                "help",
                "workflow:help",
                "tidy",
                "workflow:tidy",
                "deploy",
                "command:deploy",
            )
        }
        kinds = {name: command.kind for name, command in found.items() if command is not None}
        assert kinds == {
            "help": "", "workflow:help": "workflow", "tidy": "skill", "workflow:tidy": "workflow",
            "deploy": "workflow", "command:deploy": "command file",
        }  # fmt: skip


async def test_the_word_in_a_message_and_the_effort(tmp_path: Path) -> None:
    async with opened(tmp_path, "say: ok", "say: ok", "say: ok") as made:
        made.session.submit("ultracode: mend it all")
        await made.ended(1)
        assert "<ultracode>" in "\n".join(made.words(0))
        await made.session.run_command("/effort ultracode")
        await made.seen.until(UltracodeSwitched, within=WITHIN)
        made.session.submit("mend it")
        await made.ended(2)
        assert "decide by yourself which tasks deserve a workflow" in "\n".join(made.words(1))
        await made.session.run_command("/effort high")
        await made.seen.until(UltracodeSwitched, count=2, within=WITHIN)
        assert [event.on for event in made.seen.of(UltracodeSwitched)] == [True, False]


async def test_ultracode_begins_unasked(tmp_path: Path) -> None:
    save(tmp_path)
    async with opened(tmp_path, "say: ok", "say: ok") as made:
        await made.session.run_command("/effort ultracode")
        await made.session.run_command("/sweep")
        assert (await ended(made)).status == "done"


@pytest.mark.parametrize(
    "off", [{"own": {"disableWorkflows": True}}, {"env": {"GATEWRIGHT_DISABLE_WORKFLOWS": "1"}}]
)
async def test_off_there_is_no_command_no_word_no_effort(
    tmp_path: Path, off: dict[str, Any]
) -> None:
    save(tmp_path)
    async with opened(tmp_path, "say: ok", **off) as made:
        for name in ("sweep", "deep-research", "workflows"):
            assert made.session.commands.find(name) is None, name
        made.session.submit("ultracode: mend it")
        await made.ended(1)
        assert "<ultracode>" not in "\n".join(made.words(0))
        outcome = await made.session.run_command("/effort ultracode")
        assert isinstance(outcome, Problem)


async def test_workflows_in_lines(tmp_path: Path) -> None:
    save(tmp_path)
    async with opened(tmp_path, *["say: ok"] * 4, mode="bypassPermissions") as made:
        await made.session.run_command("/sweep")
        run = (await ended(made)).run
        await made.session.idle()
        told = str(await made.session.run_command("/workflows"))
        assert run in told and "done" in told
        assert "There is no run wf_x" in str(await made.session.run_command("/workflows wf_x"))
        told = str(await made.session.run_command(f"/workflows save {run}"))
        path = tmp_path / "project" / ".gatewright" / "workflows" / "sweep.js"
        assert path.read_text(encoding="utf-8").startswith("export const meta")
        assert "/sweep runs it" in told
        assert made.session.commands.find("workflow:sweep") is not None, "there are two of it now"
        assert "is there already" in str(await made.session.run_command(f"/workflows save {run}"))
        await made.session.run_command(f"/workflows resume {run} all")
        end = await made.seen.until(WorkflowEnded, count=2, within=WITHIN)
        assert end.run == run


async def test_a_run_of_another_session_goes_on_here(tmp_path: Path) -> None:
    save(tmp_path)
    free = {"mode": "bypassPermissions"}
    async with opened(tmp_path, "say: ok", "say: ok", **free) as made:
        await made.session.run_command("/sweep")
        run = (await ended(made)).run
        await made.session.idle()
    other = {"session_id": "5e55104a-0000-4000-8000-00000000000f"}
    async with opened(tmp_path, "say: ok", "say: ok", **free, options=other) as made:
        assert run in str(await made.session.run_command("/workflows"))
        await made.session.run_command(f"/workflows resume {run}")
        end = await ended(made)
        assert (end.run, end.status, end.replayed) == (run, "done", 1)


async def test_deep_research_that_goes_on_still_covers_its_searches(tmp_path: Path) -> None:
    covered = "WebSearch and WebFetch unasked"
    async with opened(tmp_path, *["say: ok"] * 6) as made:
        made.server.tasks["Name 3 to 6 angles"] = list(
            read_script("\n---\n".join(["status: 400 body={}"] * 9))
        )
        line, last = "/deep-research is it so", ""
        for number in range(1, 4):  # also of one that was resumed
            await made.session.run_command(line)
            asked = await made.asked(number)
            assert covered in "\n".join(map(plain, asked.ask.body))
            made.answer(asked, "once")
            end = await made.seen.until(WorkflowEnded, count=number, within=WITHIN)
            assert end.status == "failed"
            await made.session.idle()
            line, last = f"/workflows resume {end.run}", end.script
        script = Path(last)
        script.write_text(f"{script.read_text(encoding='utf-8')}// more\n", encoding="utf-8")
        await made.session.run_command(line)
        assert covered not in "\n".join(map(plain, (await made.asked(4)).ask.body)), "it is another"


async def test_a_plugins_is_called_by_its_whole_name(tmp_path: Path) -> None:
    root = tmp_path / "tools"
    for place, text in (
        (".claude-plugin/plugin.json", '{"name": "tools"}'),
        ("workflows/sweep.js", META.format(name="sweep", more="") + ECHO),
    ):
        (root / place).parent.mkdir(parents=True)
        (root / place).write_text(text, encoding="utf-8")
    options = {"plugin_dirs": (str(root),)}
    free = {"mode": "bypassPermissions", "options": options}
    async with opened(tmp_path, "say: It runs.", "say: Done.", **free) as made:
        assert made.session.commands.find("sweep") is None
        await made.session.run_command("/tools:sweep 1")
        assert json.loads((await ended(made)).result) == ["number", 1, "word"]
