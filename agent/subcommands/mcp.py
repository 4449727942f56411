"""`agent mcp`: add, list, try, approve and remove MCP servers."""

from __future__ import annotations

import getpass
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
import typer

from gatewright.agent.launch.exits import UsageError
from gatewright.agent.servers.approvals import Said
from gatewright.agent.settings.edit import edit, read_object, section
from gatewright.agent.settings.paths import SERVERS
from gatewright.agent.settings.traits import Source
from gatewright.agent.subcommands.place import Here, here, refuse_inside_session
from gatewright.agent.subcommands.questions.server_entry import entry, login_of
from gatewright.agent.subcommands.serving.serve import AS_GIVEN, serve
from gatewright.agent.subcommands.tell import give, tell
from gatewright.tools.counted import counted

Scope: TypeAlias = Literal["local", "user", "project"]
SECRET = "Ask for the secret of its oauth.clientId, or take MCP_CLIENT_SECRET."
NEXT = {
    "unapproved": "agent mcp approve {0} lets it run here",
    "needs-auth": "agent mcp login {0} logs in",
}
HELP = "Servers of the Model Context Protocol (MCP), whose tools a session may use."
group = typer.Typer(help=HELP, no_args_is_help=True)

InScope = Annotated[
    str, typer.Option("-s", "--scope", help="local (you, here), user (you, everywhere), project.")
]
Name = Annotated[str, typer.Argument(help="What the server is called.")]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]


@group.command()
def add(  # noqa: PLR0913  its flags
    name: Name,
    words: Annotated[
        list[str], typer.Argument(help="An address, or -- and a command.", metavar="URL | -- CMD")
    ],
    scope: InScope = "local",
    transport: Annotated[str, typer.Option("-t", "--transport", help="stdio, http or sse.")] = "",
    env: Annotated[
        list[str] | None, typer.Option("-e", "--env", help="KEY=value for the program.")
    ] = None,
    header: Annotated[
        list[str] | None, typer.Option("-H", "--header", help='"Key: value" for the address.')
    ] = None,
    client: Annotated[
        str, typer.Option("--client-id", help="Its login: a client that was registered by hand.")
    ] = "",
    client_secret: Annotated[bool, typer.Option("--client-secret", help=SECRET)] = False,
    port: Annotated[
        int,
        typer.Option("--callback-port", help="Where its login comes back to.", min=0, max=65535),
    ] = 0,
) -> None:
    """Add a server; one of that name is never overwritten."""
    raw = entry(words, transport, env or (), header or ())
    raw.update(login_of(raw, client, port))
    if not client_secret:
        _keep(name, raw, scope)
        return
    if not client:
        raise UsageError("--client-secret is that of a client: name it with --client-id.")
    if scope == "project":
        raise UsageError(f"Approve it first: agent mcp login {name} --client-secret takes it then.")
    from gatewright.agent.subcommands.questions.server_login import keep_secret  # noqa: PLC0415  90 ms

    secret = _secret()
    _keep(name, raw, scope)
    keep_secret(name, secret)


@group.command(name="add-json")
def add_json(
    name: Name,
    text: Annotated[str, typer.Argument(help="Its definition, as in .mcp.json.", metavar="JSON")],
    scope: InScope = "local",
) -> None:
    """Add a server by its definition."""
    try:
        raw: Any = msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise UsageError(f"The definition is no JSON: {error}.") from error
    _keep(name, raw, scope)


