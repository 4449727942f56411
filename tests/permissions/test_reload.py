"""Settings that change while a session runs change its next decision."""

from __future__ import annotations

import json
from pathlib import Path

from gatewright.agent.commands.outcome import Offer
from gatewright.agent.record.events import ModeChanged, Noticed
from gatewright.tools.blocks import plain
from tests.permissions.composed import Desk, desk

RULES = {
    "permissions": {
        "allow": ["Bash(make good)"],
        "ask": ["Bash(ls:*)"],
        "deny": ["Bash(cat:*)"],
    }
}
TRIED = {"good": "make good", "ls": "ls", "cat": "cat a"}


def turn(number: int) -> str:
    calls = [
        f"call[{name}{number}]: Bash {json.dumps({'command': command})}"
        for name, command in TRIED.items()
    ]
    return "\n".join(calls)


def script(turns: int) -> list[str]:
    return [line for number in range(turns) for line in (turn(number), "say: done")]


async def decisions(opened: Desk, number: int) -> dict[str, tuple[str, str]]:
    """How the same three commands are decided in the next turn, with nobody to ask."""
    opened.session.submit("again")
    await opened.ended(number + 1)
    found = {name: await opened.decided(f"{name}{number}") for name in TRIED}
    return {name: (one.behavior, one.rule) for name, one in found.items()}


async def test_the_next_decision_follows_the_file(tmp_path: Path) -> None:
    async with desk(tmp_path, script(3), interactive=False) as opened:
        before = await decisions(opened, 0)
        assert before == {"good": ("deny", ""), "ls": ("allow", ""), "cat": ("allow", "")}
        opened.settings(RULES)
        assert await decisions(opened, 1) == {
            "good": ("allow", "Bash(make good)"),
            "ls": ("deny", "Bash(ls:*)"),
            "cat": ("deny", "Bash(cat:*)"),
        }
        opened.settings("{}")
        assert await decisions(opened, 2) == before


async def test_a_broken_file_only_restricts_and_says_where(tmp_path: Path) -> None:
    async with desk(tmp_path, script(3), interactive=False, settings=RULES) as opened:
        assert (await decisions(opened, 0))["good"] == ("allow", "Bash(make good)")
        path = opened.settings('{"permissions": {\n  "allow": ["Bash"],\n  oops\n}}')
        assert await decisions(opened, 1) == {
            "good": ("deny", ""),
            "ls": ("deny", "Bash(ls:*)"),
            "cat": ("deny", "Bash(cat:*)"),
        }
        (told,) = [one.text for one in opened.seen.of(Noticed) if "settings.json" in one.text]
        assert told.startswith(f"{path.relative_to(tmp_path / 'project')}:3: is not valid JSON")
        opened.settings(RULES)
        assert (await decisions(opened, 2))["good"] == ("allow", "Bash(make good)")


async def test_more_than_rules_is_followed(tmp_path: Path) -> None:
    settings = {"permissions": {"disableBypassPermissionsMode": "disable"}}
    async with desk(tmp_path, script(2), mode="bypassPermissions", interactive=False) as opened:
        assert (await decisions(opened, 0))["good"] == ("allow", "")
        opened.settings(settings)
        assert (await decisions(opened, 1))["good"] == ("deny", "")
        assert opened.session.mode == "default"
        assert [(one.mode, one.by) for one in opened.seen.of(ModeChanged)] == [
            ("default", "settings")
        ]


async def test_a_directory_counts_from_when_it_is_added(tmp_path: Path) -> None:
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside" / "a.txt").write_text("beside", encoding="utf-8")
    read = 'call[read{}]: Read {{"file_path": "../beside/a.txt"}}'
    lines = [read.format(0), "say: done", read.format(1), "say: done"]
    async with desk(tmp_path, lines, interactive=False) as opened:
        opened.session.submit("go")
        assert (await opened.decided("read0")).behavior == "deny"
        await opened.ended()
        opened.settings({"permissions": {"additionalDirectories": ["../beside"]}})
        opened.session.submit("go")
        assert "beside" in await opened.finished("read1")
        await opened.ended(2)


async def test_a_change_between_two_calls_of_one_turn_counts_for_the_second(
    tmp_path: Path,
) -> None:
    lines = [
        'call[ask]: Bash {"command": "make other"}\ncall[good0]: Bash {"command": "make good"}',
        "say: done",
    ]
    async with desk(tmp_path, lines) as opened:
        opened.session.submit("go")
        asked = await opened.asked()
        opened.settings(RULES)
        opened.answer(asked, "once")
        assert (await opened.decided("good0")).rule == "Bash(make good)"
        await opened.ended()


async def test_an_always_is_one_rule_and_goes_with_the_file_that_keeps_it(tmp_path: Path) -> None:
    calls = [f'call[m{n}]: Bash {{"command": "make all"}}\n---\nsay: done' for n in range(3)]
    async with desk(tmp_path, calls) as opened:
        opened.session.submit("build")
        opened.answer(await opened.asked(), "always")
        await opened.ended()
        shown = await opened.session.run_command("/permissions")
        assert isinstance(shown, Offer)
        rules = plain(shown.fallback.blocks[0])
        assert [row.split()[-1] for row in rules.splitlines() if "make all:*" in row] == ["local"]
        (kept,) = opened.project.rglob("*.local.json")
        assert kept.read_text(encoding="utf-8").count("Bash(make all:*)") == 1
        opened.session.submit("again")
        await opened.ended(2)
        assert (await opened.decided("m1")).source == "local"
        kept.write_text("{}", encoding="utf-8")
        opened.session.submit("and again")
        await opened.asked(2)


async def test_a_rule_for_no_tool_that_comes_while_it_runs_is_said_once(tmp_path: Path) -> None:
    async with desk(tmp_path, script(3), interactive=False) as opened:
        await decisions(opened, 0)
        opened.settings({"permissions": {"deny": ["Bsh"]}})
        await decisions(opened, 1)
        await decisions(opened, 2)
        noticed = [each.text for each in opened.seen.of(Noticed)]
    assert len([text for text in noticed if "Did you mean Bash?" in text]) == 1
