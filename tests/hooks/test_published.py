"""Ten hook scripts of the kinds people publish, unchanged, from `.claude/settings.json`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.extensions import hook_session
from gatewright.agent.hooks import following
from gatewright.agent.record.events import HookRan, Noticed
from gatewright.tools.protocol import SpawnRequest
from gatewright.tools.shell import proc
from gatewright.tools.shell.proc import GroupChild
from tests.fakes.waiting import eventually
from tests.hooks.scripts import command, script
from tests.permissions.composed import desk

# Written for Claude Code's contract: event, matcher, body, and what is to be seen afterwards.
SCRIPTS: dict[str, tuple[str, str, str]] = {
    "formatter": (
        "PostToolUse",
        "Edit|Write",
        "jq -r .tool_input.file_path | xargs -I{} sh -c 'printf formatted >> \"{}\"'",
    ),
    "scanner": (
        "PreToolUse",
        "Bash",
        "jq -e '.tool_input.command | test(\"AKIA\")' >/dev/null"
        " && { echo 'no secrets' >&2; exit 2; }; exit 0",
    ),
    "commits": (
        "PreToolUse",
        "Bash",
        "jq -r .tool_input.command | grep -q 'commit -m \"wip' && "
        'printf \'{"decision":"block","reason":"write a real message"}\'; exit 0',
    ),
    "desktop": ("Notification", "", "cat >> notified"),
    "context": ("SessionStart", "startup", "echo 'The branch is main.'"),
    "approver": (
        "PreToolUse",
        "Bash",
        "cmd=$(jq -r .tool_input.command); case \"$cmd\" in touch*) printf '%s' "
        '\'{"hookSpecificOutput":{"hookEventName":"PreToolUse",'
        '"permissionDecision":"allow"}}\';; esac',
    ),
    "tests": (
        "Stop",
        "",
        "[ \"$(jq -r .stop_hook_active)\" = true ] && exit 0; echo 'tests fail' >&2; exit 2",
    ),
    "logger": ("PreToolUse", "", 'jq -c "[.tool_name, .tool_input]" >> "$CLAUDE_PROJECT_DIR/log"'),
    "parser": (
        "Stop",
        "",
        't=$(jq -r .transcript_path); grep \'"type":"assistant"\' "$t" | tail -1 | '
        "jq -r '.message.content[] | select(.type==\"text\").text' > said",
    ),
    "rewriter": ("UserPromptSubmit", "", "echo 'Answer in one word.'"),
}


pytestmark = pytest.mark.skipif(shutil.which("jq") is None, reason="scripts of this kind use jq")


def configured(folder: Path, *names: str) -> None:
    project = folder / "project"
    events: dict[str, list[Any]] = {}
    for name in names:
        event, matcher, body = SCRIPTS[name]
        path = script(project / ".claude" / "hooks", f"{name}.sh", body)
        entry = command(f'"$CLAUDE_PROJECT_DIR"/.claude/hooks/{Path(path).name}')
        events.setdefault(event, []).append({"matcher": matcher, "hooks": [entry]})
    settings = project / ".claude" / "settings.json"
    settings.write_text(json.dumps({"hooks": events}), encoding="utf-8")


def bash(id: str, text: str) -> str:
    return f"call[{id}]: Bash {json.dumps({'command': text})}"


@pytest.mark.parametrize("interactive", [True, False], ids=["screen", "print"])
async def test_all_ten_at_once(tmp_path: Path, *, interactive: bool) -> None:
    configured(tmp_path, *SCRIPTS)
    calls = [
        bash("c1", "touch made"),
        bash("c2", "echo AKIAXXXX"),
        bash("c3", 'git commit -m "wip"'),
        'call[c4]: Write {"file_path": "a.txt", "content": "text\\n"}',
        "say: finished",
        "say: finished again",
    ]
    async with desk(tmp_path, calls, mode="acceptEdits", interactive=interactive) as made:
        made.session.submit("go")
        await made.finished("c1")
        assert (made.project / "made").exists(), "approved"
        assert (await made.decided("c1")).stage == "trusted_allow"
        assert "no secrets" in await made.finished("c2")
        assert "write a real message" in await made.finished("c3")
        await made.finished("c4")
        await made.ended()
        words = made.words(-1)
        assert any("The branch is main." in text for text in words)
        assert any("Answer in one word." in text for text in words)
        assert any("tests fail" in text for text in words)
        assert (made.project / "a.txt").read_text(encoding="utf-8").endswith("formatted")
        assert (made.project / "said").read_text(encoding="utf-8").strip() == "finished again"
        log = (made.project / "log").read_text(encoding="utf-8").splitlines()
        logged = [json.loads(line)[0] for line in log]
        assert logged[-1] == "Write"
        assert logged.count("Bash") >= 1, "a refusal stops the others, the log of that call too"
        assert not [each for each in made.seen.of(HookRan) if each.outcome == "error"]
        told = [each.text for each in made.seen.of(Noticed) if "readClaudeHooks" in each.text]
        assert len(told) == 1, "said once how to turn them off"


async def test_a_desktop_notification(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "ASKED_AFTER", 0.0)
    configured(tmp_path, "desktop")
    async with desk(tmp_path, [bash("c1", "rm -r made"), "say: done"]) as made:
        made.session.submit("go")
        asked = await made.asked()
        await eventually((made.project / "notified").exists)
        made.answer(asked, "no")
        await made.ended()


@pytest.mark.parametrize("interactive", [True, False], ids=["screen", "print"])
async def test_in_an_untrusted_checkout_no_process_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, interactive: bool
) -> None:
    started: list[str] = []

    async def spawn(request: SpawnRequest) -> GroupChild:
        started.append(" ".join(request.argv))
        return await proc.spawn(request)

    monkeypatch.setattr(hook_session, "spawn", spawn)
    configured(tmp_path, *SCRIPTS)
    async with desk(tmp_path, ["say: hi"], trust=False, interactive=interactive) as made:
        if interactive:
            made.answer(await made.asked(), "continue")
        made.session.submit("go")
        await made.ended()
    assert started == []
