"""The program for somebody else: interpreter, packages and code where anybody may enter.

What another user can reach where it is, is linked to; what lies in a closed home, such as the
interpreter of a version manager, is linked file by file, or copied from another disk.
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.guards.sources import ROOT

NOBODY = 65534
UNUSED = ("test", "idlelib", "ensurepip", "site-packages", "tkinter", "turtledemo", "config-3*")
VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"
START = "import sys; from gatewright.agent.launch.main import main; sys.exit(main())"

# Becomes that user for good and then the program, which inherits the terminal.
BECOME = """
import os, sys
os.setgroups([])
os.setgid(int(sys.argv[1]))
os.setuid(int(sys.argv[1]))
os.execv(sys.argv[2], sys.argv[2:])
"""


def become(user: int) -> tuple[str, ...]:
    """The words before a command that make it run as that user; only root may."""
    return (sys.executable, "-I", "-S", "-c", BECOME, str(user))


@dataclass(frozen=True)
class Somebody:
    """`place` can be entered by anybody, and `agent` in it be started by them."""

    place: Path
    agent: Path

    @classmethod
    def make(cls, place: Path) -> Somebody:
        place.chmod(0o755)
        python = _interpreter(place / "python")
        code = _code(place / "code")
        agent = place / "agent"
        agent.write_text(
            f"""#!/bin/sh
export LD_LIBRARY_PATH="{python.parents[1] / "lib"}" PYTHONHOME="{python.parents[1]}"
export PYTHONPATH="{code}:{_packages(place / "packages")}" PYTHONDONTWRITEBYTECODE=1
exec "{python}" -c '{START}' "$@"
""",
            encoding="utf-8",
        )
        agent.chmod(0o755)
        return cls(place, agent)


def _interpreter(home: Path) -> Path:
    """The standard library and the binary, as they were before any environment."""
    binary = home / "bin" / VERSION
    binary.parent.mkdir(parents=True)
    _link(os.path.realpath(sys.executable), str(binary))
    library = Path(sysconfig.get_config_var("LIBDIR") or "/nonexistent")
    target = home / "lib"
    _tree(Path(sysconfig.get_path("stdlib")), target / VERSION, UNUSED)
    for shared in library.glob("libpython*.so*"):
        _link(str(shared), str(target / shared.name))
    return binary


def _packages(copy: Path) -> Path:
    packages = Path(sysconfig.get_path("purelib"))
    if not _open_to_all(packages):
        _tree(packages, copy, ("mypy", "mypyc", "pyright", "ruff*", "nodejs*"))
        return copy
    return packages


def _code(copy: Path) -> Path:
    if not _open_to_all(ROOT):
        _tree(ROOT / "src", copy, ())
        return copy
    return ROOT / "src"


def _open_to_all(folder: Path) -> bool:
    real = folder.resolve()
    return all(part.stat().st_mode & 0o005 == 0o005 for part in (real, *real.parents))


def _tree(source: Path, target: Path, left_out: Iterable[str]) -> None:
    ignored = shutil.ignore_patterns(*left_out)
    shutil.copytree(source, target, ignore=ignored, copy_function=_link)


def _link(source: str, target: str) -> None:
    """Owned by root either way, so nobody else changes what we run."""
    try:
        os.link(os.path.realpath(source), target)
    except OSError:
        shutil.copy2(source, target)
