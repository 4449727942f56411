"""What is asked of the gate: one inquiry for each kind of fact that a call declares."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from gatewright.permissions.calls.aspects import aspects
from gatewright.permissions.calls.named_call import NamedCall
from gatewright.permissions.calls.path_call import PathCall
from gatewright.permissions.calls.subject import Subject
from gatewright.permissions.calls.web_call import WebCall
from gatewright.permissions.context import Call, Context
from gatewright.permissions.modes import MODES, Mode, effective
from gatewright.permissions.paths import Paths
from gatewright.permissions.rulebook import tools_table
from gatewright.tools.access import Family


class Inquiry(msgspec.Struct, frozen=True):
    """One decision in progress: the call, the world, and the modes that count."""

    call: Call
    context: Context
    subject: Subject
    paths: Paths
    mode: Mode
    previous: Mode  # in plan mode the mode it was entered from, else the mode itself

    @property
    def plan(self) -> bool:
        return self.mode.id == "plan"

    @property
    def strict_shell(self) -> bool:
        """Shell in a strict plan: no rule, switch or mode grants what is not safe."""
        return (
            self.plan
            and self.context.plan_enforcement != "delegate"
            and self.subject.family == "shell"
            and self.subject.plan_kind() != "safe"
        )


def inquiries(call: Call, context: Context) -> Iterator[Inquiry]:
    """One per kind of fact the call declared, at least one; what runs is judged first."""
    paths = Paths(context.place, context.resolver)
    mode = effective(context.mode, disable_bypass=context.disable_bypass)
    if mode == "delegate" and not context.main_agent:
        mode = "default"  # whoever is coordinated works as usual
    previous = mode
    if mode == "plan":
        previous = effective(context.previous_mode, disable_bypass=context.disable_bypass)
        previous = "default" if previous == "plan" else previous
    if (name := tools_table.canonical(call.tool)) != call.tool:
        call = replace(call, tool=name)
    for family in aspects(call.access):
        subject = subject_of(family, call, context, paths)
        yield Inquiry(call, context, subject, paths, MODES[mode], MODES[previous])


def subject_of(family: Family, call: Call, context: Context, paths: Paths) -> Subject:
    """By what the call declared; its name only says which rules are about it."""
    match family:
        case "shell":
            from gatewright.permissions.calls.shell_call import ShellCall  # noqa: PLC0415  lazy: 30 ms

            return ShellCall(call, context, paths)
        case "web":
            return WebCall(call, context)
        case "read" | "edit":
            return PathCall(family, call, context, paths)
        case _:
            return NamedCall(call, context, family)
