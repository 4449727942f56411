"""Who may import whom, as data, and the check that reads it.

A module may import what any row that covers it allows; the rows are the table of ARCHITECTURE.md.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tests.guards.sources import Source

PROTOCOL = (
    "tools.protocol", "tools.access", "tools.calls", "tools.interact", "tools.blocks",
    "tools.abilities", "tools.textfiles", "tools.services", "tools.classify", "tools.moments",
    "tools.plain", "tools.form_values", "tools.judgement",
)  # fmt: skip
SYSTEM = ("tools.system",)  # how everybody reads files and starts programs: no policy in it
ANYTHING = ("*",)


@dataclass(frozen=True)
class Row:
    """`covers` is a folder or a file; `ours` and `packages` are what it may import."""

    covers: str
    why: str
    ours: tuple[str, ...] = ()
    packages: frozenset[str] = field(default_factory=frozenset[str])


TABLE = (
    Row(
        "tools",
        "tools are the bottom: they describe themselves and know nobody",
        ("tools",),
        frozenset({"msgspec", "pydantic", "pydantic_core", "httpx2", "wcmatch", "aiofiles"})
        | {"rapidfuzz", "idna", "PIL", "pypdfium2", "html_to_markdown"},
    ),
    Row(
        "permissions",
        "the gate judges facts, so it knows the tool protocol and no concrete tool",
        ("permissions", *PROTOCOL, *SYSTEM),
        frozenset({"msgspec", "wcmatch", "bracex", "idna", "tree_sitter", "tree_sitter_bash"}),
    ),
    Row(
        "permissions/gated.py",
        "the one place where the gate meets the executor",
        ("tools.executor",),
    ),
    Row(
        "mcp",
        "servers are adapted to the tool protocol; only this folder talks to the SDK",
        ("mcp", *PROTOCOL, *SYSTEM),
        frozenset(
            {"mcp", "mcp_types", "pydantic", "msgspec", "anyio", "httpx2", "starlette", "uvicorn"}
        )
        | {"jsonschema", "referencing"},
    ),
    Row(
        "skills",
        "skills know the tool protocol only",
        ("skills", *PROTOCOL, *SYSTEM),
        frozenset({"msgspec"}),
    ),
    Row(
        "skills/yaml_values.py",
        "front matter is YAML, and this is the one place that knows who reads it",
        (),
        frozenset({"yaml"}),
    ),
    Row(
        "agent",
        "the core gets gate, tools and servers injected, so it can be tested and reasoned about",
        ("agent", *PROTOCOL, *SYSTEM, "skills.model", "skills.frontmatter", "skills.globs"),
        frozenset({"msgspec"}),
    ),
    Row(
        "agent/providers",
        "model APIs are reached from here and from nowhere else in the core",
        (),
        frozenset({"httpx2", "anthropic", "openai", "jiter", "truststore", "keyring"}),
    ),
    Row(
        "agent/turn/structured_answer.py",
        "answers are checked against the schema that was asked for",
        (),
        frozenset({"jsonschema", "referencing"}),
    ),
    Row(
        "agent/autonomy/schedules/timing.py",
        "the one place that computes slots, and nobody else needs it",
        (),
        frozenset({"cronsim"}),
    ),
    Row(
        "agent/workflows/script/tree.py",
        "scripts of workflows are read by their grammar, and nobody else needs it",
        (),
        frozenset({"tree_sitter", "tree_sitter_javascript"}),
    ),
    Row(
        "agent/plugins/acting.py",
        "what acts in a text is found by whoever reads it: another reader finds something else",
        ("skills.reading", "skills.template"),
    ),
    Row("agent/launch/cli.py", "sub-commands are run here", (), frozenset({"typer"})),
    Row(
        "agent/subcommands",
        "front doors: each sub-command reaches the part it is about",
        ANYTHING,
        frozenset({"typer"}),
    ),
    Row(
        "agent/subcommands",
        "a subcommand is a start of its own: it shows rules and decisions, and runs no tool",
        ("permissions.check", "permissions.rulebook.rules", "permissions.sandbox"),
        frozenset({"typer"}),
    ),
    Row(
        "agent/teams",
        "a team shares the list that the task tools keep",
        ("tools.tasks.tasklist",),
    ),
    Row(
        "agent/session/review.py",
        "a change is shown to people as the tools show theirs",
        ("tools.files.diff",),
    ),
    Row(
        "agent/autonomy/memory/dream_run.py",
        "a change is shown to people as the tools show theirs",
        ("tools.files.diff",),
    ),
    Row(
        "agent/foreign/recording.py",
        "a change that another program made is shown as the tools show theirs",
        ("tools.files.diff",),
    ),
    Row("agent/api.py", "composition root for programs that embed us", ANYTHING),
    Row(
        "agent/settings/policy_settings.py",
        "part of the composition: settings in, the gate's configuration out",
        (
            "permissions.policy",
            "permissions.rulebook.allotment",
            "permissions.rulebook.rules",
            "permissions.modes",
            "permissions.sandbox.commands",
            "permissions.sandbox.restrictions",
        ),
    ),
    Row(
        "agent/context/file_judge.py",
        "part of the composition: the gate's word and the tools' pictures, for who reads files",
        (
            "permissions.decision",
            "permissions.policy",
            "permissions.readable",
            "tools.documents.child_process",
            "tools.documents.picture",
        ),
    ),
    Row(
        "agent/extensions",
        "part of the composition: adapts the folders below to what a session takes",
        ("permissions", "tools", "mcp"),
    ),
    Row(
        "agent/extensions/skills",
        "part of the composition: adapts skills to what a session takes",
        ("skills",),
    ),
    Row("agent/launch/main.py", "composition root", ANYTHING, frozenset(ANYTHING)),
    Row("agent/launch/screens.py", "part of the composition: the screen", ("tui",)),
    Row("agent/build.py", "composition root", ANYTHING, frozenset(ANYTHING)),
    Row(
        "tui",
        "the screen is a fold over events and knows a session by its port only",
        (
            "tui",
            "agent.client.port",
            "agent.errors",
            "agent.record.events",
            "agent.commands",
            "agent.settings.schema",
            "agent.record.hub",
            "agent.record.messages",
            "agent.turn.stop",
            "agent.text.money",
            "agent.text.printable",
            "agent.text.terminal_sequence",
            "agent.text.ultracode",
            "agent.record.events_of_agents",
            "agent.record.events_of_workflows",
            "agent.workflows.runs.views",
            "agent.version",
            *PROTOCOL,
            *SYSTEM,
        ),
        frozenset({"textual", "rich", "markdown_it", "pygments", "msgspec"}),
    ),
)

COMPOSITION = ("agent.launch.main", "agent.build")
ENTRIES = ("agent.launch.main", "agent.api")


def imports(source: Source, known: frozenset[str]) -> Iterator[tuple[int, str]]:
    """Line and full name of every import, wherever in the file it stands.

    `from gatewright.tools import protocol` counts as `gatewright.tools.protocol`, and so does the
    text "gatewright.tools.protocol:Tool", which somebody will import by name.
    """
    for node in source.of(ast.Import, ast.ImportFrom, ast.Constant):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                named = full.removeprefix("gatewright.") in known
                yield node.lineno, full if named else node.module
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            name = node.value.partition(":")[0]
            if name.startswith("gatewright.") and name.removeprefix("gatewright.") in known:
                yield node.lineno, name


def forbidden_imports(sources: Sequence[Source]) -> list[str]:
    known = frozenset(source.module for source in sources)
    return [
        f"{source.path}:{line} imports {name}, but {_reason(source)}"
        for source in sources
        for line, name in imports(source, known)
        if not _allowed(source, name)
    ]


def composition_imports(sources: Sequence[Source]) -> list[str]:
    """Only the entries import the composition root: it would drag everything along."""
    known = frozenset(source.module for source in sources)
    return [
        f"{source.path}:{line} imports {name}: only launch/main.py and api.py may"
        for source in sources
        for line, name in imports(source, known)
        if name.removeprefix("gatewright.") in COMPOSITION and source.module not in ENTRIES
    ]


def _rows(source: Source) -> list[Row]:
    return [
        row for row in TABLE if source.path == row.covers or _below(source.path, row.covers, "/")
    ]


def _allowed(source: Source, name: str) -> bool:
    top, _, rest = name.partition(".")
    if top in sys.stdlib_module_names:
        return True
    rows = _rows(source)
    if top == "gatewright":
        wanted = [ours for row in rows for ours in row.ours]
        return "*" in wanted or any(rest == w or _below(rest, w, ".") for w in wanted)
    packages = {package for row in rows for package in row.packages}
    return "*" in packages or top in packages


def _below(name: str, prefix: str, separator: str) -> bool:
    return name.startswith(prefix + separator)


def _reason(source: Source) -> str:
    rows = _rows(source)
    return "; ".join(row.why for row in rows) if rows else "no row of the table covers this file"
