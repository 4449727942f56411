"""Read what is piped in to its end: a part of it, or none, would be answered as if it were all.

A pipe beside a prompt that stays silent is said to be waited for, and how to go on without it.
"""

from __future__ import annotations

import os
import select
import stat
from collections.abc import Callable, Mapping

from gatewright.agent.launch.exits import BadInput

NOTHING = 'There is nothing to answer: agent -p "question", or pipe the prompt into agent -p.'
GRACE = 0.2  # seconds in which a pipe that a client's library holds open must speak or end
SILENCE = 3.0  # seconds after which the person is told what is waited for
WAITING = (
    "agent: waiting for standard input, which is open beside the prompt, to end;"
    " --no-stdin goes on without it\n"
)
MAX_BYTES = 10 * 1024 * 1024
CHUNK = 256 * 1024


def prompt_from(
    argument: str, fd: int = 0, *, tell: Callable[[str], object], env: Mapping[str, str]
) -> str:
    """The prompt: the argument, standard input, or the argument with standard input below it.

    Empty where there is neither. Raises BadInput when there is too much, or no text.
    """
    given = argument.strip()
    held = given and env.get("CLAUDE_CODE_ENTRYPOINT", "").startswith("sdk")
    piped = "" if held and not _speaks(fd, GRACE) else read(fd, tell)
    if not piped.strip():
        return argument if given else ""
    return f"{argument}\n\n<stdin>\n{piped}\n</stdin>" if given else piped


def read(fd: int, tell: Callable[[str], object]) -> str:
    """All of `fd`, or nothing where it is closed or a terminal; says once that it waits."""
    if not _piped(fd):
        return ""
    if not _speaks(fd, SILENCE):
        tell(WAITING)
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


def _speaks(fd: int, within: float) -> bool:
    if not _piped(fd):
        return False
    ready, _, _ = select.select([fd], [], [], within)
    return bool(ready)
