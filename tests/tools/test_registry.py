"""The built-in tools as models and the start-up see them."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatewright.tools import registry
from gatewright.tools.access import Access, Where
from gatewright.tools.executor import RawExecutor
from gatewright.tools.protocol import ToolCall, ToolSpec
from gatewright.tools.registry import BASIC, TOOLS, BuiltinTools, canonical
from gatewright.tools.schema import SCHEMAS, generate

TOKENS = 9_000
PROMPTS = Path(registry.__file__).with_name("prompts")


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
    used = {registry.load(name).prompt for name in TOOLS}
    assert used == {path.name for path in PROMPTS.iterdir()}
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
    tools = BuiltinTools(("read", "Bash"))
    assert [spec.name for spec in tools.specs()] == ["Read", "Bash"]
    assert tools.find("Write") is None and tools.find("Read") is tools.find("Read")
    assert [spec.name for spec in BuiltinTools().specs()] == [n for n in TOOLS if n in BASIC]


START = """
import sys
from gatewright.tools.executor import RawExecutor
from gatewright.tools.protocol import ToolCall, ToolSpec
from gatewright.tools.registry import BuiltinTools
import gatewright.tools.executor, gatewright.tools.proc, gatewright.tools.fs
assert len(BuiltinTools().specs()) == 7
print(*sys.modules)
"""


def test_the_specs_need_no_heavy_import() -> None:
    done = subprocess.run([sys.executable, "-c", START], capture_output=True, text=True, check=True)
    heavy = {"pydantic", "httpx2", "PIL", "pypdfium2", "rapidfuzz", "gatewright.tools.read"}
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
        access = tool.access(tool.input.model_validate(raw), where)
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

    @settings(max_examples=60, deadline=None)
    @given(st.dictionaries(st.sampled_from(fields), HINTS | JSON))
    def judge(input: dict[str, Any]) -> None:
        facts = asyncio.run(executor.facts(ToolCall("1", name, input), where))
        assert facts.error or facts.access != Access()
        assert "internal error" not in facts.error

    judge()
