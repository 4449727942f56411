"""What was forbidden in a session is forbidden in the one that the person goes on in."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatewright.agent.commands.outcome import Say, Switch
from gatewright.agent.commands.registry import Front
from gatewright.agent.commands.rules.rule_editor import PermissionBook
from gatewright.agent.record.events import TitleChanged
from gatewright.agent.session.session import Session
from gatewright.agent.session.start.switching import begin
from tests.permissions.composed import WITHIN, desk


async def rules(session: Session) -> list[str]:
    book = session.part(PermissionBook)
    assert book is not None
    return [f"{row.behavior} {row.text}" for row in book.rows() if row.source == "session"]


@pytest.mark.parametrize("line", ["/clear", "/fork"])
async def test_denials_of_the_session_go_along(tmp_path: Path, line: str) -> None:
    async with desk(tmp_path / "a", []) as left, desk(tmp_path / "b", []) as other:
        left.session.past.rename("stored from now on")
        await left.seen.until(TitleChanged, within=WITHIN)
        for rule in ("deny Bash(git push:*)", "ask WebFetch", "allow Bash(ls)"):
            assert isinstance(await left.session.run_command(f"/permissions {rule}"), Say)
        to = await left.session.run_command(line, Front(switches=True))
        assert isinstance(to, Switch), to
        begin(other.session, to)
        assert await rules(other.session) == ["deny Bash(git push:*)", "ask WebFetch"]
