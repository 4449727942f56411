"""A start pays only for what it uses: which modules must be absent, and when.

Modules and not milliseconds: the same import takes three times as long on a busy machine.
`python tests/bench/startup.py` measures.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.program import Program
from tests.fakes.terminal import Terminal
from tests.guards.sources import ROOT
from tests.skills.trees import settle

# Importing one of these costs 10 to 700 ms.
HEAVY = frozenset(
    {
        "pydantic",
        "anthropic",
        "openai",
        "mcp",
        "mcp_types",
        "starlette",  # these two come with the MCP SDK, for servers: agent mcp serve alone is one
        "uvicorn",
        "httpx",
        "httpx2",
        "markdown_it",
        "pygments",
        "jsonschema",
        "typer",
        "yaml",
        "wcmatch",
        "tree_sitter_bash",
        "tree_sitter_javascript",
    }
)
REASON = "loads too early; import it in the function that needs it, with its price in a comment"

# Run the entry point and write what is loaded at the end; the program leaves by `os._exit`.
RUN = """
import json, os, sys
report, sys.argv = sys.argv[1], ["agent", *sys.argv[2:]]
leave = os._exit
def reported(code):
    with open(report, "w", encoding="utf-8") as file:
        json.dump(sorted(sys.modules), file)
    leave(code)
os._exit = reported
from gatewright.agent.launch.main import main
reported(main())
"""

# The same at the first frame: what the screen does when it is ready comes after it.
FRAME = """
import json, os, sys
report, sys.argv = sys.argv[1], ["agent"]
from gatewright.tui import app
def on_ready(self):
    with open(report, "w", encoding="utf-8") as file:
        json.dump(sorted(sys.modules), file)
    os._exit(0)
app.AgentApp.on_ready = on_ready
from gatewright.agent.launch.main import main
main()
"""


def loaded(program: Program, report: Path, *arguments: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(report), *arguments],
        cwd=program.project,
        env=program.env(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(report.read_text(encoding="utf-8")))


def is_folder(name: str) -> bool:
    return (ROOT / "src").joinpath(*name.split(".")).is_dir()


def early(modules: set[str], unwanted: frozenset[str]) -> list[str]:
    return sorted(f"{name} {REASON}" for name in modules & unwanted)


def test_version_loads_nothing(program: Program, tmp_path: Path) -> None:
    modules = loaded(program, tmp_path / "report", "--version")
    unwanted = HEAVY | {
        "textual",
        "rich",
        "msgspec",
        "asyncio",
        "dataclasses",
        "importlib.metadata",
    }
    assert early(modules, unwanted) == []
    ours = {name for name in modules if name.startswith("gatewright.agent.")}
    assert ours == {
        "gatewright.agent.launch",
        "gatewright.agent.launch.main",
        "gatewright.agent.version",
    }


def test_a_printed_answer_needs_no_screen(program: Program, tmp_path: Path) -> None:
    modules = loaded(program, tmp_path / "report", "-p", "hello", "--model", "demo")
    assert early(modules, HEAVY | {"textual", "rich", "httpcore2", "aiofiles"}) == []


def test_without_a_language_server_nothing_of_them_is_loaded(
    program: Program, tmp_path: Path
) -> None:
    (program.project / "a.py").write_text("x = 1\n", encoding="utf-8")
    modules = loaded(program, tmp_path / "report", "-p", "hello", "--model", "demo")
    assert not {name for name in modules if name.startswith("gatewright.agent.lsp")}


def test_without_automatic_memory_nothing_of_it_is_loaded(program: Program, tmp_path: Path) -> None:
    modules = loaded(program, tmp_path / "report", "-p", "hello", "--model", "demo")
    memory = {name for name in modules if name.startswith("gatewright.agent.autonomy.memory.")}
    assert memory == set()
    assert "gatewright.agent.extensions.autonomy.memory_session" not in modules


READERS = {f"gatewright.skills.{name}" for name in ("reading", "fields", "strict.verdict")}


def test_skills_are_read_once(program: Program, tmp_path: Path) -> None:
    """What is built in is data; of one's own, what an earlier session read is known."""
    assert not loaded(program, tmp_path / "report", "-p", "hi", "--model", "demo") & READERS
    skill = program.home / ".claude" / "skills" / "mine" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\ndescription: Does it.\n---\nDo it.\n", encoding="utf-8")
    settle(skill.parent)
    first = loaded(program, tmp_path / "report", "-p", "hi", "--model", "demo")
    assert first >= {"yaml", "gatewright.skills.reading"}
    again = loaded(program, tmp_path / "report", "-p", "hi", "--model", "demo")
    assert not again & (READERS | {"yaml"})


