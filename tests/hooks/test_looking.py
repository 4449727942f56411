"""/hooks and the check in a session: what there is, how it goes, tried, switched off."""

from __future__ import annotations

from pathlib import Path

from gatewright.agent.commands.outcome import Listing, Outcome, said
from gatewright.agent.record.events import HookRan, HooksSeen, Noticed
from gatewright.tools.blocks import plain
from tests.hooks.scripts import command, hooks
from tests.permissions.composed import WITHIN, desk

BASH = 'call[c1]: Bash {"command": "touch made"}'


def words(outcome: Outcome) -> str:
    return "\n".join(map(plain, said(outcome)))


async def test_a_session_without_hooks_says_so(tmp_path: Path) -> None:
    async with desk(tmp_path, ["say: hi"]) as made:
        assert "no hooks here" in words(await made.session.run_command("/hooks"))


async def test_the_list_follows_what_happens(tmp_path: Path) -> None:
    own = hooks("PreToolUse", command("echo broken >&2; exit 3"), matcher="Bash")
    async with desk(tmp_path, [BASH, "say: done"], own=own, mode="bypassPermissions") as made:
        outcome = await made.session.run_command("/hooks")
        assert isinstance(outcome, Listing)
        await made.seen.until(HooksSeen, within=WITHIN)
        (row,) = outcome.rows()
        assert "ready" in row.detail
        assert "settings.json" in "\n".join(map(plain, await outcome.read(row.id)))
        made.session.submit("go")
        await made.ended()
        (row,) = outcome.rows()
        assert "failing" in row.detail
        assert "1 failed" in row.detail
        shown = "\n".join(map(plain, await outcome.read(row.id)))
        assert "failed: exit 3: broken" in shown
        assert "settings.json:" in words(await made.session.run_command("/hooks 1"))


async def test_one_is_tried_and_switched_off(tmp_path: Path) -> None:
    own = hooks("PreToolUse", command("echo no >&2; exit 2"), matcher="Bash")
    async with desk(tmp_path, [BASH, "say: done"], own=own, mode="bypassPermissions") as made:
        assert "blocks: no" in words(await made.session.run_command("/hooks test 1"))
        assert "off for this session" in words(await made.session.run_command("/hooks off 1"))
        made.session.submit("go")
        await made.ended()
        assert (made.project / "made").exists()
        assert "on again" in words(await made.session.run_command("/hooks on 1"))
        assert "no hook 7" in words(await made.session.run_command("/hooks 7"))


async def test_an_untrusted_one_is_shown_and_never_tried(tmp_path: Path) -> None:
    settings = hooks("UserPromptSubmit", command(f"touch {tmp_path}/ran"))
    async with desk(
        tmp_path, ["say: one"], settings=settings, trust=False, interactive=False
    ) as made:
        assert "untrusted" in words(await made.session.run_command("/hooks"))
        assert "not trusted" in words(await made.session.run_command("/hooks test 1"))
        assert "not trusted" in words(await made.session.run_command("/hooks 1"))
        assert not (tmp_path / "ran").exists()
        assert not any(isinstance(event, HookRan) for event in made.seen.events)


async def test_the_check_tells_what_will_not_run(tmp_path: Path) -> None:
    own = hooks("Stop", command("./nope.sh"), command("true"))
    async with desk(tmp_path, ["say: one"], own=own) as made:
        noticed = await made.seen.until(
            Noticed, where=lambda one: "will not run" in one.text, within=WITHIN
        )
        assert noticed.text.startswith("1 hook will not run: ")
        assert "./nope.sh, which is not there" in noticed.text
