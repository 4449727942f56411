"""A second name for a file is judged as reading and writing the file itself."""

from __future__ import annotations

import pytest

from gatewright.permissions.shell.files.operands import links_hard, touched
from tests.permissions.shell_world import parts_of

HARD = [
    "ln secret y",
    "ln -f secret y",
    "ln -t d secret",
    "ln -td secret",
    "ln -t -s secret",
    "ln -S -s secret y",
    "ln --suffix --symbolic secret y",
    "ln --target-directory=d secret",
    "ln -- secret -s",
    "ln ../x/secret",
    "cp -l secret y",
    "cp -al secret y",
    "cp --link secret y",
    "cp --lin secret y",
]


@pytest.mark.parametrize("line", HARD)
def test_a_hard_link_reads_and_writes_its_source(line: str) -> None:
    found = touched(parts_of(line)[0])
    assert any(one.arg.text.endswith("secret") for one in found.reads)
    assert any(one.arg.text.endswith("secret") and not one.whole for one in found.writes)


@pytest.mark.parametrize(
    "line", ["ln -s secret y", "ln -sf secret y", "ln --symb secret y", "cp secret y", "cp -a l y"]
)
def test_others_share_nothing(line: str) -> None:
    assert not links_hard(parts_of(line)[0])
    assert all(one.arg.text not in ("secret", "l") for one in touched(parts_of(line)[0]).writes)
