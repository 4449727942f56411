"""The interactive screen in a real terminal: what a person does, and what they see."""

from __future__ import annotations

import pytest

from tests.e2e.program import Program
from tests.e2e.stage import MODEL, leave, say, screen, served
from tests.fakes.model_server import ServerThread

WRITE = 'call[c1]: Write {"file_path": "new.txt", "content": "made\\n"}'

pytestmark = pytest.mark.e2e


def test_talk_allow_quit_and_resume(program: Program) -> None:
    script = f"say: I will make it.\n{WRITE}\n---\nsay: It is made.\n---\nsay: Welcome back.\n"
    with screen(program, script) as (terminal, server):
        say(terminal, "Make a file.")
        shown = terminal.wait_for("Yes, once", "new.txt")
        assert "made" in shown, "the question shows what would be written"
        assert not (program.project / "new.txt").exists()
        terminal.press_until_gone("y", "Yes, once")
        terminal.wait_for("It is made.")
        assert (program.project / "new.txt").read_text(encoding="utf-8") == "made\n"
        session = leave(terminal)

        env = served(server)
        with program.terminal("--resume", session, env=env) as resumed:
            resumed.wait_for("Make a file.", "It is made.", MODEL)
            say(resumed, "Are you there?")
            resumed.wait_for("Welcome back.")
        roles = [message["role"] for message in server.bodies[-1]["messages"]]
        assert roles == ["user", "assistant", "user", "assistant", "user"]


def test_picking_the_session_to_go_on_with(program: Program) -> None:
    with screen(program, "say: First.\n---\nsay: Second.\n---\nsay: Fresh.\n") as (
        terminal,
        server,
    ):
        say(terminal, "Mend the parser.")
        terminal.wait_for("First.")
        leave(terminal)
        env = served(server)
        with program.terminal("--model", MODEL, "--resume", env=env) as resumed:
            resumed.wait_for("Go on with which session?", "Mend the parser", "now")
            resumed.send("parser\r")
            resumed.wait_for("First.", MODEL)
            say(resumed, "Again.")
            resumed.wait_for("Second.")
        assert len(server.bodies[-1]["messages"]) == 3
        with program.terminal("--model", MODEL, "--resume", env=env) as fresh:
            fresh.wait_for("Go on with which session?")
            fresh.press("escape")
            fresh.wait_gone("Go on with which session?")
            say(fresh, "Anew.")
            fresh.wait_for("Fresh.")
        assert len(server.bodies[-1]["messages"]) == 1


def test_a_refusal_reaches_the_model_and_not_the_disk(program: Program) -> None:
    with screen(program, f"{WRITE}\n---\nsay: Then not.\n") as (terminal, server):
        say(terminal, "Make a file.")
        terminal.wait_for("Yes, once")
        terminal.press_until_gone("n", "Yes, once")
        say(terminal, "Why not?")
        terminal.wait_for("Then not.")
        assert not (program.project / "new.txt").exists()
        results = [
            block
            for message in server.bodies[-1]["messages"]
            for block in message["content"]
            if block["type"] == "tool_result"
        ]
        assert [result["is_error"] for result in results] == [True]


def test_shift_tab_changes_what_asks(program: Program) -> None:
    with screen(program, f"{WRITE}\n---\nsay: It is made.\n") as (terminal, _):
        terminal.press("shift+tab")
        terminal.wait_for("acceptEdits")
        say(terminal, "Make a file.")
        shown = terminal.wait_for("It is made.")
        assert "Yes, once" not in shown
        assert (program.project / "new.txt").exists()


def test_escape_interrupts_and_the_session_goes_on(program: Program) -> None:
    with screen(program, "say: Thinking\nwait: gate\n---\nsay: Here again.\n") as (terminal, _):
        say(terminal, "Think.")
        terminal.wait_for("Thinking", "esc to stop")
        terminal.press("escape")
        terminal.wait_for("Interrupted")
        say(terminal, "Go on.")
        terminal.wait_for("Here again.")


