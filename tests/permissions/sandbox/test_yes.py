"""What a yes to a command opens in the sandbox: what its line spells out, for that call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from gatewright.agent.session.jobs import SessionJobs
from gatewright.agent.settings.groups.sandbox_settings import Sandbox, SandboxFiles
from gatewright.permissions.rulebook.rules import RuleTexts
from gatewright.permissions.sandbox import probe as probing
from gatewright.permissions.sandbox.machine import machine
from gatewright.tools.access import MAIN
from gatewright.tools.interact import Answer, Ask
from gatewright.tools.moments import Moment, PersonNeeded, Verdict
from gatewright.tools.protocol import ToolCall
from tests.fakes.executor import executed, text_of
from tests.permissions.sandbox.gated_house import House

pytestmark = pytest.mark.skipif(
    probing.probe(machine()).level != "bwrap", reason="no bubblewrap here"
)
EVEN = "Even with a yes the sandbox"


@pytest.fixture
async def close() -> AsyncIterator[list[House]]:
    houses: list[House] = []
    yield houses
    for house in houses:
        await house.sandbox.close()


@pytest.fixture
def house(tmp_path: Path, close: list[House]) -> House:
    made = House(tmp_path, Sandbox(auto_allow_bash_if_sandboxed=True))
    close.append(made)
    for name, text in ((".env", "A=1\n"), (".env.local", "B=2\n"), (".npmrc", "old\n")):
        (made.project / name).write_text(text, encoding="utf-8")
    return made


def read(house: House, name: str) -> str:
    return (house.project / name).read_text(encoding="utf-8")


async def test_a_file_that_a_yes_let_a_command_read_is_read_by_that_command_alone(
    house: House,
) -> None:
    peek = house.unspelled("cat .env .env.local")
    result = await house.bash(f"cat .env; {peek}")
    assert len(house.asked) == 1
    assert EVEN not in house.asked[0].reason
    assert text_of(result).count("A=1") == 2  # what it starts is a part of it
    assert "B=2" not in text_of(result)
    assert "A=1" not in text_of(await house.bash(peek))
    assert len(house.asked) == 1


async def test_what_a_question_named_stays_after_a_yes(house: House) -> None:
    assert (await house.bash("echo a > .npmrc; echo b > .envrc; mkdir .vscode")).ok
    (ask,) = house.asked
    assert ask.reason == "It would change .npmrc, .envrc, .vscode, which are protected."
    assert (read(house, ".npmrc"), read(house, ".envrc")) == ("a\n", "b\n")
    assert (house.project / ".vscode").is_dir()
    assert house.warned == []


async def test_a_yes_to_change_is_for_one_command_and_for_what_it_spells_out(house: House) -> None:
    (house.project / ".envrc").write_text("old\n", encoding="utf-8")
    hidden = house.unspelled("echo x >> .envrc; echo x >> .npmrc; mkdir .husky; echo x > .idea/x")
    await house.bash(f"echo new > .npmrc; mkdir .idea; {hidden}")
    assert (read(house, ".npmrc"), read(house, ".envrc")) == ("new\nx\n", "old\n")
    assert not (house.project / ".husky").exists()
    assert list((house.project / ".idea").iterdir()) == []
    asked = len(house.asked)
    await house.bash(hidden)
    assert len(house.asked) == asked
    assert read(house, ".npmrc") == "new\nx\n"


async def test_a_yes_to_read_opens_nothing_to_be_changed(house: House) -> None:
    hidden = house.unspelled("echo x >> .npmrc; echo x >> .env; rm -f .env; mv .env gone")
    result = await house.bash(f"cat .env .npmrc; {hidden}")
    assert "A=1" in text_of(result)
    assert (read(house, ".npmrc"), read(house, ".env")) == ("old\n", "A=1\n")


async def test_a_no_opens_nothing(house: House) -> None:
    house.answer = Answer(("no",))
    assert "A=1" not in text_of(await house.bash("cat .env"))
    await house.bash("echo new > .npmrc")
    assert read(house, ".npmrc") == "old\n"
    assert "A=1" not in text_of(await house.bash(house.unspelled("cat .env")))


@pytest.mark.parametrize(
    ("command", "kept"),
    [
        ("cat .env*", "hides .env*"),
        ("X=.env; cat $X", "hides .env"),
        ("cat link", "hides link"),
        ("cat sub/../.env", "hides sub/../.env"),
        ("cat keys/.env/a", "hides keys/.env/a"),
        ("cat .env sub/../.env.local", "hides sub/../.env.local"),
        ("cat .e{nv,nv.local}", "hides .e{nv,nv.local}"),
        ("touch .vsc*/x .npm*", "keeps .npm* as it is"),
        ("rm -rf .git", "keeps .git as it is"),
        ("echo x > .git/hooks/pre-commit", "keeps .git/hooks/pre-commit as it is"),
        ("echo x > .git/config", "keeps .git/config as it is"),
        ("echo x > .gatewright/settings.json", "keeps .gatewright/settings.json as it is"),
        ("mkdir -p .claude; touch .claude/x", "keeps .claude, .claude/x as they are"),
        ("echo x > ../out/x", "keeps ../out/x as it is"),
        ("echo x > new/.git/hooks/x", "puts aside new/.git/hooks/x"),
    ],
)
async def test_what_a_yes_does_not_open_the_question_says_before(
    house: House, command: str, kept: str
) -> None:
    project = house.project
    for name in ("sub", "new", "keys/.env", ".git/hooks", ".gatewright", ".claude"):
        (project / name).mkdir(parents=True)
    (project / "keys" / ".env" / "a").write_text("C=3\n", encoding="utf-8")
    (project / ".git" / "config").touch()
    (project / ".gatewright" / "settings.json").touch()
    (project / "link").symlink_to(".env")
    result = await house.bash(command)
    (ask,) = house.asked
    assert ask.reason.endswith(f"{EVEN} {kept}.")
    shown = text_of(result)
    assert not any(secret in shown for secret in ("B=2", "C=3"))
    assert ("A=1" in shown) is command.startswith("cat .env ")
    assert read(house, ".env") == "A=1\n"
    assert read(house, ".npmrc") == "old\n"
    assert read(house, ".gatewright/settings.json") == read(house, ".git/config") == ""
    assert [*(project / ".git" / "hooks").iterdir(), *(project / ".claude").iterdir()] == []
    assert not (project / "new" / ".git" / "hooks" / "x").exists()
    assert not (house.place / "out" / "x").exists()


async def test_a_yes_to_change_opens_nothing_to_be_read(tmp_path: Path, close: list[House]) -> None:
    house = House(tmp_path, Sandbox())
    close.append(house)
    (house.project / ".env").write_text("A=1\n", encoding="utf-8")
    await house.bash(f"echo B=2 >> .env; {house.unspelled('cat .env')}")
    assert house.asked[0].reason.endswith(f"{EVEN} hides .env.")
    assert read(house, ".env") == "A=1\n"
    assert "B=2" in text_of(await house.bash("cat .env; echo B=2 >> .env; cat .env"))
    assert EVEN not in house.asked[1].reason
    assert read(house, ".env") == "A=1\nB=2\n"


async def test_what_only_the_shell_knows_stays_closed(house: House) -> None:
    for command in ('X=$(ls -a | grep env$); cat "$X"', "ls -a | grep env$ | xargs cat"):
        assert "A=1" not in text_of(await house.bash(command))


async def test_a_file_beside_the_one_that_is_named_stays_closed(house: House) -> None:
    for name in ("sub", "other"):
        (house.project / name).mkdir()
        (house.project / name / ".env").write_text(f"{name}=1\n", encoding="utf-8")
    result = text_of(await house.bash("cd sub && cat .env; cat ../other/.env"))
    (ask,) = house.asked
    assert ask.reason.endswith(f"{EVEN} hides ../other/.env.")
    assert "sub=1" in result
    assert "other=1" not in result


async def test_a_line_in_a_line_is_spelled_out_too(house: House) -> None:
    assert "A=1" in text_of(await house.bash("bash -c 'cat .env'"))
    assert EVEN not in house.asked[0].reason
    inner = await house.bash("bash -c 'cat $0 $1' .env .env.local")
    assert not any(secret in text_of(inner) for secret in ("A=1", "B=2"))


@pytest.mark.parametrize("through", ["link", "file", "directory"])
async def test_another_file_in_its_place_by_the_time_of_the_yes_stays_closed(
    house: House, through: str
) -> None:
    for name in ("a", "b"):
        (house.project / name).mkdir()
        (house.project / name / ".env").write_text(f"{name}=1\n", encoding="utf-8")
    await house.bash("true")

    async def swapped(ask: Ask) -> Answer:
        house.asked.append(ask)
        place = house.project / "a"
        match through:
            case "link":
                (place / ".env").unlink()
                (place / ".env").symlink_to("../b/.env")
            case "file":
                (house.project / "b" / ".env").replace(place / ".env")
            case _:
                place.rename(house.project / "c")
                (house.project / "b").rename(place)
        return Answer(("once",))

    house.ctx = msgspec.structs.replace(house.ctx, ask=swapped)
    text = text_of(await house.bash("cat a/.env"))
    assert len(house.asked) == 1
    assert "b=1" not in text
    assert "a/.env is not the file any more that was allowed; it stays closed" in text


async def test_a_background_command_keeps_what_was_opened_and_no_other_gets_it(
    house: House,
) -> None:
    def deaf(*_: object) -> None:
        return None

    jobs = SessionJobs(deaf, deaf)
    house.ctx = msgspec.structs.replace(house.ctx, jobs=jobs.of(MAIN))
    command = "touch on; until [ -e go ]; do sleep 0.02; done; cat .env > out; echo a > .envrc"
    await house.bash(f"{command}; touch done; sleep 60", run_in_background=True)
    peek = house.unspelled("until [ -e on ]; do sleep 0.02; done; cat .env; echo x > .npmrc")
    assert "A=1" not in text_of(await house.bash(peek))
    assert "A=1" not in text_of(await house.bash(peek))
    await house.bash("touch go; until [ -e done ]; do sleep 0.02; done")
    assert read(house, "out") == "A=1\n"
    assert read(house, ".envrc") == "a\n"
    assert read(house, ".npmrc") == "old\n"
    await jobs.close()


async def test_a_name_that_a_yes_let_one_command_make_no_other_makes_after_it(
    house: House,
) -> None:
    going = asyncio.create_task(
        house.bash(house.unspelled("touch on; until [ -e go ]; do sleep 0.02; done; touch .envrc"))
    )
    await house.bash("until [ -e on ]; do sleep 0.02; done; false && echo a > .envrc")
    await house.bash("touch go")
    await going
    assert not (house.project / ".envrc").exists()


async def test_always_opens_it_to_the_same_line_later_and_to_no_other(house: House) -> None:
    house.answer = Answer(("always",))
    assert "A=1" in text_of(await house.bash("cat .env"))
    assert "A=1" in text_of(await house.bash("cat .env"))
    assert len(house.asked) == 1
    assert "A=1" not in text_of(await house.bash(house.unspelled("cat .env")))


@pytest.mark.parametrize(
    ("source", "rule", "opens"),
    [
        ("user", "Bash(cat .env)", True),
        ("local", "Bash(cat .env)", True),
        ("project", "Bash(cat .env)", False),
        ("user", "Bash", False),
    ],
)
async def test_a_rule_opens_what_a_person_stored_for_exactly_this_line(
    tmp_path: Path, close: list[House], source: str, rule: str, opens: bool
) -> None:
    rules = {source: RuleTexts(allow=(rule,))}
    house = House(tmp_path, Sandbox(), rules=rules, removed_builtin=("Read(**/.env)",))
    close.append(house)
    (house.project / ".env").write_text("A=1\n", encoding="utf-8")
    assert ("A=1" in text_of(await house.bash("cat .env"))) is opens
    assert house.asked == []


async def test_what_the_person_denies_no_yes_opens(tmp_path: Path, close: list[House]) -> None:
    files = SandboxFiles(deny_read=("**/*.key",), deny_write=("**/.npmrc",))
    rules = {"user": RuleTexts(deny=("Read(secret.txt)",))}
    house = House(tmp_path, Sandbox(filesystem=files), rules=rules)
    close.append(house)
    for name in ("a.key", "secret.txt", ".npmrc"):
        (house.project / name).write_text("sesame\n", encoding="utf-8")
    assert "sesame" not in text_of(await house.bash("cat secret.txt"))
    assert house.asked == []
    assert "sesame" not in text_of(await house.bash("sh -c 'cat a.key'"))
    assert house.asked[0].reason.endswith(f"{EVEN} hides a.key.")
    await house.bash("echo x > .npmrc")
    assert house.asked[1].reason.endswith(f"{EVEN} keeps .npmrc as it is.")
    assert read(house, ".npmrc") == "sesame\n"


async def test_a_new_name_that_a_setting_forbids_no_yes_lets_be_made(
    tmp_path: Path, close: list[House]
) -> None:
    files = SandboxFiles(deny_write=("**/.envrc", "**/*.lock"))
    house = House(tmp_path, Sandbox(filesystem=files))
    close.append(house)
    await house.bash("echo x > .envrc; echo x > a.lock; echo x > .npmrc")
    assert house.asked[0].reason.endswith(f"{EVEN} puts aside .envrc, a.lock.")
    assert not (house.project / ".envrc").exists()
    assert not (house.project / "a.lock").exists()
    assert (house.project / ".npmrc").exists()


async def test_in_a_whole_home_the_places_of_services_stay_as_they_are(
    tmp_path: Path, close: list[House]
) -> None:
    house = House(tmp_path, Sandbox(), project=tmp_path / "home")
    close.append(house)
    await house.bash("mkdir -p .config/systemd")
    assert house.asked[0].reason.endswith(f"{EVEN} puts aside .config/systemd.")
    assert not (tmp_path / "home" / ".config" / "systemd").exists()


async def test_our_own_home_stays_closed(house: House) -> None:
    state = house.place / "own" / "state"
    state.mkdir(parents=True)
    (state / "keys").write_text("sesame\n", encoding="utf-8")
    assert "sesame" not in text_of(await house.bash(f"cat {state}/keys"))


async def test_a_line_that_the_person_changed_is_opened_what_it_names_then(house: House) -> None:
    house.answer = Answer(("once",), input={"command": "cat .env"})
    assert "A=1" in text_of(await house.bash("cat .env.local"))
    assert "B=2" not in text_of(await house.bash("cat .env.local"))


async def test_what_runs_outside_is_told_nothing_of_the_sandbox(house: House) -> None:
    call = {"command": "cat .env*", "dangerouslyDisableSandbox": True}
    result = await executed(house.executor, ToolCall("c1", "Bash", call), house.ctx)
    assert EVEN not in house.asked[0].reason
    assert "A=1" in text_of(result)


async def test_a_yes_to_write_to_tmp_says_whose_that_is(house: House) -> None:
    result = await house.bash("echo x > /tmp/gatewright-f; cat /tmp/gatewright-f")
    assert house.asked[0].reason.endswith(
        "/tmp/gatewright-f will be in the command's own /tmp, which is gone with it."
    )
    assert "goes to $TMPDIR or the project" in text_of(result)
    again = await house.bash("echo y > /tmp/gatewright-f")
    assert "$TMPDIR" not in text_of(again)  # told once
    failed = await house.bash("cat /tmp/gatewright-f")
    assert "goes to $TMPDIR or the project" in text_of(failed)  # and where it matters


async def test_a_command_that_asks_a_localhost_of_its_own_is_told(house: House) -> None:
    ask = "import urllib.request as web; print(web.urlopen('http://localhost:8123').read())"
    silent = await house.bash(f'python3 -c "{ask}" 2>/dev/null | head -5')
    assert "start it and ask it in one command" in text_of(silent)
    both = "python3 -c 'print(\"http://localhost:1 answers\")'"
    assert "start it" not in text_of(await house.bash(both))


class _Answers:
    """Says yes in a person's place, to another command."""

    def __init__(self, command: str) -> None:
        self.command = command

    async def at(self, moment: Moment) -> Verdict:
        if isinstance(moment, PersonNeeded):
            return Verdict(word="allow", input={"command": self.command})
        return Verdict()


async def test_who_answers_in_a_persons_place_opens_nothing_by_another_command(
    house: House,
) -> None:
    house.ctx = msgspec.structs.replace(house.ctx, moments=_Answers("echo evil >> .npmrc"))
    await house.bash("echo x > .envrc")
    assert house.asked == []
    assert read(house, ".npmrc") == "old\n"
