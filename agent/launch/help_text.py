"""The text of `agent --help`, from the tables of flags, sub-commands and exit codes."""

from __future__ import annotations

import textwrap

from gatewright.agent.launch.exits import MEANINGS
from gatewright.agent.launch.flags import FLAGS, Flag
from gatewright.agent.subcommands.names import SUBCOMMANDS

HEAD = """\
Usage: agent [FLAGS] [PROMPT]
       agent -p "PROMPT"          answer on standard output and exit
       agent COMMAND --help

A coding agent in your terminal. Without arguments it opens the screen.
Try it without a key or network: agent -p "tour" --model demo
"""
COLUMN = 33
MIN_WIDTH, MAX_WIDTH = 50, 100


def usage(width: int) -> str:
    width = max(MIN_WIDTH, min(width, MAX_WIDTH))
    parts = [HEAD, _section("Commands", [(f"agent {n}", help) for n, help in SUBCOMMANDS.items()])]
    for group in dict.fromkeys(flag.group for flag in FLAGS):
        rows = [(_names(f), _help(f)) for f in FLAGS if f.group == group and not f.hidden]
        parts.append(_section(group, rows))
    text = "\n".join(parts)
    codes = _section("Exit codes", [(str(code.value), meaning) for code, meaning in MEANINGS])
    lines = [*text.splitlines(), "", *codes.splitlines()]
    return "\n".join(line for row in lines for line in _wrapped(row, width)) + "\n"


def _section(title: str, rows: list[tuple[str, str]]) -> str:
    narrow = max((len(name) for name, _ in rows), default=0) < COLUMN // 2
    column = COLUMN // 2 if narrow else COLUMN
    lines = [title + ":"]
    for name, help in rows:
        if len(name) + 4 > column:
            lines += [f"  {name}", " " * column + help]
        else:
            lines.append(f"  {name}".ljust(column) + help)
    return "\n".join(lines) + "\n"


def _names(flag: Flag) -> str:
    short = [name for name in flag.names if not name.startswith("--")]
    long = [name for name in flag.names if name.startswith("--")][:2]
    metavar = "" if flag.kind == "switch" else f" {flag.metavar or 'NAME'}"
    return ", ".join([*short, *long]) + metavar


def _help(flag: Flag) -> str:
    return f"{flag.help} ({', '.join(flag.choices)})" if flag.choices else flag.help


def _wrapped(line: str, width: int) -> list[str]:
    if len(line) <= width:
        return [line]
    words = line.lstrip()
    gap = line.find("  ", len(line) - len(words))
    indent = len(line) - len(line[gap:].lstrip()) if gap > 0 else len(line) - len(words)
    return textwrap.wrap(
        line, width, subsequent_indent=" " * indent, drop_whitespace=True, replace_whitespace=False
    )
