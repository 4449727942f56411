"""What was resolved is what is opened: no link on the way, whatever a path is made of."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gatewright.tools.system.exact import open_directory, open_exact, real_path
from gatewright.tools.system.regular import NotRegular


def test_the_file_at_a_resolved_path_is_opened(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/f").write_bytes(b"1")
    (tmp_path / "link").symlink_to("a")
    real = real_path(tmp_path / "link/f")
    assert real == str(tmp_path / "a/f")
    with open_exact(real) as file:
        assert file.read() == b"1"


@pytest.mark.parametrize("name", ["link/f", "to_f"])
def test_a_link_on_the_way_or_at_its_end_is_never_followed(tmp_path: Path, name: str) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/f").write_bytes(b"1")
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "to_f").symlink_to("a/f")
    with pytest.raises(OSError, match=r"Not a directory|symbolic links"):
        open_exact(tmp_path / name)


def test_what_is_no_regular_file_is_said_by_its_whole_path(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NotRegular, match=f"{tmp_path}/pipe is a FIFO"):
        open_exact(tmp_path / "pipe")
    with pytest.raises(NotRegular, match="directory"):
        open_exact("/")


@pytest.mark.parametrize("text", ["/a\0b", "/\ud800", "/" + "x" * 300, "/" + "y/" * 5000, ""])
def test_a_path_that_no_system_call_takes_is_an_error_and_no_crash(text: str) -> None:
    assert real_path(text) or not text
    with pytest.raises(OSError):
        open_exact(text or "relative")
    with pytest.raises(OSError):
        open_directory(text or "relative")


def test_links_that_lead_to_each_other_resolve_to_something_that_cannot_be_opened(
    tmp_path: Path,
) -> None:
    (tmp_path / "loop").symlink_to("loop")
    for number in range(3000):
        (tmp_path / f"l{number}").symlink_to(f"l{number + 1}")
    for name in ("loop", "l0"):
        with pytest.raises(OSError):
            open_exact(real_path(tmp_path / name))


def test_directories_are_made_where_no_link_leads(tmp_path: Path) -> None:
    os.close(open_directory(tmp_path / "a/b/c", make=True))
    assert (tmp_path / "a/b/c").is_dir()
    (tmp_path / "link").symlink_to("a")
    with pytest.raises(OSError, match="Not a directory"):
        open_directory(tmp_path / "link/new", make=True)
    assert not (tmp_path / "a/new").exists()


def test_a_directory_that_cannot_be_listed_is_passed_through(tmp_path: Path) -> None:
    (tmp_path / "shut/in").mkdir(parents=True)
    (tmp_path / "shut").chmod(0o111)
    os.close(open_directory(tmp_path / "shut/in"))
