"""A short run of the fuzzer: nothing breaks, nothing is slow, nothing added permits."""

from __future__ import annotations

import itertools
import json
import random
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatewright.permissions.check import check_line
from gatewright.permissions.decision import Allow
from gatewright.permissions.shell.parse.words import brace_expand
from tests.bench.fuzz_gate import TOKENS, corpus, decision, mutants, problems
from tests.fakes.examples import many, some

RULES = {"user": {"deny": ["Read(**/a*b*c*)", "Bash(*a*b*c*d)", "Edit(/y/**)", "Bash(curl:*)"]}}
SIZE = 9_900
HUGE = {
    "braces": "echo " + "{a,b}" * (SIZE // 5),
    "substitutions": "$(" * (SIZE // 2),
    "expansions": "echo " + "${a:-" * (SIZE // 5),
    "quotes": '"' * (SIZE - 1),
    "here-documents": "cat " + "<<A " * (SIZE // 4) + "\n",
    "brackets": "(" * SIZE,
    "backticks": "`" * SIZE,
    "functions": "f(){" * (SIZE // 4),
    "bombs": ":(){ :|:& };" * (SIZE // 12),
    "commands": "a;" * (SIZE // 2),
    "pipes": "cat a|" * (SIZE // 6),
    "wrappers": "sudo " * (SIZE // 5),
    "evals": "eval " * (SIZE // 5),
    "globs": "cat " + "*a" * (SIZE // 2),
    "climbing": "cat " + "../" * (SIZE // 3),
    "deletions": "rm -rf " + "/a " * (SIZE // 3),
    "redirections": ">a " * (SIZE // 3),
    "assignments": "A=1 " * (SIZE // 4),
}


@pytest.mark.parametrize("seed", some(range(4), 4))
def test_mutants(seed: int) -> None:
    lines = mutants(corpus(), random.Random(seed))
    found = [
        f"{problem}: {command!r}"
        for command in itertools.islice(lines, 150)
        for problem in problems(command)
        if not problem.startswith("took")  # a busy machine is no defect
    ]
    assert not found, "\n".join(found)


@settings(max_examples=many(300), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.one_of(st.sampled_from(TOKENS), st.text(max_size=4)), max_size=12).map("".join))
def test_any_text_is_judged(command: str) -> None:
    assert "could not judge" not in decision(command).reason.text
    ended = command.split("#")[0].strip() and not command.rstrip().endswith("\\")
    if ended and not isinstance(decision(command), Allow):
        assert not isinstance(decision(command + "; ls"), Allow)


@pytest.mark.parametrize("name", HUGE)
def test_huge_lines_are_cheap(name: str) -> None:
    """The bound is 50 ms for 10 kB on a quiet machine; the factor is for busy ones."""
    context = {"mode": "bypassPermissions", "rules": RULES}
    case = {"tool": "Bash", "input": {"command": HUGE[name]}, "context": context}
    line = json.dumps(case).encode()
    check_line(b'{"tool": "Bash", "input": {"command": "ls"}}')  # loads what judging needs
    spent: list[float] = []  # the best of three: a collection of garbage falls into one of them
    answer = {}
    for _ in range(3):
        started = time.thread_time()
        answer = json.loads(check_line(line))
        spent.append(time.thread_time() - started)
    assert min(spent) < 0.5
    assert "could not judge" not in answer["reason"]


def test_brace_expansion_is_bounded() -> None:
    assert len(brace_expand("{a,b}" * 12)) <= 64
