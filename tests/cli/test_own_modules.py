"""The short way to modules of ours leads to what Python's own way would."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gatewright.agent.launch.own_modules import OwnLoader, OwnModules, install

CODE = """
import sys
sys.path.insert(0, {root!r})
from gatewright.agent.launch.own_modules import install
install({main!r})
from gatewright.agent import word
loader = type(word.__spec__.loader).__name__
print(word.WORD, word.__file__, word.__cached__, word.__spec__.name, loader)
print(word.tell.__code__.co_filename)
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A package of ours that holds the finder itself and one module more."""
    launch = tmp_path / "gatewright" / "agent" / "launch"
    launch.mkdir(parents=True)
    own = Path(sys.modules[OwnModules.__module__].__file__ or "")
    (launch / "own_modules.py").write_bytes(own.read_bytes())
    word(tmp_path, "one")
    return tmp_path


def word(tree: Path, text: str) -> Path:
    file = tree / "gatewright" / "agent" / "word.py"
    file.write_text(f'WORD = "{text}"\ndef tell(): return WORD\n', encoding="utf-8")
    return file


def told(tree: Path, *flags: str) -> list[str]:
    main = str(tree / "gatewright" / "agent" / "launch" / "main.py")
    code = CODE.format(root=str(tree), main=main)
    env = {key: text for key, text in os.environ.items() if not key.startswith("PYTHON")}
    done = subprocess.run(
        [sys.executable, *flags, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_it_loads_what_is_there_and_says_where(tree: Path) -> None:
    file = tree / "gatewright" / "agent" / "word.py"
    cached = importlib.util.cache_from_source(str(file))
    said = ["one", str(file), cached, "gatewright.agent.word", "OwnLoader", str(file)]
    assert told(tree) == said
    assert Path(cached).is_file()  # compiled once, as ever
    assert told(tree) == said


def test_a_changed_source_counts_at_once(tree: Path) -> None:
    told(tree)
    before = (tree / "gatewright" / "agent" / "word.py").stat()
    file = word(tree, "another")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))  # the same time, another size
    assert told(tree)[0] == "another"
    file = word(tree, "moments")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns + 2_000_000_000))  # the other way
    assert told(tree)[0] == "moments"


@pytest.mark.parametrize("damage", [b"", b"no code at all", b"\0" * 64])
def test_what_is_no_code_is_compiled_anew(tree: Path, damage: bytes) -> None:
    told(tree)
    compiled = importlib.util.cache_from_source(str(tree / "gatewright" / "agent" / "word.py"))
    Path(compiled).write_bytes(damage)
    assert told(tree)[0] == "one"


def test_a_tree_that_moved_names_its_new_place(tree: Path, tmp_path: Path) -> None:
    told(tree)
    moved = tmp_path / "moved"
    moved.mkdir()
    (tree / "gatewright").rename(moved / "gatewright")
    assert told(moved)[-1] == str(moved / "gatewright" / "agent" / "word.py")


def test_optimised_code_is_left_to_python(tree: Path) -> None:
    assert told(tree, "-O")[4] == "SourceFileLoader"


def test_it_knows_modules_of_ours_alone(tree: Path) -> None:
    finder = OwnModules(str(tree / "gatewright"))
    spec = finder.find_spec("gatewright.agent.word")
    assert spec is not None and isinstance(spec.loader, OwnLoader)
    assert finder.find_spec("gatewright.agent") is None  # a folder
    assert finder.find_spec("gatewright.agent.none") is None
    assert finder.find_spec("json") is None


def test_it_is_installed_once_and_only_by_the_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "meta_path", [])
    install("/somewhere/else.py")
    assert sys.meta_path == []
    install("/x/gatewright/agent/launch/main.py")
    install("/x/gatewright/agent/launch/main.py")
    assert len(sys.meta_path) == 1
