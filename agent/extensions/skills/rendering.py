"""Makes the text of an invocation: commands through executor and gate, files through Read rules.

Only the template says what is run or attached; whatever comes of that is put in, and not read.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO, TypeAlias

import msgspec

from gatewright.agent.agents.inert_text import BROKEN
from gatewright.agent.context.attach_ports import AttachPorts
from gatewright.agent.context.attachments import attach
from gatewright.agent.context.file_judge import pictures
from gatewright.agent.context.readable import Readable
from gatewright.agent.extensions.host import Host
from gatewright.agent.extensions.skills.order import Order
from gatewright.agent.record.events import Noticed
from gatewright.agent.text.printable import escaped
from gatewright.permissions.condition import only_reads
from gatewright.permissions.context import Call
from gatewright.skills.companions import companions
from gatewright.skills.model import Skill
from gatewright.skills.template import COMMANDS, Command, Given, Rendered, render
from gatewright.tools.access import MAIN
from gatewright.tools.calls import Prepared
from gatewright.tools.protocol import (
    Content,
    TextContent,
    ToolCall,
    ToolContext,
    ToolFailure,
    ToolResult,
)
from gatewright.tools.system.exact import real_path

TEXT = 100_000  # characters of a body
SIDE_BY_SIDE = 4
SECONDS = 120.0
_ENDS = re.compile(r"<(?=\s*/\s*skill\b)", re.IGNORECASE)
SHOWN = 200  # characters of a command in a sentence
Picture: TypeAlias = Callable[[bytes, Path], Content | None]


class Body(msgspec.Struct, frozen=True):
    """What goes to the model, and how many files lie beside it."""

    content: tuple[Content, ...]
    files: int

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.content if isinstance(part, TextContent))


class Rendering:
    def __init__(self, host: Host) -> None:
        self._host = host

    async def body(self, order: Order, template: str, ctx: ToolContext) -> Body:
        """Raises ToolFailure: a command of it was not run, or must not be."""
        skill, said = order.skill, order.skill.said
        given = Given(
            arguments=order.arguments,
            names=said.arguments,
            values=order.values,
            from_one=skill.form == "command",
        )
        rendered = render(template, given)
        results = await self._results(order, rendered, ctx)
        text = rendered.text(results).strip()
        if len(text) > TEXT:
            text = f"{text[:TEXT]}\n[{len(text) - TEXT:,} more characters were left out.]"
        names = await asyncio.to_thread(companions, skill) if skill.form == "skill" else ()
        picture = pictures() if rendered.mentions else _no_picture
        attached = await asyncio.to_thread(self._attached, order, rendered.mentions, picture)
        return Body((TextContent(wrapped(order, text, names)), *attached), len(names))

    # commands

    async def _results(self, order: Order, rendered: Rendered, ctx: ToolContext) -> Sequence[str]:
        commands = rendered.commands
        if not commands:
            return ()
        why = "Call Skill for it" if order.preloaded else self._closed(order.skill)
        if why:
            return [f"[{why}: its command was not run]" for _ in commands]
        if len(commands) > COMMANDS:
            raise ToolFailure(f"{order.called} has more than {COMMANDS} commands in its text.")
        for each in commands:
            if each.wrong:
                raise ToolFailure(f"{order.called} was not begun: {each.wrong}. {_named(each)}")
        results: list[str] = []
        beside: list[tuple[Command, Prepared]] = []
        for number, command in enumerate(commands):
            prepared = await self._prepared(order, command, number, ctx)
            safe = only_reads(
                Call("Bash", prepared.call.input, prepared.facts.access),
                self._host.policy.context(ctx.where, agent=order.agent),
            )
            if beside and (not safe or len(beside) == SIDE_BY_SIDE):
                results += await self._ran(order, beside, ctx)
                beside = []
            beside.append((command, prepared))
            if not safe:
                results += await self._ran(order, beside, ctx)
                beside = []
        return results + await self._ran(order, beside, ctx)

    def _closed(self, skill: Skill) -> str:
        """Why nothing of it is run."""
        if not skill.trusted:
            return "This project is not trusted"
        if self._host.around.settings.disable_skill_shell_execution:
            return "Your settings run no commands of skills"
        if skill.origin == "mcp":
            return "This text is a server's"
        shell = skill.said.shell
        return f"Its shell would be {escaped(shell)}" if shell not in ("", "bash") else ""

    async def _prepared(
        self, order: Order, command: Command, number: int, ctx: ToolContext
    ) -> Prepared:
        """A call of Bash like any other; the record of it names the skill."""
        agent = self._host.session.agent(order.agent)
        if agent is None:
            raise ToolFailure(f"There is no agent {order.agent}.")
        input = {"command": command.text, "timeout": SECONDS * 1000}
        call = ToolCall(f"{order.call_id}-{number + 1}", "Bash", input)
        prepared = await agent.tools.executor.prepare(call, ctx.where)
        access = msgspec.structs.replace(prepared.facts.access, by=order.by, typed=order.typed)
        return prepared.judged_as(access, prepared.facts.error)

    async def _ran(
        self, order: Order, group: Sequence[tuple[Command, Prepared]], ctx: ToolContext
    ) -> list[str]:
        """What came of them, in their order; the first that does not run ends the invocation."""
        agent = self._host.session.agent(order.agent)
        if agent is None or not group:
            return []
        alone = msgspec.structs.replace(ctx, jobs=None, move=_stay)
        running = [
            asyncio.ensure_future(agent.tools.executor.run(prepared, alone))
            for _, prepared in group
        ]
        try:
            results = await asyncio.gather(*running)
        finally:
            for each in running:
                each.cancel()
            await asyncio.gather(*running, return_exceptions=True)
        return [
            self._said(order, command, result)
            for (command, _), result in zip(group, results, strict=True)
        ]

    def _said(self, order: Order, command: Command, result: ToolResult) -> str:
        data = result.data
        if "exitCode" not in data:  # it did not run
            told = "\n".join(part.text for part in result.content if isinstance(part, TextContent))
            way = "" if "rule" in told else f" The rule Bash({command.text}) would permit it."
            raise ToolFailure(
                f"{order.called} was not begun: {_named(command)} was not run. {told}{way}",
                summary="refused",
            )
        output, code = str(data.get("stdout", "")), data["exitCode"]
        if code == 0 and not data.get("interrupted"):
            return output
        end = f"[exit {code}]" if code is not None else "[ended after 120 s]"
        text = f"/{order.called}: {_named(command)}: {end.strip('[]')}"
        self._host.journal.publish(Noticed(text=escaped(text), tone="warning"), order.agent)
        return f"{output}\n{end}".lstrip("\n")

    # files

    def _attached(self, order: Order, names: Sequence[str], picture: Picture) -> Sequence[Content]:
        """Files that the template names: of the skill's directory, else of the project."""
        found = [path for name in names if (path := _meant(order, name)) is not None]
        if not found:
            return ()
        host = self._host
        reads = order.agent == MAIN and not order.preloaded  # which is for another agent
        note = host.ledger.note if reads else _unnoted
        ports = AttachPorts(picture, note, Unasked(host.briefing.readable), _untold)
        return attach(" ".join(f'@"{path}"' for path in found), order.where, ports)


