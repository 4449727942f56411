"""Plugs work trees in: `--worktree`, the tools to enter and leave one, and those of agents.

Nothing of git runs and little is imported before somebody wants one, or was in one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gatewright.agent.context.announcements import Announcement
from gatewright.agent.errors import SessionError
from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.record.events import TurnEnded, WorktreeChanged
from gatewright.agent.record.journal import of_main
from gatewright.agent.session.housekeeping import Housekeeping
from gatewright.agent.transcript.place import project_folder
from gatewright.tools.access import MAIN, Where
from gatewright.tools.protocol import Tool, ToolSpec

if TYPE_CHECKING:
    from gatewright.agent.worktrees.checking import Held
    from gatewright.agent.worktrees.isolated import Isolated
    from gatewright.agent.worktrees.project_trees import Left, Opened, Wishes, Worktrees
    from gatewright.agent.worktrees.record import Record

FOLDER = "worktrees"  # where what we know of them is kept, as in `worktrees/record.py`
ABOUT = (
    "You work in the git work tree {path}, on branch {branch}: it is your root and current "
    "directory, and all your work is done there. The person's own checkout is {root}; it is not "
    "yours to change, and what is not committed there is not in your tree. Nothing is merged by "
    "itself: commit on your branch."
)


class SessionTrees:
    """Where the main agent works, a source of its two tools, and trees for other agents."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._book: Worktrees | None = None
        self.current: Record | None = None  # the main agent's

    @property
    def book(self) -> Worktrees:
        if self._book is None:
            from gatewright.agent.worktrees.project_trees import Ports, Worktrees  # noqa: PLC0415  lazy: 15 ms

            host, start = self._host, self._host.base.start
            ports = Ports(
                root=host.around.where.root,
                folder=project_folder(host.around.places.home, host.around.where.root),
                caller=lambda: host.around.caller,
                wishes=self._wishes,
                moments=lambda: host.moments,
                session=start.id,
            )
            self._book = Worktrees(ports)
        return self._book

    def _wishes(self) -> Wishes:
        from gatewright.agent.worktrees.included import Bringing  # noqa: PLC0415
        from gatewright.agent.worktrees.project_trees import Wishes  # noqa: PLC0415  loaded with the book

        around = self._host.around
        given = around.settings.worktree
        bringing = Bringing(
            include=around.trusted, links=given.symlink_directories, sparse=given.sparse_paths
        )
        return Wishes(base=given.base_ref, bringing=bringing)

    @property
    def root(self) -> Path:
        return self._host.around.where.root

    @property
    def fetches(self) -> bool:
        return self._host.around.settings.worktree.base_ref == "fresh"

    # a source of tools

    def specs(self, *, short: bool = False) -> Sequence[ToolSpec]:
        del short
        host = self._host
        tools, asked = host.around.options.tools, host.around.options.worktree is not None
        if tools is None and not (host.around.interactive or asked or self.current):
            return ()
        if not (host.around.where.root / ".git").exists():
            return ()
        from gatewright.agent.worktrees.tools import SPECS  # noqa: PLC0415  lazy: 1 ms

        return tuple(spec for spec in SPECS if tools is None or spec.name in tools)

    def find(self, name: str) -> Tool[Any] | None:
        if name not in ("EnterWorktree", "LeaveWorktree", "ExitWorktree"):
            return None
        from gatewright.agent.worktrees.tools import ENTER, EnterWorktree, LeaveWorktree  # noqa: PLC0415  lazy: 1 ms

        return EnterWorktree(self) if name == ENTER else LeaveWorktree(self)

    def announced(self) -> Announcement:
        """Where the main agent works, for its model."""
        if (record := self.current) is None:
            return Announcement("Your work tree", "")
        about = ABOUT.format(path=record.path, branch=record.short, root=record.root)
        return Announcement("Your work tree", about)

    # entering and leaving

    async def begin(self) -> None:
        """A session that is to work in one, or did when it was left. Raises WorktreeError."""
        host = self._host
        name, before = host.around.options.worktree, host.base.standing.now.worktree
        if name is not None:
            try:
                self._entered(await self.book.open(name, host.begins.root, MAIN))
            except OSError as error:
                raise SessionError(f"No work tree could be made: {error}") from error
        elif before:
            opened = await self.book.again(before, MAIN)
            if opened is None:
                host.publish(WorktreeChanged(path=""))
                host.warn(
                    f"The work tree {before} is not the separate checkout any more that this "
                    f"session worked in: it goes on in {host.begins.root}."
                )
                return
            self._entered(opened)

    def _entered(self, opened: Opened) -> None:
        from gatewright.agent.worktrees.isolated import place_in  # noqa: PLC0415  loaded with the book

        host, record = self._host, opened.record
        self.current = record
        host.begins = place_in(opened, host.begins)
        branch, cwd = record.short, str(host.begins.cwd)
        host.publish(WorktreeChanged(path=record.path, name=record.slug, branch=branch, cwd=cwd))
        host.base.mention(f"In the work tree {opened.text}")
        if host.joined.is_set() and (main := host.session.agent(MAIN)) is not None:
            main.settle(host.begins)

    async def enter(self, name: str, where: Where) -> Opened:
        opened = await self.book.open(name, where.root, MAIN)
        self._entered(opened)
        return opened

    async def enter_at(self, path: Path, where: Where) -> Opened:
        del where
        opened = await self.book.enter(path, MAIN)
        self._entered(opened)
        return opened

    async def held(self) -> Held:
        assert self.current is not None
        return await self.book.check(self.current)

    async def leave(self, *, remove: bool, agreed: tuple[str, ...] = ()) -> Left:
        """The main agent is back in the checkout before anything is taken away."""
        assert self.current is not None
        record, host = self.current, self._host
        self.current = None
        host.begins = host.around.where
        if (main := host.session.agent(MAIN)) is not None:
            main.settle(host.begins)
        host.publish(WorktreeChanged(path="", cwd=str(host.begins.cwd)))
        left = await (self.book.remove(record, agreed) if remove else self.book.leave(record))
        host.base.mention(left.text)
        return left

    async def isolated(self, where: Where, slug: str, agent: str, before: str = "") -> Isolated:
        """A tree for an agent that was started; `where` is its parent's. Raises WorktreeError."""
        from gatewright.agent.worktrees.isolated import open_isolated  # noqa: PLC0415  lazy: 15 ms

        return await open_isolated(self.book, where, slug, agent, before=before)

    async def close(self) -> None:
        """Nobody works in it any more; it waits for the session to go on."""
        if self.current is not None:
            await asyncio.to_thread(self.book.let_go, self.current)

    def sweep(self) -> None:
        """What others left long ago, where there is any of that."""
        days = self._host.around.settings.cleanup_period_days
        if days and self._made_some():
            self.book.sweep(days)

    def _made_some(self) -> bool:
        around = self._host.around
        return (project_folder(around.places.home, around.where.root) / FOLDER).is_dir()


async def plug_worktrees(host: Host) -> Contribution:
    trees = SessionTrees(host)
    await trees.begin()
    sweeping = Housekeeping(TurnEnded, trees.sweep)
    return Contribution(
        sources=(trees,),
        announcements=(trees.announced,),
        folds=(of_main(sweeping.saw),) if host.around.interactive else (),
        parts=(trees,),
        close=(trees.close, sweeping.settled),
    )


WORKTREES = Extension(name="work trees", plug=plug_worktrees, needed=True)  # never unisolated
