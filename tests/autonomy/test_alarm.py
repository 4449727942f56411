"""The clock of schedules: it rings at a moment, at a poke, at a replaced file, and never else."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gatewright.agent.autonomy.schedules import alarm as alarms
from gatewright.agent.autonomy.schedules.alarm import Alarm
from tests.fakes.waiting import PATIENCE


@asynccontextmanager
async def made() -> AsyncGenerator[Alarm]:
    alarm = Alarm()
    try:
        yield alarm
    finally:
        alarm.close()


def without_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alarms, "_opened", lambda: (-1, -1))


@pytest.mark.parametrize("kernel", [True, False])
async def test_it_rings_at_its_moment_and_not_before(
    kernel: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not kernel:
        without_kernel(monkeypatch)
    async with made() as alarm, asyncio.timeout(PATIENCE):
        when = time.time() + 0.3
        await alarm.wait(when)
        assert time.time() >= when - 0.005
        await alarm.wait(time.time() - 100)
        await alarm.wait(0.0)
        assert alarm.woken == 3


@pytest.mark.parametrize("kernel", [True, False])
async def test_a_poke_is_never_lost(kernel: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not kernel:
        without_kernel(monkeypatch)
    async with made() as alarm, asyncio.timeout(PATIENCE):
        alarm.poke()
        await alarm.wait(None)
        waiting = asyncio.create_task(alarm.wait(time.time() + 1000))
        await asyncio.sleep(0)
        alarm.poke()
        await waiting


async def test_it_does_not_wake_for_nothing() -> None:
    async with made() as alarm:
        waiting = asyncio.create_task(alarm.wait(time.time() + 1000))
        done, _ = await asyncio.wait({waiting}, timeout=0.5)
        assert not done
        waiting.cancel()
        await asyncio.wait({waiting})


async def test_a_replaced_file_rings_and_one_that_is_only_read_does_not(tmp_path: Path) -> None:
    async with made() as alarm, asyncio.timeout(PATIENCE):
        alarm.look_at(tmp_path / "none")
        alarm.look_at(tmp_path)
        (tmp_path / "a.new").write_text("x", encoding="utf-8")
        (tmp_path / "a.new").read_text(encoding="utf-8")
        waiting = asyncio.create_task(alarm.wait(None))
        done, _ = await asyncio.wait({waiting}, timeout=0.3)
        assert not done
        (tmp_path / "a.new").replace(tmp_path / "a")
        await waiting


async def test_where_files_are_written_in_place_that_rings_too(tmp_path: Path) -> None:
    async with made() as alarm, asyncio.timeout(PATIENCE):
        alarm.look_at(tmp_path, written=True)
        (tmp_path / "a").write_text("x", encoding="utf-8")
        await alarm.wait(None)
