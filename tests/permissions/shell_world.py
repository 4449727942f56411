"""A fixed place for shell tests: /w/proj, trusted, with nothing on disk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gatewright.permissions.calls.shell_call import ShellCall
from gatewright.permissions.check import call_and_context
from gatewright.permissions.inquiry import inquiries
from gatewright.permissions.paths import Paths
from gatewright.permissions.shell.danger.danger import Danger
from gatewright.permissions.shell.files.reach import Reach
from gatewright.permissions.shell.line import Line, Part, Start, read_line
from gatewright.permissions.shell.safe.readonly import is_safe
from gatewright.permissions.shell.safe.safe_surroundings import Surroundings
from gatewright.permissions.shell.wrappers import opened

START = Start(("/w/proj",), "/home/u", {"HOME": "/home/u"})


def shell_call(command: str, context: Mapping[str, Any] | None = None) -> ShellCall:
    case = {"tool": "Bash", "input": {"command": command}, "context": dict(context or {})}
    subject = next(inquiries(*call_and_context(case))).subject
    assert isinstance(subject, ShellCall)
    return subject


def world() -> tuple[Reach, Surroundings]:
    _, context = call_and_context({"tool": "Bash", "input": {"command": "ls"}})
    reach = Reach(Paths(context.place, context.resolver), START)
    return reach, Surroundings(context, reach)


def parts_of(command: str) -> tuple[Part, ...]:
    return read_line(command, START).parts


def line_of(command: str) -> Line:
    return read_line(command, START)


def safe(command: str) -> bool:
    """Whether the one command of a line is on the safe list, the line itself understood."""
    line = line_of(command)
    _, surroundings = world()
    return line.understood and all(is_safe(part, surroundings) for part in line.parts)


def level(command: str) -> str:
    reach, surroundings = world()
    danger = Danger(reach, is_safe=lambda part: is_safe(part, surroundings))
    found = danger.hazards(opened(parts_of(command), START), command)
    top = max((hazard.level for hazard in found), default=0)
    call = shell_call(command)
    return "catastrophic" if top > 1 else "dangerous" if top or call.danger() else "normal"
