"""Completion: the scripts ask the program, and bash, where it is installed, offers the answer."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from gatewright.agent.launch.flags import FLAGS
from gatewright.agent.subcommands.completing import answer
from gatewright.agent.subcommands.completion import SCRIPTS, Shell
from gatewright.agent.subcommands.names import SUBCOMMANDS
from tests.e2e.program import Program

SHELLS = ("bash", "zsh", "fish")


def offered(*words: str) -> list[str]:
    return [line.partition("\t")[0] for line in answer("zsh", words).splitlines()]


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_can_read_it(shell: str) -> None:
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    done = subprocess.run([shell, "-n"], input=SCRIPTS[Shell(shell)].encode(), capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")


def test_every_flag_and_command_is_offered() -> None:
    assert offered("") == list(SUBCOMMANDS)
    assert set(offered("-")) == {name for f in FLAGS if not f.hidden for name in f.names}


@pytest.mark.parametrize(
    ("words", "some"),
    [
        (["doc"], {"doctor"}),
        (["--out"], {"--output-format"}),
        (["-p", "--al"], {"--allowedTools", "--allow-dangerously-skip-permissions"}),
        (["--output-format", "st"], {"stream-json"}),
        (["--output-format=st"], {"--output-format=stream-json"}),
        (["--mode", "acc"], {"acceptEdits"}),
        (["--permission-mode", "pl"], {"plan"}),
        (["--model", "dem"], {"demo"}),
        (["-m", "anthropic/claude-opus-5-5"], {"anthropic/claude-opus-5-5"}),
        (["--disallowedTools", "Ba"], {"Bash"}),
        (["--tools", "co"], {"core"}),
        (["--allowedTools", "co"], set[str]()),
        (["sessions", "ex"], {"export"}),
        (["sessions", "export", "--fo"], {"--format"}),
        (["sessions", "export", "x", "--format", ""], {"md", "json", "html"}),
        (["permissions", "add", ""], {"allow", "ask", "deny"}),
        (["completion", "z"], {"zsh"}),
        (["--cwd", ""], set[str]()),
        (["fix", ""], set[str]()),
    ],
)
def test_what_fits_is_offered(words: list[str], some: set[str]) -> None:
    assert set(offered(*words)) == some


def test_bash_gets_what_is_left_of_a_word_that_it_broke() -> None:
    assert answer("bash", ["--output-format", "=", "st"]) == "stream-json\n"
    assert answer("bash", ["--model", "x", ":", ""]) == ""


def test_sessions_are_offered_by_id(program: Program) -> None:
    program.run("-p", "hello", "--model", "demo")
    (path,) = program.transcripts()
    done = program.run("__complete", "zsh", "--resume", path.stem[:4])
    assert done.stdout.startswith(f"{path.stem}\t")
    assert program.run("__complete", "fish", "sessions", "show", "").stdout.startswith(path.stem)


def test_a_title_cannot_act_on_the_terminal(program: Program) -> None:
    program.run("-p", "hello", "--model", "demo", "--name", "a\x1b[31mb")
    told = program.run("__complete", "zsh", "--resume", "").stdout
    assert "\x1b" not in told
    assert told.count("\n") == 1


def test_bash_completes_with_it(program: Program, tmp_path: Path) -> None:
    file = tmp_path / "complete"
    file.write_text(SCRIPTS[Shell.BASH], encoding="utf-8")
    asked = (
        f"source {file}; COMP_WORDS=(agent --output-format st); COMP_CWORD=2; _agent\n"
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-c", asked], capture_output=True, text=True, encoding="utf-8",
        check=True, cwd=program.project, env=program.env(),
    )  # fmt: skip
    assert done.stdout.split() == ["stream-json"]
