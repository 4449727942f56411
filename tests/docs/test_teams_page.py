"""The examples of docs/teams.md run."""

from __future__ import annotations

import pytest

from tests.docs.test_examples import examples
from tests.e2e.program import Program

pytestmark = pytest.mark.e2e


@pytest.mark.parametrize("code", examples("teams.md", "sh"))
def test_it_runs(program: Program, code: str) -> None:
    words = code.strip().split("agent ", 1)
    name, _, value = words[0].strip().partition("=")
    arguments = [word.strip('"') for word in words[1].split()]
    done = program.run(*arguments, env={name: value} if name else {})
    assert done.returncode == 0, done.stderr
