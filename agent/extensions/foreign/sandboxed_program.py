"""Starts the program of another agent in the sandbox, which opens what its definition says."""

from __future__ import annotations

import os

from gatewright.agent.agents.kind import AgentKind
from gatewright.agent.agents.own_tools import names
from gatewright.agent.errors import SessionError
from gatewright.agent.extensions.contribution import part_of
from gatewright.agent.extensions.host import Host
from gatewright.agent.foreign.files import WRITE, Files
from gatewright.agent.foreign.foreign_turns import ForeignTurns, Ports
from gatewright.agent.foreign.program_found import given, lacks, program_of
from gatewright.agent.settings.workspace import roots
from gatewright.agent.turn.turns import Elsewhere, Ground, Turns
from gatewright.permissions.sandbox.commands import CommandSandbox
from gatewright.permissions.sandbox.servers import Confines, ServerConfinement
from gatewright.tools.files.disk import DISK
from gatewright.tools.files.fs import decode
from gatewright.tools.protocol import Child, SpawnRequest, ToolFailure
from gatewright.tools.system.processes import spawn

PLAN = "plan"


def may_write(kind: AgentKind) -> bool:
    """Whether its definition leaves it a tool that changes files: else its process has none."""
    denied = [each for each in kind.denied if "(" not in each]
    has = ("*",) if kind.tools is None else kind.tools
    return any(names(each, WRITE) for each in has) and not any(
        names(each, WRITE) for each in denied
    )


def turns_in(host: Host, kind: AgentKind, opening: str, *, tree: bool) -> Elsewhere:
    """`tree`: it has a work tree of its own, which alone of the project it may write in.

    Not in plan mode, nor where it has no tool for that.
    """
    program = kind.acp
    assert program is not None
    confinement = ServerConfinement(lambda: part_of(host.brought, CommandSandbox), host.warn)

    def turns(ground: Ground) -> Turns:
        async def start(stdin: int, errors: int) -> Child:
            around, where = host.around, ground.where()
            avoid = (*roots(around.where), where.root)
            if why := lacks(program, around.env, avoid):
                raise ToolFailure(f"{why}.")
            try:
                own = given(program, around.env)
            except SessionError as error:
                raise ToolFailure(str(error)) from None
            command = program_of(program, around.env, avoid)
            writes = tree and may_write(kind) and host.policy.view(ground.agent).mode != PLAN
            confines = Confines(
                kind.name,
                program.network,
                program.write,
                own,
                kind="Agent",
                apart=True,
                tree=str(where.root) if writes else "",
            )
            request = SpawnRequest(
                argv=(command, *program.args),
                cwd=where.cwd,
                env={**around.secrets.given(around.env), **own},
                stdin=stdin,
                errors=errors,
                dies_with_us=True,
            )
            return await confinement.starting(spawn, confines)(request)

        ports = Ports(
            kind=kind.name,
            program=os.path.basename(program.command),  # noqa: PTH119  text in, text out
            opening=opening,
            start=start,
            files=Files(DISK, lambda data: decode(data).text),
        )
        return ForeignTurns(ground, ports)

    return turns
