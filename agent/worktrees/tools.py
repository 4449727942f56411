"""EnterWorktree and LeaveWorktree: the main agent goes to work in a tree of its own, and back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Protocol

import msgspec

from gatewright.agent.worktrees.checking import Held
from gatewright.agent.worktrees.names import FOLDER, WorktreeError, wanted
from gatewright.agent.worktrees.project_trees import Left, Opened
from gatewright.agent.worktrees.record import Record
from gatewright.tools.access import Access, Effect, Row, Where
from gatewright.tools.blocks import Block, Text
from gatewright.tools.interact import Ask, Option
from gatewright.tools.plain import StructTool
from gatewright.tools.protocol import (
    JsonObject,
    Run,
    ToolContext,
    ToolFailure,
    ToolResult,
    ToolSpec,
)

NOTHING = "Nothing would be lost. You work in your own checkout again."
ENTER, LEAVE, EXIT = "EnterWorktree", "LeaveWorktree", "ExitWorktree"


class Enter(msgspec.Struct, frozen=True):
    name: str = ""
    path: str = ""


class Leave(msgspec.Struct, frozen=True):
    action: Literal["keep", "remove"] = "keep"
    discard_changes: bool = False


class Going(Protocol):
    """What the session knows of where the main agent works."""

    @property
    def fetches(self) -> bool:
        """Whether a new tree begins with what the remote says."""
        ...

    @property
    def root(self) -> Path:
        """The person's checkout, below which they are."""
        ...

    @property
    def current(self) -> Record | None: ...
    async def enter(self, name: str, where: Where) -> Opened:
        """Raises WorktreeError, OSError."""
        ...

    async def enter_at(self, path: Path, where: Where) -> Opened: ...
    async def held(self) -> Held:
        """What would be lost with the tree it is in."""
        ...

    async def leave(self, *, remove: bool, agreed: tuple[str, ...] = ()) -> Left: ...


class EnterWorktree(StructTool[Enter]):
    name, input = ENTER, Enter
    time_limit = math.inf  # however large the checkout is
    row = Row("other", "name", ("path",))

    def __init__(self, going: Going) -> None:
        self._going = going

    def read(self, raw: JsonObject) -> Enter:
        """With the name that it will have: who is asked is asked about that very tree."""
        given = super().read({key: value for key, value in raw.items() if value is not None})
        if given.path and given.name:
            raise ToolFailure("Give a name for a new tree or the path of one, not both.")
        try:
            slug = "" if given.path else wanted(given.name).slug
        except WorktreeError as error:
            raise ToolFailure(f"No work tree was entered: {error}") from error
        return given if given.path or given.name.strip() else Enter(name=slug)

    def access(self, input: Enter, where: Where) -> Access:
        """The tree; what the repository notes of it, as of any work tree, comes with it."""
        if input.path:
            return Access(writes=(where.resolve(input.path),), effects=Effect.MOVES)
        named = wanted(input.name)
        outside = bool(named.pull) or self._going.fetches
        tree = self._going.root / FOLDER / named.slug
        effects = Effect.MOVES | (Effect.OPEN_WORLD if outside else Effect.NONE)
        return Access(writes=(tree,), effects=effects)

    def title(self, input: Enter, where: Where) -> tuple[str, str]:
        del where
        return "Work in a tree of its own", input.path or input.name

    def view(self, input: Enter, result: ToolResult | None) -> Sequence[Block]:
        del result
        where = input.path or f"{FOLDER}/{wanted(input.name).slug}"
        how = "" if input.path else ", a checkout of its own on a new branch"
        return (Text(f"The session goes on in {where}{how}. Your checkout stays as it is."),)

    async def run(self, input: Enter, ctx: ToolContext) -> Run:
        if (now := self._going.current) is not None:
            raise ToolFailure(f"You are in the work tree {now.path} already: {LEAVE} first.")
        try:
            if input.path:
                opened = await self._going.enter_at(ctx.where.resolve(input.path), ctx.where)
            else:
                opened = await self._going.enter(input.name, ctx.where)
        except (WorktreeError, OSError) as error:
            raise ToolFailure(f"No work tree was entered: {error}") from error
        record = opened.record
        data = {"worktreePath": record.path, "worktreeBranch": record.short}
        again = "It was there already, as it was left. " if opened.again else ""
        text = f"You work in the git work tree {opened.text} {again}{record.root} is outside now."
        yield ToolResult.text(text, summary=record.slug, data=data)


