"""Work trees that a program of the person's makes in our place: kept by us, whatever is in them."""

from __future__ import annotations

import os
import time
from pathlib import Path

from gatewright.agent.worktrees.names import FOLDER, WorktreeError, branch_of
from gatewright.agent.worktrees.record import Record
from gatewright.tools.moments import Moments, WorktreeGone, WorktreeWanted
from gatewright.tools.system.lifetimes import ours


async def asked(moments: Moments, slug: str, agent: str) -> str:
    """Where who listens made it; empty where nobody did. Raises WorktreeError: it was refused."""
    verdict = await moments.at(WorktreeWanted(agent=agent, name=slug))
    if verdict.word in ("deny", "stop"):
        raise WorktreeError(verdict.text or "A hook refused the work tree.")
    return (verdict.output or "").strip()


async def told(moments: Moments, record: Record) -> None:
    await moments.at(WorktreeGone(agent=record.agent or "main", path=record.path))


def by_hook(slug: str, named: str, root: Path, agent: str) -> Record:
    """Raises WorktreeError where the place that was named is not apart from the checkout."""
    tree = Path(os.path.realpath(named))
    apart = not root.is_relative_to(tree)
    within = tree.is_relative_to(root) and not tree.is_relative_to(root / FOLDER)
    if not Path(named).is_absolute() or not tree.is_dir() or not apart or within:
        raise WorktreeError(f"A hook says that the work tree is {named}, which is no place apart.")
    info, now = tree.stat(), time.time()
    return Record(
        slug=slug, path=str(tree), root=str(root), common="", branch=branch_of(slug), base="",
        made=now, inode=(info.st_dev, info.st_ino), owner=ours(), agent=agent, used=now,
        by_hook=True,
    )  # fmt: skip
