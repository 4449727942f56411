"""Sizes and habits: the rules that keep every file readable in one go."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.guards import shape, waits
from tests.guards.shipped import looked_up
from tests.guards.sources import own_sources, plant, sources_of_tests

HEAD = '"""Doc."""\n\nfrom __future__ import annotations\n\n'

PLANTED: dict[shape.Check, str] = {
    shape.long_files: HEAD + "x = 1\n" * 400,
    shape.long_functions: HEAD + "def f() -> None:\n" + "    print()\n" * 60,
    shape.many_parameters: HEAD + "def f(a, b, c, d, *, e, f, g): ...\n",
    shape.broad_excepts: HEAD
    + "def f():\n    try: ...\n    except (OSError, Exception):\n        g()\n",
    shape.silent_excepts: HEAD + "try: ...\nexcept OSError: ...\n",
    shape.relative_imports: HEAD + "from .protocol import Tool\n",
    shape.missing_future: '"""Doc."""\n',
    shape.missing_docstring: "from __future__ import annotations\n",
    shape.dynamic_attributes: HEAD + "hasattr(x, 'y')\n",
    shape.missing_encoding: HEAD + "path.read_text()\n",
    shape.vague_names: HEAD + "class ThingManager: ...\n",
}


@pytest.mark.parametrize("check", shape.CHECKS, ids=lambda check: check.__name__)
def test_the_code_keeps_the_rule(check: shape.Check) -> None:
    found = shape.run(check, own_sources())
    assert not found, "\n".join(found)


@pytest.mark.parametrize("check", shape.TEST_CHECKS, ids=lambda check: check.__name__)
def test_the_tests_keep_the_rule(check: shape.Check) -> None:
    found = shape.run(check, sources_of_tests())
    assert not found, "\n".join(found)


@pytest.mark.parametrize("check", shape.CHECKS, ids=lambda check: check.__name__)
def test_each_check_can_fail(tmp_path: Path, check: shape.Check) -> None:
    assert len(shape.run(check, plant(tmp_path, {"tools/planted.py": PLANTED[check]}))) == 1


@pytest.mark.parametrize(
    "line",
    ["class Parts: ...", "class Beside(Protocol): ...", "Parts: TypeAlias = int", "_Beside = int"],
)
def test_a_type_is_named_after_what_it_is(tmp_path: Path, line: str) -> None:
    planted = plant(tmp_path, {"tools/planted.py": f"{HEAD}{line}\n"})
    assert len(shape.run(shape.vague_names, planted)) == 1


def test_cleanup_that_raises_again_is_no_broad_except(tmp_path: Path) -> None:
    text = HEAD + "def f():\n    try: ...\n    except BaseException:\n        g()\n        raise\n"
    assert shape.run(shape.broad_excepts, plant(tmp_path, {"tools/planted.py": text})) == []


def test_exceptions_name_existing_files() -> None:
    """An exception for a file that is gone would silently cover the next one of that name."""
    paths = {source.path for source in own_sources()}
    named = {*shape.LONG_FILES, *shape.BROAD_EXCEPTS, *shape.DYNAMIC_ATTRIBUTES}
    assert not named - paths, f"remove from tests/guards/shape.py: {sorted(named - paths)}"


def test_tests_start_shipped_programs_as_the_product_does() -> None:
    found = shape.run(looked_up, sources_of_tests())
    assert not found, "\n".join(found)


def test_a_test_that_looks_one_up_is_found(tmp_path: Path) -> None:
    planted = plant(tmp_path, {"tests/planted.py": HEAD + "RG = shutil.which('rg') or ''\n"})
    assert len(shape.run(looked_up, planted)) == 1


def test_tests_wait_for_facts() -> None:
    found = shape.run(waits.sleeps, sources_of_tests())
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "text",
    [
        "import time\ntime.sleep(0.01)\n",
        "import asyncio\nasync def f():\n    await asyncio.sleep(x)\n",
        "from time import sleep as nap\nnap(1)\n",
    ],
)
def test_a_test_that_sleeps_is_found(tmp_path: Path, text: str) -> None:
    idle = "import asyncio\nasync def g():\n    await asyncio.sleep(0)\n    clock.sleep(3)\n"
    planted = plant(tmp_path, {"tests/planted.py": HEAD + idle + text})
    assert len(shape.run(waits.sleeps, planted)) == 1


def test_sleepers_are_files_that_sleep() -> None:
    sleeping = {source.path for source in sources_of_tests() if any(waits.slept(source))}
    assert waits.SLEEPERS.keys() <= sleeping, "remove from tests/guards/waits.py"