class LeaveWorktree(StructTool[Leave]):
    name, input = LEAVE, Leave
    time_limit = math.inf
    row = Row("other", "action", ("discard_changes",))

    def __init__(self, going: Going) -> None:
        self._going = going

    def access(self, input: Leave, where: Where) -> Access:
        """Where something may be lost the tool itself asks, whatever the mode: it lists that."""
        del where
        loses = input.action == "remove" and input.discard_changes
        return Access(effects=Effect.HUMAN if loses else Effect.MOVES)

    def title(self, input: Leave, where: Where) -> tuple[str, str]:
        del where
        return "Leave the work tree", input.action

    def view(self, input: Leave, result: ToolResult | None) -> Sequence[Block]:
        if result is not None or (record := self._going.current) is None:
            return ()
        goes = f"The session goes on in {record.root}."
        if input.action == "keep":
            return (Text(f"{goes} {record.path} stays, on branch {record.short}."),)
        if input.discard_changes:
            return (Text(f"{goes} You are asked what becomes of {record.path}."),)
        return (Text(f"{goes} {record.path} is removed if nothing would be lost with it."),)

    async def run(self, input: Leave, ctx: ToolContext) -> Run:
        record = self._going.current
        if record is None:
            raise ToolFailure("You are in no work tree of this session: nothing was changed.")
        agreed: tuple[str, ...] = ()
        if input.action == "remove" and input.discard_changes:
            agreed = await self._agreed(record, ctx)
        try:
            left = await self._going.leave(remove=input.action == "remove", agreed=agreed)
        except (WorktreeError, OSError) as error:
            raise ToolFailure(f"The work tree was not left: {error}") from error
        data = {"worktreePath": record.path, "removed": not left.kept, "kept": left.kept}
        summary = "kept" if left.kept else "removed"
        yield ToolResult.text(f"{left.text} You work in {record.root}.", summary=summary, data=data)

    async def _agreed(self, record: Record, ctx: ToolContext) -> tuple[str, ...]:
        """What the person saw and let go. Raises ToolFailure."""
        held = await self._going.held()
        if held.firm:
            raise ToolFailure(f"The work tree stays: {held.text()}.")
        answer = await ctx.ask(
            Ask(
                kind="question",
                title=f"Remove the work tree {record.slug} with what is in it?",
                body=tuple(Text(loss) for loss in held.losses) or (Text(NOTHING),),
                options=(
                    Option("keep", "Keep it", "k"),
                    Option("discard", "Remove it; this is lost" if held.losses else "Remove", "d"),
                ),
                reason="It cannot be brought back." if held.losses else "",
                tool=self.name,
                danger=bool(held.losses),
            )
        )
        if answer.choice != "discard":
            raise ToolFailure("The person wants the work tree kept; it is as it was.")
        return held.losses


SPECS: Sequence[ToolSpec] = (
    ToolSpec(
        ENTER,
        "Work in a git work tree of your own from now on, on a new branch that begins at the last "
        "commit: only when the person asks for a worktree. What is not committed is not in it. "
        "`name` makes one or goes on in it (left out: any name); `path` enters one that is there.",
        {
            "type": "object",
            "properties": {"name": {"type": "string"}, "path": {"type": "string"}},
        },
    ),
    ToolSpec(
        LEAVE,
        "Go back to the checkout that you came from. `keep` leaves the work tree and its branch as "
        "they are; `remove` takes it away if nothing is in it that would be lost. With "
        "`discard_changes` the person is shown what would be lost and decides.",
        {
            "type": "object",
            "properties": {
                "action": {"type": "string", "enum": ["keep", "remove"]},
                "discard_changes": {"type": "boolean"},
            },
            "required": ["action"],
        },
    ),
)
