"""What `/status` says of a session beside its mode: one row each, short enough for one screen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from gatewright.agent.commands.registry import InUse
from gatewright.agent.commands.sandbox import Confinement
from gatewright.agent.extensions.contribution import Contribution, part_of
from gatewright.agent.models.choices import ModelBook
from gatewright.agent.session.frame import Frame
from gatewright.agent.settings.overview import SettingsBook

Row: TypeAlias = tuple[str, str]


def status_rows(
    frame: Frame, brought: Sequence[Contribution], in_use: InUse
) -> Callable[[], Sequence[Row]]:
    models, settings = part_of(brought, ModelBook), part_of(brought, SettingsBook)
    confined = part_of(brought, Confinement)

    def rows() -> Sequence[Row]:
        where = frame.where
        found = [("Folder", _named(where.cwd, where.home)), ("Session", frame.id)]
        if models is not None:
            found += _model(models, in_use.name)
        if settings is not None:
            around = settings.around
            trusted = "trusted" if around.trusted else "not trusted; /trust trusts it"
            found.append(("Project", f"{_named(where.root, where.home)}, {trusted}"))
            files = [where.shown(file) for file in around.loaded.files if file.exists()]
            found.append(("Settings", ", ".join(files) or "no files, all defaults"))
        if confined is not None:
            found.append(("Sandbox", confined.said()))
        return found

    return rows


def _named(path: Path, home: Path) -> str:
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def _model(models: ModelBook, name: str) -> list[Row]:
    """Which one, who chose it, and where its key is from."""
    if not (answering := models.answering(name)):
        return []
    provider = models.resolved(name).partition("/")[0]
    key = next((each.found for each in models.key_places() if each.provider == provider), "")
    return [("Model", answering), *([("Key", key)] if key else [])]
