"""A shell that waits inside: it becomes what a new one would be, or it is thrown away."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from gatewright.agent.settings.groups.sandbox_settings import Sandbox as Settings
from gatewright.agent.settings.groups.sandbox_settings import SandboxFiles
from gatewright.permissions.sandbox.config import Config
from gatewright.permissions.sandbox.confinement import Sandbox
from gatewright.permissions.sandbox.limits import Limits
from gatewright.permissions.sandbox.linux.mounted import mounted
from gatewright.permissions.sandbox.machine import machine
from gatewright.permissions.sandbox.network.bridge import Bridge
from gatewright.permissions.sandbox.network.egress import Egress
from gatewright.permissions.sandbox.network.proxy import Proxy
from gatewright.permissions.sandbox.probe import probe
from gatewright.permissions.sandbox.profile import Network
from gatewright.permissions.sandbox.running.launches import Launches, Order
from gatewright.permissions.sandbox.running.next_run import NextRun
from gatewright.permissions.sandbox.running.standby import Standby
from gatewright.tools.protocol import SpawnRequest
from gatewright.tools.shell.environment import BashFinder, child_environment, scripted
from gatewright.tools.system.processes import GroupChild, spawn
from tests.fakes.waiting import PATIENCE, comes, eventually, lasting
from tests.permissions.sandbox.gated_house import House
from tests.permissions.sandbox.house import children

pytestmark = pytest.mark.skipif(probe(machine()).level != "bwrap", reason="no bubblewrap here")
BASH = ("/bin/bash", "--noprofile", "--norc", "-c")
ENV = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LANG": "C.UTF-8", "SHLVL": "3"}


@pytest.fixture
async def box(tmp_path: Path) -> AsyncIterator[Sandbox]:
    for name in ("proj", "other", "out", "home", "tmp"):
        (tmp_path / name).mkdir()
    project = tmp_path / "proj"
    await asyncio.to_thread(subprocess.run, ["git", "init", "-q", str(project)], check=True)
    made = Sandbox(
        Config(
            cwd=project,
            home=tmp_path / "home",
            roots=(project,),
            temp=tmp_path / "tmp",
            state=tmp_path / "state",
        ),
        machine(),
    )
    yield made
    await made.at_rest()
    made.close()


def asked(box: Sandbox, script: str, **more: object) -> SpawnRequest:
    given = {"cwd": box.config.cwd, "env": ENV, **more}
    return SpawnRequest(argv=(*BASH, script), script=True, **given)  # type: ignore[arg-type]


async def made(box: Sandbox) -> None:
    """The one that waits is there, and was looked at."""
    standby = box._next._standby  # pyright: ignore[reportPrivateUsage]
    assert standby is not None
    await eventually(standby._there.is_set)  # pyright: ignore[reportPrivateUsage]


async def ended(child: GroupChild) -> tuple[int, str]:
    output = b""
    async with asyncio.timeout(PATIENCE):
        while chunk := await child.read():
            output += chunk
        return await child.wait(), output.decode("utf-8", "replace")


async def told(box: Sandbox, script: str, **more: object) -> tuple[int, str, bool]:
    """Exit code, output, and whether the shell that waited was it."""
    before = children()
    child = await spawn(box.confine(asked(box, script, **more)))
    return *await ended(child), child.pid in before


async def test_it_becomes_what_a_new_one_would_be(box: Sandbox) -> None:
    """Environment, descriptors, signals, rights, limits, mounts, what its errors look like."""
    script = """
        env | grep -v GATEWRIGHT_CHILD | sort; umask; ulimit -a; echo "$0 $- $# $$ $PPID $_"
        readlink /proc/self/fd/0; for fd in /proc/$$/fd/* /proc/1/fd/*; do echo ${fd}; done
        tr '\\0' ' ' < /proc/$$/cmdline
        grep -vE 'Vm|Rss|ctxt|FDSize|Huge|Threads|State' /proc/$$/status
        sed 's/^[0-9]* [0-9]* [^ ]* //' /proc/self/mountinfo | sort; shopt; trap; jobs; ls /proc
        set | grep -vE '^(RANDOM|SECONDS|EPOCH|SRANDOM|GATEWRIGHT_CHILD|BASHPID|_)='
        no-such-program; eval 'if;'; exit 7
    """
    one = await told(box, script)
    box.stand_by(asked(box, ""))
    other = await told(box, script)
    assert one[2:] == (False,)
    assert other[2:] == (True,)
    assert one[0] == other[0]

    def plain(text: str) -> list[str]:  # some namespaces and devices have numbers of their own
        return [
            " ".join(word for word in line.split() if ":" not in word) for line in text.split("\n")
        ]

    assert plain(one[1]) == plain(other[1])
    assert "no-such-program: command not found" in other[1]


async def test_what_is_written_reaches_it_byte_for_byte(box: Sandbox) -> None:
    text = "é\u2028 ' \" $x `y` \\ \udcff\t\n" * 200
    box.stand_by(asked(box, ""))
    script = f"printf %s $'{text.translate({39: chr(92) + chr(39), 92: chr(92) * 2})}' | sha256sum"
    one = await told(box, script)
    other = await told(box, script)
    assert (one[2], other[2]) == (True, False)
    assert one[:2] == other[:2]


async def test_a_locale_that_there_is_not_is_told_once(box: Sandbox) -> None:
    env = {**ENV, "LC_ALL": "xx_XX.utf8"}
    one = await told(box, "echo ü", env=env)
    box.stand_by(asked(box, "", env=env))
    other = await told(box, "echo ü", env=env)
    assert other == (one[0], one[1], True)


async def test_the_pipe_is_out_of_reach_of_the_command(box: Sandbox) -> None:
    box.stand_by(asked(box, ""))
    script = (
        "for fd in /proc/1/fd/* /proc/$$/fd/*; do readlink $fd; done;"
        " for n in {3..60}; do [ -e /dev/fd/$n ] && echo $n; done; :"
    )
    _, output, waited = await told(box, script)
    assert waited
    ours = set(output.split()) - {"/dev/null", "anon_inode:[eventfd]"}
    assert len(ours) == 1, ours
    assert ours.pop().startswith("pipe:")  # its output


@pytest.mark.parametrize("more", [{"env": {**ENV, "X": "1"}}, {"cwd": Path("/usr")}])
async def test_another_order_starts_another_one(box: Sandbox, more: dict[str, object]) -> None:
    box.stand_by(asked(box, ""))
    assert (await told(box, "echo ${X-none}; pwd", **more))[2] is False
    assert not box.waits


def secret(box: Sandbox) -> None:
    (box.config.cwd / ".env").write_text("PASSWORD=1", encoding="utf-8")


def saved(box: Sandbox) -> None:
    """As an editor saves: the same words, another file."""
    config = box.config.cwd / ".git" / "config"
    shutil.copy(config, f"{config}.lock")
    Path(f"{config}.lock").replace(config)


def moved(box: Sandbox) -> None:
    project = box.config.cwd
    project.rename(project.with_name("gone"))
    shutil.copytree(project.with_name("gone"), project)


def swapped(box: Sandbox) -> None:
    hooks = box.config.cwd / ".git" / "hooks"
    hooks.rename(hooks.with_name("hooks-gone"))
    hooks.symlink_to(box.config.cwd.parent / "out")


def closed(box: Sandbox) -> None:
    box.follow(replace(box.config, deny_read=(*box.config.deny_read, "secret*")))


def fewer(box: Sandbox) -> None:
    box.follow(replace(box.config, limits=Limits(nofile=64)))


@pytest.mark.parametrize("change", [secret, saved, moved, swapped, closed, fewer])
async def test_what_changed_meanwhile_throws_it_away(
    box: Sandbox, change: Callable[[Sandbox], None]
) -> None:
    (box.config.cwd / "secret.txt").write_text("sesame", encoding="utf-8")
    box.stand_by(asked(box, ""))
    await made(box)
    change(box)
    script = (
        "cat .env secret.txt; ulimit -n; echo here > here;"
        " echo x > .git/hooks/h; echo x >> .git/config"
    )
    _, output, waited = await told(box, script)
    assert not waited
    assert "PASSWORD" not in output
    assert ("sesame" in output) == (change is not closed)
    assert (box.config.cwd / "here").exists()
    assert "x" not in (box.config.cwd / ".git" / "config").read_text(encoding="utf-8").split()
    assert list((box.config.cwd.parent / "out").iterdir()) == []


async def test_a_link_that_is_there_only_while_it_is_made_opens_nothing(tmp_path: Path) -> None:
    """The launcher follows it; what is really mounted is looked at before anything is told."""
    writable, out = tmp_path / "writable", tmp_path / "out"
    for directory in (writable, out, tmp_path / "home", tmp_path / "tmp"):
        directory.mkdir()
    box = Sandbox(
        Config(cwd=writable, home=tmp_path / "home", roots=(writable,), temp=tmp_path / "tmp"),
        machine(),
    )
    launches = Launches(box.machine, "bwrap", box.janitor)
    order = Order(box.profile(writable), ENV)
    writable.rename(tmp_path / "aside")
    writable.symlink_to(out)
    standby = Standby(launches, order, BASH)
    await eventually(lambda: standby.run.init() > 0 and is_made(standby))
    writable.unlink()
    (tmp_path / "aside").rename(writable)
    assert await standby.given("touch there", lambda: None) is None
    assert not standby.holds
    await standby.dropped()
    assert list(out.iterdir()) == []
    launches.close()
    box.close()


def is_made(standby: Standby) -> bool:
    """Whether the launcher has mounted all of it and the shell waits."""
    inside = Path(f"/proc/{standby.run.init()}/task/{standby.run.init()}/children")
    with_shell = inside.read_text(encoding="ascii").split()
    return bool(with_shell) and "bash" in Path(f"/proc/{with_shell[0]}/comm").read_text("utf-8")


async def test_what_is_mounted_is_compared_with_what_was_asked_for(box: Sandbox) -> None:
    order = Order(box.profile(box.config.cwd), ENV)
    launches = Launches(box.machine, "bwrap", box.janitor)
    standby = Standby(launches, order, BASH)
    assert await standby.given("sleep 60", lambda: None) is not None
    options, init = standby.run.options, standby.run.init()
    assert mounted(options, init, frozenset()) is not None
    project = str(box.config.cwd)
    less = options[: options.index("--unshare-user")]
    at = less.index(project)
    for changed in (
        [*less[: at - 1], "--ro-bind", *less[at:]],  # it can be written
        [*less[:at], str(box.config.cwd.parent), *less[at + 1 :]],  # of another directory
        [*less, "--tmpfs", f"{project}/src"],  # not covered
        [*less, "--ro-bind", project, f"{project}/src"],  # not there
    ):
        assert mounted(changed, init, frozenset()) is None, changed
    await standby.dropped()
    standby.run.close()
    launches.close()


async def test_there_is_never_more_than_one(box: Sandbox) -> None:
    before = children()
    for _ in range(3):
        box.stand_by(asked(box, ""))
    first = await launched(before)
    box.stand_by(asked(box, "", env={**ENV, "X": "1"}))
    await eventually(lambda: first not in children())
    await launched(before)
    await box.at_rest()
    assert running(children() - before) == set()


async def launched(before: set[int]) -> int:
    """The one launcher that was not there before."""
    await eventually(lambda: len(running(children() - before)) == 1)
    return running(children() - before).pop()


def running(pids: set[int]) -> set[int]:
    """Of those the launchers: the janitor stays."""
    return {pid for pid in pids if "bwrap" in Path(f"/proc/{pid}/comm").read_text("utf-8")}


async def test_nobody_needs_it_for_long(box: Sandbox) -> None:
    launches = Launches(box.machine, "bwrap", box.janitor)
    waiting = NextRun(launches, idle=0.05)
    before = children()
    waiting.prepare(Order(box.profile(box.config.cwd), ENV), BASH)
    assert waiting.waits
    await eventually(lambda: not waiting.waits and not running(children() - before))
    launches.close()


async def test_one_that_died_is_replaced(box: Sandbox) -> None:
    before = children()
    box.stand_by(asked(box, ""))
    os.kill(await launched(before), 9)
    code, output, waited = await told(box, "echo fine")
    assert (code, output, waited) == (0, "fine\n", False)


@pytest.mark.parametrize("name", ["BASH_ENV", "PS4", "SHELLOPTS"])
async def test_no_shell_waits_that_would_run_something_first(box: Sandbox, name: str) -> None:
    kept = replace(box.config, secrets=box.config.secrets.keeping((name,)))
    box.follow(kept)
    box.stand_by(asked(box, "", env={**ENV, name: "x"}))
    assert not box.waits


async def test_a_long_script_starts_a_shell_of_its_own(box: Sandbox) -> None:
    box.stand_by(asked(box, ""))
    code, output, waited = await told(box, f": {'x' * 80_000}; echo fine")
    assert (code, output, waited) == (0, "fine\n", False)
    assert box.waits


async def test_whoever_does_not_wait_for_it_leaves_nothing(box: Sandbox) -> None:
    before = children()
    box.stand_by(asked(box, ""))
    task = asyncio.create_task(spawn(box.confine(asked(box, "touch there"))))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not box.waiting
    await box.at_rest()
    assert running(children() - before) == set()
    assert not (box.config.cwd / "there").exists()


async def test_a_kill_and_a_time_limit_end_all_of_it(box: Sandbox) -> None:
    box.stand_by(asked(box, ""))
    request = box.confine(
        asked(box, "touch there; trap '' TERM; sleep 71.993 & setsid sleep 71.993")
    )
    child = await spawn(request)
    await eventually((box.config.cwd / "there").exists)
    await child.kill(0.1)
    assert child.code == 128 + 15
    assert not box.waiting
    assert "71.993" not in subprocess.run(["ps", "ax"], capture_output=True, text=True).stdout  # noqa: ASYNC221


async def test_beside_another_command_it_looks_at_its_mounts(box: Sandbox) -> None:
    first = await spawn(box.confine(asked(box, "read x < /dev/zero; sleep 60")))
    box.stand_by(asked(box, ""))
    code, output, waited = await told(box, "touch there && echo x > .git/hooks/h")
    assert (code, waited) == (1, True), output
    assert (box.config.cwd / "there").exists()
    await first.kill(0.0)


async def test_it_has_the_way_out_of_the_others(tmp_path: Path) -> None:
    for name in ("proj", "home", "tmp"):
        (tmp_path / name).mkdir()
    network = Network("proxy", ("example.com",))
    heard: list[str] = []
    proxy = Proxy(Egress(network, refused=lambda host, _: heard.append(host)))
    config = Config(
        cwd=tmp_path / "proj", home=tmp_path / "home", roots=(tmp_path / "proj",),
        temp=tmp_path / "tmp", network=network,
    )  # fmt: skip
    box = Sandbox(config, machine(), Bridge(proxy, asyncio.get_running_loop()))
    box.stand_by(asked(box, ""))
    script = (
        "echo $HTTPS_PROXY; exec 3<>/dev/tcp/127.0.0.1/3128;"
        r" printf 'CONNECT evil.example:443 HTTP/1.1\r\n\r\n' >&3; head -n1 <&3"
    )
    code, output, waited = await told(box, script)
    assert (code, waited) == (0, True), output
    assert "127.0.0.1:3128" in output
    assert " 403 " in output
    assert heard == ["evil.example"]
    await box.at_rest()
    box.close()


async def test_what_ended_first_ends_the_one_that_waits(box: Sandbox) -> None:
    before = children()
    box.stand_by(asked(box, ""))
    box.close()
    assert running(children() - before) == set()
    assert not box.waits


async def test_what_outlives_the_loop_is_ended_all_the_same(box: Sandbox) -> None:
    before = children()

    def elsewhere() -> None:
        async def stand_by() -> None:
            box.stand_by(asked(box, ""))

        asyncio.run(stand_by())
        box.close()

    await asyncio.to_thread(elsewhere)
    assert running(children() - before) == set()


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    made = House(tmp_path, Settings(enabled=True))
    yield made
    await made.sandbox.close()


async def waits(house: House) -> Sandbox:
    """A shell waits for just what Bash would run."""
    ctx = house.ctx
    env = child_environment(ctx.env, ctx.secrets)
    request = scripted(BashFinder()(ctx), ctx.where.cwd, env, "")
    await house.sandbox.stand_by(request, ctx.where.root)
    box = await house.sandbox.opened()
    assert box is not None
    assert box.waits
    return box


async def test_the_next_call_is_told_to_it(house: House) -> None:
    box = await waits(house)
    before = children()
    result = await house.bash("cd sub 2>/dev/null; echo hi; exit 3")
    assert (result.data["exitCode"], result.data["stdout"]) == (3, "hi")
    assert not box.waits
    assert running(children() - before) == set()


async def test_a_call_that_is_stopped_ends_it(house: House) -> None:
    await waits(house)
    result = await house.bash("echo begun; sleep 71.995", timeout=300)
    assert "begun" in str(result.data["stdout"])
    assert "stopped after 0.3 s" in result.summary
    assert await lasting(lambda: not with_text("71.995"), 0.1)


async def test_none_waits_where_commands_are_not_confined(house: House) -> None:
    box = await waits(house)
    house.set(Settings(enabled=False))
    assert not box.waits
    ctx = house.ctx
    await house.sandbox.stand_by(scripted("/bin/bash", ctx.where.cwd, {}, ""), ctx.where.root)
    assert not box.waits


async def test_what_is_denied_from_now_on_is_denied_to_it(house: House) -> None:
    (house.project / "plan.txt").write_text("sesame", encoding="utf-8")
    await waits(house)
    house.set(Settings(enabled=True, filesystem=SandboxFiles(deny_read=("plan.txt",))))
    result = await house.bash("sh -c 'cat p*n.txt'")
    assert "sesame" not in str(result.data)


def with_text(text: str) -> list[str]:
    found: list[str] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                line = (entry / "cmdline").read_bytes()
                found += [entry.name] if text.encode() in line else []
    return found


WAITING = """
import asyncio, sys
from pathlib import Path
from gatewright.permissions.sandbox.config import Config
from gatewright.permissions.sandbox.confinement import Sandbox
from gatewright.permissions.sandbox.machine import machine
from gatewright.tools.protocol import SpawnRequest

async def main(place):
    box = Sandbox(Config(cwd=place, home=place, roots=(place,), temp=place), machine())
    argv = ("/bin/bash", "-c", "")
    env = {"PATH": "/bin", "WAITS": "71.994"}
    box.stand_by(SpawnRequest(argv=argv, cwd=place, env=env, script=True))
    await asyncio.sleep(1 if len(sys.argv) > 2 else 600)
    print(box.waits, flush=True)

asyncio.run(main(Path(sys.argv[1])))
"""


def with_mark() -> list[str]:
    found: list[str] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                if b"WAITS=71.994" in (entry / "environ").read_bytes():
                    found.append(entry.name)
            except OSError:
                continue
    return found


def test_a_kill_of_the_program_ends_the_one_that_waits(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", WAITING, str(tmp_path)]) as process:
        assert comes(lambda: len(with_mark()) > 1)
        process.kill()
    assert comes(lambda: not with_mark()), with_mark()
