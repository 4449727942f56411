"""Completion scripts, read by the shells themselves where they are installed."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from gatewright.agent.completion import script
from gatewright.agent.flags import FLAGS
from gatewright.agent.subcommands.names import SUBCOMMANDS

SHELLS = ("bash", "zsh", "fish")


def complete(*words: str) -> list[str]:
    """What bash offers for the last word."""
    line = " ".join(f"'{word}'" for word in words)
    asked = (
        f"{script('bash')}\nCOMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _agent\n"
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-c", asked], capture_output=True, text=True, encoding="utf-8", check=True
    )
    return done.stdout.split()


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_knows_every_flag_and_command(shell: str) -> None:
    text = script(shell)
    for name in SUBCOMMANDS:
        assert name in text
    for flag in FLAGS:
        if not flag.hidden:
            assert flag.names[0].lstrip("-") in text


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_can_read_it(shell: str) -> None:
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    done = subprocess.run([shell, "-n"], input=script(shell).encode(), capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")


def test_bash_offers_what_fits() -> None:
    assert complete("agent", "doc") == ["doctor"]
    assert complete("agent", "--out") == ["--output-format"]
    assert complete("agent", "--output-format", "st") == ["stream-json"]
    assert "--allowedTools" in complete("agent", "-p", "--al")
