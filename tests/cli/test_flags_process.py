"""What flags do in the real program, where the line before they were told to nobody."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gatewright.agent.subcommands.names import ELSEWHERE
from tests.e2e.program import Program

pytestmark = pytest.mark.e2e

ASKED = ("-p", "help", "--model", "demo")


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        (("--add-dir", "/nope/never"), "--add-dir: /nope/never does not exist."),
        (("--add-dir", ".", "notes.txt/"), "--add-dir: notes.txt/ "),
        (("--add-dir", "notes.txt"), "--add-dir: notes.txt is no directory."),
        (("--session-id", "abc"), "--session-id takes a UUID"),
        (("--mode", "pln"), "--permission-mode"),
    ],
)
def test_a_value_that_cannot_be_meant_is_an_error(
    program: Program, flags: tuple[str, ...], text: str
) -> None:
    if flags[-1] == "notes.txt/":
        flags = ("--add-dir=notes.txt/",)
    done = program.run(*ASKED, *flags)
    assert (done.returncode, done.stdout) == (2, "")
    assert text in done.stderr


@pytest.mark.parametrize("format", ["text", "json", "stream-json"])
@pytest.mark.parametrize("prompt", ["/frok", "/frok now"])
def test_a_command_that_is_none_is_named_with_the_nearest(
    program: Program, prompt: str, format: str
) -> None:
    done = program.run("-p", prompt, "--model", "demo", "--output-format", format)
    assert (done.returncode, done.stdout) == (2, "")
    assert "There is no command /frok. Did you mean /fork?" in done.stderr


@pytest.mark.parametrize(("word", "near"), [("/git:syncc", "/git:sync"), ("/fix_2", "/fix-2")])
def test_names_of_commands_may_have_more_than_letters(
    program: Program, word: str, near: str
) -> None:
    folder = program.home / ".claude" / "commands"
    (folder / "git").mkdir(parents=True)
    (folder / "git" / "sync.md").write_text("Sync it.\n", encoding="utf-8")
    (folder / "fix-2.md").write_text("Fix it.\n", encoding="utf-8")
    done = program.run("-p", f"{word} now", "--model", "demo")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"There is no command {word}. Did you mean {near}?" in done.stderr


@pytest.mark.parametrize(
    "prompt", ["/usr is full", "/usr/bin/x", "/1", "- help", "tell me of /frok"]
)
def test_a_path_or_a_list_goes_to_the_model(program: Program, prompt: str) -> None:
    done = program.run("-p", prompt, "--model", "demo")
    assert (done.returncode, done.stderr) == (0, "")
    assert "(demo)" in done.stdout


def test_a_client_is_told_of_a_command_that_is_none(program: Program) -> None:
    line = json.dumps({"type": "user", "message": {"role": "user", "content": "/frok"}})
    both = ("--input-format", "stream-json", "--output-format", "stream-json")
    done = program.run("-p", *both, "--model", "demo", input=f"{line}\n")
    result = json.loads(done.stdout.splitlines()[-1])
    assert "Did you mean /fork?" in result["result"]


def test_a_session_has_the_name_it_is_given(program: Program) -> None:
    assert program.run(*ASKED, "--name", "the  great\nrefactoring").returncode == 0
    assert "the great refactoring" in program.run("sessions", "list").stdout


def test_a_log_holds_the_areas_that_were_asked_for(program: Program) -> None:
    def logged(*flags: str) -> str:
        done = program.run(*ASKED, *flags)
        path = re.search(r"logging to (\S+)", done.stderr)
        assert path is not None
        return Path(path.group(1)).read_text(encoding="utf-8")

    assert "asyncio" in logged("--debug")
    assert "asyncio" not in logged("--debug=!asyncio")
    assert "asyncio" not in logged("--debug", "providers")
    assert "asyncio" in logged("-d", "asyncio")


@pytest.mark.parametrize("flag", ["-v", "-V", "--version"])
def test_the_version_is_no_number_that_clients_take_for_another_programs(
    program: Program, flag: str
) -> None:
    """The public client warns of a number at the beginning that is lower than it wants."""
    for arguments in ((flag,), (flag, "-p")):
        told = program.run(*arguments)
        assert (told.returncode, told.stderr) == (0, "")
        assert re.fullmatch(r"gatewright \d+\.\d+\.\d+\n", told.stdout)


@pytest.mark.parametrize("arguments", [("-h",), ("-p", "--help"), ("help",)])
def test_help_is_listed_and_found_anywhere(program: Program, arguments: tuple[str, ...]) -> None:
    told = program.run(*arguments).stdout
    assert "-h, --help" in told
    assert "-v, -V, --version" in told


@pytest.mark.parametrize("word", ELSEWHERE)
def test_a_command_of_others_is_an_error_and_no_prompt(program: Program, word: str) -> None:
    for arguments in ((word,), (word, "list")):
        done = program.run(*arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"There is no command agent {word}." in done.stderr


def test_several_values_leave_the_prompt(program: Program) -> None:
    done = program.run("-p", "--allowedTools", "Bash", "Edit", "help", "--model", "demo")
    assert (done.returncode, done.stderr) == (0, "")
    assert "(demo)" in done.stdout


def test_a_flag_of_a_sub_command_is_named_with_the_nearest_of_its_own(program: Program) -> None:
    done = program.run("sessions", "export", "x", "--formt", "md")
    assert done.returncode == 2
    assert "There is no flag --formt. Did you mean --format?" in done.stderr
    assert "Try agent sessions export --help." in done.stderr


@pytest.mark.parametrize("name", ["sessions", "permissions", "sandbox", "config"])
def test_no_summary_of_a_sub_command_is_cut(program: Program, name: str) -> None:
    told = program.run(name, "--help", env={"COLUMNS": "60"}).stdout
    assert "..." not in told.partition("Commands:")[2]
