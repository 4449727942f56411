"""Hooks in a whole session: what each answer does to calls, inputs and turns."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.extensions import hook_session
from gatewright.agent.extensions.hooks import Hooks
from gatewright.agent.hooks.events import EVENTS
from gatewright.agent.hooks.shown.rows import details
from gatewright.agent.record.events import (
    HookRan,
    HookStarted,
    InputRefused,
    Noticed,
    TitleChanged,
    TurnEnded,
)
from gatewright.agent.session.children import AgentSpec
from gatewright.agent.turn.stop import Stop
from gatewright.tools.blocks import plain
from gatewright.tools.protocol import SpawnRequest
from gatewright.tools.system import processes
from gatewright.tools.system.processes import GroupChild
from tests.fakes.waiting import eventually
from tests.hooks.scripts import command, hooks, part, says
from tests.permissions.composed import WITHIN, desk

READ = 'call[c1]: Glob {"pattern": "*"}'
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


@pytest.mark.parametrize("named", ["~nobody-of-that-name/x", "~root/x", "~/x", "up/../x"])
async def test_a_path_is_told_as_its_tool_reads_it(tmp_path: Path, named: str) -> None:
    log = tmp_path / "log"
    own = hooks("PreToolUse", command(f"cat > {log}"), matcher="Glob")
    call = f'call[c1]: Glob {{"pattern": "*", "path": "{named}"}}'
    async with desk(tmp_path, [call, "say: done"], own=own, mode="bypassPermissions") as made:
        made.session.submit("go")
        await made.finished("c1")
        await made.ended()
        home = named.removeprefix("~/")
        whole = tmp_path / "home" / home if home != named else made.project / named
        told = json.loads(log.read_text(encoding="utf-8"))
        assert told["tool_input"]["path"] == str(whole)


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


@pytest.mark.parametrize("interactive", [True, False], ids=["screen", "print"])
async def test_an_untrusted_project_starts_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, interactive: bool
) -> None:
    started: list[str] = []

    async def spawn(request: SpawnRequest) -> GroupChild:
        started.append(" ".join(request.argv))
        return await processes.spawn(request)

    monkeypatch.setattr(hook_session, "spawn", spawn)
    settings: dict[str, Any] = {"hooks": {}}
    for event in EVENTS:
        settings["hooks"] |= hooks(event, command(f"touch {tmp_path}/ran"))["hooks"]
    theirs = tmp_path / "project" / ".claude" / "settings.json"
    theirs.parent.mkdir(parents=True)
    theirs.write_text(json.dumps(settings), encoding="utf-8")
    async with desk(
        tmp_path, [BASH, "say: hi"], settings=settings, trust=False, interactive=interactive
    ) as made:
        if interactive:
            made.answer(await made.asked(), "continue")
        made.session.submit("go")
        if interactive:
            made.answer(await made.asked(2), "no")
        await made.ended()
    assert started == []
    assert not (tmp_path / "ran").exists()


async def test_what_a_start_hook_exports_is_there_for_commands(tmp_path: Path) -> None:
    own = hooks("SessionStart", command('echo export FROM_HOOK=here >> "$CLAUDE_ENV_FILE"'))
    call = 'call[c1]: Bash {"command": "echo got $FROM_HOOK"}'
    async with desk(tmp_path, [call, "say: done"], own=own, mode="bypassPermissions") as made:
        made.session.submit("go")
        assert "got here" in await made.finished("c1")
        await made.ended()


async def test_exports_that_are_no_file_hold_up_no_command(tmp_path: Path) -> None:
    pipe = 'rm -f "$CLAUDE_ENV_FILE"; mkfifo "$CLAUDE_ENV_FILE"'
    call = 'call[c1]: Bash {"command": "echo went on"}'
    own = hooks("SessionStart", command(pipe))
    async with desk(tmp_path, [call, "say: done"], own=own, mode="bypassPermissions") as made:
        made.session.submit("go")
        assert "went on" in await made.finished("c1")
        await made.ended()


async def test_what_a_person_is_told_is_printable_and_short(tmp_path: Path) -> None:
    said = {"systemMessage": "\x1b]0;x\x07\u202e" + "m" * 9_000} | part(
        "SessionStart", sessionTitle="\u202e" + "t" * 9_000
    )
    own = hooks("SessionStart", command(says(said)))
    async with desk(tmp_path, ["say: hi"], own=own) as made:
        made.session.submit("go")
        notice = await made.seen.until(Noticed, within=WITHIN)
        assert notice.text.startswith("<U+202E>mm")
        assert notice.text.endswith("m…")
        assert len(notice.text) == 2_001
        title = await made.seen.until(TitleChanged, within=WITHIN)
        assert title.title.startswith("<U+202E>tt")
        assert len(title.title) == 101
        await made.ended()


async def test_one_that_a_person_interrupted_is_not_failing(tmp_path: Path) -> None:
    own = hooks("PreToolUse", command("sleep 30"), matcher="Bash")
    async with desk(tmp_path, [BASH, "say: hi"], own=own) as made:
        made.session.submit("go")
        await made.seen.until(HookStarted, within=WITHIN)
        made.session.interrupt()
        await made.ended()
        (row,) = made.session.part(Hooks).rows()  # type: ignore[union-attr]
        assert (row.state, row.times.partition(",")[0]) == ("ready", "1 run")


async def test_nobody_wakes_a_session_for_ever(tmp_path: Path) -> None:
    """Each turn costs, and nobody may be there to see it."""
    own = hooks("Stop", command("echo again >&2; exit 2", asyncRewake=True))
    async with desk(tmp_path, ["say: hi"] * 40, own=own) as made:
        for count, said in enumerate(("go", "more"), 1):
            made.session.submit(said)
            await made.seen.until(
                Noticed, where=lambda one: "waits for you" in one.text, count=count
            )
            assert len(made.server.bodies) == 9 * count


async def test_settings_that_change_are_read_again(tmp_path: Path) -> None:
    own = hooks("PreToolUse", command("exit 2"), matcher="Read")
    async with desk(tmp_path, [BASH, "say: done"], own=own, mode="bypassPermissions") as made:
        path = tmp_path / "home" / ".gatewright" / "settings.json"
        values = json.loads(path.read_text(encoding="utf-8"))
        values |= hooks("PreToolUse", command("echo changed >&2; exit 2"), matcher="Bash")
        path.write_text(json.dumps(values), encoding="utf-8")
        made.session.submit("go")
        assert "changed" in await made.finished("c1")
        await made.ended()


async def test_hooks_that_are_new_count_without_any_call(tmp_path: Path) -> None:
    """Also where the session began without one."""
    async with desk(tmp_path, ["say: a", "say: b"]) as made:
        made.session.submit("hello")
        await made.ended()
        path = tmp_path / "home" / ".gatewright" / "settings.json"
        blocks = hooks("UserPromptSubmit", command("echo not now >&2; exit 2"))
        path.write_text(json.dumps(blocks), encoding="utf-8")
        made.session.submit("go")
        refused = await made.seen.until(InputRefused, within=WITHIN)
        assert refused.reason == "not now"
        both = hooks("UserPromptSubmit", command("true"), command("false"))
        path.write_text(json.dumps(both), encoding="utf-8")
        held = made.session.part(Hooks)
        assert held is not None
        await eventually(lambda: [row.handler.name for row in held.rows()] == ["true", "false"])


async def test_a_file_that_breaks_keeps_its_hooks(tmp_path: Path) -> None:
    own = hooks("PreToolUse", command("echo kept >&2; exit 2"), matcher="Bash")
    async with desk(tmp_path, [BASH, "say: done"], own=own, mode="bypassPermissions") as made:
        path = tmp_path / "home" / ".gatewright" / "settings.json"
        path.write_text("{", encoding="utf-8")
        made.session.submit("go")
        assert "kept" in await made.finished("c1")
        await made.ended()


async def test_claude_codes_files_are_read_in_place(tmp_path: Path) -> None:
    settings = hooks("PreToolUse", command("echo theirs >&2; exit 2"), matcher="Bash")
    folder = tmp_path / "project" / ".claude"
    folder.mkdir(parents=True)
    (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    async with desk(tmp_path, [BASH, "say: done"], mode="bypassPermissions") as made:
        made.session.submit("go")
        assert "theirs" in await made.finished("c1")
        await made.ended()
        told = [each.text for each in made.seen.of(Noticed) if "readClaudeHooks" in each.text]
        assert len(told) == 1, "said once how to turn them off"
        assert told[0].startswith("1 hook of Claude Code's settings acts here;")


async def test_if_saves_the_process(tmp_path: Path) -> None:
    log = tmp_path / "log"
    touched = command(f"echo touched >> {log}", **{"if": "Bash(touch *)"})
    removed = command(f"echo removed >> {log}", **{"if": "Bash(rm *)"})
    own = hooks("PreToolUse", touched, removed)
    calls = [BASH, 'call[c2]: Bash {"command": "cd . && eval \\"$(echo rm x)\\""}', "say: done"]
    async with desk(tmp_path, calls, own=own, mode="bypassPermissions", interactive=False) as made:
        made.session.submit("go")
        await made.ended()
        ran = sorted(log.read_text(encoding="utf-8").split())
        assert ran == ["removed", "touched", "touched"], "what cannot be judged may be any"


async def test_the_trust_question_names_each_command(tmp_path: Path) -> None:
    """And nothing else that is written beside it, or before it."""
    decoy = {"type": "http", "command": "true", "url": "http://x"}
    settings = hooks("Stop", command("curl evil.example"), decoy)
    settings |= {"permissions": {"allow": [f"Bash(a{number})" for number in range(300)]}}
    async with desk(tmp_path, ["say: one"], settings=settings, trust=False) as made:
        asked = await made.asked()
        body = "\n".join(plain(block) for block in asked.ask.body)
        assert "Stop: curl evil.example" in body
        assert "Stop: http http://x" in body
        assert str(tmp_path) not in body, "files of the project are told as they lie in it"
        assert "more" in body.splitlines()[-1]
        rows = made.session.part(Hooks).rows()  # type: ignore[union-attr]
        assert [row.handler.name for row in rows] == ["curl evil.example", "http://x"]
        made.answer(asked, "continue")


async def test_who_answers_for_a_person_may_keep_what_was_offered(tmp_path: Path) -> None:
    rules = [{"toolName": "Bash", "ruleContent": "touch:*"}, {"toolName": "Bash"}]
    decision = {
        "behavior": "allow",
        "updatedPermissions": [{"type": "addRules", "behavior": "allow", "rules": rules}],
    }
    body = f"cat > {tmp_path}/log; " + says(part("PermissionRequest", decision=decision))
    own = hooks("PermissionRequest", command(body))
    async with desk(tmp_path, [BASH, "say: done"], own=own) as made:
        made.session.submit("go")
        await made.finished("c1")
        assert (made.project / "made").exists()
        offered = json.loads((tmp_path / "log").read_text(encoding="utf-8"))
        assert offered["permission_suggestions"], offered
        await made.ended()


async def test_the_first_hook_may_come_while_a_session_runs(tmp_path: Path) -> None:
    async with desk(tmp_path, ["say: hi", BASH, "say: done"], mode="bypassPermissions") as made:
        made.session.submit("hello")
        await made.ended()
        path = tmp_path / "home" / ".gatewright" / "settings.json"
        values = json.loads(path.read_text(encoding="utf-8"))
        log = tmp_path / "log"
        values |= hooks("PreToolUse", command(f"cat > {log}; exit 2"), matcher="Bash")
        path.write_text(json.dumps(values), encoding="utf-8")
        made.session.submit("go")
        await made.finished("c1")
        assert not (made.project / "made").exists()
        told = json.loads(log.read_text(encoding="utf-8"))
        lines = Path(told["transcript_path"]).read_text(encoding="utf-8")
        assert "hello" in lines, "what was before is in it"
        await made.ended(2)


async def test_a_turn_that_was_kept_going_says_so_after_calls_too(tmp_path: Path) -> None:
    """Else a hook that asks once a turn would ask for ever."""
    body = 'case "$(cat)" in *\'"stop_hook_active":true\'*) exit 0;; esac; echo again >&2; exit 2'
    script = ["say: one", BASH, "say: two"]
    own = hooks("Stop", command(body))
    async with desk(tmp_path, script, own=own, mode="bypassPermissions") as made:
        made.session.submit("go")
        await made.ended()
        assert len(made.server.bodies) == 3


async def test_a_copy_beside_the_original_runs_once(tmp_path: Path) -> None:
    """As after an import: Claude Code's file is still read."""
    log = tmp_path / "log"
    own = hooks("UserPromptSubmit", command(f"echo x >> {log}"))
    theirs = tmp_path / "home" / ".claude" / "settings.json"
    theirs.parent.mkdir(parents=True)
    theirs.write_text(json.dumps(own), encoding="utf-8")
    async with desk(tmp_path, ["say: one"], own=own) as made:
        made.session.submit("hello")
        await made.ended()
        assert log.read_text(encoding="utf-8") == "x\n"


