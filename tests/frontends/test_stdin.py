"""What counts as the prompt, for every kind of standard input."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gatewright.agent.frontends import stdin
from gatewright.agent.launch.exits import BadInput
from tests.fakes.waiting import PATIENCE

SDK = {"CLAUDE_CODE_ENTRYPOINT": "sdk-py"}


def prompt_from(argument: str, fd: int, **env: str) -> str:
    """As the program calls it."""
    return stdin.prompt_from(argument, fd, tell=print, env=env)


@contextmanager
def pipe(data: bytes = b"", *, close: bool = True) -> Generator[int]:
    """The reading end of a pipe that holds `data`."""
    reader, writer = os.pipe()
    os.write(writer, data)
    if close:
        os.close(writer)
    try:
        yield reader
    finally:
        os.close(reader)
        if not close:
            os.close(writer)


def test_the_prompt_alone() -> None:
    with pipe() as fd:
        assert prompt_from("hi", fd) == "hi"


def test_standard_input_alone() -> None:
    with pipe("ä\n".encode()) as fd:
        assert prompt_from("", fd) == "ä\n"


def test_both_standard_input_is_context() -> None:
    with pipe(b"data") as fd:
        assert prompt_from("explain", fd) == "explain\n\n<stdin>\ndata\n</stdin>"


def test_a_pipe_that_a_library_holds_open_is_not_waited_for() -> None:
    with pipe(close=False) as fd:
        began = time.monotonic()
        assert prompt_from("hi", fd, **SDK) == "hi"
        assert time.monotonic() - began < PATIENCE / 2


def test_what_a_library_pipes_in_is_read() -> None:
    with pipe(b"data") as fd:
        assert prompt_from("hi", fd, **SDK).endswith("data\n</stdin>")


def test_a_pipe_that_speaks_late_is_waited_for_and_said_to_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stdin, "SILENCE", 0.05)
    reader, writer = os.pipe()
    said = threading.Event()
    told: list[str] = []

    def tell(text: str) -> None:
        told.append(text)
        said.set()

    def write() -> None:
        said.wait(PATIENCE)
        os.write(writer, b"late")
        os.close(writer)

    thread = threading.Thread(target=write)
    thread.start()
    assert stdin.prompt_from("explain", reader, tell=tell, env={}).endswith("late\n</stdin>")
    assert len(told) == 1
    assert "--no-stdin" in told[0]
    thread.join()
    os.close(reader)


def test_a_slow_writer_is_waited_for_once_it_has_begun() -> None:
    reader, writer = os.pipe()
    paced = threading.Event()

    def write() -> None:
        os.write(writer, b"first ")
        paced.wait(2 * stdin.GRACE)
        os.write(writer, b"second")
        os.close(writer)

    thread = threading.Thread(target=write)
    thread.start()
    assert prompt_from("p", reader).endswith("first second\n</stdin>")
    thread.join()
    os.close(reader)


def test_without_a_prompt_the_first_byte_is_waited_for() -> None:
    reader, writer = os.pipe()
    paced = threading.Event()

    def write() -> None:
        paced.wait(2 * stdin.GRACE)
        os.write(writer, b"late")
        os.close(writer)

    thread = threading.Thread(target=write)
    thread.start()
    assert prompt_from("", reader) == "late"
    thread.join()
    os.close(reader)


def test_a_file(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("content", encoding="utf-8")
    fd = os.open(tmp_path / "f", os.O_RDONLY)
    assert prompt_from("", fd) == "content"
    os.close(fd)


def test_the_null_device() -> None:
    fd = os.open(os.devnull, os.O_RDONLY)
    assert prompt_from("hi", fd) == "hi"
    assert not prompt_from(" ", fd)
    os.close(fd)


def test_closed_standard_input() -> None:
    with pipe() as fd:
        closed = os.dup(fd)
    os.close(closed)
    assert prompt_from("hi", closed) == "hi"
    assert not prompt_from("", closed)


def test_nobody_types_into_print_mode() -> None:
    primary, terminal = os.openpty()
    assert prompt_from("hi", terminal) == "hi"
    assert not prompt_from("", terminal)
    os.close(primary)
    os.close(terminal)


def test_no_text() -> None:
    with pipe(b"ab\xff") as fd, pytest.raises(BadInput, match=r"not UTF-8 text \(byte 2\)"):
        prompt_from("hi", fd)


def test_too_much(tmp_path: Path) -> None:
    path = tmp_path / "big"
    with path.open("wb") as file:
        file.truncate(stdin.MAX_BYTES + 1)
    fd = os.open(path, os.O_RDONLY)
    with pytest.raises(BadInput, match="more than 10 MiB"):
        prompt_from("hi", fd)
    os.close(fd)
