"""Where servers are written down, and what settings say of them: read, and judged by nobody here.

Nothing is raised for what a file holds: a broken one is a problem, and the others count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec

from gatewright.agent.launch.exits import UsageError
from gatewright.agent.settings.paths import SERVERS, folders_down
from gatewright.agent.settings.traits import Source
from gatewright.agent.settings.workspace import Surroundings
from gatewright.tools.protocol import JsonObject
from gatewright.tools.system.regular import NotRegular, TooLarge, read_regular

ENTRIES = "mcpServers"
MANAGED = "managed-mcp.json"
MAX_BYTES = 1024 * 1024
OWN = ("managed", "flag", "local", "user")  # whose word it is that nobody need approve
FLAG = "--mcp-config"
CLIENT = "the editor"  # or whoever else opened the session and brought some
LACKS = 'has no servers: they stand in "mcpServers": { ... }'


class ServerLayer(msgspec.Struct, frozen=True):
    """The entries of one place. `source` is managed, flag, local, project, user or plugin."""

    source: str
    where: str
    entries: Mapping[str, object]
    own: Mapping[str, str] = {}  # variables that these alone may name
    given: Mapping[str, str] = {}  # those that their programs find, too
    plain: bool = False  # their programs find no more of our environment than a project's


class Choices(msgspec.Struct, frozen=True, kw_only=True):
    """What settings say of servers by name."""

    allowed: tuple[object, ...] | None = None
    denied: tuple[object, ...] = ()
    all_of_project: bool = False
    enabled: frozenset[str] = frozenset()
    disabled: frozenset[str] = frozenset()


class Written(msgspec.Struct, frozen=True, kw_only=True):
    layers: tuple[ServerLayer, ...] = ()  # of one source the nearest first
    choices: Choices = Choices()
    problems: tuple[str, ...] = ()


def any_written(around: Surroundings) -> bool:
    """Costs a look for each file that might be there; who serves tools passes on nobody else's."""
    settings, options = around.settings, around.options
    return not options.served and bool(
        options.mcp_config
        or settings.mcp_servers
        or _own_entries(around)
        or _managed(around).exists()
        or any(path.exists() for path in project_files(around))
    )


def project_files(around: Surroundings) -> list[Path]:
    """Where a project may name servers, the nearest first."""
    if around.options.bare:
        return []
    folders = folders_down(around.where.root, around.where.cwd)
    return [folder / SERVERS for folder in reversed(list(folders))]


def seen(around: Surroundings) -> tuple[tuple[int, int] | None, ...]:
    """Changes when a file of the project does."""
    return tuple(_stamp(path) for path in project_files(around))


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def written(
    around: Surroundings,
    plugins: Sequence[ServerLayer] = (),
    brought: Mapping[str, JsonObject] | None = None,
) -> Written:
    """All layers, the plugins' and the client's too. Raises UsageError for what cannot count."""
    problems: list[str] = []
    choices = _choices(around)
    if (managed := _managed(around)).exists():
        layer = _file("managed", managed, problems)
        if around.options.mcp_config or brought:
            raise UsageError(f"{managed} alone says which MCP servers there are.")
        return Written(layers=layer, choices=choices, problems=tuple(problems))
    layers = list(_flagged(around))
    if brought:
        layers.append(ServerLayer("flag", CLIENT, brought, plain=True))
    if not around.options.strict_mcp_config:
        layers += _settings(around)
        for path in project_files(around):
            layers += _file("project", path, problems)
        layers += plugins
    return Written(layers=tuple(layers), choices=choices, problems=tuple(problems))


def of_project(around: Surroundings) -> Iterator[str]:
    """What the project's files name, one line each, well formed or not: nobody judged it yet."""
    for path in project_files(around):
        for layer in _file("project", path, []):
            for name, entry in layer.entries.items():
                table = cast("dict[str, object]", entry) if isinstance(entry, dict) else {}
                words = [table.get("command", table.get("url", ""))]
                args = table.get("args")
                words += cast("list[object]", args) if isinstance(args, list) else []
                what = " ".join(map(str, words))
                yield f"MCP server {name}: {what} (in {path}; asked about again)"


def alone(around: Surroundings) -> str:
    """What lets nobody else name servers; empty where nothing does."""
    if _managed(around).exists():
        return str(_managed(around))
    return "--strict-mcp-config" if around.options.strict_mcp_config else ""


