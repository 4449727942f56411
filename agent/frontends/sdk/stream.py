"""Print mode as JSON objects: one at the end, or one line for every message."""

from __future__ import annotations

from gatewright.agent.commands.outcome import Submit
from gatewright.agent.extensions.agent_types.plugging import AgentTypes
from gatewright.agent.extensions.servers.plugging import McpServers
from gatewright.agent.extensions.skills.skill_session import SessionSkills
from gatewright.agent.extensions.styles.style_session import OutputStyles
from gatewright.agent.frontends.background import environment
from gatewright.agent.frontends.json_lines import Sink, encode
from gatewright.agent.frontends.must_know import Told
from gatewright.agent.frontends.sdk.agent_lines import BELOW
from gatewright.agent.frontends.sdk.prompt_tool import PromptTool
from gatewright.agent.frontends.sdk.shapes import Line, menu, plugin_lines
from gatewright.agent.frontends.sdk.stream_json import Dialect
from gatewright.agent.frontends.sdk.work_lines import HookLines
from gatewright.agent.frontends.slash_text import command
from gatewright.agent.frontends.turn import CRASHED, Follower, shape_of, tell
from gatewright.agent.launch.exits import Exit
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.plugins.parts import PluginParts
from gatewright.agent.record.ids import new_id
from gatewright.agent.session.session import Session
from gatewright.agent.text.printable import visible
from gatewright.agent.turn.structured_answer import Shape


async def run(session: Session, options: LaunchOptions, out: Sink, err: Sink) -> int:
    """Ask `options.prompt` and print the objects; returns the exit code."""
    shape = shape_of(options)
    servers = session.part(McpServers)
    dialect = _dialect(session, options, shape, servers)
    talks = options.input_format == "stream-json"
    follower = Follower(session, shape, BELOW, more=talks)
    if talks:
        return await _conversation(session, options, follower, dialect, (out, err))
    told = Told()
    if servers is not None:
        await servers.settled_first()
    said = await command(session, options.prompt)
    if isinstance(said, str) and not follower.background.working:
        for envelope in follower.so_far():
            tell((envelope,), told, err)
            dialect.lines(envelope)
        out.write(encode(dialect.command_result(said)))
        return Exit.OK
    if isinstance(said, str):  # it began work that is waited for
        err.write(visible(said))
        said = Submit("")
    answers, lines = PromptTool(session, options.prompt_tool), _Lines(out, options)
    async for envelope in follower.turn(said.text, typed=options.typed, scope=said.scope):
        answers.saw(envelope)
        for line in dialect.lines(envelope):
            lines.add(line, goes_on=follower.background.goes_on)
        tell((envelope,), told, err)
    follower.background.tell(err)
    lines.end()
    if dialect.code is None:
        err.write(f"agent: {CRASHED}\n")
        return Exit.ERROR
    return dialect.code


class _Lines:
    """What is printed as it comes, or at the end; the last line is a result in every case.

    A result that more turns follow by themselves is held until there is another, or none comes.
    """

    def __init__(self, out: Sink, options: LaunchOptions) -> None:
        self._out, self._options = out, options
        self._streaming = options.output_format == "stream-json"
        self._kept: list[Line] = []
        self._held: Line | None = None

    def add(self, line: Line, *, goes_on: bool) -> None:
        if goes_on and line.get("type") == "result":
            self._held = line
            return
        if line.get("type") == "result":
            self._held = None
        self._add(line)

    def end(self) -> None:
        if self._held is not None:
            self._add(self._held)
        if self._kept:
            all = self._options.verbose
            self._out.write(encode(self._kept if all else self._kept[-1]))

    def _add(self, line: Line) -> None:
        if self._streaming:
            self._out.write(encode(line))
        else:
            self._kept.append(line)


async def _conversation(
    session: Session,
    options: LaunchOptions,
    follower: Follower,
    dialect: Dialect,
    streams: tuple[Sink, Sink],
) -> int:
    from gatewright.agent.frontends.reader import LineReader  # noqa: PLC0415  lazy: 1 ms
    from gatewright.agent.frontends.sdk import stream_input  # noqa: PLC0415  lazy: 3 ms

    ends = stream_input.Ends(*streams, LineReader(0))
    duplex = stream_input.Duplex(session, follower, dialect, ends, asks=options.answers_asks)
    duplex.tells_state(environment(session))
    if options.prompt_tool:
        duplex.tool = PromptTool(session, options.prompt_tool)
    if options.include_session_events:
        duplex.serve()
    return await duplex.run()


def _dialect(
    session: Session, options: LaunchOptions, shape: Shape | None, servers: McpServers | None
) -> Dialect:
    made = Dialect(
        session.id,
        new_id=new_id,
        commands=lambda: [command.name for command in session.commands],
        partial=options.include_partial_messages,
        replay=options.replay_user_messages,
        shape=shape,
    )
    if servers is not None:
        made.servers = servers.rows
    if (types := session.part(AgentTypes)) is not None:
        made.kinds = lambda: [kind.name for kind in types.book.offered()]
    if (plugins := session.part(PluginParts)) is not None:
        made.plugins = lambda: plugin_lines(plugins)
    if (styles := session.part(OutputStyles)) is not None:
        made.style = lambda: styles.name
    if (skills := session.part(SessionSkills)) is not None:
        made.skills = skills.names
    made.menu = lambda: menu(session.commands)
    made.agents.words = options.forward_subagent_text
    made.hooks = HookLines() if options.include_hook_events else None
    return made
