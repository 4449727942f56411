"""The commit that a new tree begins with: what the person sees, what the remote has, or a pull
request of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec

from gatewright.agent.worktrees.making import SHORT, head_of, repository
from gatewright.agent.worktrees.names import WorktreeError
from gatewright.tools.system.git import Caller, Git, Stop, git_in
from gatewright.tools.system.gitfetch import fetched
from gatewright.tools.system.gitfiles import Repository, remote_of

FRESH: Final = 5.0  # seconds that the remote may take; else what was fetched last counts
PULL: Final = 120.0
BaseRef: TypeAlias = Literal["head", "fresh"]
_PULLS: Final = ("refs/pull/{}/head", "refs/merge-requests/{}/head")


class Beginning(msgspec.Struct, frozen=True):
    commit: str
    note: str = ""


def beginning(
    seen: Path, caller: Caller, base: BaseRef, pull: int = 0, stop: Stop | None = None
) -> Beginning:
    """`seen` is the checkout in front of whoever asks. Raises WorktreeError or OSError."""
    if pull:
        return Beginning(_pulled(seen, caller, pull, stop), f"It is at pull request {pull}.")
    with git_in(caller, seen, stop) as git:
        if base == "fresh":
            return _fresh(seen, caller, git, stop)
        return Beginning(head_of(git))


def _fresh(seen: Path, caller: Caller, git: Git, stop: Stop | None) -> Beginning:
    found = repository(seen)
    if not remote_of(found.common / "config", "origin"):
        return Beginning(head_of(git), "There is no remote called origin: it is at your HEAD.")
    try:
        return Beginning(fetched(caller, found, "HEAD", FRESH, stop))
    except OSError as error:
        known = _cached(git)
        if not known:
            return Beginning(
                head_of(git), f"The remote did not answer ({error}): it is at your HEAD."
            )
        note = f"The remote did not answer ({error}): it is at what was fetched last."
        return Beginning(known, note)


def _cached(git: Git) -> str:
    for name in ("HEAD", "main", "master"):
        try:
            ref = f"refs/remotes/origin/{name}^{{commit}}"
            return git.run("rev-parse", "--verify", "-q", ref, seconds=SHORT).decode().strip()
        except OSError:
            continue
    return ""


def _pulled(seen: Path, caller: Caller, pull: int, stop: Stop | None) -> str:
    found: Repository = repository(seen)
    why = ""
    for form in _PULLS:
        try:
            return fetched(caller, found, form.format(pull), PULL, stop)
        except OSError as error:
            why = why or str(error)
    raise WorktreeError(f"Pull request {pull} could not be fetched: {why}")
