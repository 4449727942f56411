"""`agent --plain` as a real program: typed lines in, whole lines out, questions answered so too."""

from __future__ import annotations

import signal
from collections.abc import Generator
from pathlib import Path

import pytest

from gatewright.agent.launch import starting
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.launch.starting import Manner, manner
from tests.e2e.program import Program
from tests.e2e.typed import ASKED, Typed, typing
from tests.fakes.model_server import ServerThread
from tests.fakes.waiting import PATIENCE

pytestmark = pytest.mark.e2e

RUN = 'say: I will run it.\ncall: Bash {"command": "echo hi > ran"}\n---\nsay: Done.\n'


@pytest.fixture
def typed(program: Program) -> Generator[Typed]:
    with ServerThread(RUN) as server, typing(program, server) as found:
        yield found


def test_a_conversation_with_a_question(typed: Typed, program: Program) -> None:
    typed.until("/help lists commands")
    typed.type("go\n")
    typed.until(ASKED)
    typed.type("y\n")
    page = typed.until("Done.")
    assert typed.end() == 0
    assert page.index("I will run it.") < page.index("$ echo hi > ran") < page.index("Done.")
    assert (program.project / "ran").exists()
    assert "\x1b" not in page, "no escape sequences for a screen reader"


TWICE = 'call: Bash {"command": "make all"}\n---\n' * 2 + "say: Done."


def test_what_was_allowed_again_and_again_is_suggested(program: Program) -> None:
    with ServerThread(TWICE) as server, typing(program, server) as typed:
        typed.type("go\n")
        for count in (1, 2):
            typed.until(ASKED, count=count)
            typed.type("y\n")
        typed.until("Done.")
        assert typed.end() == 0
    suggested = program.run("permissions", "suggest").stdout
    assert suggested.startswith("2 times  agent permissions add allow ")
    assert "make" in suggested


def test_an_instruction_instead_of_an_answer(typed: Typed, program: Program) -> None:
    typed.type("go\n")
    typed.until(ASKED)
    typed.type("use another file\n")
    typed.until("Done.")
    assert typed.end() == 0
    assert not (program.project / "ran").exists()


def test_the_end_of_input_waits_for_the_answer(typed: Typed) -> None:
    typed.type("/mode plan\n/status\n/exit\n")
    page = typed.until("plan")
    assert typed.end() == 0
    assert "Mode" in page


def test_signals_end_it(typed: Typed) -> None:
    typed.until("/help lists commands")
    typed.process.send_signal(signal.SIGTERM)
    assert typed.process.wait(timeout=PATIENCE) == 143


@pytest.mark.parametrize(
    ("terminals", "term", "options", "how"),
    [
        ({0, 1}, "xterm", LaunchOptions(), Manner.SCREEN),
        ({0, 1}, "dumb", LaunchOptions(), Manner.LINES),
        ({0, 1}, "xterm", LaunchOptions(plain=True), Manner.LINES),
        ({0, 1}, "xterm", LaunchOptions(print_mode=True), Manner.PRINT),
        ({0}, "xterm", LaunchOptions(), Manner.PRINT),
        ({1}, "xterm", LaunchOptions(prompt="x"), Manner.PRINT),
        (set[int](), "xterm", LaunchOptions(plain=True), Manner.LINES),
        (set[int](), "xterm", LaunchOptions(input_format="stream-json"), Manner.PRINT),
        ({0, 1}, "xterm", LaunchOptions(dump_system_prompt=True), Manner.DUMP),
    ],
)
def test_the_front_end_that_fits(
    terminals: set[int],
    term: str,
    options: LaunchOptions,
    how: Manner,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(starting, "is_terminal", terminals.__contains__)
    monkeypatch.setenv("TERM", term)
    assert manner(options) is how


def test_prompt_files(tmp_path: Path) -> None:
    (tmp_path / "own").write_text("Own.", encoding="utf-8")
    (tmp_path / "more").write_text("More.", encoding="utf-8")
    options = LaunchOptions(
        system_prompt_file=str(tmp_path / "own"), append_system_prompt_file=str(tmp_path / "more")
    )
    settled = starting.settled(options, str)
    assert (settled.system_prompt, settled.append_system_prompt) == ("Own.", "More.")
