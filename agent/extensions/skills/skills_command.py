"""/skills: what there is, whose it is, how it shows and what it costs; what each says."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Protocol

from gatewright.agent.commands.outcome import Act, Choice, Form, Listing, Outcome, Problem, Say
from gatewright.agent.commands.registry import Command, CommandContext, Handler
from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.skills.skill_rows import (
    SkillRow,
    facts_of,
    problems_of,
    rows_of,
    sentence,
)
from gatewright.agent.extensions.skills.telling import described
from gatewright.agent.extensions.skills.uses import Uses
from gatewright.agent.settings.layers.key import spelled
from gatewright.agent.settings.overview import SettingsBook
from gatewright.skills.book import SkillBook
from gatewright.skills.frontmatter import FILE_LIMIT
from gatewright.skills.model import Said, Show, SkillError
from gatewright.skills.shown.finding import found
from gatewright.tools.blocks import Block, Markdown, Table, Text
from gatewright.tools.counted import counted
from gatewright.tools.system.regular import read_regular

ARGS = "[info NAME | search WORDS | reload [--all] | learn [NAME] | drafts]"
USAGE = f"Usage: /skills {ARGS}"
HINT = "/skills info NAME shows one, /skills search WORDS finds some, /NAME invokes one."
OVERRIDES = "skillOverrides"
CYCLE: Sequence[Show] = ("on", "name-only", "user-invocable-only", "off")
SAID = {
    "on": "is told to the model with its description, and yours to type",
    "name-only": "is told to the model by its name alone",
    "user-invocable-only": "is yours to type, and the model is not told of it",
    "off": "is off: nobody can invoke it",
}
WIDTH = 60
FOUND = 30
COLUMNS = ("From", "State", "Listed", "Text", "Uses", "Skill", "For")


class SkillShelf(Protocol):
    """What a session has of skills. `verbs` are further words behind /skills, with what they do;
    `elsewhere` says what words find that is not installed.
    """

    @property
    def book(self) -> SkillBook: ...
    @property
    def uses(self) -> Uses: ...
    @property
    def settings(self) -> SettingsBook | None: ...
    @property
    def verbs(self) -> Mapping[str, Handler]: ...
    def elsewhere(self, words: str) -> Sequence[Block]: ...
    def changed(self) -> None:
        """There may be other commands now."""
        ...


def skills_commands(shelf: SkillShelf) -> tuple[Command, ...]:
    run = partial(show_skills, shelf)
    about = "Skills and command files: whose, what they cost, on or off"
    return (Command(name="skills", summary=about, args=ARGS, run=run),)


async def show_skills(shelf: SkillShelf, context: CommandContext) -> Outcome:
    verb, _, rest = context.args.strip().partition(" ")
    rest = rest.strip()
    if not verb:
        return await asyncio.to_thread(listing, shelf)
    if verb == "reload" and rest in ("", "--all"):
        return await asyncio.to_thread(_reloaded, shelf, nested=bool(rest))
    if verb == "search" and rest:
        return await asyncio.to_thread(_search, shelf, rest)
    if verb in shelf.verbs:
        return await shelf.verbs[verb](context)
    name = rest if verb == "info" else "" if rest else verb
    if not name:
        return Problem.of(USAGE)
    blocks = await asyncio.to_thread(_details, shelf, name.removeprefix("/"))
    if blocks is None:
        return Problem.of(f"{shelf.book.refusal(name)} {USAGE}")
    return Say(tuple(blocks))


def listing(shelf: SkillShelf) -> Listing:
    """The rows are as they were found when it was opened, and again after each key."""
    shown = [*_choices(shelf)]

    async def read(id: str) -> Sequence[Block]:
        name, _, file = id.partition("\n")
        if not name:
            return (Text(file, "warning"),)
        blocks = await asyncio.to_thread(_details, shelf, name, file)
        return blocks if blocks is not None else (Text("It is gone.", "warning"),)

    async def cycle(id: str) -> Outcome:
        outcome = await _cycled(shelf, *_named(id))
        shown[:] = await asyncio.to_thread(_choices, shelf)
        return outcome

    async def edit(id: str) -> Outcome:
        return await asyncio.to_thread(_edited, shelf, *_named(id))

    blocks = _table(shelf)
    return Listing(
        fallback=Say((*blocks, Text(HINT, "dim"))),
        title="Skills",
        rows=lambda: shown,
        read=read,
        acts=(
            Act("space", "on, by name, yours alone, off", cycle),
            Act("e", "edits it", edit),
        ),
        columns=COLUMNS,
    )


def _rows(shelf: SkillShelf) -> Sequence[SkillRow]:
    return rows_of(shelf.book, shelf.uses)


def _choices(shelf: SkillShelf) -> Sequence[Choice]:
    """What cannot be used is there, too: chosen, it says why."""
    problems = problems_of(shelf.book.now())
    return [
        *map(_choice, _rows(shelf)),
        *(
            Choice(f"\n{text}", text, source="wrong", cells=("", "wrong", "", "", "", "", text))
            for text in problems
        ),
    ]


def _choice(row: SkillRow) -> Choice:
    figures = (row.listed, row.text, row.uses)
    cells = (row.source, row.state, *(f"{n:,}" if n else "" for n in figures), row.called)
    about = described(row.skill)
    return Choice(
        row.id,
        row.called,
        about if row.state == "on" else row.state,
        row.source,
        f"/skills info {row.called}",
        cells=(*cells, about),
        numbers=(0.0, 0.0, *map(float, figures)),
    )


def _named(id: str) -> tuple[str, str]:
    """The name and the file that the id of a row stands for."""
    name, _, file = id.partition("\n")
    return name, file


def _table(shelf: SkillShelf) -> Sequence[Block]:
    rows = _rows(shelf)
    cells = tuple((*_choice(row).cells[:-1], _cut(described(row.skill))) for row in rows)
    problems = problems_of(shelf.book.now())
    listed = sum(row.listed for row in rows)
    total = f"{counted(len(rows), 'skill')}; the list of them is {listed:,} tokens at most."
    told = (Text("\n".join(problems), "warning"),) if problems else ()
    return (Table(COLUMNS, cells), Text(total, "dim"), *told)


def _find(shelf: SkillShelf, name: str, file: str = "") -> SkillRow | None:
    skill = shelf.book.now().find(name)
    rows = _rows(shelf)
    if file:
        return next((row for row in rows if row.id == f"{name}\n{file}"), None)
    return next((row for row in rows if row.skill == skill), None)


def _details(shelf: SkillShelf, name: str, file: str = "") -> Sequence[Block] | None:
    row = _find(shelf, name, file)
    if row is None:
        return None
    now = shelf.book.now()
    wrong = [sentence(each) for each in now.diagnostics if each.file == row.skill.file]
    try:
        text: Block = Markdown(shelf.book.text(row.skill))
    except SkillError as error:
        text = Text(str(error), "warning")
    facts = Table(("", ""), tuple(facts_of(row, now, now.called)))
    told = (Text("\n".join(wrong), "warning"),) if wrong else ()
    return Text(described(row.skill)), facts, *told, text


def _search(shelf: SkillShelf, words: str) -> Outcome:
    """Installed ones, also those that the model is not told of; then what marketplaces list."""
    now = shelf.book.now()
    rows = [
        (now.called(skill), skill.whose, _cut(described(skill)))
        for skill in found(now.every, words)[:FOUND]
    ]
    more = shelf.elsewhere(words)
    if not rows:
        return Say((Text(f"No skill here is about {words[:80]}."), *more))
    return Say((Table(("Skill", "From", "For"), tuple(rows)), Text(HINT, "dim"), *more))


def _reloaded(shelf: SkillShelf, *, nested: bool) -> Outcome:
    now = shelf.book.reload(nested=nested)
    shelf.changed()
    wrong = [each for each in now.diagnostics if each.fatal]
    told = f"Read again: {counted(len(now.every), 'skill')}."
    if wrong:
        lines = "\n".join(map(sentence, wrong))
        return Problem.of(f"{told} {counted(len(wrong), 'file')} cannot be used:\n{lines}")
    return Say.text(told)


async def _cycled(shelf: SkillShelf, name: str, file: str) -> Outcome:
    """Shown the next way, as one's own settings say from now on."""
    row = await asyncio.to_thread(_find, shelf, name, file) if name else None
    if row is None or shelf.settings is None:
        return Problem.of("That is no skill that could be switched.")
    before = shelf.book.show(row.skill)
    ways = _ways(row.skill.said)
    wanted = ways[(ways.index(before) + 1) % len(ways)] if before in ways else "off"
    key = spelled((OVERRIDES, row.called))
    try:
        await shelf.settings.set(key, wanted)
    except GatewrightError as error:
        return Problem.of(str(error))
    shelf.changed()
    now = shelf.book.show(row.skill)
    if now != wanted:
        return Problem.of(f"{row.called} stays {now}: other settings say so. /config {OVERRIDES}")
    return Say.text(f"{row.called} {_told(row.skill.said, now)}.")


