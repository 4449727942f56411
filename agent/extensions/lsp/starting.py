"""Starts the program of a language server: in the sandbox, or in a trusted project without one."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from gatewright.agent.lsp.running.definitions import Definition
from gatewright.agent.lsp.running.programs import PROJECT_BINS
from gatewright.agent.settings.workspace import Surroundings
from gatewright.mcp.surroundings import PLAIN
from gatewright.permissions.sandbox.commands import CommandSandbox
from gatewright.permissions.sandbox.running.readers import Reader, ReaderConfinement
from gatewright.tools.protocol import Child, SpawnRequest, ToolFailure
from gatewright.tools.system.processes import spawn

CEILING = 2  # times what it may hold: the kernel refuses more, whoever looks or not


class Starting:
    def __init__(
        self,
        sandbox: Callable[[], CommandSandbox | None],
        around: Callable[[], Surroundings],
        started: Callable[[Definition, str, bool], None],
    ) -> None:
        self._around, self._started = around, started
        self._sandbox = sandbox
        self._readers = ReaderConfinement(sandbox)

    async def start(self, definition: Definition, root: str, stdin: int, errors: int) -> Child:
        """Raises ToolFailure: it cannot be started, or must not be."""
        around = self._around()
        if not around.trusted:
            raise ToolFailure("the project is not trusted")
        memory = definition.memory_mb * 1024 * 1024 * CEILING
        request = SpawnRequest(
            argv=(definition.command, *definition.args),
            cwd=Path(root),
            env=environment(definition, around, root),
            stdin=stdin,
            errors=errors,
            dies_with_us=True,
            memory=memory,
        )
        reader = Reader(
            f"lsp-{definition.name.replace('/', '_')}",
            network=around.settings.lsp.network,
            memory=memory,
        )
        confined = await self._readers.confined(request, reader)
        child = await spawn(confined or request)
        self._started(definition, root, confined is not None)
        return child

    def close(self) -> None:
        self._readers.close()


def log_at(home: Path, name: str) -> Path:
    """Where what it says beside the protocol is kept."""
    plain = "".join(c if c.isalnum() or c in "._-" else "_" for c in name)
    return home / "logs" / "lsp" / f"{plain}.log"


def environment(definition: Definition, around: Surroundings, root: str) -> dict[str, str]:
    """What it finds: little, where a project or plugin names it; and its virtual environment."""
    kept: Mapping[str, str] = around.secrets.given(around.env)
    if definition.source in ("project", "local", "plugin"):
        kept = {k: v for k, v in kept.items() if k in PLAIN or k.startswith("LC_")}
    env = dict(kept)
    bases = dict.fromkeys((root, str(around.where.root)))
    bins = [f"{base}/{place}" for base in bases for place in PROJECT_BINS]
    own = [place for place in bins if os.path.isdir(place)]  # noqa: PTH112
    env["PATH"] = os.pathsep.join([*own, env.get("PATH", "")])
    for place in own:
        base = place.removesuffix("/bin")
        if place.endswith("venv/bin") and os.path.isfile(f"{base}/pyvenv.cfg"):  # noqa: PTH113
            env["VIRTUAL_ENV"] = base
            break
    return {**env, **definition.given, **definition.env}
