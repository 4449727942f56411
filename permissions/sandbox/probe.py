"""Finds out what kind of sandbox works here by starting one, and says why another does not."""

from __future__ import annotations

import os
import subprocess
import tempfile
from typing import Literal, TypeAlias

import msgspec

from gatewright.permissions.sandbox.limits import Limits
from gatewright.permissions.sandbox.linux import bwrap, landlock, seccomp
from gatewright.permissions.sandbox.machine import Machine
from gatewright.permissions.sandbox.profile import Network, SandboxProfile
from gatewright.permissions.sandbox.running.runs import memory_file
from gatewright.tools.system.programs import SYSTEM

Level: TypeAlias = Literal["bwrap", "landlock", "none"]
SECONDS = 5.0


class Found(msgspec.Struct, frozen=True):
    """`why` says what is missing; empty when everything works."""

    level: Level
    why: str = ""


def probe(machine: Machine) -> Found:
    if machine.system == "darwin":
        return Found("none", "The Seatbelt policy was never tried on a Mac, so it is not used yet.")
    if not machine.system.startswith("linux"):
        return Found("none", "There is no sandbox for this system.")
    why = _bwrap_fails(machine)
    if not why:
        return Found("bwrap")
    if landlock.abi() > 0:
        return Found("landlock", why)
    return Found("none", f"{why} This kernel has no Landlock either.")


def _bwrap_fails(machine: Machine) -> str:
    """Start `true` with everything a real run uses; the reason when that does not work."""
    if not machine.bwrap:
        return "bubblewrap is not installed."
    with tempfile.TemporaryDirectory(prefix="gatewright-probe-") as place:
        profile = SandboxProfile(
            place, place, (place,), (), place, (), (), (), Network(), Limits(tmp=1 << 20)
        )
        fd = memory_file("filter", seccomp.filter_bytes()) if machine.seccomp else -1
        options = bwrap.arguments(profile, machine, bwrap.Supplies(fd))
        argv = [machine.bwrap, *options, "--", *bwrap.limited(profile.limits, machine), "true"]
        try:
            done = subprocess.run(
                argv,
                pass_fds=(fd,) if fd >= 0 else (),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=SECONDS,
                check=False,
                env={"PATH": SYSTEM},
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"bubblewrap did not start: {error}."
        finally:
            if fd >= 0:
                os.close(fd)
    if done.returncode == 0:
        return ""
    reason = done.stderr.decode("utf-8", "replace").strip()[:200]
    return f"bubblewrap cannot make a sandbox here: {reason or f'exit {done.returncode}'}."