@group.command(name="add-from-claude-desktop")
def add_from_claude_desktop(
    names: Annotated[
        list[str] | None, typer.Argument(help="Which of them; asks otherwise.")
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
    scope: InScope = "local",
) -> None:
    """Add servers that Claude Desktop has; one whose name is taken gets a number."""
    from gatewright.agent.subcommands.questions import claude_desktop as theirs  # noqa: PLC0415  8 ms

    refuse_inside_session()
    source = _scope(scope)
    found = list(theirs.offered(theirs.place(os.environ), source))
    for each in theirs.chosen(found, names or (), every=all_):
        _keep(theirs.free(each.name, _entries(here(), source)), dict(each.raw), scope)


@group.command()
def remove(
    name: Name,
    scope: Annotated[str, typer.Option("-s", "--scope", help="Where from: any.")] = "",
) -> None:
    """Remove a server from where it is written down."""
    refuse_inside_session()
    at = here()
    scopes: tuple[Scope, ...] = ("local", "project", "user")
    found: list[Scope] = [
        each for each in scopes if scope in ("", each) and name in _entries(at, each)
    ]
    if not found:
        known = [each for place in scopes if scope in ("", place) for each in _entries(at, place)]
        raise UsageError(
            f"There is no MCP server {name}{f' in {scope}' if scope else ''}.{_near(name, known)}"
        )
    if len(found) > 1:
        raise UsageError(f"{name} is in {', '.join(found)}: say which with --scope.")
    path, keys = _place(at, _scope(found[0]))
    edit(path, lambda values: section(path, values, *keys).pop(name, None))
    tell(f"{name} is removed from {path}.")


@group.command(name="list")
def list_(
    as_json: AsJson = False,
    offline: Annotated[bool, typer.Option("--offline", help="Connect none.")] = False,
) -> None:
    """List the servers that count here, and try to connect those that may run."""
    from gatewright.agent.subcommands.questions.servers_here import ServersHere  # noqa: PLC0415  90 ms

    at = ServersHere()
    wanted = at.configured.servers
    tried = [] if offline else at.tried(wanted)
    states = {server.name: (server.state, server.error, len(server.tools())) for server in tried}
    rows: list[dict[str, Any]] = [
        {
            "name": each.name,
            "source": each.source,
            "where": each.where,
            "type": each.transport,
            "state": states.get(each.name, (at.state(each),))[0],
            "error": states[each.name][1] if each.name in states else "",
            "tools": states[each.name][2] if each.name in states else 0,
        }
        for each in wanted
    ]
    if as_json:
        give(msgspec.json.format(msgspec.json.encode(rows)).decode())
        return
    for row, each in zip(rows, wanted, strict=True):
        what = each.url if each.remote else " ".join((each.command, *each.args))
        tell(f"{row['name']}: {what} ({row['source']}): {row['state']}{_count(row['tools'])}")
        if row["error"]:
            tell(f"    {row['error']}")
        if hint := NEXT.get(row["state"]):
            tell(f"    {hint.format(row['name'])}")
    for problem in at.problems:
        tell(f"!!  {problem}")
    if not wanted:
        tell("There are no MCP servers here. agent mcp add adds one.")


@group.command()
def get(name: Name, as_json: AsJson = False) -> None:
    """Show one server: its definition without values of variables, its state and tools."""
    from gatewright.agent.subcommands.questions.servers_here import ServersHere  # noqa: PLC0415  90 ms

    at = ServersHere()
    if (definition := at.find(name)) is None:
        known = [each.name for each in at.configured.servers]
        raise UsageError(f"There is no MCP server {name} here.{_near(name, known)}")
    (server,) = at.tried([definition])
    shown = _without_values(definition.raw)
    if as_json:
        facts = {
            "name": name,
            "source": definition.source,
            "where": definition.where,
            "state": server.state,
            "error": server.error,
            "definition": shown,
            "tools": [tool.name for tool in server.listing.tools],
        }
        give(msgspec.json.format(msgspec.json.encode(facts)).decode())
        return
    tell(f"{name} ({definition.source}, {definition.where}): {server.state}")
    if server.error:
        tell(server.error)
    tell(msgspec.json.format(msgspec.json.encode(shown)).decode())
    for tool in server.listing.tools:
        tell(f"  {tool.name}: {tool.description.partition(chr(10))[0][:100]}")


@group.command()
def login(
    name: Name,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Say the page; paste where it ends.")
    ] = False,
    client_secret: Annotated[
        bool,
        typer.Option(
            "--client-secret",
            help=SECRET,
        ),
    ] = False,
) -> None:
    """Log in at a server."""
    from gatewright.agent.subcommands.questions.server_login import keep_secret, log_in_here  # noqa: PLC0415  90 ms

    refuse_inside_session()
    if client_secret:
        keep_secret(name, _secret())
    log_in_here(name, page=not no_browser)


@group.command()
def logout(name: Name) -> None:
    """Give a login back, and forget it."""
    from gatewright.agent.subcommands.questions.server_login import log_out_here  # noqa: PLC0415  90 ms

    refuse_inside_session()
    log_out_here(name)


