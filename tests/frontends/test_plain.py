"""Text mode: the answer alone on standard output, the reason for anything else on the other."""

from __future__ import annotations

import io

import pytest

from gatewright.agent.frontends import plain
from gatewright.agent.launch.exits import Exit, code_of
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.record.events import (
    AnyEvent,
    Envelope,
    ToolFinished,
    ToolStarted,
    TurnEnded,
)
from gatewright.agent.turn.limits import Limits
from gatewright.agent.turn.stop import Stop
from tests.fakes.house import house

GO = LaunchOptions(prompt="go", print_mode=True)
TOOLS = """
say: I will look first.
call: Read {"file_path": "a.py"}
---
say: Done.
"""


async def run(
    script: str, *, limits: Limits | None = None, chatty: bool = False
) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    async with house(script, limits=limits or Limits()) as built:
        code = await plain.run(built.session, GO, out, err, chatty=chatty)
    return code, out.getvalue(), err.getvalue()


async def test_only_the_final_answer_is_printed() -> None:
    assert await run(TOOLS) == (0, "Done.\n", "")


async def test_progress_is_for_those_who_want_it() -> None:
    code, out, err = await run(TOOLS, chatty=True)
    assert (code, out) == (0, "Done.\n")
    assert "Read" in err


async def test_the_last_words_count_when_the_end_is_silent() -> None:
    script = 'say: Look:\ncall: Read {"file_path": "a"}\n---\nthink: Hmm.\nsay: \n'
    code, out, _ = await run(script)
    assert (code, out) == (0, "Look:\n")


async def test_a_limit_has_its_own_code_and_keeps_the_text() -> None:
    code, out, err = await run(TOOLS, limits=Limits(requests=1))
    assert code == Exit.LIMIT
    assert out == "I will look first.\n"
    assert err == "agent: Stopped after one round, the limit.\n"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ("overloaded", Exit.TEMPORARY),
        ("rate", Exit.TEMPORARY),
        ("transport", Exit.TEMPORARY),
        ("auth", Exit.ERROR),
        ("quota", Exit.ERROR),
        ("refused", Exit.ERROR),
        ("too_long", Exit.ERROR),
    ],
)
async def test_failures_say_why_and_whether_to_retry(error: str, code: Exit) -> None:
    script = "\n---\n".join([f"error: {error} message=It broke."] * 3)
    given_up, out, err = await run(script)
    assert (given_up, out) == (code, "")
    *waits, last = err.splitlines()
    tries, end = ((1, 2), " Given up after 3 tries.") if code is Exit.TEMPORARY else ((), "")
    assert last == f"agent: It broke.{end}"
    assert waits == [f"agent: It broke. Trying again at once ({n} of 2)." for n in tries]


@pytest.mark.parametrize("stop", list(Stop))
def test_every_end_has_a_code(stop: Stop) -> None:
    code = code_of(TurnEnded(stop=stop))
    good = {Stop.COMPLETED, Stop.USER_REFUSED, Stop.HOOK_STOPPED, Stop.TOOL_DEFERRED}
    assert (code is Exit.OK) == (stop in good)


def test_results_of_calls_side_by_side_are_told_apart() -> None:
    progress = plain.Progress()

    def told(*events: AnyEvent) -> list[str]:
        made = (
            Envelope(seq=1, uuid="", parent="", timestamp=0.0, agent="main", event=event)
            for event in events
        )
        return list(map(progress.line, made))

    def begun(id: str) -> ToolStarted:
        return ToolStarted(call_id=id, name="Read", input={}, verb="Read", target=id)

    def ended(id: str) -> ToolFinished:
        return ToolFinished(call_id=id, ok=True, content=(), summary="3 lines")

    assert told(begun("a"), ended("a")) == ["Read a", "  ok: 3 lines"]
    both = told(begun("a"), begun("b"), ended("a"), ended("b"))
    assert both == ["Read a", "Read b", "  Read a: ok: 3 lines", "  Read b: ok: 3 lines"]
    failed = ToolFinished(call_id="a", ok=False, content=(), summary="failed")
    assert told(begun("a"), failed) == ["Read a", "  failed"], "once"