async def test_the_first_hook_about_settings_may_come_while_a_session_runs(tmp_path: Path) -> None:
    log = tmp_path / "log"
    script = [READ, "say: one", READ.replace("c1", "c2"), "say: two"]
    async with desk(tmp_path, script) as made:
        path = tmp_path / "home" / ".gatewright" / "settings.json"
        values = json.loads(path.read_text(encoding="utf-8"))
        values |= hooks("ConfigChange", command(f"cat >> {log}; exit 2"))
        path.write_text(json.dumps(values), encoding="utf-8")
        made.session.submit("hello")
        await made.ended()
        made.settings({"permissions": {"allow": ["Bash"]}})
        made.session.submit("go")
        await made.ended(2)
        refused = await made.seen.until(
            Noticed, where=lambda one: "does not count" in one.text, within=WITHIN
        )
        assert "settings.json" in refused.text
        told = json.loads(log.read_text(encoding="utf-8"))
        assert told["source"] == "project_settings"


async def test_the_panel_names_what_a_projects_hook_does_not_get(tmp_path: Path) -> None:
    both = hooks("Stop", command("true"))
    env = {"GITHUB_TOKEN": "x"}
    async with desk(tmp_path, [], settings=both, own=both, env=env) as made:
        rows = made.session.part(Hooks).rows()  # type: ignore[union-attr]
        withheld = {row.handler.place.origin: dict(details(row)).get("Withheld") for row in rows}
        assert withheld["user"] is None
        assert "GITHUB_TOKEN" in str(withheld["project"])


