"""The LSP tool: a question to the server of a file, or a rename in two steps.

What it reads and what a plan would change are facts of the call; starting a server is the person's
word by trust and settings, and no model's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from gatewright.agent.lsp.findings.hearing import listing
from gatewright.agent.lsp.questions.queries import WAYS, Answer, Question, ask
from gatewright.agent.lsp.questions.renaming import Plan, planned
from gatewright.agent.lsp.questions.spots import Sight, inert
from gatewright.agent.lsp.questions.tool_spec import LSP, OPERATIONS
from gatewright.agent.lsp.running.server import Server
from gatewright.agent.lsp.texts import disk_text
from gatewright.agent.lsp.wire.positions import Lines
from gatewright.tools.access import Access, Effect, Looks, Where
from gatewright.tools.blocks import Block, Diff, plain
from gatewright.tools.files.change import change
from gatewright.tools.files.diff import diff
from gatewright.tools.files.fs import reading, settled
from gatewright.tools.plain import StructTool
from gatewright.tools.protocol import JsonObject, Run, ToolContext, ToolFailure, ToolResult
from gatewright.tools.system.exact import real_path

if TYPE_CHECKING:
    from gatewright.agent.extensions.lsp.lsp_session import LspSession

Operation = Literal[
    "goToDefinition", "goToTypeDefinition", "goToImplementation", "hover", "findReferences",
    "documentSymbol", "workspaceSymbol", "prepareCallHierarchy", "incomingCalls", "outgoingCalls",
    "diagnostics", "rename", "applyRename",
]  # fmt: skip
# What a server that still reads the project answers in part.
WHOLE = ("findReferences", "goToImplementation", "incomingCalls", "workspaceSymbol", "rename")
DIFF = 8_000  # characters of a plan that the model reads
PASSES, LOOKED = 3, 100  # answers to one question; files of each that an editor is asked for
UNSAVED = (
    "{0}: unsaved in the editor, and {1} can only be given what is saved, so nothing is changed. "
    "The person must save it first; then ask for the rename again."
)
SAVED = "{0}: unsaved in the editor; the places in it are of the saved text."
GONE = "There is no plan {0}: it was applied, or it is too old. Ask for the rename again."


class Asked(msgspec.Struct, frozen=True, rename="camel"):
    operation: Operation
    file_path: str = ""
    line: int = 0
    character: int = 0
    symbol: str = ""
    query: str = ""
    new_name: str = ""
    plan: str = ""


class LspTool(StructTool[Asked]):
    name, input = LSP, Asked
    time_limit = 120.0  # a server that begins, and then its answer

    def __init__(self, session: LspSession) -> None:
        self._session = session

    @property
    def looks(self) -> Looks:
        return "file"

    def read(self, raw: JsonObject) -> Asked:
        given = {key: value for key, value in raw.items() if value is not None}
        if "file_path" in given:
            given.setdefault("filePath", given.pop("file_path"))
        if (operation := given.get("operation")) not in OPERATIONS:
            known = ", ".join(OPERATIONS)
            raise ToolFailure(f"LSP was not run: {operation!r} is no operation. There are {known}.")
        try:
            asked = msgspec.convert(given, Asked, strict=False)
        except msgspec.ValidationError as error:
            raise ToolFailure(f"LSP was not run, its input is wrong:\n- {error}") from None
        if lack := self._lack(asked):
            raise ToolFailure(f"LSP was not run: {lack}.")
        return asked

    def _lack(self, asked: Asked) -> str:
        operation = asked.operation
        way = WAYS.get(operation)
        if operation == "applyRename":
            known = self._session.plans.find(asked.plan) is not None
            return "" if known else GONE.format(repr(asked.plan[:40])).rstrip(".")
        if operation == "workspaceSymbol" and not asked.query:
            return "workspaceSymbol needs a query"
        if operation not in ("workspaceSymbol", "diagnostics") and not asked.file_path:
            return f"{operation} needs a filePath"
        if len(asked.new_name.split()) > 1:
            return "a newName has no spaces"
        if operation == "rename" and not asked.new_name:
            return "rename needs a newName"
        placed = asked.symbol or (asked.line > 0 and asked.character > 0)
        if way is not None and way.at and not placed:
            return f"{operation} needs line and character, both from 1, or a symbol"
        return "" if asked.line >= 0 and asked.character >= 0 else "lines and characters begin at 1"

    def access(self, input: Asked, where: Where) -> Access:
        if input.operation == "applyRename":
            plan = self._session.plans.find(input.plan)
            edits = plan.edits if plan is not None else ()
            paths = tuple(each.path for each in edits)
            return Access(reads=paths, writes=paths, edits=edits)
        path = where.resolve(input.file_path) if input.file_path else where.root
        return Access(reads=(path,), effects=Effect.READ_ONLY)

    def title(self, input: Asked, where: Where) -> tuple[str, str]:
        shown = where.shown(where.resolve(input.file_path)) if input.file_path else ""
        place = f"{shown}:{input.line}" if input.line and shown else shown
        what = input.symbol or input.query or input.new_name
        return f"LSP {input.operation}", " ".join(filter(None, (place, what[:80])))

    def view(self, input: Asked, result: ToolResult | None) -> Sequence[Block]:
        """Before it runs, what a plan would change: that very thing is written."""
        if result is not None or input.operation != "applyRename":
            return ()
        plan = self._session.plans.find(input.plan)
        return self._diffs(plan) if plan is not None else ()

    def _diffs(self, plan: Plan) -> tuple[Diff, ...]:
        texts = [(each, each.before.decode(), each.after.decode()) for each in plan.changes]
        return tuple(diff(self._session.shown(e.path), before, after) for e, before, after in texts)

    # --- running ---

    async def run(self, input: Asked, ctx: ToolContext) -> Run:
        if input.operation == "applyRename":
            yield await asyncio.to_thread(self._applied, input.plan, ctx)  # an editor may be asked
            return
        session = self._session
        path = str(settled(ctx.where.resolve(input.file_path), ctx)) if input.file_path else ""
        texts = session.texts
        if path and texts.stamp_of(path) is None and not await texts.look((path,)):
            raise ToolFailure(f"There is no file {input.file_path}.")
        if input.operation == "diagnostics":
            yield await self._diagnostics(path, ctx)
            return
        server = await self._server(path)
        await session.hearings.look(ctx.agent)
        if path and input.operation in WHOLE:  # else a part of the answer is taken for all of it
            limit = server.definition.request_timeout
            await session.languages.until_read(server, path, limit)
        seen: dict[str, None] = {}
        found = await self._found(input, path, server, self._sight(ctx, server, seen), seen)
        unsaved = ", ".join(
            session.shown(each)
            for each in seen
            if session.texts.unsaved(each) and server.documents.get(each) is None
        )
        if isinstance(found, Plan):
            if unsaved:
                raise ToolFailure(UNSAVED.format(unsaved, server.name))
            yield self._planned(found)
            return
        note = f"\n({SAVED.format(unsaved)})" if unsaved else ""
        yield ToolResult.text(f"{found.text}{note}", summary=f"{found.count} found", data={
            "operation": input.operation, "resultCount": found.count,
        })  # fmt: skip

    async def _found(
        self, input: Asked, path: str, server: Server, sight: Sight, seen: dict[str, None]
    ) -> Answer | Plan:
        """Of texts as an editor has them, also of files that the answer names. ToolFailure."""
        asks = planned if input.operation == "rename" else ask
        for _ in range(PASSES):
            seen.clear()
            found = await asks(server, self._question(input, path, server), sight)
            others = [each for each in seen if server.documents.get(each) is None][:LOOKED]
            unsaved = await self._session.texts.look(others)
            for each in unsaved:
                await self._session.languages.open(each)
            if not any(server.documents.get(each) for each in unsaved):
                return found
        raise ToolFailure("Too many files of it are unsaved in the editor: ask again.")

    def _sight(self, ctx: ToolContext, server: Server, seen: dict[str, None]) -> Sight:
        """`seen` gets the files of the project that an answer names, and that may be read."""
        where, texts = ctx.where, self._session.texts
        roots = tuple(real_path(each).rstrip("/") for each in (where.root, *where.added))

        def inside(path: str) -> bool:
            return any(path.startswith(f"{root}/") for root in roots)

        def readable(path: str) -> bool:
            may = ctx.readable(path)
            if may and inside(path):
                seen[path] = None
            return may

        return Sight(
            readable=readable,
            inside=inside,
            shown=lambda path: where.shown(Path(path)),
            text=lambda path: (
                texts.text_of(path) if server.documents.get(path) else disk_text(path)
            ),
        )

    async def _server(self, path: str) -> Server:
        """The one that navigates, ready. Raises ToolFailure."""
        languages = self._session.languages
        if path:
            serving = await languages.open(path)
        else:
            serving = languages.ready() or languages.all
        if not serving:
            raise ToolFailure(self._nobody(path))
        server = serving[0]
        if languages.unwatched():  # what changes while it begins is told then
            await languages.look()
        if not await server.ready(server.definition.startup_timeout):
            why = inert(server.why, 300) or "it is still starting: try again in a moment"
            raise ToolFailure(f"{server.name} cannot be asked: {why}.")
        if path:
            await languages.open(path)
        return server

    def _nobody(self, path: str) -> str:
        if not path:
            return "No language server runs yet: name a filePath of the language that is meant."
        if not self._session.languages.of(path):
            return (
                f"No language server serves {Path(path).name} here. Servers only see files of the "
                "project. Use Grep; `agent lsp doctor` tells the person what to install."
            )
        return f"{Path(path).name} is ignored by git, so no server has it. Use Grep and Read."

    def _question(self, input: Asked, path: str, server: Server) -> Question:
        way = WAYS[input.operation]
        plain_ = Question(
            operation=input.operation, path=path, query=input.query, new_name=input.new_name
        )
        if not way.at:
            return plain_
        found = self._session.texts.text_of(path)
        if found is None or server.documents.get(path) is None:
            raise ToolFailure(f"{Path(path).name} is no text that a server could be given.")
        lines = Lines(found[0], server.abilities.encoding)
        line, character = _place(input, lines)
        return msgspec.structs.replace(plain_, line=line, column=lines.units(line, character))

    async def _diagnostics(self, path: str, ctx: ToolContext) -> ToolResult:
        languages = self._session.languages
        if path:
            server = await self._server(path)
            limit = server.definition.request_timeout
            paths: Sequence[str] = (path,)
        else:
            limit = 10.0
            paths = sorted({p for each in languages.ready() for p in each.documents.paths})
            paths = [each for each in paths if ctx.readable(each)]
        await self._session.hearings.look(ctx.agent)
        if not paths:
            raise ToolFailure("No file is open yet: name a filePath.")
        whole = await languages.until_fresh(paths, limit)
        if await languages.renewed(paths):  # the person types: once more, of the text by now
            whole = await languages.until_fresh(paths, limit)
        text, count = listing(self._session.hearings, ctx.agent, paths)
        if not whole:
            text += "\nNot all findings have come yet: ask again in a moment."
        return ToolResult.text(text, summary=f"{count} found")

    def _planned(self, plan: Plan) -> ToolResult:
        id = self._session.plans.keep(plan)
        diffs = self._diffs(plan)
        cut = inert("\n".join(plain(each) for each in diffs), DIFF)  # a server wrote much of it
        files, count = len(plan.changes), plan.count
        text = (
            f"Plan {id}: {count} {'change' if count == 1 else 'changes'} in {files} "
            f"{'file' if files == 1 else 'files'}. Nothing is changed yet: applyRename with this "
            f"plan changes all of them, or none.\n{cut}"
        )
        return ToolResult.text(
            text, summary=f"{count} in {files} files", view=diffs, data={"plan": id}
        )

    def _applied(self, id: str, ctx: ToolContext) -> ToolResult:
        """All of the plan's files, or none: one that is not as it was voids it."""
        plan = self._session.plans.find(id)
        if plan is None:
            raise ToolFailure(GONE.format(id))
        self._session.plans.drop(id)
        for each in plan.changes:
            if _held(each.path, ctx) != each.before:
                raise ToolFailure(
                    f"{self._session.shown(each.path)} changed since the plan was made, so nothing "
                    "was changed. Ask for the rename again."
                )
        done: list[int] = []
        for number, each in enumerate(plan.changes):
            try:
                change(Path(each.path), each.before, each.after, ctx)
            except ToolFailure as error:
                raise ToolFailure(f"{error} {self._taken_back(plan, done, ctx)}") from None
            done.append(number)
        files = "\n".join(f"{self._session.shown(e.path)}: {e.count}" for e in plan.changes)
        return ToolResult.text(
            f"Renamed to {plan.new_name}: {plan.count} changes, by file:\n{files}",
            summary=f"{plan.count} in {len(plan.changes)} files",
            view=self._diffs(plan),
        )

    def _taken_back(self, plan: Plan, done: Sequence[int], ctx: ToolContext) -> str:
        left: list[str] = []
        for number in done:
            each = plan.changes[number]
            try:
                change(Path(each.path), each.after, each.before, ctx)
            except ToolFailure:
                left.append(self._session.shown(each.path))
        if left:
            return f"These could not be taken back and are renamed: {', '.join(left)}."
        return "Nothing is changed: what was written before is taken back."


def _held(path: str, ctx: ToolContext) -> bytes | None:
    """What it holds, in the person's editor if that has it; None for what nobody could change."""
    try:
        return reading(Path(path), ctx) if real_path(path) == path else None
    except (OSError, ToolFailure):
        return None


def _place(input: Asked, lines: Lines) -> tuple[int, int]:
    """The line and the character, from 0. ToolFailure where the symbol is not there."""
    if input.line > lines.count:
        count = lines.count - (not lines.line(lines.count - 1))
        raise ToolFailure(f"The file has {count} lines, and none {input.line}.")
    if not input.symbol:
        return input.line - 1, input.character - 1
    import re  # noqa: PLC0415  one of few

    name = re.compile(rf"(?<!\w){re.escape(input.symbol)}(?!\w)")
    rows = (input.line - 1,) if input.line else range(lines.count)
    for row in rows:
        if found := name.search(lines.line(row)):
            return row, found.start()
    where = f"line {input.line}" if input.line else "the file"
    raise ToolFailure(f"There is no {input.symbol!r} in {where}.")
