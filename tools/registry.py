"""The built-in tools by name; a tool's module is imported at its first use.

`specs` reads two kinds of data file and imports nothing, so a first request pays about 1 ms.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import msgspec

from gatewright.tools.protocol import JsonObject, Tool, ToolSpec

_HERE = Path(__file__).parent

TOOLS: Mapping[str, str] = {
    "Read": "gatewright.tools.files.read:Read",
    "Write": "gatewright.tools.files.write:Write",
    "Edit": "gatewright.tools.files.edit:Edit",
    "Bash": "gatewright.tools.shell.bash:Bash",
    "Glob": "gatewright.tools.search.glob:Glob",
    "Grep": "gatewright.tools.search.grep:Grep",
    "MultiEdit": "gatewright.tools.files.multi_edit:MultiEdit",
    "NotebookRead": "gatewright.tools.files.notebook_read:NotebookRead",
    "NotebookEdit": "gatewright.tools.files.notebook_edit:NotebookEdit",
    "WebFetch": "gatewright.tools.web.web_fetch:WebFetch",
    "WebSearch": "gatewright.tools.web.web_search:WebSearch",
    "TaskOutput": "gatewright.tools.tasks.task_output:TaskOutput",
    "TaskStop": "gatewright.tools.tasks.task_stop:TaskStop",
    "TaskCreate": "gatewright.tools.tasks.task_create:TaskCreate",
    "TaskUpdate": "gatewright.tools.tasks.task_update:TaskUpdate",
    "TaskList": "gatewright.tools.tasks.task_list:TaskListTool",
    "TaskGet": "gatewright.tools.tasks.task_get:TaskGet",
    "AskUserQuestion": "gatewright.tools.person.ask_user:AskUserQuestion",
    "EnterPlanMode": "gatewright.tools.person.enter_plan:EnterPlanMode",
    "ExitPlanMode": "gatewright.tools.person.exit_plan:ExitPlanMode",
    "TodoWrite": "gatewright.tools.tasks.todo:TodoWrite",
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


class Preset(msgspec.Struct, frozen=True):
    """A word for several tools; without background work every command ends with its call."""

    tools: tuple[str, ...]
    background: bool = True


# As they are written here: `Read` is the tool, `read` the preset.
PRESETS: Mapping[str, Preset] = {
    "core": Preset(("Read", "Write", "Edit", "Bash", "Glob", "Grep"), background=False),
    "read": Preset(("Read", "Glob", "Grep")),
}
BACKGROUND_TOOLS = frozenset(("TaskOutput", "TaskStop"))
BACKGROUND_FIELD = "run_in_background"

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


def expanded(names: Iterable[str]) -> tuple[str, ...]:
    """The names with each preset replaced by its tools."""
    return tuple(
        tool for name in names for tool in (PRESETS[name].tools if name in PRESETS else (name,))
    )


def load(name: str) -> Tool[Any]:
    """Import and make the tool; `name` is a key of TOOLS."""
    module, _, attribute = TOOLS[name].partition(":")
    return cast("Tool[Any]", getattr(import_module(module), attribute)())


class BuiltinTools:
    """The enabled built-in tools of one session, as a ToolSource; presets may be among the names.

    Who names a tool for background work beside a preset without it has it again.
    """

    def __init__(self, enabled: Collection[str] = BASIC, *, background: bool = True) -> None:
        wanted = {canonical(name) for name in expanded(enabled)}
        if not background:
            wanted -= BACKGROUND_TOOLS
        self._names = tuple(name for name in TOOLS if name in wanted)
        presets = (PRESETS[name] for name in enabled if name in PRESETS)
        self.background = background and (
            all(each.background for each in presets) or bool(wanted & BACKGROUND_TOOLS)
        )
        self._specs: dict[bool, tuple[ToolSpec, ...]] = {}
        self._loaded: dict[str, Tool[Any]] = {}

    @classmethod
    def of(
        cls, named: Collection[str] | None, *, alone: bool, background: bool = True
    ) -> BuiltinTools:
        """Those that a person named, or the usual ones."""
        usual = ALONE if alone else INTERACTIVE
        return cls(usual if named is None else named, background=background)

    def specs(self, *, short: bool = False) -> Sequence[ToolSpec]:
        """What models are told; the short form is for those with little room."""
        if short not in self._specs:
            raw = (_HERE / "schemas.json").read_bytes()
            table = msgspec.json.decode(raw, type=dict[str, _Entry])
            made = (_spec(name, table[name], short=short) for name in self._names)
            specs = tuple(made) if self.background else tuple(_in_foreground(each) for each in made)
            self._specs[short] = specs
        return self._specs[short]

    def find(self, name: str) -> Tool[Any] | None:
        if name not in self._names:
            return None
        if name not in self._loaded:
            self._loaded[name] = load(name)
        return self._loaded[name]


def _spec(name: str, entry: _Entry, *, short: bool) -> ToolSpec:
    """Not every description has a short form: some are short."""
    path = _HERE / "prompts" / entry.prompt
    brief = path.parent / "short" / entry.prompt
    text = (brief if short and brief.exists() else path).read_text(encoding="utf-8")
    return ToolSpec(name=name, description=text.strip(), schema=entry.schema)


def _in_foreground(spec: ToolSpec) -> ToolSpec:
    """Without the field that starts background work, and the lines that speak of it."""
    lines = spec.description.splitlines()
    fields = dict(spec.schema.get("properties", {}))
    fields.pop(BACKGROUND_FIELD, None)
    return ToolSpec(
        name=spec.name,
        description="\n".join(line for line in lines if BACKGROUND_FIELD not in line),
        schema={**spec.schema, "properties": fields},
    )
