"""Programs of plugins are found last, and are a stranger's to the gate."""

from __future__ import annotations

from pathlib import Path

from gatewright.permissions.policy import Policy, PolicyConfig
from tests.fakes.plugin_trees import write


def policy(tmp_path: Path) -> Policy:
    project, usual = tmp_path / "project", tmp_path / "usr"
    project.mkdir()
    write(usual / "ls", "", program=True)
    config = PolicyConfig(
        root=project, cwd=project, home=tmp_path / "home", rules={}, search=str(usual)
    )
    return Policy(config)


def test_only_what_nobody_else_has_is_taken_from_there(tmp_path: Path) -> None:
    own = policy(tmp_path)
    folder = tmp_path / "home" / "plugins" / "bin"
    for name in ("ls", "tree"):
        write(folder / name, "", program=True)
    assert not own.resolver.planted("tree")
    own.look_last([str(folder)])
    assert own.resolver.planted("tree"), "it is no tree that is known to be harmless"
    assert not own.resolver.planted("ls")
