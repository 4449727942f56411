"""docs/command-line.md: `python -m tests.pages.command_line > docs/command-line.md`."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Iterator, Sequence

from gatewright.agent.agents.definitions.agents_command import agent_commands
from gatewright.agent.commands.hook_listing import hook_commands
from gatewright.agent.commands.registry import Command
from gatewright.agent.commands.rules.trusting import trust_commands
from gatewright.agent.commands.sandbox import sandbox_command
from gatewright.agent.extensions.autonomy.autonomy_extension import Autonomy
from gatewright.agent.extensions.autonomy.memory_extension import dream_command
from gatewright.agent.extensions.lsp.lsp_extension import lsp_command
from gatewright.agent.extensions.plugins.panel_extension import PanelDoor
from gatewright.agent.extensions.project.project_extension import Projects
from gatewright.agent.extensions.skills.skills_command import skills_commands
from gatewright.agent.extensions.styles.style_command import style_commands
from gatewright.agent.extensions.workflows.saved_extension import runs_command
from gatewright.agent.launch.exits import MEANINGS
from gatewright.agent.launch.flags import FLAGS, Flag
from gatewright.agent.servers.server_command import server_commands
from gatewright.agent.subcommands.names import SUBCOMMANDS
from gatewright.tui.commands import screen_commands
from tests.fakes.commands import NOBODY, built_in

HEAD = """# Command line

```
agent [FLAGS] [PROMPT]     the screen; with a prompt it starts on that
agent -p "PROMPT"          answer on standard output and exit
agent COMMAND --help       a sub-command
```

In print mode standard input is read too: `git diff | agent -p "review this"`. Nobody is there to
ask, so a call that would ask is refused, and the model is told so; say beforehand what may run,
with `--allowedTools` or a mode. With `--output-format stream-json` every message is one line of
JSON as it comes, and the last line is the result; with `--output-format json` it is that result
alone.

Flags may be written in kebab-case or camelCase. `--allowedTools`, `--disallowedTools`, `--tools`
and `--add-dir` take several values (`--allowedTools Bash Edit "fix it"`): a further word is a value
when it is a tool, preset, rule or directory; the first that is none of these is the prompt, and so
is what stands behind `--`. `--debug` takes areas (`agent`, `api`, `asyncio`, `mcp`, `permissions`,
`providers`, `tools`, `tui`, with `!` for all but it), any other name behind `=`. A prompt that is
a list (`- fix it`) is a prompt; any other that begins with a dash goes behind `--`. `-p /name` runs
a command, and one that does not exist is an error, unless there is such a path.

Complete them with `source <(agent completion bash)`: modes, models, sessions, sub-commands with
their own flags.
"""


def page() -> str:
    return "".join(f"{line}\n" for line in _lines())


def _lines() -> Iterator[str]:
    yield HEAD
    yield "## Sub-commands\n"
    yield from _table(("Command", "What it does"), SUBCOMMANDS.items(), "agent ")
    shown = [flag for flag in FLAGS if not flag.hidden]
    for group, flags in itertools.groupby(shown, key=lambda flag: flag.group):
        yield f"\n## Flags: {group.lower()}\n"
        yield from _table(("Flag", "Meaning"), ((_usage(flag), _help(flag)) for flag in flags))
    yield "\n## Exit codes\n"
    yield from _table(("Code", "Meaning"), ((str(int(code)), text) for code, text in MEANINGS))
    yield "\n## Slash commands\n"
    commands = ((f"{c.name} {c.args}".rstrip(), c.summary) for c in listed())
    yield from _table(("Command", "What it does"), commands, "/")


def listed() -> Sequence[Command]:
    """All that a session on the screen has, by itself."""
    *own, way_out = built_in()
    trusting = trust_commands(NOBODY, NOBODY)
    brought = (
        *trusting,
        sandbox_command(NOBODY, NOBODY),
        *hook_commands(NOBODY),
        *server_commands(NOBODY),
    )
    agents = (
        *agent_commands(NOBODY),
        *skills_commands(NOBODY),
        *PanelDoor(NOBODY).commands(),
        *style_commands(NOBODY, NOBODY),
        runs_command(NOBODY),
        *Autonomy(NOBODY).commands(),
        dream_command(NOBODY),
        *Projects(NOBODY).commands(),
        lsp_command(NOBODY),
    )
    return (*own, *brought, *agents, *screen_commands(NOBODY), way_out)


def _table(
    head: tuple[str, str], rows: Iterable[tuple[str, str]], prefix: str = ""
) -> Iterator[str]:
    yield f"| {head[0]} | {head[1]} |"
    yield "|---|---|"
    for name, text in rows:
        yield "| `{}` | {} |".format(
            f"{prefix}{name}".replace("|", "\\|"), text.replace("|", "\\|")
        )


def _usage(flag: Flag) -> str:
    names = ", ".join(sorted(flag.names, key=len))
    return f"{names} {flag.metavar}".rstrip()


def _help(flag: Flag) -> str:
    choices = " One of " + ", ".join(f"`{choice}`" for choice in flag.choices) + "."
    return flag.help + (choices if flag.choices else "")


if __name__ == "__main__":
    sys.stdout.write(page())
