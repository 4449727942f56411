"""Repositories that would run a program of theirs, and how plain git springs each."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.fakes.waiting import PATIENCE

IDENTITY = {
    "GIT_AUTHOR_NAME": "x", "GIT_AUTHOR_EMAIL": "x@example.org",
    "GIT_COMMITTER_NAME": "x", "GIT_COMMITTER_EMAIL": "x@example.org",
}  # fmt: skip


@dataclass
class Trapped:
    """A repository with one commit and a change, and a program that leaves a mark when it runs."""

    root: Path
    marks: Path
    env: dict[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def make(cls, root: Path, marks: Path) -> Trapped:
        root.mkdir(parents=True, exist_ok=True)
        marks.mkdir(parents=True, exist_ok=True)
        trapped = cls(root, marks)
        trapped.script("trap.sh", f'touch "{marks}/sprung"\n[ -t 0 ] || timeout 1 cat')
        trapped.git("init", "-q", "-b", "main")
        trapped.put("a.txt", "one\n")
        trapped.git("add", "a.txt")
        trapped.git("commit", "-qm", "first")
        trapped.put("a.txt", "two\n")
        return trapped

    @property
    def trap(self) -> str:
        return str(self.root / "trap.sh")

    def script(self, name: str, body: str) -> Path:
        path = self.put(name, f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return path

    def put(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def git(self, *arguments: str, folder: str = "", check: bool = True) -> str:
        env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", **IDENTITY, **self.env}
        done = subprocess.run(
            ["git", *arguments], cwd=self.root / folder, env=env, check=check,
            capture_output=True, text=True, timeout=PATIENCE,
        )  # fmt: skip
        return done.stdout

    def config(self, key: str, value: str) -> None:
        self.git("config", key, value)

    def sprung(self) -> bool:
        return any(self.marks.iterdir())

    def reset(self) -> None:
        for mark in self.marks.iterdir():
            mark.unlink()

    def gitlink(self, *settings: tuple[str, str]) -> str:
        """A nested repository that the outer one tracks as a submodule nobody has declared."""
        names = ("sub", *(f"sub{number}" for number in range(2, 10)))
        folder = next(name for name in names if not (self.root / name).exists())
        (self.root / folder).mkdir()
        self.git("init", "-q", folder=folder)
        self.put(f"{folder}/b.txt", "one\n")
        self.git("add", "b.txt", folder=folder)
        self.git("commit", "-qm", "nested", folder=folder)
        self.git("add", folder)
        self.git("commit", "-qm", "link")
        for key, value in settings:
            self.git("config", key, value, folder=folder)
        self.put(f"{folder}/.gitattributes", "* filter=e\n")
        self.put(f"{folder}/b.txt", "two\n")
        return folder


def _filtered(kind: str) -> Callable[[Trapped], None]:
    def plant(at: Trapped) -> None:
        at.put(".gitattributes", "* filter=e\n")
        at.config(f"filter.e.{kind}", at.trap)

    return plant


def _setting(key: str, value: str = "") -> Callable[[Trapped], None]:
    return lambda at: at.config(key, value or at.trap)


def _link(key: str) -> Callable[[Trapped], None]:
    def plant(at: Trapped) -> None:
        at.gitlink((key, at.trap))

    return plant


def _driver(kind: str) -> Callable[[Trapped], None]:
    def plant(at: Trapped) -> None:
        at.put(".gitattributes", "* diff=e\n")
        at.config(f"diff.e.{kind}", at.trap)

    return plant


def _included(key: str) -> Callable[[Trapped], None]:
    def plant(at: Trapped) -> None:
        at.put(".gitattributes", "* filter=e\n")
        at.put("theirs", f'[filter "e"]\n\tclean = {at.trap}\n')
        at.config(key, str(at.root / "theirs"))

    return plant


def _worktree_settings(at: Trapped) -> None:
    at.put(".gitattributes", "* filter=e\n")
    at.config("extensions.worktreeConfig", "true")
    at.git("config", "--worktree", "filter.e.clean", at.trap)


def _hook(name: str) -> Callable[[Trapped], None]:
    def plant(at: Trapped) -> None:
        at.script(f"hooks/{name}", f"{at.trap} < /dev/null")
        at.config("core.hooksPath", str(at.root / "hooks"))

    return plant


def _signed(at: Trapped) -> None:
    tree = at.git("rev-parse", "HEAD^{tree}").strip()
    who = "x <x@example.org> 1700000000 +0000"
    text = f"tree {tree}\nauthor {who}\ncommitter {who}\ngpgsig -----BEGIN PGP SIGNATURE-----\n x\n"
    made = at.put("commit", f"{text} -----END PGP SIGNATURE-----\n\nsigned\n")
    commit = at.git("hash-object", "-t", "commit", "-w", str(made)).strip()
    at.git("update-ref", "HEAD", commit)
    at.config("log.showSignature", "true")
    at.config("gpg.program", at.trap)


def _promised(at: Trapped) -> None:
    (missing,) = (at.root / ".git" / "objects").glob("56/26*")  # "one\n"
    missing.unlink()
    for key, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "evil",
        "remote.evil.promisor": "true",
        "remote.evil.url": str(at.root),
        "remote.evil.uploadpack": at.trap,
        "protocol.file.allow": "always",
    }.items():
        at.config(key, value)


def _linked_elsewhere(at: Trapped) -> None:
    """The nested repository is a directory of the work tree, which a `.git` file names."""
    folder = at.gitlink(("filter.e.clean", at.trap))
    (at.root / folder / ".git").rename(at.root / "data")
    at.put(f"{folder}/.git", "gitdir: ../data\n")


def _renamed_tree(at: Trapped) -> None:
    other = at.root / "other"
    other.mkdir()
    at.put("other/.gitattributes", "* filter=e\n")
    at.put("other/a.txt", "six\n")
    at.config("core.worktree", str(other))
    at.config("filter.e.clean", at.trap)


@dataclass(frozen=True)
class Vector:
    """`springs` is a command with which plain git runs the program; empty: only a network does."""

    plant: Callable[[Trapped], None]
    springs: tuple[str, ...] = ("status",)


VECTORS: dict[str, Vector] = {
    "clean filter": Vector(_filtered("clean")),
    "process filter": Vector(_filtered("process")),
    "smudge filter": Vector(_filtered("smudge"), ("checkout", ".")),
    "included filter": Vector(_included("include.path")),
    "conditionally included filter": Vector(_included("includeIf.gitdir:/**.path")),
    "filter of one work tree": Vector(_worktree_settings),
    "filter of another work tree": Vector(_renamed_tree),
    "clean filter of a gitlink": Vector(_link("filter.e.clean")),
    "process filter of a gitlink": Vector(_link("filter.e.process")),
    "file monitor of a gitlink": Vector(_link("core.fsmonitor")),
    "gitlink with a repository in the tree": Vector(_linked_elsewhere),
    "file monitor": Vector(_setting("core.fsmonitor")),
    "external diff": Vector(_setting("diff.external"), ("diff",)),
    "diff driver": Vector(_driver("command"), ("diff",)),
    "text conversion": Vector(_driver("textconv"), ("diff",)),
    "hook after the index": Vector(_hook("post-index-change"), ("add", "a.txt")),
    "hook of a reference": Vector(_hook("reference-transaction"), ("branch", "x")),
    "signature": Vector(_signed, ("log", "-1")),
    "missing object": Vector(_promised, ("cat-file", "-p", "HEAD:a.txt")),
    "editor": Vector(_setting("core.editor"), ("commit", "-a")),
    "ssh": Vector(_setting("core.sshCommand"), ("ls-remote", "ssh://127.0.0.1:1/x")),
    "git proxy": Vector(_setting("core.gitProxy"), ("ls-remote", "git://127.0.0.1:1/x")),
    "alias": Vector(
        lambda at: at.config("alias.peek", f"!{at.trap} < /dev/null"), ("peek",)
    ),
    "pager": Vector(_setting("core.pager"), ()),
    "askpass": Vector(_setting("core.askPass"), ()),
    "credential helper": Vector(_setting("credential.helper"), ()),
    "alternate references": Vector(_setting("core.alternateRefsCommand"), ()),
    "pack hook": Vector(_setting("uploadpack.packObjectsHook"), ()),
    "merge driver": Vector(_setting("merge.e.driver"), ()),
}  # fmt: skip

# These change what the whole repository is; all others can be in one.
APART = ("missing object", "filter of another work tree")


def plant_together(at: Trapped) -> None:
    """Whatever can be in one repository; commits come before what would run during them."""
    early = [name for name in VECTORS if "gitlink" in name] + ["signature"]
    for name in (*early, *(name for name in VECTORS if name not in (*early, *APART))):
        VECTORS[name].plant(at)
    at.reset()