def test_commands(program: Program) -> None:
    with screen(program, "say: Noted.\n---\nsay: Fresh.\n") as (terminal, server):
        say(terminal, "/help")
        terminal.wait_for("Commands", "/clear", "/compact", "esc closes")
        terminal.press("escape")
        terminal.wait_gone("esc closes")
        say(terminal, "/permissions")
        terminal.wait_for("Permissions", "esc closes")
        terminal.press("escape")
        terminal.wait_gone("esc closes")
        say(terminal, "/mode plan")
        terminal.wait_for("Mode: plan")
        say(terminal, "/nonsense")
        terminal.wait_for("There is no command /nonsense")
        say(terminal, "Remember this.")
        terminal.wait_for("Noted.")
        say(terminal, "/clear")
        terminal.wait_gone("Noted.")
        say(terminal, "Anew.")
        terminal.wait_for("Fresh.")
        assert len(server.bodies[-1]["messages"]) == 1


def test_what_is_typed_before_the_session_is_there_is_sent(program: Program) -> None:
    with ServerThread("say: Quick.") as server:
        env = served(server)
        with program.terminal("--model", MODEL, env=env) as terminal:
            terminal.wait_for("Ask anything")
            terminal.send("Early.\r")
            terminal.wait_for("Early.", "Quick.")


def test_a_key_given_inside_is_used_from_the_next_message_on(program: Program) -> None:
    with ServerThread("say: Here I am.") as server:
        env = {"ANTHROPIC_BASE_URL": server.url}
        with program.terminal(env=env) as terminal:
            terminal.wait_for("What shall answer?", "the demo")
            terminal.press("escape")
            terminal.wait_until(lambda shown: "What shall answer?" not in shown)
            say(terminal, "Are you there?")
            terminal.wait_for("What shall answer?")
            terminal.press("escape")
            terminal.wait_until(lambda shown: "What shall answer?" not in shown)
            say(terminal, "/login anthropic")
            terminal.wait_for("Key for anthropic", "enter stores")
            terminal.send("sk-ant-given-inside\r")
            terminal.wait_for("counts from the next message on")
            terminal.wait_for("Here I am.", MODEL)
        assert server.requests[-1].headers["x-api-key"] == "sk-ant-given-inside"


def test_resizing_keeps_everything_readable(program: Program) -> None:
    text = "word " * 40
    with screen(program, f"say: {text}") as (terminal, _):
        say(terminal, "Talk.")
        terminal.wait_for("word word")
        terminal.resize(20, 50)
        terminal.wait_until(lambda shown: shown.count("word") == 40)
        assert all(len(line) <= 50 for line in terminal.screen())


def test_a_first_message_on_the_command_line(program: Program) -> None:
    with screen(program, "say: Hello you.", "Hello.") as (terminal, _):
        terminal.wait_for("Hello.", "Hello you.")


def test_without_a_key_the_screen_says_what_to_do(program: Program) -> None:
    with program.terminal() as terminal:
        terminal.wait_for("Ask anything", "What shall answer?")
        terminal.press("escape")
        terminal.wait_until(lambda shown: "What shall answer?" not in shown)
        assert "no model yet: /setup chooses one" in terminal.text()
        say(terminal, "Hi.")
        terminal.wait_for("What shall answer?")
        terminal.press("escape")
        terminal.wait_until(lambda shown: "What shall answer?" not in shown)
        say(terminal, "/exit")
        assert terminal.wait_exit() == 0


def test_a_first_message_waits_until_there_is_somebody_to_answer(program: Program) -> None:
    with program.terminal("!what is here?") as terminal:
        terminal.wait_for("What shall answer?", "what is here?")
        terminal.send("demo")
        terminal.press("enter")
        terminal.wait_for("Model: demo", "This is the demo:", " in \u00b7 ")  # the turn has ended
        say(terminal, "/exit")
        assert terminal.wait_exit() == 0
    said = [line["content"][0]["text"] for line in program.stored() if line["type"] == "user"]
    assert said[-1] == "!what is here?", "it is a message, and no command of the screen"


def test_a_session_that_cannot_be_opened_ends_the_program_with_the_reason(
    program: Program,
) -> None:
    with program.terminal("--model", "demo", "--resume", "nonsense") as terminal:
        terminal.wait_for("No session here matches")
        assert terminal.wait_exit() == 1
