"""Who may answer for the person: no process that a session started, however it hides that."""

from __future__ import annotations

import contextlib
import os
import resource
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from gatewright.agent.autonomy.running import peers
from gatewright.agent.autonomy.running.peers import FOREIGN, ITSELF, why_refused
from gatewright.tools.system.lifetimes import LIMITED, MARKED, UNSEEN, child_of_a_session, process
from gatewright.tools.system.sweep import MARKER, next_marker

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only there it is seen")

# A session in miniature: it adopts, listens, has `how` connect, and says what it thinks of it.
SESSION = """
import socket, subprocess, sys
from gatewright.agent.autonomy.running.peers import why_refused
from gatewright.tools.system.lifetimes import adopt
assert adopt()
with socket.socket(socket.AF_UNIX) as here:
    here.bind(sys.argv[1])
    here.listen()
    child = subprocess.Popen([sys.executable, "-c", sys.argv[2], sys.argv[1]])
    peer = here.accept()[0]
    print(why_refused(peer, sys.argv[3]), flush=True)
    peer.close()
    child.wait()
"""
CONNECT = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.recv(1)"
ORPHAN = f"""
import os, resource
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        resource.setrlimit(10, (5, 5))
        {CONNECT}
    os._exit(0)
os.wait()
"""


def judged(short: Path, how: str, **env: str) -> str:
    clean = {k: v for k, v in os.environ.items() if not k.startswith("GATEWRIGHT")}
    argv = [sys.executable, "-c", SESSION, str(short / "s"), how, str(short / "kept")]
    done = subprocess.run(argv, env={**clean, **env}, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_child_is_refused(short: Path) -> None:
    assert judged(short, CONNECT) == MARKED


def test_so_is_an_orphan_in_a_session_of_its_own_without_any_mark(short: Path) -> None:
    assert judged(short, ORPHAN) == MARKED


HOLDING = """
import socket, sys
from gatewright.agent.autonomy.running.peers import why_refused
here = socket.socket(socket.AF_UNIX)
here.bind(sys.argv[1])
here.listen()
print("ready", flush=True)
for _ in range(int(sys.argv[3])):
    print(why_refused(here.accept()[0], sys.argv[2]), flush=True)
"""


class Elsewhere:
    """A session that is nobody's ancestor here."""

    def __init__(self, short: Path, count: int = 1) -> None:
        self.path, kept = short / "s", short / "kept"
        argv = [sys.executable, "-c", HOLDING, str(self.path), str(kept), str(count)]
        self._process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        assert self._line() == "ready"

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def says_to(self, *argv: str, **env: str) -> str:
        clean = {k: v for k, v in os.environ.items() if not k.startswith("GATEWRIGHT")}
        words = argv or (sys.executable, "-c", CONNECT, str(self.path))
        child = subprocess.Popen(words, env={**clean, **env})
        said = self._line()
        child.kill()
        child.wait()
        return said

    def end(self) -> None:
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._process.kill()
        self._process.wait()


def test_a_front_end_of_the_person_is_let_in_and_marked_ones_are_not(short: Path) -> None:
    at = Elsewhere(short, 4)
    try:
        assert at.says_to() == ""
        assert at.says_to(GATEWRIGHT="1") == MARKED
        assert at.says_to(**{MARKER: next_marker()}) == MARKED
        # The mark of a command as a limit, which no change of the environment takes away.
        limited = f"import resource; resource.setrlimit(10, (1, {next_marker().split('-')[0]}))"
        code = f"{limited}; {CONNECT}"
        assert at.says_to(sys.executable, "-c", code, str(at.path)) == MARKED
    finally:
        at.end()


@pytest.mark.parametrize("limits", ["(0, 0)", "(5, 5)", "(0, 2**61)"])
def test_nor_is_one_that_made_its_mark_another_and_left_all_its_parents(
    short: Path, limits: str
) -> None:
    """No session adopts it, and its environment says nothing: the limit cannot be taken away."""
    code = f"""
import os, resource
if os.fork() == 0:
    os.setsid()
    parent = os.getpid()
    if os.fork() == 0:
        while os.getppid() == parent:
            pass
        resource.setrlimit(10, {limits})
        {CONNECT}
    os._exit(0)
os.wait()
"""
    at = Elsewhere(short)
    try:
        assert at.says_to(sys.executable, "-c", code, str(at.path)) == LIMITED
    finally:
        at.end()


def test_so_is_what_runs_below_a_session_of_another_process(short: Path) -> None:
    """One that works on a conversation is known by its file, whatever its children drop."""
    kept = short / "kept" / "p"
    kept.mkdir(parents=True)
    (kept / "s.jsonl").write_text("{}", encoding="utf-8")
    code = (
        "import subprocess, sys; f = open(sys.argv[2]);"
        f"subprocess.run([sys.executable, '-c', {CONNECT!r}, sys.argv[1]])"
    )
    at = Elsewhere(short)
    try:
        argv = (sys.executable, "-c", code, str(at.path), str(kept / "s.jsonl"))
        assert at.says_to(*argv) == MARKED
    finally:
        at.end()


def unseen(*_: object) -> str:
    return UNSEEN


def seen(*_: object) -> str:
    return ""


def test_another_user_itself_and_what_is_not_seen_are_refused(
    short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket(socket.AF_UNIX) as here, socket.socket(socket.AF_UNIX) as there:
        here.bind(str(short / "s"))
        here.listen()
        there.connect(str(short / "s"))
        with here.accept()[0] as peer:
            assert why_refused(peer, "/nowhere") == ITSELF
            monkeypatch.setattr(os, "getpid", lambda: 1)
            monkeypatch.setattr(peers, "child_of_a_session", unseen)
            assert why_refused(peer, "/nowhere") == UNSEEN
            monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
            assert why_refused(peer, "/nowhere") == FOREIGN
    assert child_of_a_session(2**22 - 1, "/nowhere") == UNSEEN
    assert process(2**22 - 1) is None


def test_one_that_comes_to_a_session_with_many_open_files_is_judged_too(
    short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Above 1,023, where a session with many servers and files may be."""
    if resource.getrlimit(resource.RLIMIT_NOFILE)[0] < 1500:
        pytest.skip("so many files cannot be open here")
    with contextlib.ExitStack() as stack:
        here = stack.enter_context(socket.socket(socket.AF_UNIX))
        there = stack.enter_context(socket.socket(socket.AF_UNIX))
        here.bind(str(short / "s"))
        here.listen()
        there.connect(str(short / "s"))
        peer = stack.enter_context(here.accept()[0])
        for _ in range(1100):
            stack.callback(os.close, os.dup(peer.fileno()))
        monkeypatch.setattr(os, "getpid", lambda: 1)
        monkeypatch.setattr(peers, "child_of_a_session", seen)
        assert why_refused(peer, "/nowhere") == ""
