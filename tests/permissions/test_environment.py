"""What reaches a command of the model through a whole session: nothing that is a secret."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.record.events import Decided
from gatewright.permissions.sandbox.machine import machine
from gatewright.permissions.sandbox.probe import probe
from tests.permissions.composed import desk

WORD = "correct-horse-77"
ENV = {
    "PGPASSWORD": WORD,
    "DATABASE_URL": f"postgres://me:{WORD}@db/x",
    "OPENAI_KEY": WORD,
    "MYSQL_PWD": WORD,
    "HTTPS_PROXY": f"http://me:{WORD}@proxy.example.org:3128",
    "WEATHER": WORD,  # settings look for a key here
    "STARS": WORD,  # and here
    "PLAIN": "plain-value-1",
}
OWN: dict[str, Any] = {
    "providers": {"mine": {"type": "openai-chat", "baseUrl": "http://h/", "apiKeyEnv": "WEATHER"}},
    "web": {"searchKeyEnv": "STARS"},
}
CONFINED: tuple[object, ...] = (False, "auto") if probe(machine()).level == "bwrap" else (False,)


def bash(command: str) -> str:
    return f"call[c]: Bash {json.dumps({'command': command})}"


@pytest.mark.parametrize("enabled", CONFINED)
async def test_no_secret_reaches_a_command(tmp_path: Path, enabled: object) -> None:
    own = {**OWN, "sandbox": {"enabled": enabled}}
    script = [bash("env; cat /dev/null"), "say: done"]
    async with desk(tmp_path, script, mode="bypassPermissions", own=own, env=ENV) as opened:
        opened.session.submit("show")
        printed = await opened.finished("c")
    assert "PLAIN=plain-value-1" in printed
    assert WORD not in printed
    assert "HTTPS_PROXY=http://proxy.example.org:3128" in printed


async def test_env_runs_where_it_shows_nothing(tmp_path: Path) -> None:
    async with desk(tmp_path, [bash("env"), "say: done"], own=OWN, env=ENV) as opened:
        opened.session.submit("show")
        assert WORD not in await opened.finished("c")


@pytest.mark.parametrize("mode", ["", "bypassPermissions"])
@pytest.mark.parametrize(
    "command",
    ["env", "printenv", "printenv PGPASSWORD", "set", "export -p", "declare -p",
     "cat /proc/self/environ", "env -0 | sort"],
)  # fmt: skip
async def test_what_shows_a_kept_secret_asks(tmp_path: Path, command: str, mode: str) -> None:
    own = {**OWN, "sandbox": {"enabled": False, "keepEnv": ["PGPASSWORD"]}}
    async with desk(tmp_path, [bash(command), "say: done"], mode=mode, own=own, env=ENV) as opened:
        opened.session.submit("show")
        opened.answer(await opened.asked(), "no")
        await opened.ended()


async def test_a_kept_secret_is_had(tmp_path: Path) -> None:
    own = {**OWN, "sandbox": {"enabled": False, "keepEnv": ["PGPASSWORD"]}}
    script = [bash("echo $PGPASSWORD"), "say: done"]
    async with desk(tmp_path, script, mode="bypassPermissions", own=own, env=ENV) as opened:
        opened.session.submit("show")
        assert (await opened.finished("c")).strip() == WORD


async def test_a_project_cannot_keep_a_secret_by_the_environment_it_sets(tmp_path: Path) -> None:
    settings = {"env": {"GATEWRIGHT_KEEP_ENV": "PGPASSWORD"}}
    script = [bash("echo [$PGPASSWORD]"), "say: done"]
    async with desk(
        tmp_path, script, mode="bypassPermissions", settings=settings, env=ENV
    ) as opened:
        opened.session.submit("show")
        assert (await opened.finished("c")).strip() == "[]"


async def test_decisions_mask_what_settings_call_a_secret(tmp_path: Path) -> None:
    headers = {"x-api-key": "header-value-12345"}
    own = {**OWN, "providers": {"mine": {**OWN["providers"]["mine"], "headers": headers}}}
    script = [bash(f"echo {WORD} header-value-12345"), "say: done"]
    async with desk(tmp_path, script, own=own, env=ENV) as opened:
        opened.session.submit("show")
        decided = await opened.seen.until(Decided)
        assert decided.target == "echo [redacted] [redacted]"