def test_the_first_frame_needs_only_the_screen(program: Program, tmp_path: Path) -> None:
    report = tmp_path / "report"
    argv = [sys.executable, "-c", FRAME, str(report)]
    with Terminal(argv, cwd=program.project, env=program.env()) as terminal:
        assert terminal.wait_exit() == 0, terminal.text()
    modules = set(json.loads(report.read_text(encoding="utf-8")))
    assert "gatewright.tui.app" in modules
    assert early(modules, HEAVY | {"gatewright.agent.build", "gatewright.agent.launch.cli"}) == []


@pytest.mark.parametrize(
    "module",
    ["agent.record.events", "agent.session.session", "permissions.decide", "tools.protocol"],
)
def test_a_contract_is_cheap(module: str) -> None:
    code = f"import gatewright.{module}, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert early(set(done.stdout.split()), HEAVY | {"textual", "rich"}) == []


def test_an_early_import_is_found() -> None:
    code = "import typer, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert early(set(done.stdout.split()), HEAVY) == [f"typer {REASON}"]


def test_without_hooks_nothing_of_them_is_loaded(program: Program, tmp_path: Path) -> None:
    modules = loaded(program, tmp_path / "report", "-p", "hello", "--model", "demo")
    hooks = {name for name in modules if name.startswith("gatewright.agent.hooks")}
    assert hooks == set()
    assert not modules & {"gatewright.agent.extensions.hook_session", "gatewright.tools.moments"}


# What a printed answer without calls has no use for: each is loaded by whoever first needs it.
UNUSED = frozenset(
    f"gatewright.{name}"
    for name in (
        "agent.session.own_commands",
        "agent.commands.tasks",
        "agent.commands.models",
        "agent.commands.panels",
        "agent.commands.rules.keeping_places",
        "agent.commands.hook_listing",
        "agent.agents.definitions.agents_command",
        "agent.agents.definitions.reading",
        "agent.servers.server_command",
        "agent.extensions.skills.skills_command",
        "agent.context.attachments",
        "agent.context.prompt.path_rules",
        "agent.compact.summary",
        "agent.history.plan",
        "agent.history.restore",
        "agent.providers.errors",
        "agent.session.review",
        "agent.session.rewind",
        "agent.session.status.status_facts",
        "agent.settings.edit",
        "agent.transcript.index",
        "agent.transcript.reader",
        "agent.turn.structured_answer",
        "agent.turn.tool_calls",
        "mcp.definitions",
        "permissions.decide",
        "permissions.gate",
        "permissions.inquiry",
        "permissions.sandbox.profile",
        "permissions.standing_in",
        "skills.frontmatter",
        "tools.shell.output",
        "tools.system.processes",
    )
)
# Modules of a printed answer, without folders, which are no work; both fall before they rise.
OURS, ALL = 328, 590


def test_a_printed_answer_loads_little(program: Program, tmp_path: Path) -> None:
    modules = loaded(program, tmp_path / "report", "-p", "hello", "--model", "demo")
    assert early(modules, UNUSED) == []
    ours = [name for name in modules if name.startswith("gatewright.") and not is_folder(name)]
    assert len(ours) <= OURS, "more of ours than a printed answer had: what of it is used?"
    assert len(modules) <= ALL


def test_what_is_named_as_unused_is_there() -> None:
    """A module that moved would be absent for ever."""
    roots = Path(__file__).resolve().parents[1]
    gone = [
        name
        for name in UNUSED
        if not roots.joinpath(*name.split(".")[1:]).with_suffix(".py").is_file()
    ]
    assert gone == []