def _managed(around: Surroundings) -> Path:
    return around.places.managed / MANAGED


def _own_entries(around: Surroundings) -> Mapping[str, object]:
    """Those the person keeps for this project, outside of it."""
    root, projects = around.where.root, around.settings.projects
    for spelling in dict.fromkeys((str(root), str(root.resolve()))):
        if (section := projects.get(spelling)) is not None and section.mcp_servers:
            return section.mcp_servers
    return {}


def _settings(around: Surroundings) -> Iterator[ServerLayer]:
    """What settings files say, each for itself: nothing is put together from two."""
    user = around.places.file(Source.USER)
    if own := _own_entries(around):
        yield ServerLayer("local", f"{user} (projects)", own)
    files = {around.places.file(Source.MANAGED): "managed", user: "user"}
    committed = {around.places.file(Source.PROJECT), around.places.file(Source.LOCAL)} - {user}
    for path, values in around.loaded.valid.items():
        entries: object = values.get(ENTRIES)
        if entries and isinstance(entries, dict) and path not in committed:
            named = cast("dict[str, object]", entries)
            yield ServerLayer(files.get(path, "flag"), str(path), named)


def _flagged(around: Surroundings) -> Iterator[ServerLayer]:
    for given in around.options.mcp_config:
        text = given.strip()
        if text.startswith("{"):
            where, data = FLAG, text.encode()
        else:
            path = around.where.cwd / Path(text).expanduser()
            where = str(path)
            try:
                data = read_regular(path, MAX_BYTES)
            except OSError as error:
                raise UsageError(f"{FLAG} {given}: {_why(error)}.") from error
        found = _table(data)
        if isinstance(found, str):
            raise UsageError(f"{FLAG} {where}: {found}.")
        if _lacks(found):
            raise UsageError(f"{FLAG} {where}: {LACKS}.")
        entries = found.get(ENTRIES, {})
        if not isinstance(entries, dict):
            raise UsageError(f"{FLAG} {where}: {ENTRIES} is no object.")
        yield ServerLayer("flag", where, cast("dict[str, object]", entries))


def _file(source: str, path: Path, problems: list[str]) -> tuple[ServerLayer, ...]:
    try:
        data = read_regular(path, MAX_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:
        problems.append(f"{path}: {_why(error)}")
        return ()
    found = _table(data)
    if isinstance(found, str):
        problems.append(f"{path}: {found}")
        return ()
    if _lacks(found):
        problems.append(f"{path}: {LACKS}")
    entries = found.get(ENTRIES, {})
    if not isinstance(entries, dict):
        problems.append(f"{path}: {ENTRIES} is no object")
        return ()
    return (ServerLayer(source, str(path), cast("dict[str, object]", entries)),)


def _lacks(found: Mapping[str, object]) -> bool:
    """Something is written there, and no servers."""
    return ENTRIES not in found and any(not key.startswith("$") for key in found)


def _table(data: bytes) -> dict[str, object] | str:
    """The object, or what is wrong with the text and on which line."""
    from gatewright.agent.settings.layers.broken import Broken, parse_object  # noqa: PLC0415  lazy: 3 ms, json

    try:
        return parse_object(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return "is not valid UTF-8"
    except Broken as broken:
        return f"line {broken.line}: {broken.message}" if broken.line else broken.message


def _why(error: OSError) -> str:
    match error:
        case NotRegular():
            return "is no regular file"
        case TooLarge():
            return "is larger than 1 MiB"
        case _:
            return f"cannot be read: {error.strerror}"


def _choices(around: Surroundings) -> Choices:
    settings = around.settings
    files = around.loaded.valid
    managed = files.get(around.places.managed / "settings.json", {})
    allowing: list[dict[str, Any]] = [managed]
    if not settings.allow_managed_mcp_servers_only:
        allowing = list(files.values())
    lists = [table["allowedMcpServers"] for table in allowing if "allowedMcpServers" in table]
    return Choices(
        allowed=tuple(entry for each in lists for entry in each) if lists else None,
        denied=settings.denied_mcp_servers,
        all_of_project=settings.enable_all_project_mcp_servers,
        enabled=frozenset(settings.enabled_mcpjson_servers),
        disabled=frozenset(settings.disabled_mcpjson_servers),
    )
