"""A work tree for one agent's run: gone after it where nothing would be lost."""

from __future__ import annotations

from msgspec.structs import replace

from gatewright.agent.worktrees.project_trees import Left, Opened, Worktrees
from gatewright.tools.access import Where


def place_in(opened: Opened, where: Where) -> Where:
    """The tree in place of the checkout: root and current directory."""
    tree = opened.record.tree
    return replace(where, cwd=tree, root=tree)


class Isolated:
    """`where` is the agent's; `text` is what it should know of it."""

    def __init__(self, trees: Worktrees, opened: Opened, where: Where) -> None:
        self._trees, self._opened = trees, opened
        self.where = place_in(opened, where)

    @property
    def text(self) -> str:
        """For its model."""
        record = self._opened.record
        return (
            f"You work in a git work tree of your own, {self._opened.text} It is your root and "
            f"current directory. {record.root} is outside and not yours to change. Commit on your "
            "branch what is to be kept; nothing is merged by itself."
        )

    async def finish(self) -> Left:
        """Removed where nothing would be lost, else kept; it says where, and what is in it."""
        return await self._trees.remove(self._opened.record)


async def open_isolated(
    trees: Worktrees, where: Where, slug: str, agent: str, *, before: str = ""
) -> Isolated:
    """`where` is the parent's, `before` the tree of an earlier run of the same agent.

    Raises WorktreeError or OSError: then it does not start at all.
    """
    opened = await trees.again(before, agent) if before else None
    if opened is None:
        opened = await trees.open(slug, where.root, agent)
    return Isolated(trees, opened, where)
