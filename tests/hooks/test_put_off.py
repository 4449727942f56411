"""A call that a hook puts off: it stays open, and the session goes on with it later."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gatewright.agent.frontends.sdk.stream_json import Dialect
from gatewright.agent.launch.exits import Exit
from gatewright.agent.record.events import Noticed, ToolFinished, TurnEnded
from gatewright.agent.turn.stop import Stop
from tests.e2e.program import Program
from tests.fakes.model_server import ServerThread
from tests.hooks.scripts import command, hooks, part, says
from tests.permissions.composed import ID, WITHIN, desk

BASH = 'call[c1]: Bash {"command": "touch made"}'
TWO = 'call[c1]: Bash {"command": "touch made"}\ncall[c2]: Bash {"command": "touch more"}'
PRINTS = {"print_mode": True}
DEFER = command(says(part("PreToolUse", permissionDecision="defer")))
ONCE = command(
    "[ -e answered ] && exec printf '%s' "
    + f"'{json.dumps(part('PreToolUse', permissionDecision='allow'))}';"
    + DEFER["command"]
)


def own(entry: dict[str, Any]) -> dict[str, Any]:
    return hooks("PreToolUse", entry, matcher="Bash")


async def test_the_call_stays_open_and_the_next_run_has_it_judged_again(tmp_path: Path) -> None:
    async with desk(tmp_path, [BASH], own=own(ONCE), interactive=False, options=PRINTS) as made:
        made.session.submit("go")
        ended = await made.seen.until(TurnEnded, within=WITHIN)
        assert ended.stop is Stop.TOOL_DEFERRED
        assert ended.waits is not None
        assert (ended.waits.id, ended.waits.input) == ("c1", {"command": "touch made"})
        assert not made.seen.of(ToolFinished), "it has no result"
        assert not (made.project / "made").exists()
        (made.project / "answered").touch()
    again = {**PRINTS, "resume": ID}
    async with desk(
        tmp_path, ["say: done"], own=own(ONCE), interactive=False, options=again
    ) as made:
        assert await made.session.opened(), "it can go on without an input"
        made.session.tell("")
        await made.finished("c1")
        await made.ended(2)
        assert (made.project / "made").exists()
        messages = made.server.bodies[0]["messages"]
        kinds = [block["type"] for block in messages[-1]["content"]]
        assert (messages[-1]["role"], kinds) == ("user", ["tool_result"])
    async with desk(tmp_path, [], interactive=False, options=again) as made:
        assert not await made.session.opened(), "nothing waits any more"


async def test_it_may_be_put_off_again(tmp_path: Path) -> None:
    async with desk(tmp_path, [BASH], own=own(DEFER), options=PRINTS) as made:
        made.session.submit("go")
        await made.ended()
    again = {**PRINTS, "resume": ID}
    async with desk(tmp_path, [], own=own(DEFER), options=again) as made:
        made.session.tell("")
        ended = await made.seen.until(TurnEnded, count=2, within=WITHIN)
        assert (ended.stop, made.server.bodies) == (Stop.TOOL_DEFERRED, [])


async def test_with_a_tool_that_is_gone_the_turn_says_so(tmp_path: Path) -> None:
    async with desk(tmp_path, [BASH], own=own(DEFER), options=PRINTS) as made:
        made.session.submit("go")
        await made.ended()
    again = {**PRINTS, "resume": ID}
    async with desk(tmp_path, [], tools=("Read",), options=again) as made:
        made.session.tell("")
        ended = await made.seen.until(TurnEnded, count=2, within=WITHIN)
        assert ended.stop is Stop.TOOL_DEFERRED_UNAVAILABLE
        assert "no tool named Bash" in ended.message


async def test_for_a_client_of_the_sdk_too_but_not_for_a_screen_elsewhere(tmp_path: Path) -> None:
    lines = {"input_format": "stream-json", "output_format": "stream-json"}
    for name, options, stop in (
        ("sdk", lines, Stop.TOOL_DEFERRED),
        ("far", {**lines, "include_session_events": True}, Stop.COMPLETED),
    ):
        async with desk(
            tmp_path / name,
            [BASH, "say: done"],
            own=own(DEFER),
            mode="bypassPermissions",
            options=options,
        ) as made:
            made.session.submit("go")
            assert (await made.seen.until(TurnEnded, within=WITHIN)).stop is stop


async def test_elsewhere_the_word_counts_for_nothing_and_is_told(tmp_path: Path) -> None:
    for options, calls in (({}, BASH), (PRINTS, TWO)):
        folder = tmp_path / f"{len(options)}"
        script = [calls, "say: done"]
        async with desk(
            folder, script, own=own(DEFER), mode="bypassPermissions", options=options
        ) as made:
            made.session.submit("go")
            await made.ended()
            assert (made.project / "made").exists()
            assert any("defer counts in" in each.text for each in made.seen.of(Noticed))


async def test_another_hooks_refusal_is_stricter(tmp_path: Path) -> None:
    both = hooks("PreToolUse", DEFER, command("echo never >&2; exit 2"), matcher="Bash")
    async with desk(tmp_path, [BASH, "say: done"], own=both, options=PRINTS) as made:
        made.session.submit("go")
        assert "never" in await made.finished("c1")
        await made.ended()


async def test_as_json_lines(tmp_path: Path) -> None:
    dialect = Dialect("s", new_id=lambda: "u")
    async with desk(tmp_path, [BASH], own=own(DEFER), options=PRINTS) as made:
        made.session.submit("go")
        await made.ended()
        lines = [line for each in made.seen.envelopes for line in dialect.lines(each)]
    result = lines[-1]
    assert (result["subtype"], result["stop_reason"]) == ("success", "tool_deferred")
    assert result["deferred_tool_use"] == {
        "id": "c1", "name": "Bash", "input": {"command": "touch made"},
    }  # fmt: skip
    assert dialect.code is Exit.OK


def test_the_program_ends_well_and_goes_on_without_a_prompt(tmp_path: Path) -> None:
    program = Program.prepare(tmp_path)
    settings = program.home / ".gatewright" / "settings.json"
    settings.write_text(json.dumps({"smallModel": "demo", **own(ONCE)}), encoding="utf-8")
    with ServerThread(f"{BASH}\n---\nsay: Made.\n") as server:
        env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}
        done = program.run("-p", "go", "--output-format", "json", env=env)
        told = json.loads(done.stdout)
        assert (done.returncode, told["stop_reason"]) == (0, "tool_deferred"), done.stderr
        (program.project / "answered").touch()
        more = program.run("-p", "--resume", told["session_id"], env=env)
        assert (more.returncode, more.stdout.strip()) == (0, "Made."), more.stderr
