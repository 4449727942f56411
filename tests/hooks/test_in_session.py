"""Hooks in a whole session: what each answer does to calls, inputs and turns."""

from __future__ import annotations

import json
from pathlib import Path

from gatewright.agent.record.events import HookRan, InputRefused, TurnEnded
from gatewright.agent.turn.stop import Stop
from tests.hooks.scripts import command, hooks, part, says
from tests.permissions.composed import WITHIN, desk

BASH = 'call[c1]: Bash {"command": "touch made"}'


async def test_a_denial_refuses_the_call_and_tells_the_model(tmp_path: Path) -> None:
    deny = command("echo no touching >&2; exit 2")
    own = hooks("PreToolUse", deny, matcher="Bash")
    async with desk(tmp_path, [BASH, "say: done"], own=own, mode="bypassPermissions") as made:
        made.session.submit("go")
        assert "no touching" in await made.finished("c1")
        assert not (made.project / "made").exists()
        decided = await made.decided("c1")
        assert (decided.behavior, decided.stage) == ("deny", "hook")
        ran = await made.seen.until(HookRan, within=WITHIN)
        assert (ran.outcome, ran.exit, ran.blocked) == ("success", 2, True)
        await made.ended()


async def test_stdin_is_the_public_contract(tmp_path: Path) -> None:
    log = tmp_path / "log"
    own = hooks("PreToolUse", command(f"cat > {log}"), matcher="Bash")
    async with desk(tmp_path, [BASH, "say: done"], own=own, mode="bypassPermissions") as made:
        made.session.submit("go")
        await made.finished("c1")
        await made.ended()
        told = json.loads(log.read_text(encoding="utf-8"))
        assert told["hook_event_name"] == "PreToolUse"
        assert told["tool_name"] == "Bash"
        assert told["tool_input"]["command"] == "touch made"
        assert told["tool_use_id"] == "c1"
        assert told["permission_mode"] == "bypassPermissions"
        assert told["cwd"] == str(made.project)
        lines = Path(told["transcript_path"]).read_text(encoding="utf-8").splitlines()
        kinds = [json.loads(line)["type"] for line in lines]
        assert kinds[-2:] == ["user", "assistant"], kinds


async def test_an_allow_runs_what_would_be_asked(tmp_path: Path) -> None:
    allow = command(says(part("PreToolUse", permissionDecision="allow")))
    own = hooks("PreToolUse", allow, matcher="Bash")
    async with desk(tmp_path, [BASH, "say: done"], own=own) as made:
        made.session.submit("go")
        await made.finished("c1")
        assert (made.project / "made").exists()
        assert (await made.decided("c1")).stage == "trusted_allow"
        await made.ended()


async def test_a_rewrite_is_judged_anew(tmp_path: Path) -> None:
    rewrite = part(
        "PreToolUse", permissionDecision="allow", updatedInput={"command": "touch forbidden"}
    )
    own = hooks("PreToolUse", command(says(rewrite)), matcher="Bash")
    own["permissions"] = {"deny": ["Bash(touch forbidden)"]}
    async with desk(tmp_path, [BASH, "say: done"], own=own) as made:
        made.session.submit("go")
        await made.finished("c1")
        assert not (made.project / "forbidden").exists()
        assert not (made.project / "made").exists()
        assert (await made.decided("c1")).stage == "deny"
        await made.ended()


async def test_an_input_is_blocked_and_context_is_added(tmp_path: Path) -> None:
    body = 'read line; case "$line" in *secret*) echo keep it >&2; exit 2;; esac; echo be brief'
    own = hooks("UserPromptSubmit", command(body))
    async with desk(tmp_path, ["say: one", "say: two"], own=own) as made:
        made.session.submit("my secret")
        refused = await made.seen.until(InputRefused, within=WITHIN)
        assert (refused.text, refused.reason) == ("my secret", "keep it")
        made.session.submit("hello")
        await made.ended()
        assert any("be brief" in text for text in made.words(0))


async def test_a_stop_hook_keeps_the_turn_going_until_it_is_content(tmp_path: Path) -> None:
    body = f"[ -e {tmp_path}/ok ] || {{ touch {tmp_path}/ok; echo run the tests >&2; exit 2; }}"
    own = hooks("Stop", command(body))
    async with desk(tmp_path, ["say: one", "say: two"], own=own) as made:
        made.session.submit("go")
        await made.ended()
        assert any("run the tests" in text for text in made.words(1))
        assert (await made.seen.until(TurnEnded, within=WITHIN)).stop is Stop.COMPLETED


async def test_continue_false_ends_the_turn(tmp_path: Path) -> None:
    stop = command(says({"continue": False, "stopReason": "enough"}))
    own = hooks("PostToolUse", stop, matcher="Bash")
    async with desk(tmp_path, [BASH, "say: more"], own=own, mode="bypassPermissions") as made:
        made.session.submit("go")
        ended = await made.seen.until(TurnEnded, within=WITHIN)
        assert (ended.stop, ended.message) == (Stop.HOOK_STOPPED, "enough")


async def test_an_untrusted_project_starts_nothing(tmp_path: Path) -> None:
    settings = hooks("UserPromptSubmit", command(f"touch {tmp_path}/ran"))
    async with desk(
        tmp_path, ["say: one"], settings=settings, trust=False, interactive=False
    ) as made:
        made.session.submit("hello")
        await made.ended()
        assert not (tmp_path / "ran").exists()
