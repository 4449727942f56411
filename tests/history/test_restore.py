"""Going back restores exact bytes and modes, touches nothing unknown, and can be undone."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatewright.agent.history.blobs import TURNS, Blobs
from gatewright.agent.history.plan import Sources, Target, steps, targets
from gatewright.agent.history.restore import restore
from gatewright.agent.history.shadow import SIZE_LIMIT, Shadow
from gatewright.agent.record import codec as wire
from gatewright.agent.record.events import AnyEvent, FileSaved, FilesRestored, TreeSaved
from gatewright.tools.system.git import Caller
from tests.fakes.examples import many
from tests.transcript.stored import chained

NAMES = ("a.txt", "b.bin", "dir/c.txt", "dir/deep/d", "über.md", "-odd name\t")
DATA = st.one_of(st.binary(max_size=40), st.sampled_from([b"", b"x\r\ny\r\n", b"\x00\xff" * 20]))
MODES = st.sampled_from([0o644, 0o755, 0o600, 0o444])
TREES = st.dictionaries(st.sampled_from(NAMES), st.tuples(DATA, MODES), max_size=5)
EFFECTS = st.lists(
    st.tuples(
        st.sampled_from(["write", "command"]),
        st.sampled_from(NAMES),
        st.none() | st.tuples(DATA, MODES),
    ),
    max_size=8,
)


class Place:
    """A project with its history, in a directory of its own."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self.root.mkdir()
        (self.root / ".git").mkdir()
        self.blobs = Blobs(folder / "history")
        self.shadow = Shadow(folder / "shared", folder / "own", self.root, Caller(os.environ))
        self.sources = Sources(self.root, self.blobs.get, self.shadow.changes, self.shadow.blob)

    def put(self, name: str, state: tuple[bytes, int] | None) -> None:
        path = self.root / name
        path.unlink(missing_ok=True)
        if state is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(state[0])
            path.chmod(state[1])

    def files(self) -> dict[str, tuple[bytes, int]]:
        return {
            str(path.relative_to(self.root)): (path.read_bytes(), path.stat().st_mode & 0o777)
            for path in self.root.rglob("*")
            if path.is_file() and ".git" not in path.parts
        }

    def tree(self, *, after: bool = False) -> TreeSaved:
        taken = self.shadow.take()
        return TreeSaved(tree=taken.tree, after=after, left=taken.left)

    def saved(self, name: str) -> FileSaved:
        return FileSaved(state=self.blobs.state_of(self.root / name))

    def back(self, events: list[AnyEvent]) -> FilesRestored:
        done = restore(steps(targets(events, self.sources)), self.blobs)
        assert done.failed == ()
        return FilesRestored(to="x", files=done.undo)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@settings(max_examples=many(40), deadline=None)
@given(TREES, EFFECTS)
def test_recorded_paths_come_back_exactly(
    tree: dict[str, tuple[bytes, int]], effects: list[tuple[str, str, tuple[bytes, int] | None]]
) -> None:
    folder = Path(tempfile.mkdtemp(dir=os.environ.get("TMPDIR", "/tmp")))
    try:
        check(Place(folder.resolve()), tree, effects)
    finally:
        shutil.rmtree(folder)


def check(
    place: Place,
    tree: dict[str, tuple[bytes, int]],
    effects: list[tuple[str, str, tuple[bytes, int] | None]],
) -> None:
    for name, first in tree.items():
        place.put(name, first)
    start = place.files()
    events: list[AnyEvent] = []
    ours: set[str] = set()
    for kind, name, state in effects:
        if kind == "write" and state is not None:
            existed = name in place.files()
            events.append(place.saved(name))
            place.put(name, state)
            ours |= set() if existed else {name}
        elif kind == "command":
            events.append(place.tree())
            place.put(name, state)
            events.append(place.tree(after=True))
    (place.root / "unknown.txt").write_bytes(b"the person's own")
    end = place.files()
    undo = place.back(events)
    now = place.files()
    for name, was in start.items():
        assert now[name] == was
    for name in now.keys() - start.keys():
        assert name not in ours or name not in end or end[name] == now[name]
        assert now[name] == end[name]
    assert now["unknown.txt"] == (b"the person's own", now["unknown.txt"][1])
    again = place.back([undo])  # redo: the state before going back
    assert place.files() == end
    place.back([again])
    assert place.files() == now


def test_a_file_we_made_goes_and_one_a_command_made_stays(place: Place) -> None:
    events: list[AnyEvent] = [place.saved("ours.txt")]
    place.put("ours.txt", (b"x", 0o644))
    events.append(place.tree())
    place.put("theirs.txt", (b"y", 0o644))
    events.append(place.tree(after=True))
    plan = steps(targets(events, place.sources))
    assert {(step.target.path.name, step.kind) for step in plan} == {
        ("ours.txt", "delete"), ("theirs.txt", "leave"),
    }  # fmt: skip
    place.back(events)
    assert set(place.files()) == {"theirs.txt"}


def test_the_preview_counts_lines(place: Place) -> None:
    place.put("a.txt", (b"one\ntwo\nthree\n", 0o644))
    events: list[AnyEvent] = [place.saved("a.txt")]
    place.put("a.txt", (b"one\nTWO\nthree\nfour\n", 0o644))
    (step,) = steps(targets(events, place.sources))
    assert (step.kind, step.added, step.removed) == ("change", 1, 2)
    place.put("a.txt", (b"one\ntwo\nthree\n", 0o644))
    assert steps(targets(events, place.sources)) == []


