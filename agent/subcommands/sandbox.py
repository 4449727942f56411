"""`agent sandbox`: run a command confined, or say what a confined command could do."""

from __future__ import annotations

import inspect
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from msgspec.structs import replace

from gatewright.agent.errors import GatewrightError
from gatewright.agent.launch.argv import Conflict
from gatewright.agent.settings.paths import own_home, user_home
from gatewright.agent.settings.policy_settings import rules_of
from gatewright.agent.subcommands.place import Here, here, refuse_inside_session
from gatewright.agent.subcommands.tell import tell
from gatewright.permissions.rulebook.rules import rule_set
from gatewright.permissions.sandbox import explain as explained
from gatewright.permissions.sandbox.config import Config, configured, limited, restricted
from gatewright.permissions.sandbox.confinement import Sandbox
from gatewright.permissions.sandbox.disk.aside import ASIDE, Aside, sentences, shown
from gatewright.permissions.sandbox.disk.receipts import recovered
from gatewright.permissions.sandbox.limits import with_limit
from gatewright.permissions.sandbox.machine import machine
from gatewright.permissions.sandbox.probe import probe
from gatewright.permissions.sandbox.restrictions import restrictions
from gatewright.permissions.sandbox.running import foreground
from gatewright.tools.protocol import ToolFailure
from gatewright.tools.system.home import OwnHome

group = typer.Typer(help="Run commands confined, and explain the confinement.")

_LATER = {"ignore_unknown_options": True, "allow_interspersed_args": False}


def register(app: typer.Typer) -> None:
    for action, settings in ((run, _LATER), (explain, {})):
        signature = _signature(with_command=action is run)
        action.__signature__ = signature  # type: ignore[union-attr]
        action.__annotations__ = {
            name: each.annotation for name, each in signature.parameters.items()
        }
        group.command(context_settings=settings)(action)
    group.command()(aside)
    group.command()(restore)
    app.add_typer(group, name="sandbox")


def run(command: list[str], **flags: Any) -> None:
    """Run a command in the sandbox; its output and exit code are the command's own."""
    raise typer.Exit(_run(Wanted(**flags), command))


def explain(**flags: Any) -> None:
    """Print what a command could do: the effective profile."""
    config = _config(Wanted(**flags))
    found = machine()
    box = Sandbox(config, found)
    for line in explained.lines(box.profile(config.cwd), probe(found)):
        tell(line)


def aside() -> None:
    """List what commands made and may not make: it was put aside."""
    waiting = _aside(here()).waiting()
    if not waiting:
        tell("Nothing is put aside.")
    for number, path, why in shown(waiting):
        tell(f"{number.rjust(4)}  {path}{f'  ({why})' if why else ''}")


def restore(number: str) -> None:
    """Take back what was put aside under this number."""
    refuse_inside_session()
    for text in sentences(_aside(here()), number):
        tell(text)


def _aside(place: Here) -> Aside:
    return Aside(str(place.places.state / ASIDE))


def _signature(*, with_command: bool) -> inspect.Signature:
    """Both commands take the same flags: typer reads them from here."""
    texts = list[str]
    flags: list[tuple[str, Any, Any]] = [
        ("cwd", Path, typer.Option(".", help="Start here; this directory is writable.")),
        ("write", list[Path], typer.Option([], help="Another writable directory.")),
        ("deny_read", texts, typer.Option([], help="A path glob that is not to be read.")),
        ("deny_write", texts, typer.Option([], help="A path that is not to be changed.")),
        ("allow_domain", texts, typer.Option([], help="A domain to be reached: a.org, *.b.org.")),
        ("net", bool, typer.Option(False, "--net", help="Do not confine the network.")),
        ("limit", texts, typer.Option([], help="nproc=64, memory=1G, fsize=100M, ...")),
    ]
    if with_command:
        flags.insert(0, ("command", texts, typer.Argument(help="The command.")))
    return inspect.Signature(
        [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default
            )
            for name, kind, default in flags
        ]
    )


@dataclass(frozen=True, slots=True)
class Wanted:
    """The flags of both commands."""

    cwd: Path
    write: list[Path]
    deny_read: list[str]
    deny_write: list[str]
    allow_domain: list[str]
    net: bool
    limit: list[str]


def _config(wanted: Wanted) -> Config:
    """The settings and permission rules of this place, and what the flags add."""
    place = here()
    cwd = Path(os.path.realpath(wanted.cwd))
    for directory in (cwd, *wanted.write):
        if not directory.is_dir():
            raise GatewrightError(f"{directory} is no directory.")
    home = user_home(os.environ)
    base = Config(
        cwd=cwd,
        home=home,
        roots=(cwd, *wanted.write),
        temp=_temp(home),
        state=place.places.state,
        own_home=OwnHome(str(place.places.home)),
        secrets=place.secrets,
    )
    settings = place.loaded.settings.sandbox
    limits, wrong = limited(settings.limits, base.limits)
    try:
        if wrong:
            raise ValueError(wrong[0])
        for text in wanted.limit:
            limits = with_limit(limits, text)
    except ValueError as error:
        raise Conflict(str(error)) from error
    rules = rule_set(rules_of(place.loaded), trusted=place.trusted)
    root, start = str(place.places.root), os.path.realpath(".")
    config = restricted(configured(base, settings), restrictions(rules, root, start))
    network = config.network
    if wanted.net:
        network = replace(network, reach="open")
    elif wanted.allow_domain:
        allowed = (*network.allowed, *wanted.allow_domain)
        network = replace(network, allowed=allowed)
        if network.reach == "none":
            network = replace(network, reach="proxy")
    return replace(
        config,
        deny_read=(*config.deny_read, *wanted.deny_read),
        deny_write=(*config.deny_write, *wanted.deny_write),
        network=network,
        limits=limits,
    )


def _temp(home: Path) -> Path | None:
    """TMPDIR as given, unless it is so wide that it would open what is not meant."""
    given = os.environ.get("TMPDIR", "")
    if not given or not Path(given).is_dir():
        return None
    real = Path(os.path.realpath(given))
    wide = real in (Path("/"), Path("/tmp"), Path("/var/tmp"))
    return None if wide or home.is_relative_to(real) else real


def _run(wanted: Wanted, command: list[str]) -> int:
    for text in recovered(own_home(os.environ) / "state"):
        tell(f"agent: {text}", err=True)
    config = _config(wanted)
    tools = machine()
    found = probe(tools)
    if found.level == "none":
        raise GatewrightError(f"The command was not run: {found.why}")
    if found.level == "landlock":
        tell(f"agent: {found.why} Landlock alone confines this command.", err=True)
    try:
        code, told = foreground.run(config, tools, found.level, command, os.environ)
    except ToolFailure as refusal:
        raise GatewrightError(f"The command was not run: {refusal}") from None
    for text in told:
        tell(f"agent: {text}", err=True)
    return code
