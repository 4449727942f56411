"""`agent plugin`: install, list, switch, check and write plugins."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from gatewright.agent.errors import GatewrightError
from gatewright.agent.launch.exits import UsageError
from gatewright.agent.plugins.installing import Installed, install_path
from gatewright.agent.plugins.manifest import Manifest
from gatewright.agent.plugins.options import Options
from gatewright.agent.plugins.reading_parts import read_plugin
from gatewright.agent.plugins.record import Record
from gatewright.agent.plugins.store import Store
from gatewright.agent.plugins.switching import installed, switch, uninstall
from gatewright.agent.subcommands.place import Scope, here, refuse_inside_session
from gatewright.agent.subcommands.plugins.plugin_consent import asking
from gatewright.agent.subcommands.plugins.plugin_market import (
    group as marketplaces,
)
from gatewright.agent.subcommands.plugins.plugin_market import (
    install_from,
    is_directory,
    update_plugins,
)
from gatewright.agent.subcommands.tell import give, tell

HELP = "Plugins: skills, commands, agents, hooks, servers and styles that others wrote."
NEXT = "It counts from the next session on; /reload-plugins takes it up in one that runs."
group = typer.Typer(help=HELP, no_args_is_help=True)
group.add_typer(marketplaces, name="marketplace")

Name = Annotated[str, typer.Argument(help="The plugin: NAME, or NAME@MARKETPLACE.")]
InScope = Annotated[
    Scope, typer.Option("-s", "--scope", help="For you, for everybody here, or for you here.")
]
Yes = Annotated[bool, typer.Option("-y", "--yes", help="Agree beforehand.")]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]


@group.command()
def install(
    what: Annotated[
        str,
        typer.Argument(
            help="NAME or NAME@MARKETPLACE, a directory, an archive or an address.",
            metavar="NAME | PATH | URL",
        ),
    ],
    scope: InScope = Scope.USER,
    sha: Annotated[str, typer.Option("--sha", help="The commit of a repository.")] = "",
    link: Annotated[
        bool, typer.Option("--link", help="Use the directory where it is; a change asks again.")
    ] = False,
    yes: Yes = False,
) -> None:
    """Install a plugin: it shows all that can act, and asks."""
    refuse_inside_session()
    if is_directory(what):
        path = Path(what).expanduser()
        done = install_path(_store(), path, asking(yes=yes), linked=link)
    elif link:
        raise UsageError("--link is for a directory of yours.")
    else:
        done = install_from(what, sha=sha, yes=yes)
    finish(done, scope)


def _store() -> Store:
    return Store(here().places.home)


def finish(done: Installed, scope: Scope) -> None:
    """Turn on what was installed, and ask for what it needs to know."""
    at, record = here(), done.record
    on = done.found.manifest.default_enabled
    switch(at.places, record.id, scope.source, on=on)
    version = f" {record.version}" if record.version else ""
    state = "installed already" if done.same else "installed"
    tell(f"{record.id}{version} is {state}{'' if on else ', and off by its own word'}.")
    for fault in done.found.errors:
        tell(f"!!  {fault}", err=True)
    _ask_options(record, done.found.manifest)
    tell(NEXT if on else f"agent plugin enable {record.id} turns it on.")


def _ask_options(record: Record, manifest: Manifest) -> None:
    options = Options(here().places.home)
    for key in options.lacking(record.id, manifest):
        want = manifest.user_config[key]
        if not sys.stdin.isatty():
            tell(f"!!  It needs {key}: agent plugin configure {record.id} {key}", err=True)
            continue
        label = want.title or want.description or key
        options.put(record.id, key, want, typer.prompt(label, hide_input=want.sensitive))


@group.command(name="uninstall")
def uninstall_(
    name: Name,
    scope: InScope = Scope.USER,
    keep_data: Annotated[bool, typer.Option("--keep-data", help="Keep what it stored.")] = False,
) -> None:
    """Remove a plugin, with what it stored and was told."""
    refuse_inside_session()
    at = here()
    record = installed(Store(at.places.home).lock.read(), name)
    uninstall(at.places, record, scope.source, keep_data=keep_data)
    tell(f"{record.id} is removed.{' What it stored stays.' if keep_data else ''}")


@group.command()
def enable(name: Name, scope: InScope = Scope.USER, yes: Yes = False) -> None:
    """Turn a plugin on; a linked one that changed is shown again first."""
    refuse_inside_session()
    at = here()
    store = Store(at.places.home)
    record = installed(store.lock.read(), name)
    if why := store.wrong(record):
        if not record.linked:
            raise GatewrightError(
                f"{record.id} stays off: {why}. agent plugin uninstall {record.id} removes it; "
                "then install it again."
            )
        record = install_path(store, Path(record.folder), asking(yes=yes), linked=True).record
    switch(at.places, record.id, scope.source, on=True)
    tell(f"{record.id} is on. {NEXT}")


@group.command()
def disable(name: Name, scope: InScope = Scope.USER) -> None:
    """Turn a plugin off; it stays installed."""
    refuse_inside_session()
    at = here()
    record = installed(Store(at.places.home).lock.read(), name)
    switch(at.places, record.id, scope.source, on=False)
    tell(f"{record.id} is off.")


@group.command()
def update(
    names: Annotated[list[str] | None, typer.Argument(help="Which.")] = None,
    every: Annotated[bool, typer.Option("--all", help="All that are installed.")] = False,
    yes: Yes = False,
) -> None:
    """Take newer versions, after showing what acts anew."""
    done = update_plugins(names or (), every=every, yes=yes)
    for each in done:
        tell(f"{each.id}: {each.text}", err=each.state == "failed")
    if any(each.state == "updated" for each in done):
        tell(NEXT)
    if any(each.state == "failed" for each in done):
        raise typer.Exit(1)


@group.command(name="list")
def list_(as_json: AsJson = False) -> None:
    """List the plugins that are installed, or that settings name."""
    from gatewright.agent.subcommands.plugins.plugins_here import PluginsHere  # noqa: PLC0415

    rows = PluginsHere().rows()
    if as_json:
        give(msgspec.json.format(msgspec.json.encode(rows)).decode())
        return
    for row in rows:
        version = f" {row.version}" if row.version else ""
        tell(f"{row.id}{version}  {row.state}{'  linked' if row.linked else ''}")
        if row.source:
            at_ = f" at {row.resolved[:12]}" if row.resolved else ""
            tell(f"    {row.source}{at_}")
        if row.why:
            tell(f"    {row.why}")
    if not rows:
        tell("No plugin is installed. agent plugin install PATH installs one.")


@group.command()
def info(
    name: Annotated[str, typer.Argument(help="An installed plugin, or a directory.")],
) -> None:
    """Show what a plugin is, all that can act, and what it was told."""
    from gatewright.agent.subcommands.plugins.plugins_here import (  # noqa: PLC0415
        PluginsHere,
        of_folder,
    )

    if "/" in name or name == ".":
        for line in of_folder(Path(name).expanduser()):
            tell(line)
        return
    plugins = PluginsHere()
    for line in plugins.details(installed(plugins.lock, name)):
        tell(line)


@group.command()
def configure(
    name: Name,
    key: Annotated[str, typer.Argument(help="One of its options.")],
    value: Annotated[str, typer.Argument(help="What it is; a secret is asked for.")] = "",
) -> None:
    """Tell a plugin something it asks for; secrets go into the keyring."""
    refuse_inside_session()
    at = here()
    store = Store(at.places.home)
    record = installed(store.lock.read(), name)
    root = store.root(record)
    said = read_plugin(root, market=record.market, data=root, entry=record.entry).manifest
    want = said.user_config.get(key)
    if want is None:
        known = ", ".join(said.user_config) or "none"
        raise GatewrightError(f"{record.id} has no option {key}. It has: {known}.")
    if want.sensitive and value:
        raise GatewrightError(f"{key} is a secret: leave it out, and it is asked for.")
    if not value:
        value = _asked(key, hidden=want.sensitive)
    Options(at.places.home).put(record.id, key, want, value)
    tell(f"{key} of {record.id} is kept. {NEXT}")


def _asked(key: str, *, hidden: bool) -> str:
    if sys.stdin.isatty():
        text: str = typer.prompt(key, hide_input=hidden)
        return text
    return sys.stdin.readline().rstrip("\n")


@group.command()
def validate(
    folder: Annotated[Path, typer.Argument(help="The plugin's directory.")] = Path(),
    strict: Annotated[bool, typer.Option("--strict", help="Warnings are problems.")] = False,
    as_json: AsJson = False,
) -> None:
    """Say what is wrong with a plugin; exit code 1 where something is."""
    from gatewright.agent.subcommands.plugins.plugin_check import checked  # noqa: PLC0415

    found = checked(folder)
    failed = bool(found.problems or (strict and found.notes))
    if as_json:
        give(msgspec.json.format(msgspec.json.encode(found)).decode())
    else:
        for problem in found.problems:
            tell(f"XX  {problem}")
        for note in found.notes:
            tell(f"{'XX' if strict else '!!'}  {note}")
        if not failed:
            tell(f"{found.name} is valid.")
    if failed:
        raise typer.Exit(1)


@group.command()
def init(
    name: Annotated[str, typer.Argument(help="a-z, 0-9 and hyphens, such as release-notes.")],
    folder: Annotated[Path, typer.Argument(help="Where its directory is made.")] = Path(),
    description: Annotated[str, typer.Option("--description", "-d", help="What it is for.")] = "",
    author: Annotated[str, typer.Option("--author", help="Whose it is.")] = "",
) -> None:
    """Write a new plugin, to be filled in."""
    from gatewright.agent.plugins.new_plugin import write_plugin  # noqa: PLC0415

    root = write_plugin(folder, name, description=description, author=author)
    tell(f"{root} is there. agent --plugin-dir {root} tries it, agent plugin validate checks it.")
