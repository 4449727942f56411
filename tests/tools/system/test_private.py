"""Nobody but the person looks into what we keep in our own home."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from gatewright.agent.launch import log
from gatewright.tools.system import private
from tests.guards.sources import own_sources


@pytest.fixture(autouse=True)
def open_to_all() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_new_folders_are_private_and_old_ones_left_alone(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir(mode=0o755)
    private.folder(tmp_path / "shared" / "a" / "b")
    private.folder(tmp_path / "shared" / "a" / "b")
    assert [mode(tmp_path / "shared" / each) for each in (".", "a", "a/b")] == [0o755, 0o700, 0o700]


def test_a_file_is_private_also_where_it_was_not(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new" / "file"
    old.write_text("x", encoding="utf-8")
    for path in (old, new):
        private.write(path, b"y")
        assert (mode(path), path.read_bytes()) == (0o600, b"y")


def test_a_file_in_the_place_of_a_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(OSError, match="file"):
        private.folder(tmp_path / "file" / "inner")


def test_the_log_is_private_and_so_is_the_one_that_follows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "MAX_BYTES", 200)
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        path = log.start(tmp_path / "home" / "logs", "", env={})
        for number in range(20):
            logging.getLogger("test").info("line %d", number)
        kept = sorted(path.parent.iterdir())
        assert len(kept) == 2
        assert {mode(each) for each in kept} == {0o600}
        assert {mode(path.parent), mode(path.parent.parent)} == {0o700}
    finally:
        for handler in set(root.handlers) - set(handlers):
            root.removeHandler(handler)
            handler.close()
        root.setLevel(level)


# What lies in a project, or where a person says, is made as their umask says.
OTHERS = {
    "agent/agents/agent_memory.py",
    "agent/agents/definitions/new_definition.py",
    "agent/extensions/skills/learning/drafts.py",
    "agent/history/restore.py",
    "agent/plugins/new_plugin.py",
    "agent/plugins/tree.py",  # a copy, below a folder that is private
    "agent/settings/foreign/claude_files.py",
    "agent/subcommands/schedule/schedule_group.py",  # where the system's own scheduler looks
    "agent/workflows/saved/saving.py",  # what is the person's own is made private by who asks
    "permissions/sandbox/running/readers.py",  # below the sandbox's own, which is private
    "skills/writing.py",
}


def test_folders_are_made_here_and_nowhere_else() -> None:
    """`mkdir(mode=0o700, parents=True)` makes the parents with the umask's mode."""
    making = {source.path for source in own_sources() if "parents=True" in source.text}
    assert making == OTHERS, "use tools.system.private.folder for folders of our own home"