@group.command()
def approve(
    names: Annotated[list[str] | None, typer.Argument(help="Servers of .mcp.json.")] = None,
    all_: Annotated[bool, typer.Option("--all", help="All that wait.")] = False,
    sandbox: Annotated[bool, typer.Option("--sandbox", help="Only in the sandbox.")] = False,
) -> None:
    """Approve servers of this project's .mcp.json as they are written now."""
    from gatewright.agent.subcommands.questions.servers_here import ServersHere  # noqa: PLC0415  90 ms

    refuse_inside_session()
    at = ServersHere()
    if not at.around.trusted:
        raise UsageError("This project is not trusted: agent trust add trusts it.")
    waiting = [each for each in at.configured.servers if at.state(each) == "unapproved"]
    if not names and not all_:
        told = ", ".join(each.name for each in waiting) or "none"
        raise UsageError(f"Name a server, or say --all. Waiting: {told}.")
    for name in names or ():
        if name not in {each.name for each in waiting}:
            raise UsageError(f"{name} does not wait for an approval here.")
    for each in waiting:
        if all_ or each.name in (names or ()):
            if sandbox and each.transport != "stdio":
                raise UsageError(
                    f"{each.name} is an address: nothing of it runs in a sandbox here."
                )
            said: Said = "sandbox" if sandbox else "use"
            at.answers.keep(at.around.where.root, each.signature, each.name, said)
            definition = msgspec.json.format(msgspec.json.encode(each.raw)).decode()
            tell(
                f"{each.name} may be used in this project, as it is in {each.where}:\n{definition}"
            )


@group.command(name="reset-project-choices")
def reset() -> None:
    """Forget which servers of this project were approved, refused or switched off."""
    from gatewright.agent.servers.approvals import ServerAnswers  # noqa: PLC0415  only here

    refuse_inside_session()
    at = here()
    ServerAnswers(at.places.state).forget(at.places.root)
    tell("Every server of this project is asked about again.")


def _keep(name: str, raw: Any, scope: str) -> None:
    from gatewright.mcp.definitions import BadDefinition, read  # noqa: PLC0415  5 ms

    refuse_inside_session()
    chosen = _scope(scope)
    try:
        definition = read(name, raw, chosen, "agent mcp add")
    except BadDefinition as error:
        raise UsageError(f"{name} is not added: {error}.") from error
    at = here()
    path, keys = _place(at, chosen)

    def change(values: dict[str, Any]) -> None:
        entries = section(path, values, *keys)
        if name in entries:
            raise UsageError(f"{name} is in {path} already: agent mcp remove {name} removes it.")
        entries[name] = raw

    edit(path, change)
    for warning in definition.warnings:
        tell(f"!!  {warning}", err=True)
    if definition.transport == "stdio" and "://" in definition.command:
        tell("!!  The command is an address: --transport http was meant?", err=True)
    if _lacks_program(definition.command):
        tell(f"!!  There is no program {definition.command} on the PATH now.", err=True)
    tell(f"{name} is added to {path}. agent mcp get {name} tries it.")
    if scope == "project":
        tell(f"agent mcp approve {name} lets it run here; everybody else is asked.")


def _lacks_program(command: str) -> bool:
    """What is looked for on the PATH, and is not there."""
    from gatewright.tools.system.programs import find  # noqa: PLC0415  2 ms

    sought = bool(command) and not any(each in command for each in ("/", "$", " "))
    return sought and not find(command, os.environ)


def _near(given: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415  5 ms, on a typing error only

    near = get_close_matches(given, known, n=1)
    return f" Did you mean {near[0]}?" if near else ""


def _secret() -> str:
    """Never an argument: those can be seen by every process of the machine."""
    if found := os.environ.get("MCP_CLIENT_SECRET", ""):
        return found
    if not sys.stdin.isatty():
        raise UsageError("--client-secret asks in a terminal, or takes MCP_CLIENT_SECRET.")
    return getpass.getpass("Secret of the client (it is not shown): ").strip()


def _scope(text: str) -> Scope:
    match text:
        case "local" | "user" | "project":
            return text
        case _:
            raise UsageError("--scope is local, user or project.")


def _place(at: Here, scope: Scope) -> tuple[Path, tuple[str, ...]]:
    user = at.places.file(Source.USER)
    assert user is not None
    match scope:
        case "project":
            return at.places.root / SERVERS, ("mcpServers",)
        case "user":
            return user, ("mcpServers",)
        case "local":
            return user, ("projects", str(at.places.root), "mcpServers")


def _entries(at: Here, scope: Scope) -> dict[str, Any]:
    path, keys = _place(at, scope)
    values = read_object(path) if path.exists() else {}
    return section(path, values, *keys)


def _without_values(raw: Any) -> dict[str, Any]:
    """Values that may be secrets are not shown; their names are."""
    return {
        key: dict.fromkeys(value, "...") if key in ("env", "headers") else value
        for key, value in raw.items()
    }


def _count(tools: int) -> str:
    return f", {counted(tools, 'tool')}" if tools else ""


group.command(context_settings=AS_GIVEN)(serve)
