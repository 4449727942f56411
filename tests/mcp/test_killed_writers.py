"""`kill -9` of us while definitions and logins are being written: the files stay whole."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

# Every round a child writes without end until it is killed, at once after the first write or later.
ROUNDS = """
import asyncio, os, random, signal, sys, time
from pathlib import Path
from gatewright.agent.extensions.servers.logins import logins
from gatewright.mcp.described import Described, Hello, Listing
from gatewright.mcp.known import KnownServers
from gatewright.mcp.oauth.grant import Grant

folder, rounds = Path(sys.argv[1]), int(sys.argv[2])
env = {"HOME": str(folder), "GATEWRIGHT_HOME": str(folder), "PATH": ""}
known, login = KnownServers(folder / "mcp"), logins(env, folder)("https://a.test/mcp", "")
other = logins(env, folder)("https://b.test/mcp", "")
tools = tuple(Described(name=f"t{n}", description="d" * 2000) for n in range(200))
hello = Hello(era="2025-11-25")

def write(out):
    for number in range(10**9):
        known.listed("s", hello, Listing(tools=tools[: 100 + number % 100]))
        asyncio.run(login.keep(Grant(resource="r", access=f"{number}" * 1000, refresh="r")))
        if not number:
            os.write(out, b"x")

asyncio.run(other.keep(Grant(resource="r", access="other")))
whole = 0
for _ in range(rounds):
    wait, out = os.pipe()
    if not (pid := os.fork()):
        write(out)
    os.read(wait, 1)
    time.sleep(random.uniform(0, 0.02))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(wait), os.close(out)
    found = known.read("s")
    grant, beside = asyncio.run(login.kept()), asyncio.run(other.kept())
    assert found.fresh(time.time()) and 100 <= len(found.tools) < 200, found.pins
    assert set(found.pins) == {f"t{n}" for n in range(100)}
    assert grant is not None and grant.refresh == "r"
    assert beside is not None and beside.access == "other"
    whole += 1
left = [path.name for path in (folder / "mcp").iterdir()]
print(whole, len(left))
"""


@pytest.mark.parametrize(
    "rounds", [20, pytest.param(300, marks=[pytest.mark.proof, pytest.mark.timeout(180)])]
)
def test_definitions_and_logins_stay_whole(tmp_path: Path, rounds: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ROUNDS, str(tmp_path), str(rounds)],
        capture_output=True, text=True, timeout=170, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    whole, left = map(int, done.stdout.split())
    assert whole == rounds
    assert left <= 3, "what was begun does not pile up"
