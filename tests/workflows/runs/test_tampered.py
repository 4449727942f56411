"""Folders of runs that somebody has tampered with: nothing waits, and nothing leads out of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gatewright.agent.errors import GatewrightError
from gatewright.agent.workflows.runs.journal import CallSettled, value_of
from gatewright.agent.workflows.runs.looked_up import earlier, past_view, script_of
from gatewright.agent.workflows.runs.past import read_past

ID = "wf_abcdef"
LINES = """\
{"t":"begun","at":1,"session":"s"}
{"t":"call","index":1,"key":"k","nth":1}
"""


def folder(tmp_path: Path, *lines: str) -> Path:
    made = tmp_path / ID
    made.mkdir()
    text = LINES + "".join(f"{line}\n" for line in lines)
    (made / "journal.jsonl").write_text(text, encoding="utf-8")
    return made


def test_an_agent_of_a_journal_names_no_file_elsewhere(tmp_path: Path) -> None:
    made = folder(tmp_path, '{"t":"started","index":1,"agent":"../../other"}')
    (slot,) = read_past(made).slots.values()
    assert not slot.agent


def test_a_pipe_in_place_of_a_file_is_waited_for_by_nobody(tmp_path: Path) -> None:
    made = folder(tmp_path)
    os.mkfifo(made / "script.js")
    os.mkfifo(made / "run.json")
    assert not script_of([tmp_path], ID)
    assert not earlier([tmp_path], ())


def test_a_pipe_in_place_of_a_result_is_a_result_that_cannot_be_read(tmp_path: Path) -> None:
    made = folder(tmp_path)
    (made / "results").mkdir()
    os.mkfifo(made / "results" / "1-ab.json")
    with pytest.raises(GatewrightError, match=r"1-ab\.json cannot be read"):
        value_of(made, CallSettled(1, ok=True, spill="1-ab.json"))


def test_a_run_has_the_id_of_its_folder(tmp_path: Path) -> None:
    made = folder(tmp_path)
    (made / "run.json").write_text('{"id": "../../other", "name": "a"}', encoding="utf-8")
    view = past_view([tmp_path], ID)
    assert view is not None
    assert view.id == ID
