"""The question whether a server that a project names may be used: all of it, before it starts."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gatewright.agent.text.printable import escaped
from gatewright.tools.blocks import Text
from gatewright.tools.interact import Ask, Option

USE, SANDBOX, LATER, NEVER = "use", "sandbox", "later", "never"


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """All that a person should know of a server."""

    name: str
    where: str
    definition: str  # as it is written
    reaches: str  # the real path of its program, or its address
    variables: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()  # that would allow calls of it already
    shadows: str = ""
    program: bool = True
    confined: str = ""  # what it may do, where it runs in the sandbox anyhow


def question(about: Asked) -> Ask:
    lines = [f"In {about.where}:", about.definition, "", f"It is {about.reaches}"]
    if about.variables:
        lines.append(f"It is given: {', '.join(about.variables)}")
    if about.rules:
        lines.append(f"Rules of yours already allow calls of it: {', '.join(about.rules)}")
    if about.shadows:
        lines.append(f"It stands in place of your own server {about.name} ({about.shadows})")
    if about.confined:
        lines.append(f"It runs in the sandbox: {about.confined}")
    offers = about.program and not about.confined
    return Ask(
        kind="trust",
        title=f"Use the MCP server {about.name} of this project?",
        body=(Text("\n".join(map(escaped, lines))),),
        options=(
            Option(USE, "Use it; a change of its definition asks again", "y"),
            *([Option(SANDBOX, "Use it in the sandbox of commands", "s")] if offers else []),
            Option(LATER, "Not now", "n"),
            Option(NEVER, "Never in this project", "x"),
        ),
        reason="Its program would run on this machine."
        if about.program
        else "It would get what is sent to it.",
    )


def waiting(names: Sequence[str], *, trusted: bool) -> str:
    """Where nobody can be asked; empty where nothing waits."""
    if not names:
        return ""
    told = ", ".join(names)
    if not trusted:
        return f"MCP servers of this project are not used, because it is not trusted: {told}."
    return f"MCP servers of this project are not used: {told}. `agent mcp approve NAME` lets one."
