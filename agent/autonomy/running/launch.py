"""What a background session is told by who starts it, through a pipe and nowhere else.

Options and environment may hold secrets, and a command line is shown to everybody.
"""

from __future__ import annotations

import os

import msgspec

from gatewright.agent.errors import GatewrightError
from gatewright.agent.launch.options import LaunchOptions

WORD = "__background"  # of the command line that starts one
LARGEST = 64 * 1024 * 1024
CHUNK = 256 * 1024
NOTHING = "This is started by agent bg, which tells it what to do."
# What Python and the loader read before the pipe is: all else comes through it.
EARLY = ("PATH", "HOME", "LANG", "TZ", "TMPDIR", "GATEWRIGHT_HOME", "XDG_RUNTIME_DIR")
EARLY_BEGIN = ("LC_", "PYTHON", "LD_", "DYLD_")


class Launch(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`options` with the id of the session. `once`: it ends with its work; `unattended`: nobody
    typed its prompt."""

    id: str
    options: LaunchOptions
    env: dict[str, str]
    cwd: str  # where it works
    at: str = ""  # where it is begun: what its options name is relative to that
    root: str = ""
    title: str = ""
    once: bool = False
    unattended: bool = False


def early(env: dict[str, str]) -> dict[str, str]:
    """What the process needs before it has read the rest."""
    return {
        name: value for name, value in env.items() if name in EARLY or name.startswith(EARLY_BEGIN)
    }


def encoded(launch: Launch) -> bytes:
    return msgspec.json.encode(launch)


def told(descriptor: int) -> Launch:
    """All that comes until the end of the pipe. Raises GatewrightError."""
    data = bytearray()
    try:
        while len(data) <= LARGEST and (chunk := os.read(descriptor, CHUNK)):
            data += chunk
        return msgspec.json.decode(bytes(data), type=Launch)
    except (OSError, msgspec.MsgspecError) as error:
        raise GatewrightError(NOTHING) from error