async def test_instruction_files_are_told(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "AGENTS.md").write_text("Be brief.", encoding="utf-8")
    log = tmp_path / "log"
    own = hooks("InstructionsLoaded", command(f"cat >> {log}"), matcher="session_start")
    async with desk(tmp_path, ["say: one"], own=own) as made:
        made.session.submit("hello")
        await made.ended()
        await eventually(log.exists, what="the hook")
        await eventually(lambda: log.read_text("utf-8").endswith("\n"), what="its input")
        told = json.loads(log.read_text(encoding="utf-8"))
        assert told["file_path"].endswith("AGENTS.md")


async def test_what_another_agent_does_is_told_as_its_own(tmp_path: Path) -> None:
    log = tmp_path / "log"
    own: dict[str, Any] = {"hooks": {}}
    for event in ("SubagentStart", "SubagentStop", "PreToolUse", "PostToolUse", "Stop"):
        own["hooks"] |= hooks(event, command(f"cat >> {log}"))["hooks"]
    script = ["say: hi", BASH, "say: made it"]
    async with desk(tmp_path, script, own=own, mode="bypassPermissions") as made:
        made.session.submit("hello")
        await made.ended()
        run = made.session.spawn(AgentSpec(name="a1", kind="explore", prompt="look"))
        async with asyncio.timeout(WITHIN):
            await run.idle()
        heard = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        of_child = [each for each in heard if each.get("agent_id") == "a1"]
        events = [each["hook_event_name"] for each in of_child]
        assert events == ["SubagentStart", "PreToolUse", "PostToolUse", "SubagentStop"]
        assert {each["agent_type"] for each in of_child} == {"explore"}
        told = of_child[-1]
        assert told["last_assistant_message"] == "made it"
        assert "made it" in Path(told["agent_transcript_path"]).read_text(encoding="utf-8")
        assert [each["hook_event_name"] for each in heard if each not in of_child] == ["Stop"]
        await run.close()
