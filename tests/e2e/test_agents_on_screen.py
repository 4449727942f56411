"""Agents in a real terminal, from the first word of one to the report: one, three, twenty."""

from __future__ import annotations

import json

import pytest

from tests.e2e.program import Program
from tests.e2e.stage import choose, say, screen
from tests.fakes.waiting import until

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]
END = "---\n"
BYPASS = ("--permission-mode", "bypassPermissions")


def starts(*names: str, background: bool = False) -> str:
    """One message that starts so many agents."""
    calls = [
        {
            "description": f"Look at {name}",
            "prompt": f"Look at {name} and report.",
            "subagent_type": "general-purpose",
            "name": name,
            "run_in_background": background,
        }
        for name in names
    ]
    return "".join(f"call: Agent {json.dumps(call)}\n" for call in calls) + END


def test_one_is_seen_looked_into_told_something_and_reports(program: Program) -> None:
    script = (
        starts("scout")
        + "say: I look at the first file.\nwait: gate\n"
        + END
        + "say: Then at the second, as you say.\n"
        + END
        + "say: The scout has found it.\n"
    )
    with screen(program, script, rows=24, columns=80) as (terminal, server):
        say(terminal, "Find it.")
        terminal.wait_for("◇ scout", "Look at scout", "esc to stop")
        terminal.press("down")
        terminal.wait_for("▸ ◇ scout", "enter opens")
        terminal.press("enter")
        terminal.wait_for("── scout", "esc goes back", "to scout", "I look at the first file.")
        terminal.send("And the second.\r")
        terminal.wait_for("↳ And the second.")
        server.release("gate")
        terminal.wait_for("▎ And the second.", "Then at the second, as you say.")
        terminal.press("escape")
        terminal.wait_for("The scout has found it.", "◆ scout", "done")
        told = json.dumps(server.bodies[2])
        assert "And the second." in told
        assert "And the second." not in json.dumps(server.bodies[-1]), "it was for the scout"


def test_three_ask_and_each_answer_reaches_its_own(program: Program) -> None:
    program.unconfined()
    asks = [f'call: Bash {{"command": "touch made-$$-{n}"}}\n' + END for n in range(3)]
    script = (
        starts("one", "two", "three")
        + "".join(asks)
        + ("say: It is done.\n" + END) * 2
        + "say: All three have ended.\n"
    )
    with screen(program, script, rows=40, columns=120) as (terminal, _):
        say(terminal, "Do it three times.")
        terminal.wait_for("1 of 3", "asks · Run this command?", "stop this agent")
        choose(terminal, "y", until="1 of 2")
        choose(terminal, "x", until="Yes, once")
        terminal.wait_gone("1 of 2")
        choose(terminal, "y", until="All three have ended.")
        made = [path for path in program.project.iterdir() if path.name.startswith("made-")]
        assert len(made) == 2, "the one that was stopped did nothing"
        shown = terminal.text()
        assert "stopped" in shown
        assert shown.count("done") >= 2


def test_twenty_run_behind_and_the_prompt_stays_quick(program: Program) -> None:
    names = [f"scout-{n}" for n in range(20)]
    script = (
        starts(*names, background=True)
        + "say: Twenty are on their way.\n"
        + END
        + ("say: I look.\nwait: gate\n" + END) * 20
        + "say: One more has ended.\n"
        + END * 1
        + ("say: And one more.\n" + END) * 20
    )
    with screen(program, script, rows=24, columns=80) as (terminal, server):
        say(terminal, "Send them.")
        terminal.wait_for("17 more", "Twenty are on their way.")
        terminal.send("still here")
        terminal.wait_for("still here")
        terminal.press("ctrl+u", "down")
        terminal.wait_for("enter opens")
        terminal.look()
        terminal.press("x")
        terminal.wait_for("■ scout", "stopped")
        terminal.press("escape")
        say(terminal, "/tasks")
        terminal.wait_for("Last line", "agent")
        terminal.look()
        terminal.press("X")
        terminal.wait_for("X again stops all")
        terminal.press("X")
        terminal.wait_gone("running")
        until(lambda: "◇ scout" not in terminal.text())
        server.release("gate")
