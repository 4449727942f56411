"""A command that wishes to run outside, where settings let none leave."""

from __future__ import annotations

from gatewright.tools.access import Access, ShellText


def inside_again(access: Access, runs: ShellText) -> Access:
    """The same access without the wish to leave the sandbox."""
    return Access(
        reads=access.reads,
        writes=access.writes,
        runs=ShellText(runs.command, runs.cwd),
        urls=access.urls,
        effects=access.effects,
        remote=access.remote,
        subject=access.subject,
    )
