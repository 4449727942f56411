"""A defect leaves a trace without secrets, and nothing where there was none."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from gatewright.agent.launch.defect_log import MAX_BYTES, DefectFile


def logger(path: Path) -> logging.Logger:
    made = logging.Logger("test")
    made.addHandler(DefectFile(path))
    return made


def test_only_errors_make_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "very-secret-value")
    path = tmp_path / "logs" / "errors.log"
    log = logger(path)
    log.warning("not worth keeping")
    assert not path.exists()
    try:
        raise RuntimeError("broken with very-secret-value")
    except RuntimeError:
        log.exception("the turn crashed")
    text = path.read_text(encoding="utf-8")
    assert "the turn crashed" in text
    assert "RuntimeError: broken with [redacted]" in text
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_file_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "errors.log"
    path.write_text("x" * (MAX_BYTES + 1), encoding="utf-8")
    logger(path).error("new")
    assert path.stat().st_size < 200
    assert (tmp_path / "errors.old.log").stat().st_size > MAX_BYTES


def test_a_home_that_cannot_be_written_is_no_second_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    logger(tmp_path / "file" / "errors.log").error("new")
    assert capsys.readouterr().err == ""
