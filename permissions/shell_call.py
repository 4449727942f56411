"""Calls that run a shell line. Without an analysis of the line only its exact text grants."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from gatewright.permissions import tools_table
from gatewright.permissions.context import Call, Context
from gatewright.permissions.decision import Grant, Stage
from gatewright.permissions.modes import Mode
from gatewright.permissions.paths import Paths
from gatewright.permissions.rules import Bare, Rule, ShellForm
from gatewright.permissions.subject import Permit, PlanKind, Verdict, covers_tool, strongest

_SEPARATORS = re.compile(r"[;&|\n(){}`]+")


class ShellCall:
    def __init__(self, call: Call, context: Context, paths: Paths) -> None:
        self._call = call
        self._context = context
        self._paths = paths
        runs = call.access.runs
        self._line = runs.command if runs is not None else ""

    @property
    def family(self) -> tools_table.Family:
        return "shell"

    @property
    def target(self) -> str:
        return self._line

    def impossible(self) -> tuple[Stage, str] | None:
        return None

    def denied(self) -> Rule | None:
        return next((rule for rule in self._context.rules.deny if self._fires(rule)), None)

    def asked(self) -> Rule | None:
        return strongest(rule for rule in self._context.rules.ask if self._fires(rule))

    def _fires(self, rule: Rule) -> bool:
        if not covers_tool(rule, self._call.tool):
            return False
        texts = [self._line, *_SEPARATORS.split(self._line)]
        match rule.form:
            case Bare():
                return True
            case ShellForm(kind="glob", text=text):
                return any(fnmatchcase(t.strip() + " ", text + " ") for t in texts)
            case ShellForm(text=text):
                return any(f" {text} " in f" {' '.join(t.split())} " for t in texts)
            case _:
                return False

    def floor(self) -> str:
        return ""

    def always_asks(self) -> str:
        return ""

    def trusted(self, *, hook: bool) -> Permit | None:
        rules = self._context.rules.trusted
        best = strongest(rule for rule in rules if self._exactly(rule))
        ask = self.asked()
        if best is None or (ask is not None and ask.rank > best.rank):
            return None
        return Permit(best)

    def _exactly(self, rule: Rule) -> bool:
        form = rule.form
        return isinstance(form, ShellForm) and form.kind == "exact" and form.text == self._line

    def untrusted(self) -> Permit | None:
        return None

    def skippable(self) -> bool:
        return False

    def danger(self) -> str:
        return ""

    def plan_kind(self) -> PlanKind:
        return "unknown"

    def strategy(self, mode: Mode) -> Verdict:
        return Verdict(False, f"Commands ask in {mode.id} mode.")

    def grants(self) -> tuple[Grant, ...]:
        return ()

    def lacking(self) -> tuple[str, ...]:
        return (self._line,)
