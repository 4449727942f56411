"""What flows between the commands of a line: downloads that run, secrets that leave."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gatewright.permissions.shell.danger import danger_table as table
from gatewright.permissions.shell.danger.hazard import Hazard
from gatewright.permissions.shell.files.operands import touched
from gatewright.permissions.shell.files.reach import Reach
from gatewright.permissions.shell.line import Part
from gatewright.permissions.shell.parse.words import Arg


def flows(parts: Sequence[Part], reach: Reach) -> Iterator[Hazard]:
    by_statement: dict[int, list[Part]] = {}
    for part in parts:
        by_statement.setdefault(part.statement, []).append(part)
    for group in by_statement.values():
        yield from _flow(group, reach)
    yield from _fetched_then_run(parts)


def _flow(group: list[Part], reach: Reach) -> Iterator[Hazard]:
    programs = [part.program for part in group]
    if table.NETWORK.isdisjoint(programs) and not any(part.redirects for part in group):
        return
    fetches = any(name in table.DOWNLOADERS for name in programs)
    if fetches and any(_runs_input(part) for part in group):
        yield Hazard(1, "It would run what it downloads.")
    talks = any(name in table.NETWORK for name in programs) or any(
        one.arg.text.startswith(("/dev/tcp/", "/dev/udp/")) for p in group for one in p.redirects
    )
    if talks and any(_reads_secret(part, reach) for part in group):
        yield Hazard(1, "It would read credentials and talk to the network.")


def _reads_secret(part: Part, reach: Reach) -> bool:
    operands = [operand.arg for operand in reach.touched(part).reads]
    if part.program in table.NETWORK:
        operands.extend(_uploads(part))
    for arg in operands:
        for located in reach.locations(arg, part.bases):
            if any(reach.is_credential(reading) for reading in located.readings):
                return True
    return part.program in ("env", "printenv") and len(part.argv) == 1 and part.pipe_out


def _runs_input(part: Part) -> bool:
    """An interpreter that gets its program from a pipe, a substitution or a process."""
    program = part.program
    if any(arg.substitution and arg.leads for arg in part.argv[:1]):
        return True
    if not table.runs_input(program):
        return False
    if part.fed:
        return True
    if any(one.operator == "<<<" and one.arg.substitution for one in part.redirects):
        return True
    return any(arg.substitution for arg in part.argv[1:])


def _uploads(part: Part) -> Iterator[Arg]:
    """Files that options of a network program send: `-d @file`, `-F x=@file`, `-T file`."""
    for arg in part.argv[1:]:
        text = arg.text
        at = text.find("@")
        if at >= 0 and not text.startswith(("http", "git@")):
            name = text[at + 1 :].partition(";")[0]
            if name and name != "-":
                yield Arg(name, name)
        elif "=" in text and text.startswith("--"):
            value = text.partition("=")[2]
            yield Arg(value, value)
        elif not text.startswith("-") and "://" not in text:
            yield arg
        found = re.match(r"-[TK](.+)", text)
        if found is not None:
            yield Arg(found.group(1), found.group(1))


def _fetched_then_run(parts: Sequence[Part]) -> Iterator[Hazard]:
    """A file that one command downloads and a later one runs."""
    if table.DOWNLOADERS.isdisjoint([part.program for part in parts]):
        return
    fetched: set[str] = set()
    for part in parts:
        if not part.argv:
            continue
        words = {text.removeprefix("./") for text in part.texts}
        runs = table.runs_input(part.program)
        ran = words if runs else {part.argv[0].text.removeprefix("./")}
        if fetched & ran:
            yield Hazard(1, "It would run what it downloads.")
        if part.program in table.DOWNLOADERS:
            written = {operand.arg.text.removeprefix("./") for operand in touched(part).writes}
            fetched |= written
            if part.texts[1:] and any(text in ("-O", "-LO", "-OL", "-sO") for text in part.texts):
                fetched |= {text.rstrip("/").rpartition("/")[2] for text in part.texts}
            if part.program.startswith("wget"):
                fetched |= {
                    text.rstrip("/").rpartition("/")[2] for text in part.texts if "/" in text
                }
