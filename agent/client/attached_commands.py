"""What a screen can do with a session that goes on by itself: end it, or begin it anew."""

from __future__ import annotations

from gatewright.agent.client.remote import RemoteSession
from gatewright.agent.commands.outcome import Outcome, Problem, Quit, Switch
from gatewright.agent.commands.registry import Command, CommandContext

BUSY = "A turn runs: Esc stops it, or wait for its end; then /restart."


def attached_commands(session: RemoteSession) -> tuple[Command, ...]:
    async def stop(context: CommandContext) -> Outcome:
        del context
        await session.stop()
        return Quit()

    async def restart(context: CommandContext) -> Outcome:
        return Problem.of(BUSY) if context.busy else Switch(attach=session.id)

    return (
        Command(name="stop", summary="End this session; /exit leaves it running", run=stop),
        Command(
            name="restart",
            summary="Go on with this session in a new process, of the version that is installed",
            run=restart,
        ),
    )
