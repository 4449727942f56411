"""The picture of the clipboard becomes an attachment."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest

from gatewright.tools.protocol import ImageContent
from gatewright.tui.terminal.clipboard import LARGEST, PNG, clipboard_picture
from tests.tui.stage import stage


def tool(folder: Path, script: str) -> dict[str, str]:
    """A desktop whose clipboard is read by this script."""
    made = folder / "wl-paste"
    made.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    made.chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "WAYLAND_DISPLAY": "wayland-0"}


def picture(folder: Path, size: int = 100) -> Path:
    made = folder / "picture.png"
    made.write_bytes(PNG + b"x" * size)
    return made


async def test_a_picture_is_read(tmp_path: Path) -> None:
    env = tool(tmp_path, f'[ "$2" = image/png ] && cat {picture(tmp_path)}')
    found = await clipboard_picture(env)
    assert found == ImageContent("image/png", base64.b64encode(PNG + b"x" * 100).decode())


@pytest.mark.parametrize("script", ["exit 1", "echo words", "exec sleep 60"])
async def test_what_is_no_picture_or_never_ends_is_none(tmp_path: Path, script: str) -> None:
    assert await clipboard_picture(tool(tmp_path, script)) is None


async def test_a_picture_that_is_too_large_is_none(tmp_path: Path) -> None:
    env = tool(tmp_path, f"cat {picture(tmp_path, LARGEST)}")
    assert await clipboard_picture(env) is None


async def test_without_a_desktop_nothing_is_started(tmp_path: Path) -> None:
    env = tool(tmp_path, f"touch {tmp_path}/ran")
    assert await clipboard_picture({"PATH": env["PATH"]}) is None
    assert not (tmp_path / "ran").exists()


async def test_it_goes_along_with_the_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in tool(tmp_path, f"cat {picture(tmp_path)}").items():
        monkeypatch.setenv(name, value)
    async with stage() as s:
        await s.type("what is this? ")
        await s.press("ctrl+v")
        await s.see("[Picture clipboard.png #1]", "+ clipboard.png")
        await s.press("enter")
        await s.until(lambda: bool(s.session.attached))
        assert [type(content) for content in s.session.attached[0]] == [ImageContent]
