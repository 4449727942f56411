"""What holds for every test: no keys and no files of the person who runs it, and no network but
loopback."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import socket
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import is_hypothesis_test

from tests.e2e.program import Program
from tests.fakes import examples, rewritten
from tests.fakes.warm import Nursery

OWN = ("ANTHROPIC_", "OPENAI_", "GATEWRIGHT_", "CLAUDE_", "XDG_")
YOUNG = 50_000  # objects until the next look for what nobody holds: a twentieth of the time else
LOOPBACK = ("127.", "::1", "localhost")


@pytest.fixture(autouse=True, scope="session")
def _nobodys_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A key in the environment, or a rule below the home, must neither count nor make a test
    pass: the home is an empty directory."""
    kept = dict(os.environ)
    for name in kept:
        if name.startswith(OWN):
            del os.environ[name]
    os.environ["HOME"] = str(tmp_path_factory.mktemp("nobodys-home"))
    yield
    os.environ.update(kept)


@pytest.fixture(autouse=True)
def _loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        inet = self.family in {socket.AF_INET, socket.AF_INET6}
        if inet and not str(address[0]).startswith(LOOPBACK):
            raise AssertionError(f"a test connects to {address}: only loopback is allowed")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


def pytest_configure(config: pytest.Config) -> None:
    gc.disable()  # until all is collected: nothing of it is garbage, a tenth of the time is looking
    examples.begin(proof=config.option.markexpr == "proof")
    if config.getoption("numprocesses", None) and config.args == config.getini("testpaths"):
        rewritten.make_ready(config)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Properties are tried with all of their examples among the proofs."""
    if config.option.markexpr == "proof":
        for item in items:
            if isinstance(item, pytest.Function) and is_hypothesis_test(item.obj):
                item.add_marker(pytest.mark.proof)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Each worker begins elsewhere in the folders: while some wait for programs, others compute."""
    return importlib.import_module("xdist.scheduler").WorkStealingScheduling(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """What is loaded by now stays: no collection in the midst of a test goes through it again.

    What of it is garbage stays, too: to look for it costs each worker more than it holds.
    """
    gc.freeze()
    gc.set_threshold(YOUNG, 20, 20)
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """Look for what nobody holds once; pytest does five times, which then find next to nothing."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, Any, Any]:
    """The clock of a test stands still while its report is written: one that ran out in there would
    end the whole run."""
    left, _ = signal.setitimer(signal.ITIMER_REAL, 0)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, left)


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    """Runs of the program for all tests of this worker, without a start for each."""
    shared = Nursery()
    yield shared
    shared.close()


@pytest.fixture
def program(tmp_path: Path, nursery: Nursery) -> Program:
    """The installed program with a home and a project of its own."""
    return Program.prepare(tmp_path, nursery)
