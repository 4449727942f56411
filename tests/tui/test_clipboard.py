"""What is copied reaches the tmux around the program, and the desktop."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from pathlib import Path

import pytest

from gatewright.tui.terminal.clipboard import copy_locally
from tests.fakes.waiting import PATIENCE


def machine(folder: Path, **tools: str) -> dict[str, str]:
    """A PATH with these scripts; each gets the text at its standard input."""
    for name, script in tools.items():
        path = folder / name.replace("_", "-")
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)
    return {"PATH": f"{folder}:/usr/bin:/bin"}


async def test_tmux_hands_it_to_the_terminal(tmp_path: Path) -> None:
    tmux = f'echo "$@" > {tmp_path}/how; cat > {tmp_path}/text'
    env = machine(tmp_path, tmux=tmux) | {"TMUX": "/tmp/tmux-0/default,1,0"}
    await copy_locally("two\nlines", env)
    assert (tmp_path / "how").read_text("utf-8") == "load-buffer -w -\n"
    assert (tmp_path / "text").read_text("utf-8") == "two\nlines"


async def test_an_old_tmux_keeps_it(tmp_path: Path) -> None:
    tmux = f'[ "$2" = - ] || exit 1; cat > {tmp_path}/text'
    env = machine(tmp_path, tmux=tmux) | {"TMUX": "/tmp/tmux-0/default,1,0"}
    await copy_locally("kept", env)
    assert (tmp_path / "text").read_text("utf-8") == "kept"


async def test_the_desktop_gets_it_beside_tmux(tmp_path: Path) -> None:
    env = machine(tmp_path, tmux="exit 1", wl_copy=f"cat > {tmp_path}/text")
    await copy_locally("both", env | {"TMUX": "x", "WAYLAND_DISPLAY": "wayland-0"})
    assert (tmp_path / "text").read_text("utf-8") == "both"


async def test_without_tmux_around_it_is_not_started(tmp_path: Path) -> None:
    await copy_locally("alone", machine(tmp_path, tmux=f"touch {tmp_path}/started"))
    assert not (tmp_path / "started").exists()


def test_a_real_tmux_with_its_defaults_has_it(tmp_path: Path) -> None:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    socket = str(tmp_path / "socket")
    run = ["tmux", "-f", "/dev/null", "-S", socket]
    subprocess.run([*run, "new-session", "-d", "sleep 20"], check=True, timeout=PATIENCE)
    try:
        env = {"PATH": "/usr/bin:/bin", "TMUX": f"{socket},1,0"}
        asyncio.run(copy_locally("across \u00fc\npanes", env))
        shown = subprocess.run(
            [*run, "show-buffer"],
            check=True,
            timeout=PATIENCE,
            capture_output=True,
            encoding="utf-8",
        )
        assert shown.stdout == "across \u00fc\npanes"
    finally:
        subprocess.run([*run, "kill-server"], check=False, timeout=PATIENCE)
