"""A directory that is shown is read like the project, and changed like any other place."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatewright.permissions.context import Call
from gatewright.permissions.decide import decide
from gatewright.permissions.decision import Allow, Decision
from gatewright.permissions.policy import Policy, PolicyConfig
from gatewright.permissions.rulebook.rules import RuleTexts
from gatewright.permissions.shown import guard, show
from gatewright.tools.access import Access, Effect, Where


def policy(top: Path, **rules: RuleTexts) -> Policy:
    for name in ("home", "home/skills/x", "root"):
        (top / name).mkdir(parents=True, exist_ok=True)
    root = top / "root"
    config = PolicyConfig(root=root, cwd=root, home=top / "home", rules=rules, trusted=True)
    return Policy(config)


def reading(made: Policy, path: Path, *, writes: bool = False) -> Decision:
    where = Where(Path(made.place.root), Path(made.place.root), Path(made.place.home))
    paths = (path,)
    access = Access(writes=paths) if writes else Access(reads=paths, effects=Effect.READ_ONLY)
    tool = "Write" if writes else "Read"
    return decide(Call(tool, {"file_path": str(path)}, access), made.context(where))


def test_it_is_read_and_not_written(tmp_path: Path) -> None:
    made, folder = policy(tmp_path), tmp_path / "home" / "skills" / "x"
    file = folder / "more.md"
    assert not isinstance(reading(made, file), Allow)
    assert show(made, folder)
    assert isinstance(reading(made, file), Allow)
    assert not isinstance(reading(made, file, writes=True), Allow)
    assert not isinstance(reading(made, folder.parent / "y.md"), Allow)


def test_a_link_in_it_leads_nowhere_else(tmp_path: Path) -> None:
    made, folder = policy(tmp_path), tmp_path / "home" / "skills" / "x"
    (tmp_path / "home" / "key").write_text("secret", encoding="utf-8")
    (folder / "more.md").symlink_to(tmp_path / "home" / "key")
    assert show(made, folder)
    assert not isinstance(reading(made, folder / "more.md"), Allow)


def test_who_denies_it_is_heard(tmp_path: Path) -> None:
    folder = tmp_path / "home" / "skills" / "x"
    made = policy(tmp_path, user=RuleTexts(deny=(f"Read(/{folder}/**)",)))
    assert show(made, folder)
    assert not isinstance(reading(made, folder / "more.md"), Allow)


@pytest.mark.parametrize("name", [".", "home", "root", "home/skills/.."])
def test_what_holds_home_or_project_is_never_shown(tmp_path: Path, name: str) -> None:
    made = policy(tmp_path)
    assert not show(made, tmp_path / name)
    assert made.place.readable == ()


def test_where_something_runs_from_is_protected(tmp_path: Path) -> None:
    made = policy(tmp_path)
    made.set("acceptEdits")
    plugin, other = tmp_path / "root" / "plug", tmp_path / "root" / "other"
    for folder in (plugin, other):
        folder.mkdir()
    assert isinstance(reading(made, plugin / "x", writes=True), Allow)
    guard(made, (plugin,))
    assert not isinstance(reading(made, plugin / "x", writes=True), Allow)
    assert not isinstance(reading(made, tmp_path / "root" / "PLUG" / "x", writes=True), Allow)
    assert isinstance(reading(made, plugin / "x"), Allow)
    assert isinstance(reading(made, other / "x", writes=True), Allow)
    (other / "in").symlink_to(plugin)
    assert not isinstance(reading(made, other / "in" / "x", writes=True), Allow)
    guard(made, ())
    assert isinstance(reading(made, plugin / "x", writes=True), Allow)
