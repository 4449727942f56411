"""A server as somebody wrote it down, checked, and not yet expanded.

Its signature is what people approve: a change of any word in it is another server.
"""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import Annotated, Any, Literal, TypeAlias, cast

import msgspec

from gatewright.mcp.names import wrong_name

Transport: TypeAlias = Literal["stdio", "http", "sse", "sdk"]
Source: TypeAlias = Literal["managed", "flag", "local", "project", "user", "plugin"]
STRONGEST_FIRST: Sequence[Source] = ("managed", "flag", "local", "project", "user", "plugin")
MAX_SECONDS = 24 * 3600.0
MOST_WORDS = 20_000  # of an entry that somebody has to say yes to

_KINDS: Mapping[str, Transport] = {
    "stdio": "stdio", "http": "http", "streamable-http": "http", "sse": "sse", "sdk": "sdk",
}  # fmt: skip
_WRONG_KIND = "type: is one of stdio, http and sse"
_NO_SOCKETS = "type: ws is not spoken here; most such servers speak http too"
_NO_TYPE = 'url: needs "type": "http" (or "sse") beside it'


class BadDefinition(Exception):
    """Its text says which field is wrong and how."""


class Patterns(msgspec.Struct, frozen=True):
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    def show(self, name: str) -> bool:
        """Whether a tool of that name is one that anybody sees."""
        let = not self.allow or any(fnmatchcase(name, each) for each in self.allow)
        return let and not any(fnmatchcase(name, each) for each in self.deny)


class Sandboxed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """It runs in the sandbox, which is opened to it so far."""

    network: tuple[str, ...] = ()  # domains it reaches
    write: tuple[str, ...] = ()  # directories it changes


class OAuth(msgspec.Struct, frozen=True, rename="camel"):
    """How to log in, as far as the server does not say so itself."""

    client_id: str = ""
    client_metadata_url: str = ""
    callback_port: Annotated[int, msgspec.Meta(ge=0, le=65535)] = 0
    scopes: str | tuple[str, ...] = ()
    auth_server_metadata_url: str = ""

    @property
    def scope(self) -> str:
        return self.scopes if isinstance(self.scopes, str) else " ".join(self.scopes)


class _Entry(msgspec.Struct, frozen=True, rename="camel"):
    type: str = ""
    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    cwd: str = ""
    url: str = ""
    headers: dict[str, str] = {}
    headers_helper: str = ""
    oauth: OAuth = OAuth()
    timeout: float = 0
    startup_timeout: float = 0
    always_load: bool = False
    tools: Patterns = Patterns()
    sandbox: bool | Sandboxed = False
    disabled: bool = False
    description: str = ""
    name: str = ""  # of a client's own server; says nothing


class Definition(msgspec.Struct, frozen=True, kw_only=True):
    """`seconds` is the longest a call may take, `start_seconds` connecting; 0 is the usual."""

    name: str
    source: Source
    where: str
    raw: Mapping[str, Any]
    transport: Transport
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    cwd: str = ""
    url: str = ""
    headers: Mapping[str, str] = {}
    headers_helper: str = ""  # a command that prints more of them
    oauth: OAuth = OAuth()
    seconds: float = 0
    start_seconds: float = 0
    always_load: bool = False
    tools: Patterns = Patterns()
    sandbox: Sandboxed | None = None
    disabled: bool = False
    description: str = ""
    warnings: tuple[str, ...] = ()
    own: Mapping[str, str] = {}  # variables that it alone may name: of a plugin
    given: Mapping[str, str] = {}  # those that its program finds, too
    plain: bool = False  # its program finds no more of our environment than a project's
    shadows: str = ""  # whose server of the same name it stands in place of

    @property
    def signature(self) -> str:
        """Of all that is written, but whether it is switched off."""
        said = {key: value for key, value in self.raw.items() if key != "disabled"}
        if self.source == "plugin":  # another's may be written alike
            said["plugin"] = self.name
        text = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def remote(self) -> bool:
        return self.transport in ("http", "sse")

    @property
    def kept(self) -> bool:
        """Whether what it says is remembered: a client's own server says nothing of itself here."""
        return self.transport != "sdk"

    @property
    def pinned(self) -> bool:
        """Whether a tool of it that changes asks again."""
        return self.source != "managed" and self.transport != "sdk"

    @property
    def own_login(self) -> bool:
        """Whether it brings what lets it in: then nobody is to log in."""
        return any(name.lower() == "authorization" for name in self.headers)

    @property
    def of_project_in_place(self) -> bool:
        """A project's, where the person has one of that name."""
        return self.source == "project" and bool(self.shadows)

    def texts(self) -> Iterator[tuple[str, str]]:
        """Every text that is expanded, with where it goes."""
        yield "command", self.command
        yield from (("args", text) for text in self.args)
        yield from ((f"env.{key}", text) for key, text in self.env.items())
        yield "cwd", self.cwd
        yield "url", self.url
        yield from ((f"headers.{key}", text) for key, text in self.headers.items())


