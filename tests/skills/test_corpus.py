"""Skill files as people write them: what is read of each, what is said of it, and who agrees."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewright.skills.reading import read_data, read_file
from gatewright.skills.strict.verdict import checked
from tests.skills.corpus import SHAPES, Shape
from tests.skills.trees import write

THEIRS = importlib.util.find_spec("skills_ref") is not None
OTHERS = "Unexpected fields"  # the format has six; programs have more


def folder(tmp_path: Path, shape: Shape) -> Path:
    return write(tmp_path / "demo" / "SKILL.md", shape.data).parent


def test_there_are_enough() -> None:
    assert len(SHAPES) >= 150


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.label)
def test_a_shape_is_read(tmp_path: Path, shape: Shape) -> None:
    file = folder(tmp_path, shape) / "SKILL.md"
    read = read_file(file, "demo", "skill")
    told = [f"{each.text} {each.fix}" for each in read.diagnostics]
    if shape.said is None:
        assert read.said is None and read.diagnostics[-1].fatal
    else:
        assert read.said is not None, told
        every = msgspec.structs.asdict(read.said)
        values = {field: every[field] for field in shape.said}
        assert values == shape.said
        assert not any(each.fatal for each in read.diagnostics)
    assert any(shape.told in text for text in told) if shape.told else not told
    assert all(each.file == file and each.text for each in read.diagnostics)
    lines = shape.data.count(b"\n") + shape.data.count(b"\r") + 1
    assert all(0 <= each.line <= lines for each in read.diagnostics)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.label)
def test_the_strict_verdict(tmp_path: Path, shape: Shape) -> None:
    found = checked(folder(tmp_path, shape))
    assert (not found.errors) == (shape.valid and shape.said is not None), found.errors


@pytest.mark.skipif(not THEIRS, reason="skills-ref is not installed")
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.label)
def test_the_formats_own_checker_agrees(tmp_path: Path, shape: Shape) -> None:
    validator: Callable[[Path], list[str]] = pytest.importorskip("skills_ref.validator").validate
    try:
        errors = [each for each in validator(folder(tmp_path, shape)) if OTHERS not in each]
    except (UnicodeDecodeError, AttributeError) as error:  # a defect of theirs is a no, too
        errors = [str(error)]
    assert (not errors) == shape.valid, errors


@given(st.binary(max_size=400))
def test_no_bytes_break_the_reader(data: bytes) -> None:
    read = read_data(data, Path("/x/SKILL.md"), "x", "skill")
    assert (read.said is None) == any(each.fatal for each in read.diagnostics)


@given(st.text(alphabet="-:#'\"[]{}|>&*! \n\tabc\\$", max_size=200))
def test_no_front_matter_breaks_the_reader(text: str) -> None:
    read = read_data(f"---\n{text}\n---\nx".encode(), Path("/x/SKILL.md"), "x", "skill")
    assert (read.said is None) == any(each.fatal for each in read.diagnostics)
