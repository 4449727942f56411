"""The manifest of a plugin: read leniently, but a known key of a wrong type fails the plugin.

Whatever is strange and harmless is a note; strict validation makes a problem of every note.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import msgspec

from gatewright.agent.errors import GatewrightError
from gatewright.agent.settings.layers.broken import Broken, parse_object
from gatewright.tools.system.regular import NotRegular, TooLarge, read_regular

PLACES = (".gatewright-plugin", ".claude-plugin")  # ours first
FILE = "plugin.json"
MAX_BYTES = 1024 * 1024
LONGEST = 64
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
RESERVED = frozenset({"user", "project", "builtin", "command", "workflow", "managed", "mcp"})
KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")

Paths: TypeAlias = str | tuple[str, ...]
Entries: TypeAlias = str | tuple[str | dict[str, Any], ...] | dict[str, Any]


class BadManifest(GatewrightError):
    """Why the plugin cannot be used."""


class Person(msgspec.Struct, frozen=True):
    name: str = ""
    email: str = ""
    url: str = ""


class Wanted(msgspec.Struct, frozen=True, rename="camel"):
    """A value that the person gives: one key of `userConfig`."""

    type: Literal["string", "number", "boolean", "directory", "file"] = "string"
    title: str = ""
    description: str = ""
    sensitive: bool = False
    required: bool = False
    default: str | int | float | bool | None = None


class Experimental(msgspec.Struct, frozen=True):
    themes: Paths = ()
    monitors: Entries = ()


class Manifest(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    name: Annotated[str, msgspec.Meta(min_length=1)] = ""
    display_name: str = ""
    version: str = ""
    description: str = ""
    author: Person | str = ""
    homepage: str = ""
    repository: str | dict[str, Any] = ""
    license: str = ""
    keywords: tuple[str, ...] = ()
    metadata: dict[str, Any] = {}
    default_enabled: bool = True
    user_config: dict[str, Wanted] = {}
    dependencies: tuple[str | dict[str, Any], ...] = ()
    experimental: Experimental = Experimental()
    skills: Paths = ()
    commands: Paths | None = None
    agents: Paths | None = None
    workflows: Paths | None = None
    output_styles: Paths | None = None
    hooks: Entries = ()
    mcp_servers: Entries = ()
    lsp_servers: Entries = ()

    @property
    def publisher(self) -> str:
        if isinstance(self.author, str):
            return self.author
        return (
            f"{self.author.name} <{self.author.email}>" if self.author.email else self.author.name
        )

    @property
    def needs(self) -> tuple[str, ...]:
        """Other plugins, by name or name@market."""
        named = (e if isinstance(e, str) else str(e.get("name", "")) for e in self.dependencies)
        return tuple(filter(None, named))


class ReadManifest(msgspec.Struct, frozen=True):
    """`file` is None where the plugin has no manifest of its own."""

    manifest: Manifest
    file: Path | None
    notes: tuple[str, ...] = ()


_FIELDS = {field.encode_name: field for field in msgspec.structs.fields(Manifest)}
_PARTS = frozenset(
    {"skills", "commands", "agents", "workflows", "outputStyles", "hooks", "mcpServers"}
    | {"lspServers", "experimental"}
)
# Of an entry of a market that says nothing of the plugin itself.
_OF_MARKET = frozenset({"source", "strict", "category", "tags", "$schema", "id"})


def read_manifest(root: Path, entry: Mapping[str, Any] = {}, *, called: str = "") -> ReadManifest:
    """`entry` is what a market says of it, `called` its name where nothing else gives one.

    Raises BadManifest.
    """
    file, said = _written(root)
    notes: list[str] = []
    extra = {key: value for key, value in entry.items() if key not in _OF_MARKET}
    if entry.get("strict", True) is False:
        if clash := sorted(_PARTS & said.keys() & extra.keys()):
            raise BadManifest(f"Its own manifest and the market's both say {', '.join(clash)}.")
        said = {**said, **extra}
    else:
        said = {**extra, **said}
    manifest = _typed(said, file, notes)
    name = manifest.name or called or root.name
    if why := wrong_name(name):
        raise BadManifest(f"The name {name!r} {why}.")
    if bad := [key for key in manifest.user_config if not KEY.fullmatch(key)]:
        raise BadManifest(f"userConfig: {bad[0]!r} is no name of a variable.")
    return ReadManifest(msgspec.structs.replace(manifest, name=name), file, tuple(notes))


def wrong_name(name: str) -> str:
    """Why no plugin may be called so; empty where it may."""
    if not NAME.fullmatch(name):
        return "may hold a-z, 0-9 and single hyphens between them only"
    if len(name) > LONGEST:
        return f"is longer than {LONGEST} characters"
    return "is reserved" if name in RESERVED else ""


def _written(root: Path) -> tuple[Path | None, dict[str, Any]]:
    for place in PLACES:
        path = root / place / FILE
        try:
            data = read_regular(path, MAX_BYTES, follow=False)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except NotRegular as error:
            raise BadManifest(f"{place}/{FILE} is no regular file.") from error
        except TooLarge as error:
            raise BadManifest(f"{place}/{FILE} is larger than 1 MiB.") from error
        except OSError as error:
            raise BadManifest(f"{place}/{FILE} cannot be read: {error.strerror}.") from error
        return path, object_in(data, f"{place}/{FILE}")
    return None, {}


def object_in(data: bytes, where: str) -> dict[str, Any]:
    """The JSON object of a file. Raises BadManifest with the line."""
    try:
        return parse_object(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise BadManifest(f"{where} is not valid UTF-8.") from error
    except Broken as error:
        line = f":{error.line}" if error.line else ""
        raise BadManifest(f"{where}{line} {error.message}.") from error


def _typed(said: Mapping[str, Any], file: Path | None, notes: list[str]) -> Manifest:
    values: dict[str, Any] = {}
    for key, value in said.items():
        field = _FIELDS.get(key)
        if field is None:
            if key != "$schema":
                notes.append(f"there is no key {key!r}{_meant(key)}")
            continue
        if value is None:
            continue
        try:
            values[field.name] = msgspec.convert(value, field.type)
        except msgspec.ValidationError as error:
            place = file.name if file is not None else "its entry in the market"
            raise BadManifest(f"{place}: {_plainly(key, str(error))}.") from None
    return Manifest(**values)


def _meant(key: str) -> str:
    near = difflib.get_close_matches(key, _FIELDS, n=1)
    return f", did you mean {near[0]}?" if near else ": ignored"


def _plainly(key: str, message: str) -> str:
    said, _, place = message.replace("`", "").partition(" - at $")
    return f"{key}{place}: {said[:1].lower()}{said[1:]}"
