"""Whether there is an engine, what its process may do, and that it loads when it is used."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gatewright.agent.workflows.engine import available
from gatewright.agent.workflows.engine.engine import Engine, EngineProblem
from gatewright.agent.workflows.engine.script_limits import Limits
from gatewright.agent.workflows.script.check import check
from gatewright.tools.system.processes import spawn
from tests.workflows.playing import META

LOADED = """
import json, sys
from gatewright.agent.workflows.engine.available import unavailable
from gatewright.agent.workflows.engine import engine
from gatewright.agent.workflows.script import check
print(json.dumps([unavailable(), sorted(m for m in sys.modules if m.startswith(NAMES))]))
"""


def test_the_engine_is_here() -> None:
    assert available.unavailable() == ""
    found = available.library()
    assert found is not None
    assert found.is_file()


async def test_without_an_engine_everybody_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(available, "LIBRARY", "_quickjs_that_is_not_there")
    why = available.unavailable()
    assert "quickjs-ng" in why
    assert "no build for this platform" in why
    with pytest.raises(EngineProblem, match="quickjs-ng"):
        await Engine.start(check(META), Limits(), spawn)


def test_asking_loads_neither_the_engine_nor_the_grammar() -> None:
    names = ("_quickjs", "quickjs", "tree_sitter", "ctypes")
    program = LOADED.replace("NAMES", repr(names))
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, cwd=Path("/")
    )
    assert json.loads(said.stdout) == ["", []]


async def test_the_worker_has_two_pipes_and_nothing_else() -> None:
    """Its own limits, its environment, and a filter in the kernel; where there is such a thing."""
    engine = await Engine.start(check(META), Limits(), spawn)
    try:
        home = Path(f"/proc/{engine.pid}")
        if not home.exists():
            pytest.skip("this system shows no processes")
        environment = (home / "environ").read_bytes().split(b"\0")
        names = {entry.partition(b"=")[0] for entry in environment if entry}
        assert b"TZ" in names
        assert len(names) <= 2, "TZ, and the mark by which a lost process is found"
        limits = (home / "limits").read_text(encoding="ascii")
        for line in ("Max open files            8", "Max file size             0"):
            assert line in limits
        assert "Max address space         536870912" in limits
        status = (home / "status").read_text(encoding="utf-8")
        assert "Seccomp:\t2" in status
        assert "NoNewPrivs:\t1" in status
        assert int(status.partition("VmHWM:")[2].split()[0]) < 32_000
        assert sorted(int(fd.name) for fd in (home / "fd").iterdir()) == [0, 1, 2]
    finally:
        await engine.close()
