"""A profile in words, for people: what is promised for a command, and by what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gatewright.permissions.sandbox.disk.aside import HEADS, Batch, Item, shown
from gatewright.permissions.sandbox.limits import Limits, written
from gatewright.permissions.sandbox.linux import landlock
from gatewright.permissions.sandbox.probe import Found
from gatewright.permissions.sandbox.profile import Network, SandboxProfile
from gatewright.permissions.sandbox.violations import Violation
from gatewright.tools.blocks import Block, Table

_LEVELS = {
    "bwrap": "bubblewrap, with a system-call filter",
    "landlock": "Landlock alone: a weaker promise",
    "none": "nothing: commands are not confined",
}
_SHOWN = 40
COLUMN = 12  # what a line is about, before what it says


def panel(
    profile: SandboxProfile,
    found: Found,
    recent: Sequence[Violation],
    waiting: Sequence[tuple[Batch, tuple[Item, ...]]],
) -> tuple[Block, ...]:
    """What `/sandbox` shows."""
    told = lines(profile, found)
    blocks: list[Block] = [
        Table(("", ""), tuple((row[:COLUMN].rstrip(), row[COLUMN:]) for row in told))
    ]
    if recent:
        rows = tuple((" ".join(each.command.split())[:60], each.text) for each in recent[-20:])
        blocks.append(Table(("command", "what was stopped"), rows))
    if waiting:
        blocks.append(Table(HEADS, tuple(shown(waiting))))
    return tuple(blocks)


def lines(profile: SandboxProfile, found: Found) -> Iterator[str]:
    yield f"sandbox     {_LEVELS[found.level]}"
    if found.why:
        yield f"            {found.why}"
    yield from _list("writable", profile.writable)
    yield f"TMPDIR      {profile.temp or '/tmp, private to the command'}"
    yield from _list("read-only", profile.protected)
    yield "put aside   such names where a command makes new ones"
    yield from _list("unreadable", [mask.path for mask in profile.masked])
    yield from _list("but", profile.windows)
    yield f"network     {network_text(profile.network)}"
    yield f"limits      {limits_text(profile.limits)}"
    if found.level == "landlock":
        yield from _list("not kept", landlock.MISSING)


def _list(name: str, values: Sequence[str]) -> Iterator[str]:
    head = name
    for value in values[:_SHOWN]:
        yield f"{head.ljust(COLUMN)}{value}"
        head = ""
    if len(values) > _SHOWN:
        yield f"{' ' * COLUMN}and {len(values) - _SHOWN} more"


def network_text(network: Network) -> str:
    match network.reach:
        case "open":
            text = "everything"
        case "proxy":
            text = "only " + ", ".join(network.allowed)
            text += f"; never {', '.join(network.denied)}" if network.denied else ""
        case "none":
            text = "none"
    if network.unix_sockets:
        text += f"; socket files {', '.join(network.unix_sockets)}"
    return text


def limits_text(limits: Limits) -> str:
    named = {
        "nproc": limits.nproc,
        "memory": limits.memory and written(limits.memory),
        "fsize": limits.fsize and written(limits.fsize),
        "nofile": limits.nofile,
        "cpu": limits.cpu,
        "tmp": limits.tmp and written(limits.tmp),
    }
    return ", ".join(f"{name}={value}" for name, value in named.items() if value) or "none"
