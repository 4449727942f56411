"""Who reads what is printed goes away: as quiet as any filter, and no trace of a defect."""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.e2e.program import Program
from tests.fakes.waiting import PATIENCE

pytestmark = pytest.mark.e2e


@pytest.mark.parametrize("line", [("--help",), ("--version",), ("ps",), ("ps", "--json", "--all")])
def test_nobody_reads_any_more(program: Program, line: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [*program.argv, *line],
            cwd=program.project,
            env=program.env(),
            stdin=subprocess.DEVNULL,
            stdout=writer,
            stderr=subprocess.PIPE,
            timeout=PATIENCE,
            check=False,
        )
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")
