"""A language server as it is written down: read leniently, with every fault told.

Durations are seconds; what is 500 or more was meant as milliseconds, which other programs write.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import msgspec

from gatewright.agent.lsp.running.programs import kinds_of
from gatewright.tools.system.untyped_json import obj

_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}")
_EXTENSION = re.compile(r"[\w+.-]{1,40}")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_MILLISECONDS = 500.0
MOST = 100  # servers of one place
Seconds = Annotated[float, msgspec.Meta(ge=0, le=3_600_000)]


class Entry(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What `lspServers.<name>` may say."""

    command: str
    args: tuple[str, ...] = ()
    extension_to_language: dict[str, str]
    env: dict[str, str] = {}
    initialization_options: Any = None
    settings: Any = None
    root_markers: tuple[str, ...] = ()
    startup_timeout: Seconds = 20.0
    request_timeout: Seconds = 10.0
    shutdown_timeout: Seconds = 2.0
    max_restarts: Annotated[int, msgspec.Meta(ge=0, le=100)] = 3
    memory_mb: Annotated[int, msgspec.Meta(ge=64, le=1_000_000)] = 2048
    diagnostics: bool = True


# What other programs' files say besides: understood, or without a meaning here.
_ELSEWHERE = frozenset(
    {"transport", "restartOnCrash", "workspaceFolder", "loggingConfig", "$schema"}
)


class Definition(Entry, frozen=True, kw_only=True):
    """One server that may be started; `own` are variables that it alone may name."""

    name: str
    source: str = "user"  # managed, user, local, project, plugin, built-in
    where: str = ""
    own: Mapping[str, str] = {}
    given: Mapping[str, str] = {}  # what its program finds besides

    @property
    def signature(self) -> bytes:
        """Another one is another server."""
        return msgspec.json.encode(self, order="deterministic")

    def language(self, path: str) -> str:
        """What the protocol calls the language of such a file; empty where it is not served."""
        known = self.extension_to_language
        return next((known[kind] for kind in kinds_of(path) if kind in known), "")

    def filled(self, env: Mapping[str, str]) -> Definition:
        """With `${VAR}` and `${VAR:-otherwise}` in what is started."""
        known = {**env, **self.own}

        def one(match: re.Match[str]) -> str:
            return known.get(match[1]) or (match[2] if match[2] is not None else match[0])

        def fill(text: str) -> str:
            return _VARIABLE.sub(one, text)

        return msgspec.structs.replace(
            self,
            command=fill(self.command),
            args=tuple(map(fill, self.args)),
            env={key: fill(text) for key, text in self.env.items()},
        )


class Given(msgspec.Struct, frozen=True):
    """The entries of one place."""

    source: str
    where: str
    entries: Mapping[str, object]
    own: Mapping[str, str] = {}
    given: Mapping[str, str] = {}
    lead: str = ""  # before each name: a plugin's own


def read_definitions(given: Given) -> tuple[tuple[Definition, ...], tuple[str, ...]]:
    """The servers, and what is wrong or unknown, a sentence each."""
    found: list[Definition] = []
    faults: list[str] = []
    for name, raw in list(given.entries.items())[:MOST]:
        said = f"{given.where}: lspServers.{name[:64]}"
        try:
            found.append(_read(name, obj(raw), given))
        except (msgspec.ValidationError, ValueError) as error:
            faults.append(f"{said}: {error}")
        faults += [
            f"{said}.{key[:64]} is not known and counts for nothing" for key in _odd(obj(raw))
        ]
    return tuple(found), tuple(faults)


def _odd(raw: Mapping[str, Any]) -> Iterator[str]:
    known = {field.encode_name for field in msgspec.structs.fields(Entry)}
    return (key for key in raw if key not in known and key not in _ELSEWHERE)


def _read(name: str, raw: dict[str, Any], given: Given) -> Definition:
    if not _NAME.fullmatch(name):
        raise ValueError("a name has letters, digits, dots and dashes")
    if raw.get("transport", "stdio") != "stdio":
        raise ValueError("only servers that speak over stdin and stdout can be used")
    if raw.get("restartOnCrash") is False:
        raw = {**raw, "maxRestarts": 0}
    entry = msgspec.convert(raw, Entry)
    if not entry.command.strip() or "\0" in entry.command:
        raise ValueError("command is empty")
    mapped = {
        kind: text for key, text in entry.extension_to_language.items() for kind in _kinds(key)
    }
    if not mapped:
        raise ValueError('extensionToLanguage is empty: {".py": "python"}, for example')
    fields: dict[str, Any] = msgspec.structs.asdict(entry)
    fields["extension_to_language"] = mapped
    for key in ("startup_timeout", "request_timeout", "shutdown_timeout"):
        fields[key] = seconds(fields[key])
    return Definition(
        **fields,
        name=f"{given.lead}{name}",
        source=given.source,
        where=given.where,
        own=given.own,
        given=given.given,
    )


def _kinds(text: str) -> tuple[str, ...]:
    """`.d.ts` is an ending; what has no dot in front is one, and a whole name: `Dockerfile`."""
    plain = text.removeprefix("*").lower()
    if not _EXTENSION.fullmatch(plain):
        raise ValueError(f"{text[:40]!r} is no extension and no name of files")
    return (plain,) if plain.startswith(".") else (f".{plain}", plain)


def seconds(value: float) -> float:
    """As it was meant, and no more than a server is ever waited for."""
    return min(value / 1000 if value >= _MILLISECONDS else value, 300.0)


def named(definitions: Sequence[Definition], name: str) -> Definition | None:
    return next((each for each in definitions if each.name == name), None)
