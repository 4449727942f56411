"""`agent lsp`: the language servers of a session here, and what to install for more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from gatewright.agent.launch.exits import BadInput
from gatewright.agent.subcommands.tell import give, tell

if TYPE_CHECKING:
    from gatewright.agent.subcommands.lsp.lsp_here import Row

group = typer.Typer(help="Language servers: list, doctor, log.", no_args_is_help=True)
AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]


@group.command(name="list")
def list_(as_json: AsJson = False) -> None:
    """List those that a session here would start when it changes files of their kinds."""
    from gatewright.agent.subcommands.lsp.lsp_here import LspHere  # noqa: PLC0415  lazy: 40 ms

    here = LspHere()
    rows = [each for each in here.rows() if each.used]
    if as_json:
        give(msgspec.json.format(msgspec.json.encode(rows)).decode())
        return
    for each in rows:
        tell(f"{each.name:28} {' '.join(each.extensions):40} {each.source}: {each.command}")
    if not rows:
        tell(here.off or "None is there: agent lsp doctor says what can be installed.")
    here.tell_faults()


@group.command()
def doctor(as_json: AsJson = False) -> None:
    """Say of each server whether its program is there, how it is installed, and whether it begins.

    In a trusted project each that its files need is started once, in the sandbox. Exit code 1 where
    one does not begin, what is written down is wrong, or the project has files of a kind for which
    there is none.
    """
    from gatewright.agent.subcommands.lsp.lsp_here import LspHere  # noqa: PLC0415  lazy: 40 ms

    here = LspHere()
    rows = here.tried()
    lacking = here.lacking()
    if as_json:
        found = {"servers": rows, "lacking": lacking, "off": here.off}
        give(msgspec.json.format(msgspec.json.encode(found)).decode())
    else:
        if here.off:
            tell(f"!!  {here.off}")
        for each in rows:
            tell(_line(each, lacking=bool(lacking)))
        for kind in lacking:
            tell(f"XX  No server for the {kind} files of this project.")
        here.tell_faults()
    wrong = here.faults and not here.off
    if lacking or wrong or any(each.begins is False for each in rows):
        raise typer.Exit(1)


def _line(row: Row, *, lacking: bool) -> str:
    if not row.usable:
        return f"{'XX' if row.needed and lacking else '--'}  {row.name}: {row.lack}"
    mark = "XX" if row.begins is False else "ok" if row.used else "--"
    unused = "" if row.used else "another stands before it"
    return f"{mark}  {row.name}: {row.command}{''.join(f'; {s}' for s in (row.told, unused) if s)}"


@group.command()
def log(name: Annotated[str, typer.Argument(help="A server's name.")]) -> None:
    """Print the end of what a server said beside the protocol, in any session."""
    from gatewright.agent.subcommands.lsp.lsp_here import log_of  # noqa: PLC0415  lazy: 40 ms

    text = log_of(name)
    if text is None:
        raise BadInput(f"No language server {name} has a log here.")
    tell(text or f"{name} has said nothing beside the protocol.")
