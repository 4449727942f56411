"""`agent workflows`: lists, shows and checks saved ones, and reads what runs left."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from gatewright.agent.extensions.workflows.launching import taken
from gatewright.agent.record.events import WorkflowProgressed
from gatewright.agent.subcommands.workflows.on_the_way import EVERY, OnTheWay
from gatewright.agent.transcript.place import project_folder
from gatewright.agent.workflows.runs.journal import CallSettled
from gatewright.agent.workflows.runs.past import RunFile, write_run
from tests.e2e.program import Program

pytestmark = pytest.mark.e2e

RUN = "wf_0a1b2c3d4e5f"
SCRIPT = "export const meta = { name: 'sweep', description: 'Sweep it' }\nreturn 1\n"


def write(program: Program, where: str, text: str = SCRIPT) -> Path:
    path = program.project / where
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_what_there_is(program: Program) -> None:
    path = write(program, ".claude/workflows/sweep.js")
    bad = write(program, ".gatewright/workflows/bad.js", "const meta = 1\n")
    found = program.run("workflows", "list").stdout
    assert "deep-research  builtin\n    Research a question" in found
    assert "sweep  claude  not trusted, not run\n    not read: " in found
    program.run("trust", "add")
    found = program.run("workflows", "list").stdout
    assert "sweep  claude\n    Sweep it" in found and f"XX  {bad}: Line 1" in found
    listed = json.loads(program.run("workflows", "list", "--json").stdout)
    (sweep,) = [row for row in listed["workflows"] if row["name"] == "sweep"]
    assert sweep["trusted"] and sweep["path"] == str(path)
    shown = program.run("workflows", "show", "sweep").stdout
    assert "sweep: Sweep it" in shown and shown.endswith(SCRIPT)
    missing = program.run("workflows", "show", "nothing")
    assert missing.returncode == 1 and "There are: sweep, deep-research" in missing.stderr


def test_what_is_wrong(program: Program) -> None:
    assert program.run("workflows", "validate").returncode == 0
    bad = write(program, "flows/deep/bad.js", SCRIPT + "const x: number = 1\n")
    write(program, "flows/good.js")
    done = program.run("workflows", "validate", "flows")
    assert done.returncode == 1
    assert "deep/bad.js: Line 3" in done.stdout and "TypeScript" in done.stdout
    assert "Right: 1 of 2 (sweep)." in done.stdout
    rows = json.loads(program.run("workflows", "validate", "flows", "--json").stdout)
    assert {row["path"].rpartition("/")[2]: bool(row["problem"]) for row in rows} == {
        bad.name: True,
        "good.js": False,
    }
    assert program.run("workflows", "validate", "none.js").returncode == 1
    (program.project / "empty").mkdir()
    assert program.run("workflows", "validate", "empty").returncode == 1


def left(program: Program) -> Path:
    """What a run of another session left that was cut off."""
    project = project_folder(program.home / ".gatewright", program.project)
    folder = project / "5e55104a-0000-4000-8000-000000000009" / "workflows" / RUN
    file = RunFile(
        id=RUN, name="sweep", title="the cellar", session="5e55104a-0000-4000-8000-000000000009"
    )
    write_run(folder, file, SCRIPT)
    (folder / "journal.jsonl").write_text("", encoding="utf-8")
    return folder


def test_what_runs_left(program: Program) -> None:
    assert program.run("workflows", "runs").stdout == "No workflow has run here.\n"
    left(program)
    found = program.run("workflows", "runs").stdout
    assert found.startswith(f"{RUN}  sweep  interrupted  0 of 0 agents") and "the cellar" in found
    (row,) = json.loads(program.run("workflows", "runs", "--json").stdout)
    assert (row["id"], row["status"], row["live"]) == (RUN, "interrupted", False)


def progressed(phase: str, done: int, total: int) -> WorkflowProgressed:
    return WorkflowProgressed(run=RUN, name="x", phase=phase, done=done, total=total)


def test_on_the_way_phases_words_and_now_and_then_a_count_are_told() -> None:
    told: list[str] = []
    log: list[str] = []
    now = 0.0
    way = OnTheWay(told.append, lambda run: log, lambda: now)
    way.heard(progressed("Sweep", 0, 6))
    way.heard(progressed("Sweep", 3, 6))  # at once: nothing
    now = EVERY
    way.heard(progressed("Sweep", 3, 6))
    way.heard(progressed("Sweep", 4, 6))
    log += ["a line for you", "another"]
    way.heard(progressed("Sweep", 4, 6))
    now += EVERY
    way.heard(progressed("Sweep", 6, 6))
    now += EVERY
    way.heard(progressed("Sweep", 6, 6))  # nothing has changed
    log.append("the last")
    way.words(RUN)
    assert told == [
        "Sweep  0/6",
        "Sweep  3/6",
        "  a line for you",
        "  another",
        "Sweep  6/6",
        "  the last",
    ]


def test_what_args_are_taken_is_said_so_that_it_can_be_typed() -> None:
    fields = {"from": {"type": "string"}, "a good name": {"type": ["string", "null"]}}
    assert taken({"properties": fields}) == ' It takes {"from": string, "a good name": ...}.'
    assert taken({"properties": {str(n): {} for n in range(50)}}).endswith('"11": ..., ...}.')
    none: tuple[object, ...] = (None, [], {"properties": 7}, {"properties": {}})
    assert all(taken(each) == "" for each in none)


def test_a_run_is_exported_without_secrets(program: Program) -> None:
    folder = left(program)
    key, spill = "sk-ant-api03-" + "k3y" * 20, "1.json"
    settled = CallSettled(index=1, ok=True, spill=spill)
    (folder / "journal.jsonl").write_bytes(msgspec.json.encode(settled) + b"\n")
    (folder / "results").mkdir()
    (folder / "results" / spill).write_text('"the whole result"', encoding="utf-8")
    (folder / "script.js").write_text(f"{SCRIPT}// {key}\n", encoding="utf-8")
    env = {"ANTHROPIC_API_KEY": key}
    done = program.run("workflows", "export", RUN, "--to", "run.json", env=env)
    assert done.returncode == 0, done.stderr
    text = (program.project / "run.json").read_text(encoding="utf-8")
    document = json.loads(text)
    assert document["run"]["name"] == "sweep" and document["status"] == "interrupted"
    assert document["script"].startswith("export const meta") and key not in text
    assert document["journal"][0]["value"] == "the whole result"
    assert program.run("workflows", "export", RUN, env=env).stdout == text
    missing = program.run("workflows", "export", "wf_000000000000")
    assert missing.returncode == 1 and "agent workflows runs lists them" in missing.stderr


def test_off_is_off(program: Program) -> None:
    program.run("config", "set", "disableWorkflows", "true")
    listed = program.run("workflows", "list")
    assert "deep-research" not in listed.stdout
    assert "turned off here: by disableWorkflows" in listed.stderr
    for verb in (("run", "deep-research"), ("resume", "wf_000000000000")):
        refused = program.run("workflows", *verb)
        assert refused.returncode == 1
        assert "turned off here" in refused.stderr


def test_names_are_completed(program: Program) -> None:
    write(program, ".claude/workflows/sweep.js")
    left(program)

    def offered(*words: str) -> set[str]:
        found = program.run("__complete", "fish", *words).stdout.splitlines()
        return {line.partition("\t")[0] for line in found}

    assert offered("workflows", "") >= {"list", "show", "run", "runs", "resume", "export"}
    assert offered("workflows", "show", "") == {"sweep", "deep-research"}
    assert offered("workflows", "run", "de") == {"deep-research"}
    assert offered("workflows", "resume", "") == {RUN} == offered("workflows", "export", "wf_")
    assert offered("workflows", "run", "--perm") == {"--permission-mode"}


def test_doctor_names_scripts_that_cannot_run(program: Program) -> None:
    bad = write(program, ".gatewright/workflows/bad.js", "const meta = 1\n")
    program.run("trust", "add")
    assert f"{bad}: Line 1" in " ".join(program.run("doctor").stdout.split())
