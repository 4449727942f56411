"""Tests are made ready once: six workers that read them all would each rewrite every file.

What comes of it is kept where pytest keeps it, and found there by whoever reads a file.
"""

from __future__ import annotations

import compileall
import os
import sys
from pathlib import Path

import pytest
from _pytest.assertion import rewrite
from _pytest.assertion.rewrite import assertstate_key

ROOT = Path(__file__).parents[2]


def make_ready(config: pytest.Config) -> None:
    """In as many processes as there are processors, and only what has changed."""
    if sys.dont_write_bytecode:
        return
    tests = [file for file in sorted((ROOT / "tests").rglob("test_*.py")) if _old(file)]
    others = [file for folder in _folders() for file in sorted(folder.rglob("*.py"))]
    count = os.cpu_count() or 1
    children: list[int] = []
    for share in range(1, count):
        if not (pid := os.fork()):
            try:
                _make(config, tests[share::count], others[share::count])
            finally:
                os._exit(0)
        children.append(pid)
    _make(config, tests[::count], others[::count])
    for pid in children:
        os.waitpid(pid, 0)


def _folders() -> list[Path]:
    """Those of the product are links, which nobody follows that looks for files."""
    return [*(ROOT / "src" / "gatewright").iterdir(), ROOT / "tests" / "fakes"]


def _kept(file: Path) -> Path:
    return rewrite.get_cache_dir(file) / (file.stem + rewrite.PYC_TAIL)


def _old(file: Path) -> bool:
    kept = _kept(file)
    return not kept.exists() or kept.stat().st_mtime_ns < file.stat().st_mtime_ns


def _make(config: pytest.Config, tests: list[Path], others: list[Path]) -> None:
    for file in tests:
        stamp, code = rewrite._rewrite_test(file, config)  # pyright: ignore[reportPrivateUsage]
        kept = _kept(file)
        kept.parent.mkdir(exist_ok=True)
        rewrite._write_pyc(config.stash[assertstate_key], code, stamp, kept)  # pyright: ignore
    for file in others:
        compileall.compile_file(file, quiet=2)
