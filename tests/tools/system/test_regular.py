"""Only regular files are read, and only so much of them."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from gatewright.tools.system.regular import (
    NotRegular,
    TooLarge,
    head_of,
    open_regular,
    read_regular,
)


def test_a_regular_file_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_regular(path, 5) == b"12345"
    assert head_of(path, 2) == b"12"


def test_a_larger_file_is_refused_and_not_cut(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"123456")
    with pytest.raises(TooLarge):
        read_regular(path, 5)


def test_an_endless_file_is_refused_as_no_regular_file() -> None:
    with pytest.raises(NotRegular, match="character device"):
        read_regular("/dev/zero", 10)


def test_a_fifo_without_a_writer_blocks_nobody(tmp_path: Path) -> None:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    with pytest.raises(NotRegular, match="a FIFO"):
        read_regular(path, 10)


def test_a_socket_and_a_directory_are_named(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        with pytest.raises(NotRegular, match="a socket"):
            open_regular(tmp_path / "socket")
    with pytest.raises(NotRegular, match="a directory"):
        open_regular(tmp_path)


def test_a_link_is_followed_only_where_that_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "loop").symlink_to("loop")
    assert read_regular(tmp_path / "link", 5) == b"x"
    with pytest.raises(NotRegular):
        read_regular(tmp_path / "link", 5, follow=False)
    with pytest.raises(OSError, match="Too many levels"):
        read_regular(tmp_path / "loop", 5)