def test_links_and_directories_in_the_way_are_left_alone(place: Place, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_bytes(b"secret")
    events: list[AnyEvent] = []
    for name in ("a.txt", "b.txt"):
        place.put(name, (b"old", 0o644))
        events.append(place.saved(name))
    place.put("a.txt", None)
    (place.root / "a.txt").symlink_to(outside)
    place.put("b.txt", None)
    (place.root / "b.txt").mkdir()
    plan = steps(targets(events, place.sources))
    assert [step.kind for step in plan] == ["leave", "leave"]
    restore(plan, place.blobs)
    assert outside.read_bytes() == b"secret"


def test_hard_links_stay_linked_and_failures_are_named(place: Place) -> None:
    place.put("a.txt", (b"old", 0o644))
    os.link(place.root / "a.txt", place.root / "same.txt")
    events: list[AnyEvent] = [place.saved("a.txt")]
    (place.root / "a.txt").write_bytes(b"new")
    place.back(events)
    assert (place.root / "same.txt").read_bytes() == b"old"
    assert place.blobs.get("0" * 40) is None
    missing = FileSaved(state=place.blobs.state_of(place.root / "a.txt"))
    shutil.rmtree(place.blobs._folder)  # pyright: ignore[reportPrivateUsage]
    (step,) = steps(targets([missing], place.sources))
    assert (step.kind, step.why) == ("leave", "no longer kept")


def test_large_and_ignored_files_are_not_in_a_snapshot(place: Place) -> None:
    place.put(".gitignore", (b"*.log\n", 0o644))
    place.put("x.log", (b"old", 0o644))
    place.put("large.bin", (b"0" * (SIZE_LIMIT + 1), 0o644))
    before = place.tree()
    assert before.left == ("large.bin",)
    place.put("x.log", (b"new", 0o644))
    place.put("large.bin", (b"1" * (SIZE_LIMIT + 1), 0o644))
    assert targets([before, place.tree(after=True)], place.sources) == []


def test_nothing_of_the_repository_runs_and_it_is_not_touched(place: Place, tmp_path: Path) -> None:
    shutil.rmtree(place.root / ".git")
    git = ["git", "-c", "init.defaultBranch=main", "-C", str(place.root)]
    subprocess.run([*git, "init", "-q"], check=True)
    trap = tmp_path / "trap"
    for key, value in (
        ("core.fsmonitor", f"touch {trap}; false"),
        ("filter.x.clean", f"touch {trap}; cat"),
        ("filter.x.required", "true"),
        ("core.autocrlf", "true"),
    ):
        subprocess.run([*git, "config", key, value], check=True)
    place.put(".gitattributes", (b"* filter=x text=auto\n", 0o644))
    place.put("crlf.txt", (b"a\r\nb\r\n", 0o644))
    listing = sorted(str(path) for path in (place.root / ".git").rglob("*"))
    events: list[AnyEvent] = [place.tree()]
    place.put("crlf.txt", (b"changed", 0o644))
    events.append(place.tree(after=True))
    place.back(events)
    assert place.files()["crlf.txt"] == (b"a\r\nb\r\n", 0o644)
    assert not trap.exists()
    assert sorted(str(path) for path in (place.root / ".git").rglob("*")) == listing


def test_a_lost_object_store_begins_anew(place: Place) -> None:
    place.put("a.txt", (b"one", 0o644))
    place.tree()
    for pack in (place.root.parent / "shared" / "git" / "objects").glob("??"):
        shutil.rmtree(pack)
    place.put("b.txt", (b"two", 0o644))
    before = place.tree()
    place.put("a.txt", (b"three", 0o644))
    place.back([before, place.tree(after=True)])
    assert place.files()["a.txt"] == (b"one", 0o644)


def test_only_the_newest_turns_are_kept(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path / "h")
    first, shared = blobs.put(b"first"), blobs.put(b"shared")
    blobs.turn([first, shared])
    for number in range(TURNS):
        blobs.turn([blobs.put(b"%d" % number), shared])
    assert blobs.get(first) is None
    assert blobs.get(shared) == b"shared"


def test_targets_are_the_earliest_records(place: Place) -> None:
    place.put("a.txt", (b"1", 0o644))
    first = place.saved("a.txt")
    place.put("a.txt", (b"2", 0o644))
    second = place.saved("a.txt")
    path = place.root / "a.txt"
    assert targets([first, second], place.sources) == [Target(path, b"1", 0o644)]


def test_names_that_are_no_text_are_left_alone(place: Place) -> None:
    odd = os.fsencode(place.root) + b"/odd\xff.txt"
    Path(os.fsdecode(odd)).write_bytes(b"1")
    Path(os.fsdecode(odd)).chmod(0o600)
    before = place.tree()
    Path(os.fsdecode(odd)).write_bytes(b"2")
    events: list[AnyEvent] = [before, place.tree(after=True)]
    done = restore(steps(targets(events, place.sources)), place.blobs)
    assert [text.rpartition(": ")[2] for text in done.failed] == ["its name is no text"]
    assert Path(os.fsdecode(odd)).read_bytes() == b"2"
    state = FileSaved(state=place.blobs.state_of(Path(os.fsdecode(odd))))
    (envelope,) = chained([state])
    assert b"odd\\\\xff.txt" in wire.encode(envelope, "s")
