"""What a client brings to the session it opens, beside the words of a command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from gatewright.tools.protocol import JsonObject
from gatewright.tools.services import Terminal
from gatewright.tools.textfiles import TextFiles

if TYPE_CHECKING:
    from gatewright.agent.hooks.configured.reading import Read
    from gatewright.agent.hooks.kinds.running import Run


class OwnHooks(NamedTuple):
    """Handlers that the client answers itself."""

    given: Read
    run: Run


class Brought(msgspec.Struct, frozen=True, kw_only=True):
    """Servers and agents are by name, as settings and `--agents` write them."""

    files: TextFiles | None = None  # an editor's buffers; without one the disk holds the text
    terminal: Terminal | None = None  # an editor's; without one every command runs here
    servers: Mapping[str, JsonObject] = msgspec.field(default_factory=dict[str, JsonObject])
    agents: Mapping[str, JsonObject] = msgspec.field(default_factory=dict[str, JsonObject])
    hooks: OwnHooks | None = None


NOTHING = Brought()
