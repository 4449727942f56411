"""A child that is talked to: three streams apart, bounded, and gone with us."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from gatewright.tools.protocol import SpawnRequest, ToolFailure
from gatewright.tools.shell import channel
from gatewright.tools.shell.channel import open_channel
from tests.fakes.waiting import eventually

ECHO = """
import sys
for line in sys.stdin:
    print("got", line.strip(), flush=True)
    print("note", line.strip(), file=sys.stderr, flush=True)
print("bye")
"""


def request(code: str, folder: Path) -> SpawnRequest:
    return SpawnRequest(argv=(sys.executable, "-c", code), cwd=folder, env=dict(os.environ))


async def test_input_output_and_errors_are_apart(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "err"
    talk = await open_channel(request(ECHO, tmp_path), log)
    await talk.send(b"one\ntwo\n")
    assert [await talk.line(), await talk.line()] == [b"got one", b"got two"]
    talk.end_input()
    assert await talk.line() == b"bye"
    assert await talk.line() == b""
    assert await talk.wait() == 0
    assert log.read_text(encoding="utf-8") == "note one\nnote two\n"
    assert log.stat().st_mode & 0o777 == 0o600


async def test_more_than_a_pipe_holds_is_sent_whole(tmp_path: Path) -> None:
    count = "import sys; print(len(sys.stdin.buffer.read()))"
    talk = await open_channel(request(count, tmp_path))
    await talk.send(b"x" * 3_000_000)
    talk.end_input()
    assert await talk.line() == b"3000000"
    await talk.close()


async def test_who_does_not_read_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel, "WRITE_LIMIT", 0.1)
    talk = await open_channel(request("import signal; signal.pause()", tmp_path))
    with pytest.raises(ToolFailure, match="does not read"):
        await talk.send(b"x" * 3_000_000)
    await talk.close(0.1)


async def test_a_line_without_end_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel, "LINE_LIMIT", 100_000)
    talk = await open_channel(request("import sys; sys.stdout.write('x' * 10**7)", tmp_path))
    with pytest.raises(ToolFailure, match="a line of more than"):
        await talk.line()
    await talk.close(0.1)


async def test_what_takes_no_input_any_more_is_a_sentence(tmp_path: Path) -> None:
    talk = await open_channel(request("", tmp_path))
    assert await talk.wait() == 0
    with pytest.raises(ToolFailure, match="takes no input"):
        await talk.send(b"x")
    await talk.close()


KILLED = """
import asyncio, os, sys
from pathlib import Path
from gatewright.tools.protocol import SpawnRequest
from gatewright.tools.shell.channel import open_channel

async def main():
    code = "import signal; signal.pause()"
    ask = SpawnRequest(argv=(sys.executable, "-c", code), cwd=Path("/"), env=dict(os.environ))
    talk = await open_channel(ask)
    print(talk.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="no parent-death signal here")
async def test_it_is_gone_when_we_are_killed(tmp_path: Path) -> None:
    ours = await open_channel(request(KILLED, tmp_path))
    pid = int(await ours.line())
    os.kill(ours.pid, signal.SIGKILL)
    await ours.close()
    await eventually(lambda: _gone(pid))


def _gone(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    except OSError:
        return True
    return stat.rpartition(")")[2].split()[0] == "Z"
