"""What keeps commands of a session away from sessions in the background, besides the socket."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gatewright.agent.autonomy.running.person import require_person
from gatewright.agent.errors import GatewrightError
from gatewright.permissions.shell import own_cli
from gatewright.tools.system.home import OwnHome
from tests.permissions.tables import judge_shell

WAYS = (
    "agent bg 'delete it all'",
    "agent attach 01a1",
    "gatewright stop 01a1",
    "agent kill 01a1",
    "python3 -m gatewright.agent.launch.main __background",
    "uvx agent bg hello",
)


@pytest.mark.parametrize("mode", ["default", "acceptEdits", "bypassPermissions"])
@pytest.mark.parametrize("command", WAYS)
def test_no_rule_and_no_mode_lets_a_command_do_it(command: str, mode: str) -> None:
    rules = {"user": {"allow": ["Bash", "Bash(agent:*)", "Bash(python3:*)", "Bash(uvx:*)"]}}
    found = judge_shell({"id": 1, "command": command, "context": {"mode": mode, "rules": rules}})
    assert (found["behavior"], found["stage"], found["always"]) == ("ask", "floor", False)


def test_every_word_that_begins_shows_or_ends_one_is_judged() -> None:
    assert {"bg", "attach", "stop", "kill", "__background"} <= set(own_cli.CHANGING)


def test_the_sandbox_hides_where_they_are_answered(tmp_path: Path) -> None:
    sockets = tmp_path / "run" / "gatewright"
    sockets.mkdir(parents=True)
    own = OwnHome(str(tmp_path / "home"), sockets=(str(sockets),))
    assert str(sockets) in own.closed()
    assert str(sockets) in own.hidden((str(tmp_path),))


def test_the_program_refuses_inside_a_session() -> None:
    with pytest.raises(GatewrightError, match="this runs inside a session"):
        require_person({"GATEWRIGHT": "1", "HOME": "/"})


ADOPTS = """
import subprocess, sys
from gatewright.tools.system.lifetimes import Reaper, adopt, children
import os
assert adopt()
own = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
orphan = "import os; me = os.getpid()\\nif not os.fork():\\n while os.getppid() == me: pass"
subprocess.run([sys.executable, "-c", orphan], check=True)
def zombies():
    return [each for each in children(os.getpid()) if each.state == "Z" and each.pid != own.pid]
while not zombies():
    pass
reaper = Reaper()
print(reaper.look(), reaper.look(), len(zombies()))
own.communicate(b"\\n")
print(own.returncode)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only there it adopts")
def test_what_was_adopted_and_ended_is_taken_away_and_nothing_of_its_own() -> None:
    argv = [sys.executable, "-c", ADOPTS]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["0", "1", "0", "0"]
