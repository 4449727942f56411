"""What a project's skills would do once it is trusted, for the question whether it is."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from gatewright.agent.extensions.skills.session_skills import ground_of
from gatewright.agent.settings.hook_layers import HookLayer, said
from gatewright.agent.settings.traits import Source
from gatewright.agent.settings.workspace import Surroundings
from gatewright.skills.book import SkillBook
from gatewright.skills.model import Skill, SkillError
from gatewright.skills.template import commands_of

SHOWN = 120  # characters of a command


def would_act(around: Surroundings) -> Iterator[str]:
    """One line for each thing; read as if it were trusted, and nothing is run."""
    ground = replace(ground_of(around), trusted=True, bundled=False)
    book = SkillBook(lambda: ground)
    for skill in book.now().every:
        if skill.origin == "project":
            yield from _of(book, skill)


def _of(book: SkillBook, skill: Skill) -> Iterator[str]:
    kind = "skill" if skill.form == "skill" else "command"
    whose = f"of {kind} {skill.name} (in {skill.file})"
    if skill.said.hooks:
        layer = HookLayer(source=Source.PROJECT, where=str(skill.file), raw=dict(skill.said.hooks))
        yield from (f"hook {text} {whose}" for text in said(layer))
    if skill.said.allowed_tools:
        yield f"rules {', '.join(skill.said.allowed_tools)} {whose}"
    try:
        commands = list(commands_of(book.text(skill)))
    except SkillError:
        return
    for text in commands:
        yield f"command {' '.join(text.split())[:SHOWN]} {whose}"
