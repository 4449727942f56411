"""What may have the keys in place of a question's options: its form, or a rule that is changed."""

from __future__ import annotations

from typing import TypeAlias

from gatewright.tools.interact import Ask
from gatewright.tui.ask.form import FilledIn
from gatewright.tui.ask.rule_edit import RuleEdit
from gatewright.tui.ask.ways import editable

Opened: TypeAlias = FilledIn | RuleEdit


class Inside:
    """Of one question; what was typed there stays until it is answered."""

    def __init__(self, ask: Ask | None = None) -> None:
        always = ask.always if ask is not None and editable(ask) else None
        self.form = FilledIn(ask) if ask is not None and ask.fields else None
        self.edit = RuleEdit(always) if always is not None else None

    @property
    def opened(self) -> Opened | None:
        return next((each for each in (self.form, self.edit) if each and each.open), None)

    @property
    def unweighed(self) -> tuple[str, ...] | None:
        """Rules of which nothing is known yet."""
        edit = self.edit
        return edit.rules if edit is not None and edit.open and edit.weighed is None else None
