"""Settings of the sandbox that change while a session goes on count from the next command."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gatewright.agent.context.briefing import Briefing
from gatewright.agent.context.file_judge import readable_by
from gatewright.agent.extensions.confining import plug_sandbox
from gatewright.agent.extensions.contribution import part_of
from gatewright.agent.extensions.gate import Possible, live_settings
from gatewright.agent.extensions.host import Host
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.session.start.base import open_base
from gatewright.agent.settings.groups.sandbox_settings import Sandbox, SandboxFiles, SandboxNetwork
from gatewright.agent.settings.policy_settings import policy_config
from gatewright.agent.settings.workspace import survey
from gatewright.permissions.policy import Policy
from gatewright.permissions.sandbox.commands import OFF, CommandSandbox
from gatewright.permissions.sandbox.machine import machine
from gatewright.permissions.sandbox.network.egress import Egress, Refused
from gatewright.permissions.sandbox.probe import probe
from gatewright.permissions.sandbox.profile import Network
from gatewright.tools.files.fs import ReadLedger
from gatewright.tui.blocks.registry import draw_all
from tests.fakes.executor import text_of
from tests.permissions.sandbox.gated_house import House

confined = pytest.mark.skipif(probe(machine()).level != "bwrap", reason="no bubblewrap here")


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    made = House(tmp_path, Sandbox())
    (made.project / "data").mkdir()
    (made.project / "data" / "a").write_text("known\n", encoding="utf-8")
    yield made
    await made.sandbox.close()


@confined
async def test_files_are_closed_and_opened_from_the_next_command_on(house: House) -> None:
    out = house.place / "out"
    read, write = house.unspelled("cat data/a"), house.unspelled("echo x > data/b", "w.sh")
    leave = house.unspelled(f"echo x > {out}/a", "o.sh")
    assert text_of(await house.bash(read)) == "known"
    assert not (await house.bash(leave)).ok
    deny = SandboxFiles(deny_read=("data/a",), deny_write=("data",), allow_write=(str(out),))
    house.set(Sandbox(filesystem=deny))
    assert "known" not in text_of(await house.bash(read))
    assert not (await house.bash(write)).ok
    assert (await house.bash(leave)).ok
    house.set(Sandbox())
    assert text_of(await house.bash(read)) == "known"
    assert (await house.bash(write)).ok
    assert not (await house.bash(leave)).ok


@confined
async def test_the_network_and_what_its_filter_lets_through(house: House) -> None:
    line = house.unspelled("echo ${HTTP_PROXY:-none}; ls /sys/class/net")
    python = "import socket; socket.socketpair(); socket.socket(socket.AF_UNIX)"
    sockets = house.unspelled(f"{machine().python} -c '{python}'", "s.sh")
    assert text_of(await house.bash(line)).startswith("none")
    assert not (await house.bash(sockets)).ok
    proxied = SandboxNetwork(allowed_domains=("example.com",), allow_unix_sockets=("*",))
    house.set(Sandbox(network=proxied))
    assert text_of(await house.bash(line)).startswith("http://127.0.0.1")
    assert (await house.bash(sockets)).ok
    house.set(Sandbox())
    assert text_of(await house.bash(line)).startswith("none")
    assert not (await house.bash(sockets)).ok


@confined
async def test_a_host_that_nobody_allowed_is_asked_about_by_its_name_alone(house: House) -> None:
    house.set(Sandbox(network=SandboxNetwork(allowed_domains=("example.com",))))
    python = "import urllib.request as u; u.urlopen('http://other.example/')"
    assert not (await house.bash(house.unspelled(f'{machine().python} -c "{python}"'))).ok
    (ask,) = (ask for ask in house.asked if "reach this host" in ask.title)
    rows = draw_all(ask.body, 80)
    assert ["".join(span.text for span in row.spans) for row in rows] == ["other.example:80"]


async def test_a_command_that_goes_on_reaches_nothing_once_the_network_is_closed() -> None:
    egress = Egress(Network("proxy", allowed=("93.184.216.34",)))
    assert await egress.addresses("93.184.216.34", 443) == ("93.184.216.34",)
    egress.network = Network()
    with pytest.raises(Refused, match="no network any more"):
        await egress.addresses("93.184.216.34", 443)


@confined
async def test_limits(house: House) -> None:
    line = house.unspelled("ulimit -n")
    house.set(Sandbox(limits={"nofile": 77, "nproc": 300}))
    assert text_of(await house.bash(line)) == "77"
    house.set(Sandbox(limits={"nofile": 66, "nproc": 200}))
    assert text_of(await house.bash(line)) == "66"


@confined
async def test_a_limit_that_is_none_loses_neither_the_others_nor_the_confinement(
    house: House,
) -> None:
    line, leave = house.unspelled("ulimit -n"), house.unspelled("echo x > ../out/a", "o.sh")
    house.set(Sandbox(limits={"nofile": "many"}))
    assert not (await house.bash(leave)).ok
    assert house.sandbox.status == ""
    house.set(Sandbox(limits={"nofile": 66}))
    await house.bash(line)
    house.set(Sandbox(limits={"nofile": "man", "fsize": "1M"}))
    assert text_of(await house.bash(line)) == "66"
    assert [text for text in house.warned if "sandbox.limits" in text] == [
        "sandbox.limits: 'many' is no size; write a number such as 64, 512M or 2G. It is ignored.",
        "sandbox.limits: 'man' is no size; write a number such as 64, 512M or 2G. It is ignored.",
    ]


@confined
async def test_it_is_switched_off_and_on(house: House) -> None:
    leave = house.unspelled("echo x > ../out/a")
    house.set(Sandbox(enabled=False))
    assert (await house.bash(leave)).ok
    house.set(Sandbox())
    assert not (await house.bash(leave)).ok
    house.set(Sandbox(enabled=False))
    house.set(Sandbox(enabled=False))
    assert (await house.bash(leave)).ok
    assert house.told == [OFF, OFF]
    house.set(Sandbox(enabled=True))
    assert not (await house.bash(leave)).ok


async def test_a_wrong_glob_is_told_once(house: House) -> None:
    wrong = Sandbox(filesystem=SandboxFiles(deny_read=("[z-a]",)))
    for _ in range(2):
        house.set(wrong)
    assert len([text for text in house.warned if "sandbox.filesystem.denyRead" in text]) == 1


def _write(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")


async def test_the_files_of_a_session_reach_its_sandbox(tmp_path: Path) -> None:
    for name in ("proj/.gatewright", "home"):
        (tmp_path / name).mkdir(parents=True)
    file = tmp_path / "proj" / ".gatewright" / "settings.json"
    env = {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}
    options = LaunchOptions(cwd=str(tmp_path / "proj"), trust=True, model="demo", no_session=True)
    base = open_base(survey(options, env, interactive=True))
    policy = Policy(policy_config(base.around, "default"))
    live = live_settings(base, env, policy, Possible())
    readable = readable_by(policy, lambda: live.around.where)
    briefing = Briefing(lambda: live.around, readable)
    brought = await plug_sandbox(Host(base, live, policy, briefing, ReadLedger()))
    sandbox = part_of((brought,), CommandSandbox)
    assert sandbox is not None
    files = {"denyRead": ["data"]}
    _write(file, json.dumps({"sandbox": {"filesystem": files, "failIfUnavailable": True}}))
    live.refresh()
    assert [*sandbox.settings.filesystem.deny_read] == ["data"]
    assert sandbox.settings.fail_if_unavailable
    _write(file, "{")  # what forbade goes on
    live.refresh()
    assert [*sandbox.settings.filesystem.deny_read] == ["data"]
    _write(file, json.dumps({"sandbox": {"enabled": False}}))  # of a project that loosens nothing
    live.refresh()
    assert sandbox.settings.enabled == "auto"
    assert [*sandbox.settings.filesystem.deny_read] == []
    await sandbox.close()
