"""The built-in tools as models and the start-up see them."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatewright.tools import registry
from gatewright.tools.access import Access, Where
from gatewright.tools.checked import CheckedTool
from gatewright.tools.executor import RawExecutor
from gatewright.tools.protocol import ToolCall, ToolSpec
from gatewright.tools.registry import (
    BASIC,
    INTERACTIVE,
    PRESETS,
    TOOLS,
    BuiltinTools,
    canonical,
)
from gatewright.tools.schema import SCHEMAS, generate
from tests.fakes.examples import many

TOKENS = 9_000
PROMPTS = Path(registry.__file__).with_name("prompts")
SHORT = PROMPTS / "short"


def test_the_schema_file_is_what_the_models_give() -> None:
    assert SCHEMAS.read_text(encoding="utf-8") == generate(), (
        "run python -m gatewright.tools.schema"
    )


def test_all_descriptions_and_schemas_fit_the_budget() -> None:
    size = sum(
        len(spec.name) + len(spec.description) + len(json.dumps(spec.schema))
        for spec in BuiltinTools(TOOLS).specs()
    )
    assert size / 4 < TOKENS
    assert size / 4 < 5_000  # where it stands today: grow it on purpose only


def test_the_basic_tools_are_lean() -> None:
    size = sum(
        len(spec.description) + len(json.dumps(spec.schema)) for spec in BuiltinTools().specs()
    )
    assert size < 8_000


def test_every_prompt_is_used_and_every_tool_named_right() -> None:
    used = {cast("CheckedTool[Any]", registry.load(name)).prompt for name in TOOLS}
    assert used == {path.name for path in PROMPTS.glob("*.md")}
    assert used > {path.name for path in SHORT.iterdir()}
    assert all(registry.load(name).name == name for name in TOOLS)


@pytest.mark.parametrize("spec", BuiltinTools(TOOLS).specs(), ids=lambda spec: spec.name)
def test_schemas_are_plain(spec: ToolSpec) -> None:
    assert spec.schema["type"] == "object"
    text = json.dumps(spec.schema)
    for word in ("$ref", "$defs", '"title"', '"default"', '"null"'):
        assert word not in text
    for name, field in spec.schema.get("properties", {}).items():
        assert {"type", "enum", "anyOf"} & set(field), name


def test_names_in_any_case_and_old_ones() -> None:
    assert [canonical(name) for name in ("bash", "todowrite", "KillShell", "mcp__a__b")] == [
        "Bash",
        "TodoWrite",
        "TaskStop",
        "mcp__a__b",
    ]


def test_only_enabled_tools_are_found() -> None:
    tools = BuiltinTools(("READ", "bash"))
    assert [spec.name for spec in tools.specs()] == ["Read", "Bash"]
    assert tools.find("Write") is None and tools.find("Read") is tools.find("Read")
    assert [spec.name for spec in BuiltinTools().specs()] == [n for n in TOOLS if n in BASIC]


def test_a_preset_stands_for_its_tools() -> None:
    def offered(*names: str) -> list[str]:
        return [spec.name for spec in BuiltinTools(names).specs()]

    assert offered("core") == ["Read", "Write", "Edit", "Bash", "Glob", "Grep"]
    assert offered("read") == ["Read", "Glob", "Grep"]
    assert offered("Read") == ["Read"]
    assert offered("read", "WebFetch", "Read") == ["Read", "Glob", "Grep", "WebFetch"]
    for preset in PRESETS.values():
        assert set(preset.tools) <= TOOLS.keys()


@pytest.mark.parametrize("short", [False, True])
def test_core_has_no_word_of_background_work(short: bool) -> None:
    def told(*names: str) -> str:
        return json.dumps(
            [[s.description, s.schema] for s in BuiltinTools(names).specs(short=short)]
        )

    core = BuiltinTools(("core",))
    assert not core.background and "background" not in told("core")
    assert "Whatever" in told("core"), "what stays true is still said"
    assert "run_in_background" in told("Bash")
    again = BuiltinTools(("core", "TaskStop"))
    assert again.background and "run_in_background" in told("core", "TaskStop")
    assert BuiltinTools(("read", "Bash")).background


@pytest.mark.parametrize("name", sorted(path.stem for path in SHORT.glob("*.md")))
def test_a_short_description_pays(name: str) -> None:
    full = (PROMPTS / f"{name}.md").read_text(encoding="utf-8")
    assert len((SHORT / f"{name}.md").read_text(encoding="utf-8")) < 0.7 * len(full)


def test_short_descriptions_change_nothing_else() -> None:
    tools = BuiltinTools(TOOLS)
    full, short = tools.specs(), tools.specs(short=True)
    assert [(s.name, s.schema) for s in full] == [(s.name, s.schema) for s in short]


def size_of(*names: str, short: bool = False) -> float:
    """Tokens, about."""
    return sum(
        len(spec.name) + len(spec.description) + len(json.dumps(spec.schema))
        for spec in BuiltinTools(names).specs(short=short)
    ) / 4  # fmt: skip


def test_a_small_window_has_room_for_the_tools() -> None:
    assert size_of("core", short=True) < 700 < size_of("core") < 850
    assert size_of(*INTERACTIVE, short=True) < 1_500 < size_of(*INTERACTIVE) < 1_900
    assert size_of("read", short=True) < 400


START = """
import sys
from gatewright.tools.executor import RawExecutor
from gatewright.tools.protocol import ToolCall, ToolSpec
from gatewright.tools.registry import BuiltinTools
import gatewright.tools.executor, gatewright.tools.system.processes, gatewright.tools.files.fs
assert len(BuiltinTools().specs()) == 7
print(*sys.modules)
"""


def test_the_specs_need_no_heavy_import() -> None:
    done = subprocess.run([sys.executable, "-c", START], capture_output=True, text=True, check=True)
    heavy = {"pydantic", "httpx2", "PIL", "pypdfium2", "rapidfuzz", "gatewright.tools.files.read"}
    assert heavy.isdisjoint(done.stdout.split())


def test_every_tool_says_what_it_touches() -> None:
    """A call that declares nothing would pass the gate as harmless."""
    where = Where(Path("/p"), Path("/p"), Path("/h"))
    calls: dict[str, dict[str, Any]] = {
        "Read": {"file_path": "a"},
        "Write": {"file_path": "a", "content": ""},
        "Edit": {"file_path": "a", "old_string": "x", "new_string": "y"},
        "MultiEdit": {"file_path": "a", "edits": [{"old_string": "x", "new_string": "y"}]},
        "Bash": {"command": "ls"},
        "Glob": {"pattern": "*"},
        "Grep": {"pattern": "x"},
        "NotebookRead": {"notebook_path": "a"},
        "NotebookEdit": {"notebook_path": "a"},
        "WebFetch": {"url": "https://a.example"},
        "WebSearch": {"query": "words"},
        "TaskOutput": {"task_id": "1"},
        "TaskStop": {"task_id": "1"},
        "TodoWrite": {"todos": []},
        "TaskCreate": {"subject": "x"},
        "TaskUpdate": {"taskId": "1"},
        "TaskList": {},
        "TaskGet": {"taskId": "1"},
        "AskUserQuestion": {
            "questions": [{"question": "?", "options": [{"label": "a"}, {"label": "b"}]}]
        },
        "EnterPlanMode": {},
        "ExitPlanMode": {},
    }
    assert calls.keys() == TOOLS.keys()
    for name, raw in calls.items():
        tool = registry.load(name)
        access = tool.access(tool.read(raw), where)
        assert access != Access(), name
        if access.writes or access.runs:
            assert not access.concurrent(), name


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
HINTS = st.sampled_from(
    ("../..", "/", "~", "~/x", "\0", "**/*", "{a", "[", "http://[", "http://1.1", "-1", "1-5", "")
)


@pytest.mark.parametrize("name", TOOLS)
def test_no_input_breaks_the_facts(name: str, tmp_path: Path) -> None:
    spec = next(spec for spec in BuiltinTools(TOOLS).specs() if spec.name == name)
    fields = sorted(spec.schema.get("properties", {})) or ["none"]
    executor = RawExecutor([BuiltinTools(TOOLS)])
    where = Where(tmp_path, tmp_path, tmp_path)

    @settings(max_examples=many(60), deadline=None)
    @given(st.dictionaries(st.sampled_from(fields), HINTS | JSON))
    def judge(input: dict[str, Any]) -> None:
        facts = asyncio.run(executor.prepare(ToolCall("1", name, input), where)).facts
        assert facts.error or facts.access != Access()
        assert "internal error" not in facts.error

    judge()
