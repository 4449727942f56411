"""Directories that go or are closed to a session that works there: sentences, no class names."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.cli.test_print_process import Shapes
from tests.cli.test_told import until_asked
from tests.e2e.program import Program
from tests.e2e.stage import texts
from tests.fakes.model_server import ServerThread
from tests.fakes.waiting import PATIENCE

pytestmark = pytest.mark.e2e

CALLS = """
call: Read {"file_path": "notes.txt"}
---
delay: 1
call[a]: Read {"file_path": "notes.txt"}
call[b]: Glob {"pattern": "*.txt"}
call[c]: Grep {"pattern": "beta"}
call[d]: Write {"file_path": "new.txt", "content": "x"}
call[e]: Edit {"file_path": "notes.txt", "old_string": "beta", "new_string": "b"}
call[f]: Bash {"command": "ls"}
---
say: Done.
"""
RAW = re.compile(r"Traceback|[A-Z]\w+Error\b|\[Errno|internal error")


@pytest.mark.parametrize("how", ["deleted", "a file instead"])
def test_a_project_that_goes_in_mid_run_is_told_in_sentences(program: Program, how: str) -> None:
    with ServerThread(CALLS) as server, Shapes(program, server).start("go", "-y") as process:
        until_asked(server, process, 2)
        shutil.rmtree(program.project)
        if how != "deleted":
            program.project.write_text("x", encoding="utf-8")
        out, err = (text.decode() for text in process.communicate(timeout=40))
    said = "\n".join(texts(server.bodies[-1]))
    assert (process.returncode, out) == (0, "Done.\n"), err
    assert not RAW.search(said + err), RAW.search(said + err)


CLOSED = """
call[a]: Read {"file_path": "closed/a.txt"}
call[b]: Glob {"pattern": "closed/*.txt"}
call[c]: Grep {"pattern": "beta", "path": "closed"}
call[d]: Write {"file_path": "closed/new.txt", "content": "x"}
call[e]: Edit {"file_path": "closed/a.txt", "old_string": "beta", "new_string": "b"}
call[f]: Read {"file_path": "mine.txt"}
call[g]: Bash {"command": "cat closed/a.txt"}
---
say: Done.
"""


def bound_by_modes() -> None:
    """Root reads what it likes only by two capabilities: a program started now lacks them."""
    if os.geteuid() == 0:
        prctl = ctypes.CDLL(None).prctl
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            assert prctl(24, capability, 0, 0, 0) == 0  # PR_CAPBSET_DROP


@pytest.mark.skipif(sys.platform != "linux", reason="capabilities are of Linux")
def test_what_is_closed_to_us_is_told_in_sentences(program: Program) -> None:
    closed, mine = program.project / "closed", program.project / "mine.txt"
    closed.mkdir()
    (closed / "a.txt").write_text("beta\n", encoding="utf-8")
    mine.write_text("x", encoding="utf-8")
    for path in (closed, mine):
        path.chmod(0)
    try:
        with ServerThread(CLOSED) as server:
            flags = ("go", "-y")
            with Shapes(program, server).start(*flags, preexec_fn=bound_by_modes) as process:
                out, err = (text.decode() for text in process.communicate(timeout=40))
            said = "\n".join(texts(server.bodies[-1]))
    finally:
        closed.chmod(0o700)
    assert (process.returncode, out) == (0, "Done.\n"), err
    assert not RAW.search(said + err), RAW.search(said + err)
    assert said.count("Permission denied") >= 4, said


def test_a_directory_that_no_text_can_name_is_told_at_the_start(program: Program) -> None:
    odd = os.fsencode(program.project) + b"/a\xff"
    os.mkdir(odd)  # noqa: PTH102  bytes
    done = subprocess.run(
        [*program.argv, "-p", "hi", "--model", "demo"],
        cwd=odd,
        env=program.env(),
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    said = done.stderr.decode()
    assert done.returncode == 1
    assert "is not UTF-8" in said
    assert not RAW.search(said)
