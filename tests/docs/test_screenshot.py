"""The README's picture shows the screen as it is now."""

from __future__ import annotations

import html
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gatewright.permissions.sandbox.machine import machine
from gatewright.permissions.sandbox.probe import probe

ROOT = Path(__file__).parents[2]
NOW = "import sys; sys.path[:0] = ['.', 'docs']; import screenshot; print(screenshot.taken())"


def words(svg: str) -> str:
    """What can be read, without what differs each time: numbers, and the blanks they push about."""
    rows = re.findall(r"<text [^>]*>([^<]*)</text>", svg)
    text = " ".join(html.unescape(" ".join(rows)).split())
    took = r"\d[\d.,]* ?s\b(?: without your answers)?"  # only told where it took a second
    text = re.sub(rf" · {took}| {took} ·| {took}", "", text)
    text = re.sub(r"\d[\d.,]*( ?(ms|s)|k)?\b", "#", text)
    return "\n".join(" ".join(text.split()).split("▀"))


def test_how_long_something_took_is_not_read() -> None:
    quick, slow = (
        "<text>[Exit code 1]</text><text>{}9.4k in · 2 out{}</text>",
        ("1.2 s without your answers · ", " · 3 s"),
    )
    assert words(quick.format(*slow)) == words(quick.format("", ""))


@pytest.mark.e2e
def test_the_picture_is_of_the_screen_as_it_is_now() -> None:
    if probe(machine()).level != "bwrap":
        pytest.skip("the picture was taken where commands are confined")
    done = subprocess.run(
        [sys.executable, "-c", NOW],
        cwd=ROOT, capture_output=True, text=True, encoding="utf-8", timeout=110, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    kept = (ROOT / "docs" / "screenshot.svg").read_text(encoding="utf-8")
    assert words(done.stdout) == words(kept), "it is stale: python docs/screenshot.py"


def test_the_readme_begins_with_the_picture_and_two_commands() -> None:
    """All of it fits a first screenful."""
    first = (ROOT / "README.md").read_text(encoding="utf-8").partition("```sh")
    assert "](docs/screenshot.svg)" in first[0]
    commands = first[2].partition("```")[0].strip().splitlines()
    assert len(commands) == 2
    assert len(first[0].splitlines()) < 24
