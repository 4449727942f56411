"""What is put aside is never lost: on one disk, across two, after kills, and taken back whole."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gatewright.permissions.sandbox.config import Config
from gatewright.permissions.sandbox.confinement import Sandbox
from gatewright.permissions.sandbox.disk.aside import Aside, shown
from gatewright.permissions.sandbox.disk.receipts import Receipt, abandoned, recovered
from gatewright.permissions.sandbox.machine import machine
from gatewright.permissions.sandbox.probe import probe
from gatewright.tools.protocol import SpawnRequest
from tests.fakes.waiting import PATIENCE, comes
from tests.permissions.sandbox.house import run_in

AGENT = str(Path(sys.executable).with_name("agent"))
confined = pytest.mark.skipif(probe(machine()).level != "bwrap", reason="no bubblewrap here")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("proj", "home"):
        (tmp_path / name).mkdir()
    return tmp_path / "proj"


@pytest.fixture
def aside(tmp_path: Path) -> Aside:
    return Aside(str(tmp_path / "state" / "set-aside"))


@pytest.fixture
def disk() -> Iterator[Path]:
    """A directory on another disk than the tests' own."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as place:
        yield Path(place)


def put(aside: Aside, project: Path, name: str) -> None:
    batch = aside.open()
    batch.put(str(project / name), str(project), "because")


def test_it_is_out_of_the_project_and_comes_back(project: Path, aside: Aside) -> None:
    (project / "a" / ".vscode").mkdir(parents=True)
    (project / "a" / ".vscode" / "x").write_text("x\n", encoding="utf-8")
    put(aside, project, "a/.vscode")
    assert list((project / "a").iterdir()) == []
    (project / "a").rmdir()
    assert list(shown(aside.waiting())) == [("1", f"{project}/a/.vscode", "because")]
    assert aside.restore("1") == ([f"{project}/a/.vscode"], [])
    assert (project / "a" / ".vscode" / "x").read_text(encoding="utf-8") == "x\n"
    assert aside.waiting() == ()


def test_what_is_there_by_now_is_not_overwritten(project: Path, aside: Aside) -> None:
    (project / ".npmrc").write_text("old\n", encoding="utf-8")
    put(aside, project, ".npmrc")
    (project / ".npmrc").write_text("new\n", encoding="utf-8")
    [text] = aside.restore("1")[1]
    assert "something is there now" in text
    lies = text.rpartition(" ")[2]
    assert Path(lies).read_text(encoding="utf-8") == "old\n"
    assert (project / ".npmrc").read_text(encoding="utf-8") == "new\n"


def test_nothing_is_put_or_taken_back_through_a_link(project: Path, aside: Aside) -> None:
    home = project.parent / "home"
    (home / ".vscode").mkdir()
    (project / "sub").symlink_to(home)
    with pytest.raises(OSError, match="Not a directory"):
        put(aside, project, "sub/.vscode")
    assert (home / ".vscode").is_dir()
    (project / "sub").unlink()
    (project / "sub" / ".idea").mkdir(parents=True)
    put(aside, project, "sub/.idea")
    (project / "sub").rmdir()
    (project / "sub").symlink_to(home)
    number = str(aside.waiting()[-1][0].number)
    assert aside.restore(number)[0] == []
    assert not (home / ".idea").exists()


def test_between_disks_little_is_copied_and_much_is_renamed(
    disk: Path, aside: Aside, project: Path
) -> None:
    if disk.stat().st_dev == project.stat().st_dev:
        pytest.skip("one disk alone")
    (disk / ".husky").mkdir()
    (disk / ".husky" / "a").write_text("a\n", encoding="utf-8")
    (disk / ".envrc").symlink_to("/etc/passwd")
    os.mkfifo(disk / ".npmrc")
    for name in (".husky", ".envrc", ".npmrc"):
        put(aside, disk, name)
    assert [path.name for path in disk.iterdir()] == ["set-aside-3-.npmrc"]
    for number in ("1", "2", "3"):
        assert aside.restore(number)[1] == []
    assert (disk / ".husky" / "a").read_text(encoding="utf-8") == "a\n"
    assert (disk / ".envrc").readlink() == Path("/etc/passwd")
    assert (disk / ".npmrc").is_fifo()


def test_a_line_that_a_kill_tore_hides_no_other(project: Path, aside: Aside) -> None:
    (project / ".npmrc").touch()
    put(aside, project, ".npmrc")
    with (Path(aside.place) / "1" / "items.jsonl").open("a", encoding="utf-8") as file:
        file.write('["/x", ')
    assert len(aside.waiting()) == 1


def test_a_receipt_counts_once_its_owner_is_gone(tmp_path: Path) -> None:
    place = tmp_path / "sandbox"
    mine = Receipt(place)
    mine.write(b"what was there")
    assert list(abandoned(place)) == []
    mine.clear()
    mine.close()
    assert list(place.iterdir()) == []
    script = (
        "import os, sys; from pathlib import Path;"
        "from gatewright.permissions.sandbox.disk.receipts import Receipt;"
        "r = Receipt(Path(sys.argv[1])); r.write(b'a'); r.write(b'what was there');"
        "os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", script, str(place)], check=False)
    assert list(abandoned(place)) == [(b"what was there", 0)]
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("data", [b"", b"x", b"12\n{}", b'12\n[1, {"roots": 3}, {}]', b"12\n[2,3]"])
def test_a_torn_receipt_ends_nothing(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "sandbox").mkdir()
    (tmp_path / "sandbox" / "1-0").write_bytes(data)
    assert recovered(tmp_path) == []