class Unasked(Readable):
    """Nobody has named the files with their own hands: what would be asked is not read."""

    def __init__(self, readable: Readable) -> None:
        self._readable = readable

    def check(self, path: Path, *, agreed: bool = False, real: Path | None = None) -> Path:
        del agreed
        return self._readable.check(path, agreed=False, real=real)

    def open(self, path: Path, *, agreed: bool = False, real: Path | None = None) -> BinaryIO:
        del agreed
        return self._readable.open(path, agreed=False, real=real)

    def names(
        self, path: Path, most: int, *, agreed: bool = False, real: Path | None = None
    ) -> Sequence[str]:
        del agreed
        return self._readable.names(path, most, agreed=False, real=real)


def wrapped(order: Order, text: str, names: Sequence[str]) -> str:
    """One entry of the conversation: whose text it is, and what lies beside it."""
    skill = order.skill
    head = f'<skill name="{order.called}" origin="{skill.origin}">'
    text = _ENDS.sub(BROKEN, text)  # what follows would seem to be somebody else's
    if skill.form == "command":
        return f"{head}\n{text}\n</skill>"
    files = f"\nFiles there: {', '.join(names)}" if names else ""
    return f"{head}\nIts directory: {skill.folder}{files}\n\n{text}\n</skill>"


def _meant(order: Order, name: str) -> Path | None:
    """The file, where there is one that lies in the skill's directory or in the project."""
    roots = (order.skill.folder, order.where.root)
    for root in roots:
        path = root / name
        real = Path(real_path(path))
        if any(real.is_relative_to(real_path(each)) for each in roots) and real.exists():
            return real
    return None


def _named(command: Command) -> str:
    return f"the command `{escaped(' '.join(command.text.split()))[:SHOWN]}`"


def _stay(cwd: Path) -> None:
    """A command of a skill moves nobody."""
    del cwd


def _unnoted(path: Path, data: bytes) -> None:
    del path, data


def _untold(text: str) -> None:
    """What is attached is said in the text itself."""
    del text


def _no_picture(data: bytes, path: Path) -> Content | None:
    del data, path
    return None
