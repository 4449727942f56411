"""What a tool takes is read without pydantic where it is plain, and to the same effect."""

from __future__ import annotations

import subprocess
import sys
from typing import Any, cast

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatewright.tools.checked import checked, model_of
from gatewright.tools.plain import Input, InputTool
from gatewright.tools.protocol import ToolFailure
from gatewright.tools.registry import TOOLS, load
from tests.fakes.examples import many, some

QUICK: dict[str, InputTool[Any]] = {
    name: tool
    for name in TOOLS
    if isinstance(tool := load(name), InputTool)
}  # fmt: skip
NAMES = sorted(
    {each.encode_name for tool in QUICK.values() for each in msgspec.structs.fields(tool.input)}
    | {each.name for tool in QUICK.values() for each in msgspec.structs.fields(tool.input)}
    | {"content", "status", "strange"}
)
WORDS = st.sampled_from(
    ["", "a", "content", "count", "pending", "code", "5", "true", "\ud800", "é"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2**70) | st.floats() | WORDS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)
    ),
    max_leaves=8,
)


def test_the_usual_ones_need_no_pydantic() -> None:
    assert {"Read", "Bash", "Edit", "Write", "Glob", "Grep", "TodoWrite"} <= QUICK.keys()
    code = (
        "import sys\nfrom gatewright.tools.registry import load\n"
        f"for name in {sorted(QUICK)!r}: load(name)\n"
        "load('Bash').read({'command': 'true', 'timeout': 5})\n"
        "print('pydantic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize("name", some(QUICK, 2))
@settings(max_examples=many(200))
@given(data=st.data())
def test_both_ways_lead_to_the_same(name: str, data: st.DataObject) -> None:
    tool = QUICK[name]
    known = [each.encode_name for each in msgspec.structs.fields(tool.input)]
    keys = st.sampled_from([*known, *known, *NAMES])
    raw = data.draw(st.dictionaries(keys, VALUES, max_size=6))
    try:
        model = checked(model_of(cast("type[Input]", tool.input)), raw, name)
    except ToolFailure as failure:
        with pytest.raises(ToolFailure) as told:
            tool.read(raw)
        assert str(told.value) == str(failure)
        return
    found = tool.read(raw)
    assert isinstance(found, Input)
    wanted = model.model_dump(by_alias=True)
    assert repr(msgspec.to_builtins(found)) == repr(wanted)  # of numbers also which kind


def test_half_a_character_is_refused_as_text() -> None:
    with pytest.raises(ToolFailure, match="`command`"):
        load("Bash").read({"command": "echo \ud800"})


def test_a_number_in_quotes_is_understood() -> None:
    assert load("Read").read({"file_path": "a", "offset": "5"}).offset == 5


def test_lists_that_were_quoted_are_read() -> None:
    edits = '[{"old_string": "a", "new_string": "b"}]'
    found = load("MultiEdit").read({"file_path": "a", "edits": edits})
    assert found.edits[0].new_string == "b"


def test_a_name_of_ours_is_another_name_of_a_flag() -> None:
    assert load("Grep").read({"pattern": "a", "ignore_case": True}).ignore_case
    assert load("Grep").read({"pattern": "a", "-i": True}).ignore_case


def test_what_is_nested_without_end_is_refused() -> None:
    deep: Any = "a"
    for _ in range(900):
        deep = [deep]
    with pytest.raises(ToolFailure):
        load("TodoWrite").read({"todos": deep})
