"""The log of a background session: whole, in order, and bounded, whoever writes how much."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gatewright.agent.autonomy.running.bounded_log import opened, read_back

WRITES = """
import os, sys
from pathlib import Path
from gatewright.agent.autonomy.running.bounded_log import BoundedLog
log = BoundedLog(Path(sys.argv[1]), int(sys.argv[2]))
for number in range(int(sys.argv[3])):
    os.write(1 + number % 2, b"line %06d\\n" % number)
log.close()
os.write(2, b"after\\n")
"""


def said(path: Path, limit: int, lines: int) -> str:
    argv = [sys.executable, "-c", WRITES, str(path), str(limit), str(lines)]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stderr


def test_both_streams_are_kept_in_order_and_given_back(tmp_path: Path) -> None:
    path = tmp_path / "s.log"
    assert said(path, 1 << 20, 100) == "after\n"
    assert read_back(path).splitlines() == [b"line %06d" % number for number in range(100)]
    assert path.stat().st_mode & 0o777 == 0o600


def test_it_never_grows_beyond_its_limit_and_has_the_end(tmp_path: Path) -> None:
    path, limit = tmp_path / "s.log", 256 * 1024
    said(path, limit, 60_000)
    kept = read_back(path)
    assert sum(each.stat().st_size for each in tmp_path.iterdir()) <= limit
    assert kept.endswith(b"line 059999\n")
    numbers = [int(line.split()[1]) for line in kept.splitlines() if len(line) == 11]
    assert numbers == sorted(numbers)


TAKEN_AWAY = """
import os, shutil, sys, threading
from pathlib import Path
from gatewright.agent.autonomy.running.bounded_log import BoundedLog
path, limit = Path(sys.argv[1]), int(sys.argv[2])
log = BoundedLog(path, limit)
if sys.argv[3] == "removed":
    path.unlink()
else:  # nothing can be made there, as on a full disk
    shutil.rmtree(path.parent)
    path.parent.write_text("")
line = b"x" * 99 + b"\\n"
for _ in range(limit // 100):
    os.write(1, line)
mine = [os.open(os.devnull, os.O_RDONLY) for _ in range(8)]
for _ in range(limit // 100):
    os.write(1, line)
log.close()
for each in mine:
    os.fstat(each)
"""


@pytest.mark.parametrize("how", ["removed", "nowhere"])
def test_where_no_other_file_can_be_had_nobody_elses_is_closed(tmp_path: Path, how: str) -> None:
    path = tmp_path / "logs" / "s.log"
    argv = [sys.executable, "-c", TAKEN_AWAY, str(path), str(64 * 1024), how]
    subprocess.run(argv, check=True)
    assert path.parent.is_file() or path.read_bytes().endswith(b"x\n")


def test_a_link_in_its_place_is_not_written_through(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("", encoding="utf-8")
    (tmp_path / "s.log").symlink_to(other)
    try:
        os.close(opened(tmp_path / "s.log"))
    except OSError:
        return
    raise AssertionError("it was followed")
