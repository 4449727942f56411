"""Prompts of servers: what they are called as commands, and what a line says of arguments."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gatewright.mcp.names import tool_names
from gatewright.mcp.offered.listed import Prompt
from gatewright.tools.protocol import Part

if TYPE_CHECKING:
    from gatewright.mcp.server import Server


class BadArguments(Exception):
    """Its text says what is wrong with the line."""


def prompts_of(server: Server) -> Mapping[str, Prompt]:
    """By the name of the command."""
    if not server.usable:
        return {}
    names = tool_names(server.name, (prompt.name for prompt in server.listing.prompts))
    return {names[prompt.name]: prompt for prompt in server.listing.prompts}


def hint(prompt: Prompt) -> str:
    return " ".join(each.name if each.required else f"[{each.name}]" for each in prompt.arguments)


def given(prompt: Prompt, line: str) -> dict[str, str]:
    """Words as a shell parts them, in their order or as `name=value`. Raises BadArguments."""
    try:
        words = shlex.split(line)
    except ValueError:
        raise BadArguments("A quote is not closed.") from None
    known = [each.name for each in prompt.arguments]
    found: dict[str, str] = {}
    plain: list[str] = []
    for word in words:
        name, separator, value = word.partition("=")
        if separator and name in known:
            found[name] = value
        else:
            plain.append(word)
    left = [name for name in known if name not in found]
    if len(plain) > len(left):
        raise BadArguments(f"It takes {len(known)} arguments: put quotes around one with blanks.")
    return {**found, **dict(zip(left, plain, strict=False))}


def missing(prompt: Prompt, arguments: Mapping[str, str]) -> Sequence[str]:
    return [each.name for each in prompt.arguments if each.required and each.name not in arguments]


async def words_of(
    server: Server, prompt: Prompt, arguments: Mapping[str, str]
) -> tuple[Part, ...]:
    """What it comes to. Raises ToolFailure."""
    return await server.asked(lambda asking: asking.prompt(prompt.name, arguments))
