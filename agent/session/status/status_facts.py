"""What a status line command is told about the session, and which command that is.

The fields are those of Claude Code, so that a script made for it works here as it is; a command
from an untrusted project never gets here, because its settings do not count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from gatewright.agent.providers.catalog import load_catalog
from gatewright.agent.record.clock import Clock
from gatewright.agent.record.events import (
    AssistantMessage,
    Cleared,
    Compacted,
    Envelope,
    Rewound,
    ToolFinished,
    TurnStarted,
    UsageChanged,
)
from gatewright.agent.record.messages import Usage
from gatewright.agent.record.session_state import Standing
from gatewright.agent.settings.live_settings import LiveSettings
from gatewright.agent.settings.schema import StatusLine
from gatewright.agent.settings.traits import COMMITTED
from gatewright.agent.version import VERSION
from gatewright.tools.access import MAIN
from gatewright.tools.blocks import Diff

if TYPE_CHECKING:
    pass

LONG = 200_000
# What git may not start for a script that looks at a project nobody trusts.
TAMED = (("core.fsmonitor", "false"), ("core.hooksPath", "/dev/null"), ("diff.external", ""))


class Told(msgspec.Struct, frozen=True):
    """What is the same all session: its id, and its transcript where one is kept."""

    id: str
    transcript: Path | None


class StatusBook:
    """A fold over the events of one process; `saw` must be called with each."""

    def __init__(self, live: LiveSettings, standing: Standing, told: Told, clock: Clock) -> None:
        self._live = live
        self._standing = standing
        self._told = told
        self._clock = clock
        self._began = clock.monotonic()
        self._asked = 0.0  # when the model was asked last, as events tell it
        self._api = 0.0
        self._added = self._removed = 0
        self._usage: Usage | None = None
        self._context = 0
        self._window = 0

    def saw(self, envelope: Envelope) -> None:
        match envelope.event:
            case ToolFinished(view=view):
                for block in view:
                    if isinstance(block, Diff):
                        self._added += block.added
                        self._removed += block.removed
            case UsageChanged(window=window):
                self._window = window or self._window
            case _:
                pass
        if envelope.agent == MAIN:
            self._timed(envelope)

    def _timed(self, envelope: Envelope) -> None:
        match envelope.event:
            case TurnStarted() | ToolFinished():
                self._asked = envelope.timestamp
            case AssistantMessage(usage=usage):
                if self._asked:
                    self._api += max(0.0, envelope.timestamp - self._asked)
                self._usage, self._context = usage, usage.context
            case Compacted(tokens_after=tokens):
                self._usage, self._context = None, tokens
            case Cleared() | Rewound():
                self._usage, self._context = None, 0
            case _:
                pass

    def setting(self) -> StatusLine | None:
        """What is to be run; None when nothing is set, or it is switched off."""
        settings = self._live.around.settings
        line = settings.status_line
        return line if line.command.strip() and not settings.disable_all_hooks else None

    def refresh(self) -> None:
        """Look whether a settings file changed."""
        self._live.refresh()

    def listen(self, changed: Callable[[], None]) -> None:
        """Be called when settings changed, or the project is trusted now."""
        self._live.listen(lambda _around: changed())

    def env(self) -> Mapping[str, str]:
        """The environment for the command; a project's sees no secrets, as its hooks see none."""
        around = self._live.around
        if not COMMITTED.isdisjoint(around.loaded.provenance.get("statusLine.command", ())):
            return around.secrets.given(around.env)
        if around.trusted:
            return around.env
        given = around.env.get("GIT_CONFIG_COUNT", "")
        count = int(given) if given.isdecimal() else 0
        more = {"GIT_CONFIG_COUNT": str(count + len(TAMED))}
        for number, (key, value) in enumerate(TAMED, start=count):
            more[f"GIT_CONFIG_KEY_{number}"], more[f"GIT_CONFIG_VALUE_{number}"] = key, value
        return {**around.env, **more}

    def input(self, *, cwd: Path, effort: str = "", vim: str = "") -> bytes:
        """The JSON on the command's standard input."""
        around, now = self._live.around, self._standing.now
        provider, _, model = now.model.rpartition("/")
        window = self._window or load_catalog().facts(provider, model).window
        told: dict[str, Any] = {
            "hook_event_name": "Status",
            "session_id": self._told.id,
            "transcript_path": str(self._told.transcript or ""),
            "cwd": str(cwd),
            "model": {"id": model, "display_name": model, "provider": provider},
            "workspace": {
                "current_dir": str(cwd),
                "project_dir": str(around.where.root),
                "added_dirs": [str(path) for path in around.where.added],
            },
            "version": VERSION,
            "output_style": {"name": around.settings.output_style},
            "permission_mode": now.mode,
            "cost": {
                "total_cost_usd": now.cost,
                "total_duration_ms": round((self._clock.monotonic() - self._began) * 1000),
                "total_api_duration_ms": round(self._api * 1000),
                "total_lines_added": self._added,
                "total_lines_removed": self._removed,
            },
            "context_window": self._context_window(window),
            "exceeds_200k_tokens": self._context > LONG,
            "thinking": {"enabled": effort != "none"},
        }
        if now.title:
            told["session_name"] = now.title
        if effort:
            told["effort"] = {"level": effort}
        if vim:
            told["vim"] = {"mode": vim}
        return msgspec.json.encode(told)

    def _context_window(self, window: int) -> dict[str, Any]:
        usage = self._usage
        sent = usage.context - usage.output if usage is not None else self._context
        share = min(100, round(100 * sent / window)) if window and sent else 0
        current = None
        if usage is not None:
            current = {
                "input_tokens": usage.input,
                "output_tokens": usage.output,
                "cache_creation_input_tokens": usage.cache_write,
                "cache_read_input_tokens": usage.cache_read,
            }
        return {
            "total_input_tokens": sent,
            "total_output_tokens": usage.output if usage is not None else 0,
            "context_window_size": window,
            "used_percentage": share,
            "remaining_percentage": 100 - share,
            "current_usage": current,
        }
