"""Ordinary work inside: what people do all day passes with the default profile."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gatewright.permissions.sandbox.machine import machine
from gatewright.permissions.sandbox.probe import probe
from gatewright.tools.search import rg

pytestmark = [
    pytest.mark.skipif(probe(machine()).level != "bwrap", reason="no bubblewrap here"),
    pytest.mark.slow,
    pytest.mark.timeout(180),
]
RG = rg.locate(Path("/nonexistent"))  # the one the product starts
AGENT = str(Path(sys.executable).with_name("agent"))


@cache
def reachable(host: str) -> bool:
    """Asked by a program: tests themselves connect to nothing but this machine."""
    curl = ["curl", "-sS", "-m", "5", "-o", os.devnull, f"https://{host}/"]
    return shutil.which("curl") is not None and subprocess.run(curl, check=False).returncode == 0


def index_hosts() -> tuple[str, ...]:
    """Where pip looks and where its files lie, as pip itself says."""
    asked = (
        "from pip._internal.models.index import PyPI as p; print(p.netloc, p.file_storage_domain)"
    )
    done = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, text=True, encoding="utf-8", check=False
    )
    return tuple(done.stdout.split())


def registry_hosts() -> tuple[str, ...]:
    """Where npm looks, as npm itself says."""
    asked = ["npm", "config", "get", "registry"]
    done = subprocess.run(asked, capture_output=True, text=True, encoding="utf-8", check=False)
    return tuple(host for host in [urlsplit(done.stdout.strip()).hostname] if host)


def allowed(hosts: tuple[str, ...]) -> list[str]:
    """Flags that open these hosts; the test is skipped where they cannot be reached."""
    if not hosts or not reachable(hosts[0]):
        pytest.skip("the registry cannot be reached from here")
    return [word for host in hosts for word in ("--allow-domain", host)]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    (tmp_path / "tmp").mkdir()
    made = tmp_path / "proj"
    made.mkdir()
    return made


def confined(project: Path, command: str, *flags: str) -> str:
    """The output of a command that must succeed."""
    home = project.parent / "home"
    env = {
        **{name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL"))},
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "TMPDIR": str(project.parent / "tmp"),
        "LANG": "C.UTF-8",
        "GIT_AUTHOR_NAME": "A",
        "GIT_AUTHOR_EMAIL": "a@example.com",
        "GIT_COMMITTER_NAME": "A",
        "GIT_COMMITTER_EMAIL": "a@example.com",
    }
    done = subprocess.run(
        [AGENT, "sandbox", "run", *flags, "--", "bash", "-ec", command],
        cwd=project,
        env=env,
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


def git(project: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=project, check=True, capture_output=True)


def test_commits_run_the_hooks_of_the_repository(project: Path) -> None:
    git(project, "init", "-q")
    hook = project / ".git" / "hooks" / "pre-commit"
    hook.write_text("#!/bin/sh\necho hook ran > hooked\n", encoding="utf-8")
    hook.chmod(0o755)
    output = confined(
        project,
        "echo x > a; git add -A; git commit -qm first; git switch -qc topic; echo y > b;"
        " git add b; git commit -qm second; git switch -q -; git merge -q topic; git log --oneline;"
        " git status --short; cat hooked; git gc -q",
    )
    assert "second" in output
    assert "hook ran" in output


def test_a_linked_work_tree_commits(project: Path) -> None:
    git(project, "init", "-q")
    git(project, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "x", "--allow-empty")
    tree = project.parent / "tree"
    git(project, "worktree", "add", "-q", str(tree), "-b", "side")
    output = confined(
        project,
        "echo x > a; git add a; git commit -qm there; git log --oneline -1;"
        " if echo evil > ../proj/.git/hooks/pre-commit; then exit 1; fi;"
        " if echo evil >> ../proj/.git/config; then exit 1; fi",
        "--cwd",
        str(tree),
    )
    assert "there" in output
    assert not (project / ".git" / "hooks" / "pre-commit").exists()


def test_a_submodule_commits(project: Path) -> None:
    library = project.parent / "library"
    library.mkdir()
    git(library, "init", "-q")
    git(library, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "x", "--allow-empty")
    git(project, "init", "-q")
    git(project, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "lib")
    output = confined(
        project,
        "cd lib; echo x > a; git add a; git commit -qm inner; git log --oneline -1; cd ..;"
        " git add lib; git commit -qm outer;"
        " if echo evil > .git/modules/lib/hooks/pre-commit; then exit 1; fi",
    )
    assert "inner" in output


def test_a_virtual_environment_installs_from_the_index(project: Path) -> None:
    domains = allowed(index_hosts())
    output = confined(
        project,
        f"{sys.executable} -m venv .venv; .venv/bin/pip install -q six;"
        " .venv/bin/python -c 'import six; print(six.__name__)'",
        *domains,
    )
    assert output.endswith("six\n")


@pytest.mark.skipif(shutil.which("npm") is None, reason="no npm here")
def test_npm_installs_from_its_lock_file(project: Path) -> None:
    domains = allowed(registry_hosts())
    package = '{"name": "x", "version": "1.0.0", "dependencies": {"left-pad": "1.3.0"}}'
    (project / "package.json").write_text(package, encoding="utf-8")
    output = confined(
        project,
        "npm install --no-audit --no-fund >/dev/null; npm ci --no-audit --no-fund;"
        " node -e 'console.log(require(\"left-pad\")(1, 3, 0))'",
        *domains,
    )
    assert output.endswith("001\n")


def test_pytest_runs(project: Path) -> None:
    (project / "test_it.py").write_text(
        "import os, subprocess, sys\n"
        "def test_files(tmp_path): (tmp_path / 'a').write_text('x')\n"
        "def test_child(): assert subprocess.run([sys.executable, '-c', '']).returncode == 0\n",
        encoding="utf-8",
    )
    assert "2 passed" in confined(project, f"{sys.executable} -m pytest -q")


@pytest.mark.skipif(shutil.which("cc") is None, reason="no compiler here")
def test_make_compiles(project: Path) -> None:
    (project / "m.c").write_text(
        '#include <stdio.h>\nint main(void){puts("hi");return 0;}\n', encoding="utf-8"
    )
    (project / "Makefile").write_text("m: m.c\n\tcc -pthread -O2 m.c -o m\n", encoding="utf-8")
    assert confined(project, "make -j2 >/dev/null && ./m") == "hi\n"


@pytest.mark.skipif(shutil.which("cargo") is None, reason="no cargo here")
def test_cargo_builds(project: Path) -> None:
    home = pwd.getpwuid(os.getuid()).pw_dir  # where it was installed; the suite has no home
    exports = f"export CARGO_HOME={home}/.cargo RUSTUP_HOME={home}/.rustup;"
    output = confined(project, f"{exports} cargo new -q hello; cd hello; cargo run -q")
    assert output == "Hello, world!\n"
    assert (project / "hello" / ".git").is_dir()


def test_ripgrep_searches(project: Path) -> None:
    (project / "a.txt").write_text("needle\n", encoding="utf-8")
    assert confined(project, f"{RG} -n needle") == "a.txt:1:needle\n"
