"""Front ends show outcomes and give choices back: they neither read nor write command lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.guards import front_ends
from tests.guards.sources import own_sources, plant

PLANTED: dict[front_ends.Check, tuple[str, ...]] = {
    front_ends.lines_as_protocol: (
        "f(lambda c: screen.run_line(f'/mode {c}'))\n",
        "await session.run_command('/model x')\n",
        "talk.send('/rewind')\n",
    ),
    front_ends.texts_as_protocol: (
        "if block.tone == 'warning': ...\n",
        "found = len(block.headers) == 3\n",
        "match x:\n    case Text(tone='warning'): ...\n",
    ),
    front_ends.letters_that_act: ("Listing(title='x', acts=(Act('o', 'off', switch),))\n",),
}


@pytest.mark.parametrize("check", front_ends.CHECKS, ids=lambda check: check.__name__)
def test_no_front_end_talks_to_the_core_in_text(check: front_ends.Check) -> None:
    found = front_ends.run(check, own_sources())
    assert not found, "\n".join(found)


@pytest.mark.parametrize("check", front_ends.CHECKS, ids=lambda check: check.__name__)
def test_each_check_finds_what_is_planted(tmp_path: Path, check: front_ends.Check) -> None:
    for number, text in enumerate(PLANTED[check]):
        sources = plant(tmp_path / str(number), {"tui/planted.py": text})
        assert len(front_ends.run(check, sources)) == 1, text
