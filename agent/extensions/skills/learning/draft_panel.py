"""/skills drafts: look at each, with what it changes of a skill; edit, try, approve, forget it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from gatewright.agent.commands.outcome import (
    Act,
    Choice,
    Form,
    Listing,
    Outcome,
    Problem,
    Say,
    Scope,
    Submit,
)
from gatewright.agent.commands.registry import CommandContext
from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.skills.learning.drafts import Draft, Drafts
from gatewright.agent.extensions.skills.skill_rows import sentence
from gatewright.agent.settings.workspace import Surroundings
from gatewright.agent.transcript.index import ago
from gatewright.skills.book import SkillBook
from gatewright.skills.frontmatter import FILE_LIMIT
from gatewright.tools.blocks import Block, Markdown, Table, Text
from gatewright.tools.files.diff import diff
from gatewright.tools.protocol import TextContent
from gatewright.tools.system.project import FOLDER
from gatewright.tools.system.regular import read_regular

SKILLS = "skills"
USAGE = "Usage: /skills drafts [NAME [edit | try TASK | approve user|project [replace] | discard]]"
TRY = "Work by this draft of a skill, once, to try it. The task: {task}"
NONE = "There are no drafts. /skills learn drafts a skill of this session."


class DraftPanel:
    def __init__(self, drafts: Drafts, book: SkillBook, around: Callable[[], Surroundings]) -> None:
        self._drafts, self._book, self._around = drafts, book, around

    async def show(self, context: CommandContext) -> Outcome:
        _, name, verb, rest = (*context.args.split(maxsplit=3), "", "", "", "")[:4]
        try:
            if not name:
                return await asyncio.to_thread(self._listing)
            return await self._done(name, verb, rest.split())
        except GatewrightError as error:
            return Problem.of(str(error))

    def learned(self, draft: Draft) -> Outcome:
        """What is said of a new one."""
        next_ = f"/skills drafts {draft.name} approve user, or project, makes it a skill"
        about = f"A draft is kept: {draft.path}. {next_}; until then nothing invokes it."
        return Say((Text(about), *self._preview(draft.name)))

    async def _done(self, name: str, verb: str, words: Sequence[str]) -> Outcome:
        match verb, words:
            case "", _:
                return Say(tuple(await asyncio.to_thread(self._preview, name)))
            case "edit", ():
                return await asyncio.to_thread(self._edited, name)
            case "try", [_, *_]:
                return await asyncio.to_thread(self._tried, name, " ".join(words))
            case "discard", []:
                await asyncio.to_thread(self._drafts.discard, name)
                return Say.text(f"The draft {name} is gone.")
            case "approve", ["user" | "project" as where, *more] if more in ([], ["replace"]):
                return await asyncio.to_thread(self._approved, name, where, replace=bool(more))
            case _:
                return Problem.of(USAGE)

    def _listing(self) -> Outcome:
        drafts = self._drafts.all()
        if not drafts:
            return Say.text(NONE)
        rows = tuple((d.name, self._state(d), _age(d), d.description) for d in drafts)
        shown = list(map(self._choice, drafts))

        async def read(id: str) -> Sequence[Block]:
            try:
                return await asyncio.to_thread(self._preview, id)
            except GatewrightError as error:
                return (Text(str(error), "warning"),)

        async def act(verb: str, words: Sequence[str], id: str) -> Outcome:
            try:
                outcome = await self._done(id, verb, words)
            except GatewrightError as error:
                return Problem.of(str(error))
            shown[:] = map(self._choice, await asyncio.to_thread(self._drafts.all))
            return outcome

        return Listing(
            fallback=Say((Table(("Draft", "", "", "For"), rows), Text(USAGE, "dim"))),
            title="Drafts of skills",
            rows=lambda: shown,
            read=read,
            acts=(
                Act("e", "edits", partial(act, "edit", ())),
                Act("u", "makes it your skill", partial(act, "approve", ["user"])),
                Act("p", "makes it the project's", partial(act, "approve", ["project"])),
                Act("D", "forgets it", partial(act, "discard", [])),
            ),
            columns=("Made", "State", "Draft", "For"),
        )

    def _choice(self, draft: Draft) -> Choice:
        cells = (_age(draft), self._state(draft), draft.name, draft.description)
        typed = f"/skills drafts {draft.name}"
        return Choice(draft.name, draft.name, draft.description, typed=typed, cells=cells)

    def _state(self, draft: Draft) -> str:
        if any(each.fatal for each in draft.wrong):
            return "cannot be used yet"
        return "changes a skill" if self._book.now().find(draft.name) is not None else "new"

    def _preview(self, name: str) -> Sequence[Block]:
        """The text, what is wrong with it, and what it changes of a skill that there is."""
        draft = self._drafts.find(name)
        front, fence, body = draft.text.partition("\n---\n")  # no Markdown: fields, a line each
        blocks: list[Block] = [Text(f"{front}{fence}".rstrip()), Markdown(body)]
        if draft.wrong:
            blocks.append(Text("\n".join(map(sentence, draft.wrong)), "warning"))
        skill = self._book.now().find(name)
        if skill is not None:
            try:
                before = read_regular(skill.file, FILE_LIMIT).decode()
            except (OSError, UnicodeDecodeError):
                return blocks
            blocks += [Text(f"What is different from /{name} ({skill.whose}):")]
            blocks.append(diff(str(skill.file), before, draft.text))
        return blocks

    def _edited(self, name: str) -> Outcome:
        draft = self._drafts.find(name)

        def keep(text: str) -> Outcome:
            try:
                kept = self._drafts.save(name, text)
            except GatewrightError as error:
                return Problem.of(str(error))
            wrong = "\n".join(map(sentence, kept.wrong))
            return Problem.of(wrong) if wrong else Say.text(f"The draft {name} is changed.")

        async def take(text: str) -> Outcome:
            return await asyncio.to_thread(keep, text)

        said = Say.text(f"The draft is in {draft.path}.")
        return Form(fallback=said, text=draft.text, take=take)

    def _tried(self, name: str, task: str) -> Outcome:
        """Its text goes beside the task as data: no placeholder and no command in it works."""
        draft = self._drafts.find(name)
        beside = TextContent(f"The draft of the skill {name}:\n\n{draft.text}")
        scope = Scope(by=f"/skills drafts {name} try", attachments=(beside,))
        return Submit(TRY.format(task=task), scope)

    def _approved(self, name: str, where: str, *, replace: bool) -> Outcome:
        from gatewright.agent.subcommands.place import refuse_inside_session  # noqa: PLC0415  lazy

        refuse_inside_session()
        around = self._around()
        own = where == "user"
        top = around.places.home if own else around.where.root / FOLDER
        inside: Path | None = None if own else around.where.root
        path = self._drafts.approve(name, top / SKILLS, inside=inside, replace=replace)
        return Say.text(f"{name} is a skill now: {path}. /{name} invokes it.")


def _age(draft: Draft) -> str:
    return ago(time.time() - draft.made)
