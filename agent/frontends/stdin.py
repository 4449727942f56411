"""Read what is piped in, without ever waiting for input that nobody will send."""

from __future__ import annotations

import os
import select
import stat

from gatewright.agent.exits import BadInput

GRACE = 0.2  # seconds in which a pipe beside a prompt must speak or end
MAX_BYTES = 10 * 1024 * 1024
CHUNK = 256 * 1024


def prompt_from(argument: str, fd: int = 0) -> str:
    """The prompt: the argument, standard input, or the argument with standard input below it.

    Raises BadInput when there is nothing, too much, or no text.
    """
    given = argument.strip()
    piped = read(fd, patient=not given)
    if not piped.strip():
        if not given:
            raise BadInput(
                'There is nothing to answer: agent -p "question", or pipe the prompt into agent -p.'
            )
        return argument
    return f"{argument}\n\n<stdin>\n{piped}\n</stdin>" if given else piped


def read(fd: int, *, patient: bool) -> str:
    """All of `fd`, or nothing where nobody writes; `patient` waits for the first byte."""
    if not _piped(fd) or not (patient or _speaks(fd)):
        return ""
    chunks: list[bytes] = []
    size = 0
    while chunk := os.read(fd, CHUNK):
        chunks.append(chunk)
        size += len(chunk)
        if size > MAX_BYTES:
            raise BadInput(
                f"Standard input has more than {MAX_BYTES // 1024**2} MiB. "
                "Save it to a file and name the file in the prompt."
            )
    try:
        return b"".join(chunks).decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"Standard input is not UTF-8 text (byte {error.start}).") from error


def may_wait(fd: int) -> bool:
    """Whether reading could take a while: a pipe that has not spoken yet."""
    return _piped(fd) and not select.select([fd], [], [], 0)[0]


def _piped(fd: int) -> bool:
    """Whether `fd` is open and no terminal; nobody types into a program that prints."""
    try:
        mode = os.fstat(fd).st_mode
    except OSError:
        return False
    return not stat.S_ISDIR(mode) and not os.isatty(fd)


def _speaks(fd: int) -> bool:
    ready, _, _ = select.select([fd], [], [], GRACE)
    return bool(ready)