def _ways(said: Said) -> Sequence[Show]:
    """Those that differ: what its own file forbids stays forbidden."""
    if not said.model_invocable:
        return ("on", "off")
    return CYCLE if said.user_invocable else ("on", "name-only", "off")


def _told(said: Said, now: Show) -> str:
    if now == "off" or (said.model_invocable and said.user_invocable):
        return SAID[now]
    if not said.model_invocable:
        return "is on: yours to type, and the model is not told of it"
    return f"{SAID[now].partition(',')[0]}; it is not to be typed"


def _edited(shelf: SkillShelf, name: str, file: str) -> Outcome:
    row = _find(shelf, name, file) if name else None
    if row is None or row.skill.origin not in ("user", "project"):
        return Problem.of("Only your own skills and the project's are edited here.")
    path = row.skill.file
    try:
        text = read_regular(path, FILE_LIMIT).decode()
    except (OSError, UnicodeDecodeError) as error:
        return Problem.of(f"{path} cannot be read: {error}.")

    async def take(changed: str) -> Outcome:
        return await asyncio.to_thread(_saved, shelf, row, changed)

    return Form(fallback=Say.text(f"{row.called} is in {path}."), text=text, take=take)


def _saved(shelf: SkillShelf, row: SkillRow, text: str) -> Outcome:
    """What was written is kept in any case; what is wrong with it is told."""
    path = row.skill.file
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        return Problem.of(f"{path} cannot be written: {error.strerror or error}.")
    shelf.changed()
    wrong = [sentence(each) for each in shelf.book.now().diagnostics if each.file == path]
    return Problem.of("\n".join(wrong)) if wrong else Say.text(f"{path} is changed.")


def _cut(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"
