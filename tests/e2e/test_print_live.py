"""Print mode on a terminal: the answer is seen while it comes, and once."""

from __future__ import annotations

from tests.e2e.program import Program
from tests.fakes.model_server import ServerThread

SCRIPT = "say: The first half\nwait: more\nsay:  and the second.\n"


def test_an_answer_is_seen_while_it_comes(program: Program) -> None:
    with ServerThread(SCRIPT) as server:
        env = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "key"}
        with program.terminal(
            "-p", "hi", "--model", "anthropic/claude-sonnet-5-5", env=env
        ) as terminal:
            terminal.wait_for("The first half")
            server.release("more")
            assert terminal.wait_exit() == 0
            assert terminal.text().count("The first half") == 1
            assert "second." in terminal.text()


def test_a_pipe_gets_it_once(program: Program) -> None:
    with ServerThread(SCRIPT) as server:
        server.release("more")
        env = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "key"}
        done = program.run("-p", "hi", "--model", "anthropic/claude-sonnet-5-5", env=env)
        assert done.stdout.count("The first half") == 1
