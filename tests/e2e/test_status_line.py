"""A status line of the person's own, in a real terminal: whose command runs, and when."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.program import Program
from tests.fakes.terminal import Terminal
from tests.fakes.waiting import lasts

pytestmark = pytest.mark.e2e


def line(command: str) -> dict[str, object]:
    return {"statusLine": {"type": "command", "command": command, "padding": 0}}


def own(program: Program, **settings: object) -> None:
    path = program.home / ".gatewright" / "settings.json"
    path.write_text(json.dumps({"smallModel": "demo", **settings}), encoding="utf-8")


def of_project(program: Program, name: str, **settings: object) -> None:
    path = program.project / ".gatewright" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(settings), encoding="utf-8")


def enter(terminal: Terminal, text: str) -> None:
    terminal.send(text)
    terminal.wait_for(
        f"\u276f {text}"
    )  # all of it: an Enter within a burst of letters sends nothing
    terminal.press("enter")


def test_a_script_made_for_claude_code_gets_what_it_reads(program: Program) -> None:
    told = program.home / "told.json"
    own(program, **line(f"cat >{told}.new && mv {told}.new {told}; printf '\\033[35mmine\\033[0m'"))
    with program.terminal("--model", "demo") as terminal:
        terminal.wait_for("default   mine")
        enter(terminal, 'replace "alpha" by "omega" in notes.txt')
        terminal.wait_for("Yes, once")
        terminal.press_until_gone("y", "Yes, once")
        terminal.wait_for("omega", "mine")
        terminal.wait_until(lambda _: '"total_lines_added":0' not in told.read_text("utf-8"))
        found = json.loads(told.read_text(encoding="utf-8"))
    assert found["hook_event_name"] == "Status"
    assert found["model"] == {"id": "demo", "display_name": "demo", "provider": ""}
    project = str(program.project)
    assert (found["cwd"], found["workspace"]["current_dir"]) == (project, project)
    assert found["workspace"]["project_dir"] == project
    assert Path(found["transcript_path"]).name == f"{found['session_id']}.jsonl"
    assert found["permission_mode"] == "default"
    assert found["cost"]["total_lines_removed"] > 0
    assert found["context_window"]["current_usage"]["output_tokens"] > 0
    assert found["context_window"]["used_percentage"] + found["context_window"][
        "remaining_percentage"
    ] == pytest.approx(100)
    assert found["exceeds_200k_tokens"] is False
    assert {"version", "output_style", "thinking"} <= found.keys()


def test_a_project_s_sees_no_secrets_and_the_person_s_does(program: Program) -> None:
    seen = program.home / "seen"
    command = line(f"env > {seen}.new; mv {seen}.new {seen}; echo $WHOSE-line")
    for whose in ("own", "its"):
        seen.unlink(missing_ok=True)
        if whose == "own":
            own(program, **command)
        else:
            of_project(program, "settings.json", **command)
        env = {"SERVICE_TOKEN": "sesame-77", "WHOSE": whose}
        with program.terminal("--trust", "--model", "demo", env=env) as terminal:
            terminal.wait_for(f"{whose}-line")
        assert ("sesame-77" in seen.read_text(encoding="utf-8")) == (whose == "own")


@pytest.mark.parametrize("name", ["settings.json", "settings.local.json"])
def test_a_project_has_to_be_trusted_first(program: Program, name: str) -> None:
    ran = program.home / "ran"
    own(program, **line("echo own-line"))
    of_project(program, name, **line(f"touch {ran}; echo project-line"))
    with program.terminal("--model", "demo") as terminal:
        terminal.wait_for("Do you trust", "own-line", "statusLine")
        assert not ran.exists()
        terminal.press_until_gone("n", "Do you trust")
        enter(terminal, "hello")
        terminal.wait_for("This is the demo", "own-line")
        assert not ran.exists()
    with program.terminal("--model", "demo") as terminal:
        terminal.wait_for("Do you trust", "own-line")
        terminal.press_until_gone("y", "Do you trust")
        terminal.wait_for("project-line")
        terminal.wait_until(lambda _: ran.exists())  # the words are also those of the question


def test_the_command_sets_it_and_takes_it_away(program: Program) -> None:
    settings = program.home / ".gatewright" / "settings.json"
    with program.terminal("--model", "demo") as terminal:
        terminal.wait_for("default", "demo")
        enter(terminal, "/statusline echo from-$((40 + 2))")
        terminal.wait_for("default   from-42")
        assert json.loads(settings.read_text(encoding="utf-8"))["statusLine"] == {
            "type": "command",
            "command": "echo from-$((40 + 2))",
        }
        enter(terminal, "/statusline off")
        terminal.wait_for("built-in status line is shown again")
        terminal.wait_gone("default   from-42")
        assert "statusLine" not in json.loads(settings.read_text(encoding="utf-8"))


def test_switched_off_it_never_runs(program: Program) -> None:
    ran = program.home / "ran"
    own(program, **line(f"touch {ran}; echo mine"), disableAllHooks=True)
    with program.terminal("--model", "demo") as terminal:
        terminal.wait_for("default   demo")
        enter(terminal, "hello")
        terminal.wait_for("This is the demo")
        assert not ran.exists()


def test_vim_is_remembered(program: Program) -> None:
    with program.terminal("--model", "demo") as terminal:
        terminal.wait_for("default   demo")
        enter(terminal, "/vim")
        terminal.wait_for("Vim keys are on")
    with program.terminal("--model", "demo") as terminal:
        terminal.wait_for("default   demo")
        terminal.press("escape")
        terminal.wait_for("NORMAL")


def test_nothing_is_written_while_nothing_changes(program: Program) -> None:
    ran = program.home / "ran"
    own(program, **line(f"echo x >>{ran}; echo mine"))
    with program.terminal("--model", "demo") as terminal:
        terminal.wait_for("default   mine")
        terminal.look(1.5)  # what the first paint still brings along
        written, runs = len(terminal.raw), ran.read_text(encoding="utf-8")
        assert lasts(
            lambda: (len(terminal.raw), ran.read_text(encoding="utf-8")) == (written, runs), 3
        )
