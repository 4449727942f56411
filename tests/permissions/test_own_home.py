"""Our home before the gate: keys and other sessions are closed, this session's output is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.record.events import Asked, Decided
from gatewright.permissions.calls.declared import declared_access
from gatewright.permissions.context import Call
from gatewright.permissions.decide import decide
from gatewright.permissions.decision import Allow, Ask, Decision, Deny
from gatewright.permissions.policy import Policy, PolicyConfig
from gatewright.permissions.rulebook.rules import RuleTexts
from gatewright.tools.access import Where
from gatewright.tools.system.home import OwnHome
from tests.permissions.composed import ID, desk

SECRET = "sesame-open-7731"


class House:
    """A policy over real directories; `own` may lie anywhere."""

    def __init__(self, folder: Path, own: str = "home/.gatewright", **config: Any) -> None:
        self.project, self.home, self.own = folder / "proj", folder / "home", folder / own
        self.kept = self.own / "projects" / "p" / "mine"
        for path in (self.project, self.kept / "spill", self.own / "state", self.own / "plans"):
            path.mkdir(parents=True, exist_ok=True)
        for name in ("state/keys.json", "projects/p/other.jsonl", "projects/p/mine/spill/bash.txt"):
            (self.own / name).parent.mkdir(parents=True, exist_ok=True)
            (self.own / name).write_text(SECRET, encoding="utf-8")
        self.where = Where(self.project, self.project, self.home)
        own_home = OwnHome(str(self.own), str(self.kept))
        self.policy = Policy(
            PolicyConfig(root=self.project, cwd=self.project, home=self.home, trusted=True,
                         own=own_home, **config)
        )  # fmt: skip

    def decide(self, tool: str, **input: str) -> Decision:
        filled = {key: self.filled(text) for key, text in input.items()}
        access = declared_access(tool, filled, self.policy.place)
        return decide(Call(tool, filled, access), self.policy.context(self.where))

    def filled(self, text: str) -> str:
        return text.replace("OWN", str(self.own)).replace("KEPT", str(self.kept))


CLOSED = (
    "OWN/state/keys.json", "OWN/state/.keys.json.lock", "OWN/state/new-thing", "OWN/state",
    "OWN/projects/p/other.jsonl", "OWN/projects/p/other/spill/x", "OWN/projects/p/mine.jsonl",
    "KEPT/history/aa/x", "KEPT/tasks.json", "OWN/projects/p/shadow/git/HEAD", "OWN/logs/errors.log",
    "OWN/plans/other.md", "OWN/state/sent/p.jsonl", "KEPT/spill/../../other.jsonl",
    "OWN/STATE/keys.json",
)  # fmt: skip
LINES = (
    "cat OWN/state/keys.json", "cat < OWN/state/keys.json", "echo x > OWN/state/keys.json",
    "cat OWN/*/keys.json", "cat OWN/projects/*/*.jsonl", "grep -r . OWN", "cp -r OWN /tmp/x",
    "rm -rf OWN/projects", "mv OWN/state x", "tar cf x.tar OWN", "ls OWN/projects/p && true",
    "sh -c 'cat OWN/state/keys.json'", "head -c 5 OWN/{state,x}/keys.json",
    "cd OWN/state && ls ../state", "rg x OWN", "sed -n 1p OWN/state/../state/keys.json",
)  # fmt: skip
PLACES = ("home/.gatewright", "proj/.own", "elsewhere/a [b]{c}*")
ALLOWS = ("Read", "Edit", "Bash", "Read(//**)", "Edit(//**)", "Bash(cat:*)")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("mode", ["default", "bypassPermissions"])
@pytest.mark.parametrize("path", CLOSED)
def test_no_mode_and_no_rule_opens(tmp_path: Path, path: str, mode: str, place: str) -> None:
    house = House(tmp_path, place, mode=mode, rules={"user": RuleTexts(allow=ALLOWS)})
    calls = (
        house.decide("Read", file_path=path),
        house.decide("Edit", file_path=path, old_string="a", new_string="b"),
        house.decide("Write", file_path=path, content="x"),
        house.decide("Grep", pattern="x", path=path),
        house.decide("Glob", pattern="*", path=path),
    )
    for decision in calls:
        assert isinstance(decision, Deny), decision
        assert decision.reason.source == "builtin"


@pytest.mark.parametrize("place", ["home/.gatewright", "proj/.own"])
@pytest.mark.parametrize("line", LINES)
def test_no_command_that_names_it_runs(tmp_path: Path, line: str, place: str) -> None:
    rules = {"user": RuleTexts(allow=ALLOWS)}
    house = House(tmp_path, place, mode="bypassPermissions", rules=rules)
    decision = house.decide("Bash", command=line)
    assert isinstance(decision, Deny), decision
    assert decision.reason.source == "builtin"


def test_a_link_to_it_opens_nothing(tmp_path: Path) -> None:
    house = House(tmp_path, mode="bypassPermissions")
    (house.project / "notes").symlink_to(house.own / "state")
    assert isinstance(house.decide("Read", file_path=str(house.project / "notes/keys.json")), Deny)
    assert isinstance(house.decide("Bash", command="cat notes/keys.json"), Deny)


def test_a_home_that_is_a_link_is_closed_in_both_spellings(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".gatewright").symlink_to(real)
    house = House(tmp_path, mode="bypassPermissions")
    for path in (house.own / "state/keys.json", real / "state/keys.json"):
        assert isinstance(house.decide("Read", file_path=str(path)), Deny)
    for path in (house.kept / "spill/bash.txt", real / "projects/p/mine/spill/bash.txt"):
        assert isinstance(house.decide("Read", file_path=str(path)), Allow)


def test_a_part_that_is_a_link_is_closed_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "home" / ".gatewright").mkdir(parents=True)
    kept = tmp_path / "proj" / "kept"
    kept.mkdir(parents=True)
    (tmp_path / "home" / ".gatewright" / "state").symlink_to(kept)
    house = House(tmp_path, mode="bypassPermissions")
    assert isinstance(house.decide("Read", file_path=str(kept / "keys.json")), Deny)
    assert isinstance(house.decide("Bash", command="cat kept/keys.json"), Deny)


@pytest.mark.parametrize("place", PLACES)
def test_the_session_s_own_output_and_plan_read_as_inside(tmp_path: Path, place: str) -> None:
    house = House(tmp_path, place)
    spill = "KEPT/spill/bash.txt"
    assert isinstance(house.decide("Read", file_path=spill), Allow)
    assert isinstance(house.decide("Grep", pattern="x", path="KEPT/spill"), Allow)
    assert isinstance(house.decide("Read", file_path="OWN/plans/mine.md"), Allow)
    for line in ("tail -5 'KEPT/spill/bash.txt'", "grep x 'KEPT/spill/bash.txt'"):
        assert isinstance(house.decide("Bash", command=line), Allow), line
    if place == PLACES[0]:
        assert isinstance(house.decide("Bash", command="grep x KEPT/spill/*.txt"), Allow)


@pytest.mark.parametrize("place", PLACES)
def test_what_the_person_keeps_there_asks_for_a_change_in_every_mode(
    tmp_path: Path, place: str
) -> None:
    house = House(tmp_path, place, mode="bypassPermissions")
    for path in ("OWN/settings.json", "KEPT/spill/bash.txt"):
        decision = house.decide("Write", file_path=path, content="x")
        assert isinstance(decision, Ask), path
    assert isinstance(house.decide("Bash", command="echo x > 'OWN/settings.json'"), Ask)


def test_in_the_sandbox_walking_above_it_is_no_reason_to_deny(tmp_path: Path) -> None:
    for sandbox, kind in ((True, Ask), (False, Deny)):  # as any walk above ~/.ssh does, it asks
        house = House(tmp_path, mode="bypassPermissions", sandbox=sandbox)
        assert isinstance(house.decide("Bash", command=f"grep -r x {house.home}"), kind)
    for sandbox in (True, False):
        house = House(tmp_path, mode="bypassPermissions", sandbox=sandbox)
        assert isinstance(house.decide("Bash", command="cat OWN/state/keys.json"), Deny)


@pytest.mark.parametrize("line", ["rm -rf /", "rm -rf OWN", "mv OWN x"])
def test_what_loses_it_as_a_part_is_asked_about_in_every_mode(tmp_path: Path, line: str) -> None:
    decision = House(tmp_path, mode="bypassPermissions").decide("Bash", command=line)
    assert isinstance(decision, Ask)
    assert decision.explicit


def test_a_line_that_cannot_be_looked_through_is_asked_about_for_a_person_s_denials_alone(
    tmp_path: Path,
) -> None:
    house = House(tmp_path, mode="bypassPermissions")
    assert isinstance(house.decide("Bash", command="if true; then ls; fi"), Allow)


def call(id: str, tool: str, **input: str) -> str:
    return f"call[{id}]: {tool} {json.dumps(input)}"


async def test_through_a_whole_session(tmp_path: Path) -> None:
    """Read, Grep and Glob of the real tools, and a search that passes by."""
    own = tmp_path / "home" / ".gatewright"
    script = [
        "\n".join(
            (
                call("read", "Read", file_path=str(own / "state" / "keys.json")),
                call("grep", "Grep", pattern="sesame", path=str(own), output_mode="content"),
                call("glob", "Glob", pattern="**/*.json*", path=str(own)),
                call("shell", "Bash", command=f"cat {own}/state/keys.json"),
                call("up", "Bash", command=f"cd {own} && cat state/keys.json"),
            )
        ),
        "say: done",
    ]
    async with desk(tmp_path, script, mode="bypassPermissions") as opened:
        (own / "state").mkdir(parents=True, exist_ok=True)
        (own / "state" / "keys.json").write_text(SECRET, encoding="utf-8")
        (own / "note.json").write_text("sesame seeds", encoding="utf-8")
        opened.session.submit("look")
        found = {id: await opened.finished(id) for id in ("read", "grep", "glob", "shell", "up")}
        await opened.ended()
        assert opened.seen.of(Asked) == []
        refused = {one.call_id for one in opened.seen.of(Decided) if one.behavior == "deny"}
    assert not any(SECRET in text for text in found.values())
    assert refused == {"read", "shell", "up"}
    assert "sesame seeds" in found["grep"]
    assert "note.json" in found["glob"]
    assert "keys.json" not in found["glob"]
    assert f"{ID}.jsonl" not in found["glob"]


CONFIGURING = (
    "sponge FILE", "ed FILE", "ex -sc wq FILE", "vim -es FILE", "split a FILE", "link a FILE",
    "script FILE", "sqlite3 FILE .dump", "rename s/x/y/ FILE", "exchange a FILE",
    "python3 -c \"open('FILE', 'w')\"", "node -e \"require('fs').writeFileSync('FILE', '')\"",
    "awk '{ print > \"FILE\" }' a", "echo x > FILE", "FOO=1 timeout 5 sponge FILE",
)  # fmt: skip
SETTINGS = (
    ".gatewright/settings.json", ".gatewright/settings.local.json",
    ".claude/settings.json", ".claude/settings.local.json",
)  # fmt: skip


@pytest.mark.parametrize("file", SETTINGS)
@pytest.mark.parametrize("mode", ["bypassPermissions", "autoInProject"])
def test_what_may_take_denials_away_asks_in_every_mode(
    tmp_path: Path, mode: str, file: str
) -> None:
    house = House(tmp_path, mode=mode)
    (house.project / file).parent.mkdir()
    for name in (file, "a"):
        (house.project / name).write_text("{}", encoding="utf-8")
    for line in CONFIGURING:
        found = house.decide("Bash", command=line.replace("FILE", file))
        assert not isinstance(found, Allow), line
    for line in ("git log -- FILE", "cat FILE", "grep x FILE"):
        assert isinstance(house.decide("Bash", command=line.replace("FILE", file)), Allow), line
    for path in (file, f"x/../{file}", file.upper(), str(house.home / ".claude/settings.json")):
        found = house.decide("Write", file_path=path, content="{}")
        assert not isinstance(found, Allow), path
