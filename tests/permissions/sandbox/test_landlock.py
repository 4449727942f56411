"""Where bubblewrap cannot run: what Landlock and the filter keep alone, and what is said aloud."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from gatewright.permissions.sandbox.config import Config
from gatewright.permissions.sandbox.confinement import Sandbox
from gatewright.permissions.sandbox.explain import lines
from gatewright.permissions.sandbox.linux import landlock
from gatewright.permissions.sandbox.machine import machine
from gatewright.permissions.sandbox.probe import probe
from tests.permissions.sandbox.house import run_in

pytestmark = pytest.mark.skipif(landlock.abi() < 1, reason="no Landlock here")
AGENT = str(Path(sys.executable).with_name("agent"))


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Sandbox]:
    for name in ("proj", "out", "home/.ssh", "tmp"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "out" / "victim").write_text("original", encoding="utf-8")
    (tmp_path / "home" / ".ssh" / "key").write_text("sesame", encoding="utf-8")
    config = Config(
        cwd=tmp_path / "proj",
        home=tmp_path / "home",
        roots=(tmp_path / "proj",),
        temp=tmp_path / "tmp",
        state=tmp_path / "state",
    )
    made = Sandbox(config, machine(), level="landlock")
    yield made
    made.close()


def run(box: Sandbox, command: str, **env: str) -> tuple[int, str]:
    base = {"PATH": os.environ["PATH"], "API_KEY": "sesame", **env}
    code, output, _ = run_in(box, ["bash", "-c", command], box.config.cwd, base)
    return code, output


@pytest.mark.parametrize(
    "command",
    [
        "echo x > ../out/new",
        "echo x >> ../out/victim",
        "rm ../out/victim",
        "mv ../out/victim ../out/moved",
        "ln -s ../out/victim l && echo x > l",
        "ln ../out/victim l",
        "cat ../home/.ssh/key",
        "echo x > /etc/gatewright-test",
        "echo x > /proc/sys/kernel/core_pattern",
        "mount -t tmpfs none ../out",
        "unshare -Ur true",
        "setpriv --reuid 12345 true",
        "chown 12345 ../out/victim",
        "env | grep sesame",
        "getent hosts example.com",
        "exec 3<> /dev/tcp/127.0.0.1/$PORT",
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX)'",
        "python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)'",
        "kill -9 $VICTIM",
        "echo x > /dev/vda",
    ],
)
def test_what_is_still_kept(box: Sandbox, tmp_path: Path, command: str) -> None:
    with (
        closing(socket.create_server(("127.0.0.1", 0))) as server,
        subprocess.Popen(["sleep", "60"]) as victim,
    ):
        try:
            code, output = run(
                box, command, PORT=str(server.getsockname()[1]), VICTIM=str(victim.pid)
            )
            assert victim.poll() is None
        finally:
            victim.kill()
    assert code != 0, output
    assert "sesame" not in output
    assert (tmp_path / "out" / "victim").read_text(encoding="utf-8") == "original"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["victim"]
    assert list((tmp_path / "proj").glob(".*")) == []


def test_a_home_among_thousands(box: Sandbox, tmp_path: Path) -> None:
    """All that lies beside it is granted by name: more than a command line has room for."""
    for number in range(1500):
        (tmp_path / f"{number:0100}").mkdir()
    assert run(box, "echo x > a && cat a") == (0, "x\n")
    assert run(box, "cat ../home/.ssh/key")[0] != 0


def test_protected_names_are_put_aside(box: Sandbox, tmp_path: Path) -> None:
    code, _ = run(box, "mkdir .gatewright && echo x > .gatewright/settings.json")
    assert code == 0
    assert list((tmp_path / "proj").iterdir()) == []
    assert "put aside: .gatewright" in box.violations.recent()[0].text


@pytest.mark.parametrize(
    "command",
    [
        "echo x > a && cat a && mkdir d && mv a d/b && rm -r d",
        "echo x > $TMPDIR/a && rm $TMPDIR/a",
        "git init -q r && cd r && git -c user.name=A -c user.email=a@b commit -qm x --allow-empty",
        "python3 -c 'import json, subprocess; subprocess.run([\"true\"], check=True)'",
        "seq 10 | sort -n | tail -1 > /dev/null",
    ],
)
def test_ordinary_work(box: Sandbox, command: str) -> None:
    code, output = run(box, command)
    assert code == 0, output


def test_what_is_not_kept_is_said() -> None:
    without = replace(machine(), bwrap="")
    found = probe(without)
    assert found.level == "landlock"
    assert "bubblewrap is not installed" in found.why
    cwd = Path.cwd()
    config = Config(cwd=cwd, home=cwd, roots=(cwd,), deny_read=())
    box = Sandbox(config, without, level="landlock")
    text = "\n".join(lines(box.profile(cwd), found))
    assert "weaker promise" in text
    for missing in landlock.MISSING:
        assert missing in text


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_systems_without_one_say_so(system: str) -> None:
    found = probe(replace(machine(), system=system))
    assert found.level == "none"
    assert found.why.endswith(".")


@pytest.mark.skipif(probe(machine()).level != "bwrap", reason="no bubblewrap here")
@pytest.mark.skipif(
    any(Path(__file__).resolve().is_relative_to(hidden) for hidden in ("/tmp", "/var/tmp")),
    reason="the checkout lies where commands in the sandbox see a directory of their own",
)
def test_a_sandbox_in_a_sandbox_falls_back(tmp_path: Path) -> None:
    """Inside, namespaces are forbidden: a kernel without them looks the same."""
    (tmp_path / "in").mkdir()
    inner = f"{AGENT} sandbox run --cwd in -- bash -c 'echo x > ok; echo x > ../no'"
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    done = subprocess.run(
        [AGENT, "sandbox", "run", "--", "bash", "-c", inner],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "Landlock alone confines this command" in done.stderr
    assert (tmp_path / "in" / "ok").exists(), done.stderr
    assert not (tmp_path / "no").exists()