def read(name: str, raw: object, source: Source, where: str) -> Definition:
    """One entry of `mcpServers`. Raises BadDefinition."""
    if why := wrong_name(name, plugin=source == "plugin"):
        raise BadDefinition(f"the name {why}")
    if not isinstance(raw, dict):
        raise BadDefinition("expected an object: { ... }")
    table = cast("dict[str, Any]", raw)
    try:
        entry = msgspec.convert(table, _Entry)
    except msgspec.ValidationError as error:
        raise BadDefinition(_plainly(str(error))) from None
    try:
        kind = _kind(entry, source)
    except BadDefinition as error:
        raise BadDefinition("; ".join((str(error), *_unknown(table)))) from None
    if entry.sandbox and kind != "stdio":
        raise BadDefinition("sandbox: is for a program; an address runs nothing here")
    for label, value in (("timeout", entry.timeout), ("startupTimeout", entry.startup_timeout)):
        if not 0 <= value <= MAX_SECONDS * 1000:
            raise BadDefinition(f"{label}: is in milliseconds, from 1 to a day's")
    made = Definition(
        name=name,
        source=source,
        where=where,
        raw=table,
        transport=kind,
        command=entry.command.strip(),
        args=entry.args,
        env=entry.env,
        cwd=entry.cwd.strip(),
        url=entry.url.strip(),
        headers=entry.headers,
        headers_helper=entry.headers_helper.strip(),
        oauth=entry.oauth,
        seconds=entry.timeout / 1000,
        start_seconds=entry.startup_timeout / 1000,
        always_load=entry.always_load,
        tools=entry.tools,
        sandbox=Sandboxed() if entry.sandbox is True else entry.sandbox or None,
        disabled=entry.disabled,
        description=entry.description,
    )
    if why := _unreadable(made):
        raise BadDefinition(why)
    return msgspec.structs.replace(made, warnings=tuple(_warnings(table, made)))


def _unreadable(made: Definition) -> str:
    """Why nobody could say yes to it; empty where they can."""
    if any("\0" in text for _, text in made.texts()):
        return "no text of it may hold a NUL"
    if made.source == "project" and len(json.dumps(made.raw)) > MOST_WORDS:
        return f"is longer than the {MOST_WORDS:,} characters that a person is asked to read"
    return ""


def _kind(entry: _Entry, source: Source) -> Transport:
    if not entry.type and entry.url:
        raise BadDefinition(_NO_TYPE)
    if entry.type == "ws":
        raise BadDefinition(_NO_SOCKETS)
    kind = _KINDS.get(entry.type or "stdio")
    if kind is None or (kind == "sdk" and source != "flag"):
        raise BadDefinition(_WRONG_KIND)
    if kind == "stdio" and not entry.command.strip():
        raise BadDefinition("command: is missing")
    if kind in ("http", "sse") and not entry.url.strip():
        raise BadDefinition("url: is missing")
    return kind


def _warnings(raw: Mapping[str, Any], made: Definition) -> Iterator[str]:
    yield from _unknown(raw)
    for label, text in made.texts():
        if label != "args" and text != text.strip():
            yield f"{label}: has blanks around its value"
    for label in ("command", "cwd", "url"):
        text = raw.get(label, "")
        if isinstance(text, str) and text != text.strip():
            yield f"{label}: has blanks around its value, which are left out"


@cache
def _keys() -> tuple[str, ...]:
    return tuple(field.encode_name for field in msgspec.structs.fields(_Entry))


def _unknown(raw: Mapping[str, Any]) -> Iterator[str]:
    known = _keys()
    for key in raw:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            yield f"{key}: is not known here{f', did you mean {near[0]}?' if near else ''}"


def _plainly(message: str) -> str:
    """`Expected `str`, got `int` - at `$.command`` as `command: expected str, got int`."""
    said, _, place = message.replace("`", "").partition(" - at $.")
    said = said[:1].lower() + said[1:]
    return f"{place}: {said}" if place else said