@confined
@pytest.mark.parametrize("janitor", [True, False], ids=["stamped", "all killed"])
def test_the_next_start_puts_aside_what_a_killed_one_left(project: Path, janitor: bool) -> None:
    home = project.parent / "home"
    env = {"PATH": os.environ["PATH"], "HOME": str(home)}
    (project / ".vscode").mkdir()
    command = "mkdir .idea .vscode/x; mkdir -p new/.claude; git init -q r; touch r/.git/hooks/x on"
    argv = [AGENT, "sandbox", "run", "--", "bash", "-c", f"{command}; sleep 60"]
    with subprocess.Popen(argv, cwd=project, env=env, start_new_session=True) as process:
        assert comes((project / "on").exists)
        if not janitor:
            for child in children(process.pid):
                os.kill(child, signal.SIGKILL)
        process.kill()
    assert (project / ".idea").exists()
    if janitor:
        [receipt] = (home / ".gatewright" / "state" / "sandbox").iterdir()
        assert comes(lambda: receipt.stat().st_mtime_ns > 0)
        # What it ran dies a moment after it: until then what comes may still be its work. The
        # moment is set anew, as if it were killed now: on a busy machine it may be over.
        moment = time.time_ns() + 2 * 10**9
        os.utime(receipt, ns=(moment, moment))
        (project / "a").mkdir()
        (project / "a" / ".idea").mkdir()
        assert comes(lambda: time.time_ns() > receipt.stat().st_mtime_ns + 10**8)
        (project / ".husky").mkdir()  # by the person, before the next start
    done = subprocess.run(
        [AGENT, "sandbox", "run", "--", "ls", "-A"],
        cwd=project, env=env, capture_output=True, text=True, check=True,
    )  # fmt: skip
    mine = [".husky"] if janitor else []
    assert done.stdout.split() == [*mine, ".vscode", *(["a"] if janitor else []), "new", "on", "r"]
    early = ", a/.idea" if janitor else ""
    assert f"put aside: .idea{early}, new/.claude; " in done.stderr
    assert "r/.git/hooks/x" in done.stderr
    assert "a session that was killed" in done.stderr
    listed = subprocess.run(
        [AGENT, "sandbox", "aside"],
        cwd=project,
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"   1  {project}/.idea" in listed.stdout
    subprocess.run([AGENT, "sandbox", "restore", "1"], cwd=project, env=env, check=True)
    assert (project / ".idea").exists()
    assert (project / "r" / ".git" / "hooks" / "x").exists()


def children(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8")
    return [int(word) for word in text.split()]


@confined
def test_a_session_of_the_next_start_tells(project: Path) -> None:
    """Before anything of the project is read, and in print mode."""
    home = project.parent / "home"
    env = {"PATH": os.environ["PATH"], "HOME": str(home)}
    argv = [AGENT, "sandbox", "run", "--", "bash", "-c", "mkdir .gatewright; touch on; sleep 60"]
    with subprocess.Popen(argv, cwd=project, env=env, start_new_session=True) as process:
        assert comes((project / "on").exists)
        process.kill()
    done = subprocess.run(
        [AGENT, "-p", "hi", "--model", "demo"],
        cwd=project, env=env, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert "put aside: .gatewright;" in done.stderr
    assert not (project / ".gatewright").exists()


@confined
def test_where_nothing_can_be_written_it_still_goes_away(project: Path) -> None:
    state = project.parent / "no" / "state"
    state.parent.write_text("a file\n", encoding="utf-8")
    box = Sandbox(
        Config(cwd=project, home=project.parent, roots=(project,), state=state), machine()
    )
    told: list[str] = []
    argv = ("mkdir", ".idea")
    request = box.confine(
        SpawnRequest(argv=argv, cwd=project, env={"PATH": "/usr/bin:/bin"}), told.extend
    )
    subprocess.run(request.argv, cwd="/", env=request.env, pass_fds=request.fds, check=True)
    assert request.ended is not None
    request.ended()
    box.close()
    assert list(project.iterdir()) == []
    assert "put aside: .idea" in told[0]
    assert "if it is yours or welcome, " in told[0]  # an editor may have made it meanwhile
    lies = Path(told[0].rpartition(" ")[2])
    assert (lies / "0").is_dir()
    shutil.rmtree(lies.parent)


@confined
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_full_disk_of_ours_keeps_no_name_in_the_project(project: Path) -> None:
    state = project.parent / "small"
    state.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(state)], check=True)
    try:
        box = Sandbox(
            Config(cwd=project, home=project.parent, roots=(project,), state=state), machine()
        )
        run_in(box, ["true"], project, {"PATH": "/usr/bin:/bin"})
        with contextlib.suppress(OSError), (state / "filler").open("wb", buffering=0) as filler:
            while True:
                filler.write(b"x" * 1024)
        argv = ["bash", "-c", "mkdir .idea sub; touch sub/.npmrc set-aside-.idea"]
        _, _, told = run_in(box, argv, project, {"PATH": "/usr/bin:/bin"})
        box.close()
    finally:
        subprocess.run(["umount", "-l", str(state)], check=True)
    found = sorted(str(path.relative_to(project)) for path in project.rglob("*"))
    assert found == ["set-aside-.idea", "set-aside-.idea1", "sub", "sub/set-aside-.npmrc"]
    assert "could not be moved away" in told[0]
    assert told[0].endswith("it is called set-aside-.idea1 now")
