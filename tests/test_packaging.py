"""What the files around the code promise: versions, commands of the README, links."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from tests.guards.sources import ROOT

LARGEST = 160_000_000  # bytes that an installation takes, beside what Python compiles of it
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)  # an example, and no page of ours
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def project() -> dict[str, Any]:
    loaded: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    return loaded


def blocks(text: str) -> dict[str, list[str]]:
    """The fenced blocks that CI runs, by the name in the comment above them."""
    found = re.finditer(r"<!-- ci: ([\w-]+) -->\n```sh\n(.*?)```", text, re.DOTALL)
    return {match[1]: match[2].splitlines() for match in found}


def broken_links(root: Path, page: Path) -> list[str]:
    return [
        f"{page.relative_to(root)} points at {target}, which does not exist"
        for target in LINK.findall(FENCED.sub("", page.read_text(encoding="utf-8")))
        if "://" not in target and not (page.parent / target).exists()
    ]


def test_readme_has_two_commands_to_run_and_two_to_test() -> None:
    found = blocks((ROOT / "README.md").read_text(encoding="utf-8"))
    assert set(found) == {"run", "run-uv", "test"}
    assert [len(commands) for commands in found.values()] == [2, 2, 2]
    assert found["test"][1] == ".venv/bin/pytest -n 6"


def test_ci_takes_its_commands_from_the_readme() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "pip install -c" not in script
    assert "bin/pytest" not in script
    found = blocks((ROOT / "README.md").read_text(encoding="utf-8"))
    assert {name for name in found if not re.search(rf"\b{name}\b", script)} == set()


def pages() -> list[Path]:
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    assert broken_links(ROOT, page) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("[a](page.md) [b](gone.md#x) [c](https://example.org)", encoding="utf-8")
    assert broken_links(tmp_path, page) == ["page.md points at gone.md, which does not exist"]


def test_constraints_pin_every_dependency() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = {r.name: r for r in map(Requirement, (x for x in lines if x and x[0] != "#"))}
    declared = [*project()["dependencies"], *project()["optional-dependencies"]["dev"]]
    for requirement in map(Requirement, declared):
        (pin,) = pins[requirement.name].specifier
        message = f"{requirement} is declared, {pin.version} pinned: make constraints.txt anew"
        assert requirement.specifier.contains(Version(pin.version)), message


def test_every_dependency_says_why() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    body = text.partition("dependencies = [\n")[2].partition("\n]")[0]
    bare = [line for line in body.splitlines() if "  # " not in line and not line.startswith("#")]
    assert bare == [], "a dependency stands with its reason beside it"


def test_version_is_written_the_same_twice() -> None:
    """A constant, because importlib.metadata costs 24 ms; so it must not drift."""
    text = (ROOT / "agent" / "version.py").read_text(encoding="utf-8")
    assert re.findall(r'^VERSION = "([^"]+)"', text, re.M) == [project()["version"]]


def sizes(name: str, extras: tuple[str, ...] = ()) -> dict[str, int]:
    """Of everything that comes along with a distribution, by name."""
    found: dict[str, int] = {}
    waiting = [(name, extras)]
    while waiting:
        name, extras = waiting.pop()
        key = name.lower().replace("_", "-")
        if key in found:
            continue
        try:
            one = distribution(name)
        except PackageNotFoundError:  # of another platform
            continue
        files = [Path(str(each.locate())) for each in one.files or () if each.suffix != ".pyc"]
        found[key] = sum(each.stat().st_size for each in files if each.is_file())
        for text in one.requires or ():
            wanted = Requirement(text)
            marker = wanted.marker
            if marker is None or any(marker.evaluate({"extra": each}) for each in ("", *extras)):
                waiting.append((wanted.name, tuple(wanted.extras)))
    return found


def test_an_installation_stays_small() -> None:
    found = sizes("gatewright")
    assert len(found) > 20
    largest = sorted(found.items(), key=lambda each: -each[1])[:5]
    assert sum(found.values()) < LARGEST, f"the largest are {largest}"


def test_a_large_dependency_would_be_counted() -> None:
    assert {"pytest", "hypothesis"} <= set(sizes("gatewright", ("dev",))) - set(sizes("gatewright"))
