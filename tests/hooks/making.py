"""Handlers, firings and runners for tests, over real processes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from gatewright.agent.hooks.events import EVENTS, TIMEOUTS, Kind
from gatewright.agent.hooks.handlers import Handler, Origin, Place, Written
from gatewright.agent.hooks.kinds.commands import Commands
from gatewright.agent.hooks.kinds.running import Firing, Output, Ports
from gatewright.tools.access import Access
from gatewright.tools.protocol import ToolCall
from gatewright.tools.system.processes import spawn


def handler(
    event: str = "PreToolUse",
    *,
    origin: Origin = "user",
    matcher: str = "",
    timeout: float | None = None,
    strict: bool = False,
    **said: Any,
) -> Handler:
    kind: Kind = said.pop("kind", "command")
    return Handler(
        event=event,
        kind=kind,
        place=Place(origin, "settings.json", 3),
        matcher=matcher,
        timeout=timeout or EVENTS[event].timeout or TIMEOUTS[kind],
        explicit=timeout is not None,
        strict=strict,
        said=Written(type=kind, **said),
    )


def firing(event: str, cwd: Path, value: str = "", **input: Any) -> Firing:
    fields = {"hook_event_name": event, **input}
    call = ToolCall("c1", value, input.get("tool_input", {})) if EVENTS[event].tool else None
    return Firing(
        event=event,
        input=fields,
        data=msgspec.json.encode(fields) + b"\n",
        value=value,
        cwd=cwd,
        call=call,
        access=Access() if call is not None else None,
    )


def commands(root: Path, env: Mapping[str, str] | None = None) -> Commands:
    given = {"PATH": os.environ["PATH"], "HOME": str(root), **(env or {})}
    scrubbed = {name: value for name, value in given.items() if "SECRET" not in name}
    return Commands(
        Ports(
            spawn=spawn,
            env=lambda less: scrubbed if less else given,
            root=root,
            session="s1",
        )
    )


def output(stdout: str = "", *, exit: int = 0, stderr: str = "") -> Output:
    return Output(exit=exit, stdout=stdout, stderr=stderr)
