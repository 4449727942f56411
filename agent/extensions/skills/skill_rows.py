"""Skills as people look at them: whose each is, how it shows, what it costs, how often used."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec

from gatewright.agent.compact.estimate import text_tokens
from gatewright.agent.extensions.skills.telling import described
from gatewright.agent.extensions.skills.uses import Uses
from gatewright.agent.text.printable import escaped
from gatewright.skills.book import SkillBook
from gatewright.skills.model import Diagnostic, Skill
from gatewright.skills.naming import Skills

BYTES = 4  # of a token, where nobody has read the text
ORIGINS = ("managed", "user", "project", "plugin", "mcp", "built-in")


class SkillRow(msgspec.Struct, frozen=True, kw_only=True):
    """`called` is what leads to it; `listed` and `text` are tokens, none where it is not listed."""

    id: str
    called: str
    source: str
    state: str
    listed: int
    text: int
    uses: int
    skill: Skill


def rows_of(book: SkillBook, uses: Uses) -> Sequence[SkillRow]:
    """By whose they are, then by name."""
    now = book.now()
    listed = {id_of(skill) for skill in book.listed()}
    rows = [_row(book, uses, now, skill, listed=id_of(skill) in listed) for skill in now.every]
    rows.sort(key=lambda row: (ORIGINS.index(row.skill.origin), row.source, row.called))
    return rows


def _row(book: SkillBook, uses: Uses, now: Skills, skill: Skill, *, listed: bool) -> SkillRow:
    called = now.called(skill)
    cost = text_tokens(f"- {called}: {described(skill)}") if listed else 0
    if listed and book.show(skill) == "name-only":
        cost = text_tokens(f"- {called}")
    return SkillRow(
        id=id_of(skill),
        called=called,
        source=source_of(skill),
        state=state_of(book, skill, listed=listed),
        listed=cost,
        text=skill.size // BYTES,
        uses=uses.of(skill.qualified).uses,
        skill=skill,
    )


def id_of(skill: Skill) -> str:
    return f"{skill.qualified}\n{skill.file}"


def source_of(skill: Skill) -> str:
    """As people call it: of a plugin its name, of a nested one its directory."""
    return skill.whose if skill.origin == "plugin" or skill.nested else skill.origin


def state_of(book: SkillBook, skill: Skill, *, listed: bool) -> str:
    """How it shows, and what else keeps the model or the person from it."""
    said, shown = skill.said, book.show(skill)
    if shown == "off":
        return "off"
    found: list[str] = []
    if shown != "on":
        found.append("user-only" if shown == "user-invocable-only" else shown)
    if not said.model_invocable and "user-only" not in found:
        found.append("user-only")
    if not said.user_invocable:
        found.append("model-only")
    if said.paths and not listed and said.model_invocable:
        found.append("waits for its files")
    if not skill.trusted:
        found.append("untrusted")
    return ", ".join(found) or "on"


def problems_of(now: Skills) -> Sequence[str]:
    """What is wrong with which file, in a line each; those that cannot be used first."""
    told = sorted(now.diagnostics, key=lambda each: not each.fatal)
    return tuple(dict.fromkeys(map(sentence, told)))


def sentence(found: Diagnostic) -> str:
    at = f"{found.file}:{found.line}" if found.line else str(found.file)
    fix = f" {found.fix}" if found.fix else ""
    return escaped(f"{at}: {found.text}.{fix}")


def facts_of(
    row: SkillRow, now: Skills, called: Callable[[Skill], str]
) -> Iterator[tuple[str, str]]:
    """What there is to say of one, in lines with a name each."""
    skill, said = row.skill, row.skill.said
    yield "called", f"/{row.called}"
    yield "source", f"{row.source} {skill.file}"
    yield "state", row.state
    yield "costs", f"{row.listed} tokens listed, about {row.text:,} when invoked"
    yield "used", f"{row.uses} times" if row.uses != 1 else "once"
    pairs = (
        ("when", said.when_to_use),
        ("arguments", said.argument_hint or " ".join(said.arguments)),
        ("allows", ", ".join(said.allowed_tools)),
        ("denies", ", ".join(said.disallowed_tools)),
        ("model", " ".join(filter(None, (said.model, said.effort)))),
        ("runs as", f"an agent of type {said.agent or 'general-purpose'}" if said.fork else ""),
        ("for files", ", ".join(said.paths)),
        ("hooks", ", ".join(said.hooks)),
        ("not trusted", ", ".join(skill.withheld)),
        ("license", said.license),
        ("needs", said.compatibility),
    )
    yield from ((name, value) for name, value in pairs if value)
    if others := [name for each in now.others(skill) if (name := called(each))]:
        yield "same name", ", ".join(f"/{name}" for name in others)
    yield from (("shadowed by", f"/{called(s.by)}") for s in now.shadowed if s.skill == skill)
