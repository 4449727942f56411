"""What a client may send, as types: version 1 of the Agent Client Protocol, as far as we answer it.

Fields that we do not use are not named, and ignored; `_meta` never stands in for a field.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from gatewright.tools.protocol import JsonObject


class _In(msgspec.Struct, frozen=True, rename="camel"):
    pass


class Files(_In, frozen=True):
    read_text_file: bool = False
    write_text_file: bool = False


class Forms(_In, frozen=True):
    form: JsonObject | None = None


class AuthWays(_In, frozen=True):
    terminal: bool = False


class Capabilities(_In, frozen=True):
    fs: Files | None = None
    elicitation: Forms | None = None
    auth: AuthWays | None = None
    terminal: bool = False

    @property
    def files(self) -> bool:
        """Whether it holds the text of files; one that only reads would lose what we write."""
        return self.fs is not None and self.fs.read_text_file and self.fs.write_text_file

    @property
    def forms(self) -> bool:
        return self.elicitation is not None and self.elicitation.form is not None

    @property
    def terminal_login(self) -> bool:
        return self.auth is not None and self.auth.terminal


class Client(_In, frozen=True):
    name: str = ""
    version: str = ""


class Initialize(_In, frozen=True):
    protocol_version: int
    client_capabilities: Capabilities | None = None
    client_info: Client | None = None


class Authenticate(_In, frozen=True):
    method_id: str


class Pair(_In, frozen=True):
    name: str
    value: str


class McpServer(_In, frozen=True):
    """Without a type it is a program."""

    name: str
    type: str = "stdio"
    command: str = ""
    args: list[str] = []
    env: list[Pair] = []
    url: str = ""
    headers: list[Pair] = []


class Meta(msgspec.Struct, frozen=True, rename="camel"):
    permission_mode: str = ""


class Place(_In, frozen=True, kw_only=True):
    """Where a session works."""

    cwd: str
    additional_directories: list[str] | None = None
    mcp_servers: list[McpServer] | None = None
    meta: Meta | None = msgspec.field(name="_meta", default=None)


class NewSession(Place, frozen=True, kw_only=True):
    pass


class StoredSession(Place, frozen=True, kw_only=True):
    """One that is loaded, resumed or copied."""

    session_id: str


class Named(_In, frozen=True):
    session_id: str


class ListSessions(_In, frozen=True):
    cwd: str | None = None
    cursor: str | None = None


class SetMode(_In, frozen=True):
    session_id: str
    mode_id: str


class SetOption(_In, frozen=True):
    session_id: str
    config_id: str
    value: str | bool


class TextBlock(_In, frozen=True, tag_field="type", tag="text"):
    text: str


class ImageBlock(_In, frozen=True, tag_field="type", tag="image"):
    data: str
    mime_type: str = ""
    uri: str | None = None


class AudioBlock(_In, frozen=True, tag_field="type", tag="audio"):
    pass


class LinkBlock(_In, frozen=True, tag_field="type", tag="resource_link"):
    uri: str
    name: str = ""


class Resource(_In, frozen=True):
    uri: str
    text: str | None = None
    blob: str | None = None
    mime_type: str | None = None


class ResourceBlock(_In, frozen=True, tag_field="type", tag="resource"):
    resource: Resource


PromptBlock: TypeAlias = TextBlock | ImageBlock | AudioBlock | LinkBlock | ResourceBlock


class Prompt(_In, frozen=True):
    session_id: str
    prompt: list[PromptBlock]


class Outcome(_In, frozen=True):
    outcome: str
    option_id: str = ""


class Permission(_In, frozen=True):
    outcome: Outcome


class Elicited(_In, frozen=True):
    action: str
    content: dict[str, Any] | None = None


class FileText(_In, frozen=True):
    content: str


class Created(_In, frozen=True):
    terminal_id: str


class Printed(_In, frozen=True):
    output: str
    truncated: bool = False


class Exited(_In, frozen=True):
    exit_code: int | None = None
    signal: str | None = None
