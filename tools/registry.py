"""The built-in tools by name; a tool's module, and pydantic with it, is imported at its first use.

`specs` reads two kinds of data file and imports nothing, so a first request pays about 1 ms.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import msgspec

from gatewright.tools.protocol import JsonObject, Tool, ToolSpec

_HERE = Path(__file__).parent

TOOLS: Mapping[str, str] = {
    "Read": "gatewright.tools.read:Read",
    "Write": "gatewright.tools.write:Write",
    "Edit": "gatewright.tools.edit:Edit",
    "Bash": "gatewright.tools.bash:Bash",
    "Glob": "gatewright.tools.glob:Glob",
    "Grep": "gatewright.tools.grep:Grep",
    "MultiEdit": "gatewright.tools.multi_edit:MultiEdit",
    "NotebookRead": "gatewright.tools.notebook_read:NotebookRead",
    "NotebookEdit": "gatewright.tools.notebook_edit:NotebookEdit",
    "WebFetch": "gatewright.tools.web_fetch:WebFetch",
    "WebSearch": "gatewright.tools.web_search:WebSearch",
    "TaskOutput": "gatewright.tools.task_output:TaskOutput",
    "TaskStop": "gatewright.tools.task_stop:TaskStop",
    "TaskCreate": "gatewright.tools.task_create:TaskCreate",
    "TaskUpdate": "gatewright.tools.task_update:TaskUpdate",
    "TaskList": "gatewright.tools.task_list:TaskListTool",
    "TaskGet": "gatewright.tools.task_get:TaskGet",
    "AskUserQuestion": "gatewright.tools.ask_user:AskUserQuestion",
    "EnterPlanMode": "gatewright.tools.enter_plan:EnterPlanMode",
    "ExitPlanMode": "gatewright.tools.exit_plan:ExitPlanMode",
    "TodoWrite": "gatewright.tools.todo:TodoWrite",
}

BASIC = ("Read", "Write", "Edit", "Bash", "Glob", "Grep", "TodoWrite")

# With a person there. Left out: what another tool does too (MultiEdit, NotebookRead), and the
# shared task list, which is for several agents and would double TodoWrite.
INTERACTIVE = (
    *BASIC,
    "NotebookEdit",
    "WebFetch",
    "WebSearch",
    "TaskOutput",
    "TaskStop",
    "AskUserQuestion",
    "EnterPlanMode",
    "ExitPlanMode",
)

# Without anybody to ask or to plan with.
ALONE = tuple(
    name for name in INTERACTIVE if name not in ("AskUserQuestion", "EnterPlanMode", "ExitPlanMode")
)

ALIASES: Mapping[str, str] = {
    "bashoutput": "TaskOutput",
    "agentoutput": "TaskOutput",
    "killshell": "TaskStop",
    "killbash": "TaskStop",
}


class _Entry(msgspec.Struct, frozen=True):
    prompt: str
    schema: JsonObject


def canonical(name: str) -> str:
    """The built-in tool a person means by `name`, in any case or by an older name; else `name`."""
    folded = name.casefold()
    return next((known for known in TOOLS if known.casefold() == folded), ALIASES.get(folded, name))


def load(name: str) -> Tool[Any]:
    """Import and make the tool; `name` is a key of TOOLS."""
    module, _, attribute = TOOLS[name].partition(":")
    return cast("Tool[Any]", getattr(import_module(module), attribute)())


class BuiltinTools:
    """The enabled built-in tools of one session, as a ToolSource."""

    def __init__(self, enabled: Collection[str] = BASIC) -> None:
        wanted = {canonical(name) for name in enabled}
        self._names = tuple(name for name in TOOLS if name in wanted)
        self._specs: tuple[ToolSpec, ...] = ()
        self._loaded: dict[str, Tool[Any]] = {}

    def specs(self) -> Sequence[ToolSpec]:
        if not self._specs:
            raw = (_HERE / "schemas.json").read_bytes()
            table = msgspec.json.decode(raw, type=dict[str, _Entry])
            self._specs = tuple(_spec(name, table[name]) for name in self._names)
        return self._specs

    def find(self, name: str) -> Tool[Any] | None:
        if name not in self._names:
            return None
        if name not in self._loaded:
            self._loaded[name] = load(name)
        return self._loaded[name]


def _spec(name: str, entry: _Entry) -> ToolSpec:
    text = (_HERE / "prompts" / entry.prompt).read_text(encoding="utf-8")
    return ToolSpec(name=name, description=text.strip(), schema=entry.schema)
