"""What commands try in the sandbox and what must come of it, as root and as nobody."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gatewright.permissions.sandbox.machine import machine
from gatewright.permissions.sandbox.probe import probe
from gatewright.tools.search import rg
from tests.guards.sources import ROOT

TABLE = ROOT / "tests" / "tables" / "sandbox.toml"
CASES: list[dict[str, Any]] = tomllib.loads(TABLE.read_text(encoding="utf-8"))["case"]
NAMES = [case["name"] for case in CASES if shutil.which(case.get("needs", "sh"))]
NOBODY = 65534
SECONDS = 240

pytestmark = [
    pytest.mark.skipif(probe(machine()).level != "bwrap", reason="no bubblewrap here"),
    pytest.mark.timeout(SECONDS),
    pytest.mark.slow,
]


@dataclass(frozen=True)
class Visitor:
    """Who tries: a command prefix, the Python that this user can run, where the house stands."""

    name: str
    prefix: tuple[str, ...]
    python: str
    place: Path


def visitors() -> list[Visitor]:
    """Ourselves in a hidden directory, ourselves in a visible one, and nobody if we may be that."""
    temp = Path(tempfile.gettempdir()) / f"gatewright-house-{os.getpid()}"
    found = [Visitor("in /tmp", (), sys.executable, temp / "own")]
    cache = Path.home() / ".cache"
    if os.access(cache, os.W_OK):
        found.append(
            Visitor("outside /tmp", (), sys.executable, cache / f"gatewright-house-{os.getpid()}")
        )
    python = f"/usr/bin/python3.{sys.version_info.minor}"
    if os.geteuid() == 0 and Path(python).exists() and shutil.which("setpriv"):
        prefix = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
        if _readable(prefix, python):
            found.append(Visitor("as nobody", prefix, python, temp / "nobody"))
    return found


def _readable(prefix: tuple[str, ...], python: str) -> bool:
    """Whether that user may read this checkout: below a closed directory they may not."""
    asked = [*prefix, python, "-c", f"open({str(Path(__file__).resolve())!r})"]
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0


# Ourselves, with the cases in turn, always: the others are the same house from another side.
WAYS = [
    pytest.param(
        visitor, way, id=f"{visitor.name}-{way}", marks=[pytest.mark.proof] if more else []
    )
    for number, visitor in enumerate(visitors())
    for more, way in [(number, "in turn"), (1, "anew"), (1, "waiting")]
    if not number or way != "in turn"
]


@pytest.mark.parametrize(("visitor", "way"), WAYS)
def test_the_house_stands(visitor: Visitor, way: str) -> None:
    """One run for all cases: each is compared with the house as it was before it."""
    visitor.place.mkdir(parents=True)
    if visitor.prefix:
        os.chown(visitor.place, NOBODY, NOBODY)
    packages = [path for path in sys.path if path.endswith("site-packages")]
    env = {
        "PATH": os.environ["PATH"],
        "RG": rg.locate(Path("/nonexistent")),
        "HOME": str(visitor.place),
        "LANG": "C.UTF-8",
        "PYTHONPATH": ":".join((str(ROOT / "src"), str(ROOT), *packages)),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    try:
        done = subprocess.run(
            [
                *visitor.prefix,
                visitor.python,
                "-m",
                "tests.permissions.sandbox.house",
                str(TABLE),
                str(visitor.place),
                way,
            ],
            cwd=ROOT,
            env=env,
            capture_output=True,
            timeout=SECONDS - 10,
            check=False,
        )
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        assert done.returncode == 0, done.stderr.decode()[-2000:]
        assert [f"{row['name']}: {row['wrong']}" for row in rows if row["wrong"]] == []
        assert [row["name"] for row in rows] == NAMES
    finally:
        shutil.rmtree(visitor.place, ignore_errors=True)
        if visitor.place.parent.name.startswith("gatewright-house-"):
            with contextlib.suppress(OSError):  # another worker's visitor may live there, too
                visitor.place.parent.rmdir()


def test_the_table_is_not_thin() -> None:
    assert len(NAMES) == len(set(NAMES)) >= 100
    kinds = {case["expect"] for case in CASES}
    assert kinds == {"works", "blocked", "harmless"}
