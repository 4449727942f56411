"""Archives are from anybody: what is in them lands inside, within the limits, or nothing does."""

from __future__ import annotations

import gzip
import io
import resource
import stat
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatewright.agent.plugins.sources.limits import Clock, Limits, SourceError
from gatewright.agent.plugins.sources.tarballs import untarred
from gatewright.agent.plugins.sources.writing import TreeWriter
from gatewright.agent.plugins.sources.zips import unzipped
from tests.fakes.examples import many
from tests.fakes.market_server import tarball, zipped

SMALL = Limits(bytes=1_000_000, files=100)


def tar_refused(data: bytes, tmp_path: Path, limits: Limits = SMALL) -> str:
    with pytest.raises(SourceError) as raised:
        untar(data, tmp_path, limits)
    return str(raised.value)


def untar(data: bytes, tmp_path: Path, limits: Limits = SMALL) -> Path:
    into = tmp_path / "into"
    into.mkdir(exist_ok=True)
    untarred(io.BytesIO(data), TreeWriter(into, Clock(limits)), limits)
    return into


def unzip(data: bytes, tmp_path: Path, limits: Limits = SMALL) -> Path:
    into, archive = tmp_path / "into", tmp_path / "a.zip"
    into.mkdir(exist_ok=True)
    archive.write_bytes(data)
    unzipped(archive, TreeWriter(into, Clock(limits)), limits)
    return into


def zip_refused(data: bytes, tmp_path: Path, limits: Limits = SMALL) -> str:
    with pytest.raises(SourceError) as raised:
        unzip(data, tmp_path, limits)
    assert {path.name for path in tmp_path.iterdir()} <= {"into", "a.zip"}
    return str(raised.value)


def entry(
    name: str, kind: bytes = tarfile.REGTYPE, *, linkname: str = "", mode: int = 0o644
) -> tarfile.TarInfo:
    made = tarfile.TarInfo(f"package/{name}")
    made.type, made.linkname, made.mode = kind, linkname, mode
    return made


def unix(name: str, mode: int, data: str = "x") -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        info = zipfile.ZipInfo(name)
        info.create_system, info.external_attr = 3, mode << 16
        archive.writestr(info, data)
    return out.getvalue()


NAMES = [
    "../out",
    "/etc/out",
    "a/../../out",
    "a//b",
    "a\\b",
    ".git/hooks/x",
    "a/.GIT/config",
    "a/.",
]


@pytest.mark.parametrize("name", NAMES)
def test_no_name_leads_out(tmp_path: Path, name: str) -> None:
    for said in (zip_refused(zipped({"x": "", name: "1"}), tmp_path),
                 tar_refused(tarball({name: "1"}), tmp_path)):  # fmt: skip
        assert "entry" in said


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (entry("l", tarfile.SYMTYPE, linkname="../../etc"), "leads out"),
        (entry("l", tarfile.SYMTYPE, linkname="/etc/passwd"), "leads out"),
        (entry("l", tarfile.LNKTYPE, linkname="package/a"), "hard link"),
        (entry("d", tarfile.CHRTYPE), "a device"),
        (entry("d", tarfile.FIFOTYPE), "a device"),
        (entry("s", mode=0o4755), "set-id"),
        (entry("A"), "the same file"),
        (entry("a"), "twice"),
        (entry("a/b"), "twice"),
        (entry("n" * 300), "more than 255"),
    ],
)
def test_what_a_package_may_not_hold(tmp_path: Path, made: tarfile.TarInfo, why: str) -> None:
    assert why in tar_refused(tarball({"a": "1"}, made), tmp_path)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (unix("l", stat.S_IFLNK | 0o777, "../../etc"), "leads out"),
        (unix("d", stat.S_IFCHR | 0o666), "a device"),
        (unix("s", stat.S_IFREG | 0o4755), "set-id"),
        (zipped({"a": "1", "A": "2"}), "the same file"),
        (b"PK nothing", "no zip archive"),
        (zipped({"a": "1" * 100})[20:], "damaged"),
    ],
)
def test_what_a_zip_may_not_hold(tmp_path: Path, data: bytes, why: str) -> None:
    assert why in zip_refused(data, tmp_path)


def test_links_inside_are_kept_and_never_written_through(tmp_path: Path) -> None:
    link = entry("skills/l", tarfile.SYMTYPE, linkname="../a")
    into = untar(tarball({"a": "1"}, link), tmp_path)
    assert (into / "skills/l").read_text(encoding="utf-8") == "1"
    through = [entry("l", tarfile.SYMTYPE, linkname="a"), entry("l/x")]
    assert "twice" in tar_refused(tarball({"a": "1"}, *through), tmp_path / "into")


def test_a_bomb_ends_at_the_limit(tmp_path: Path) -> None:
    """A few kilobytes that stand for a hundred megabytes."""
    zeros = "0" * 100_000_000
    assert "larger than" in zip_refused(zipped({"a": zeros}), tmp_path)
    written = sum(path.stat().st_size for path in (tmp_path / "into").iterdir())
    assert written <= SMALL.bytes
    assert "larger than" in tar_refused(tarball({"b": zeros}), tmp_path)


def test_many_small_files_end_at_the_limit(tmp_path: Path) -> None:
    files = {f"f{n}": "" for n in range(200)}
    assert "more than 100 files" in zip_refused(zipped(files), tmp_path)
    assert "more than 100 files" in tar_refused(tarball(files), tmp_path)


def test_a_header_costs_no_memory(tmp_path: Path) -> None:
    """One that says of itself that it has a gigabyte, in a megabyte of nothing."""
    made = tarfile.TarInfo("package/x")
    made.type, made.size = tarfile.XHDTYPE, 1 << 30
    head = made.tobuf(tarfile.USTAR_FORMAT)
    data = gzip.compress(head + bytes(200_000_000))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert "headers is endless" in tar_refused(data, tmp_path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000


def test_a_list_of_entries_costs_no_memory(tmp_path: Path) -> None:
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 60_000, 60_000, 1 << 30, 0, 0)
    assert "more than" in zip_refused(bytes(1000) + end, tmp_path)


def test_no_other_list_counts_than_the_one_that_was_measured(tmp_path: Path) -> None:
    """Behind a small one the reader would find a large one, and take all of it into memory."""
    count = 200
    entry = struct.pack("<4s4B4HL2L5H2L", b"PK\1\2", 20, 3, 20, *[0] * 8, 1, *[0] * 6) + b"a"
    listed = entry * count
    large = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, len(listed), 0)
    where = struct.pack("<4sLQL", b"PK\6\7", 0, len(listed), 1)
    small = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, len(entry), 0, 0)
    assert "zip64" in zip_refused(listed + large + where + small, tmp_path)


@pytest.mark.parametrize("part", [0.0, 0.1, 0.5, 0.8])
def test_one_that_ends_too_early(tmp_path: Path, part: float) -> None:
    data = tarball({"a": "1" * 5000})
    assert "damaged" in tar_refused(data[: int(len(data) * part)], tmp_path)


def test_directories_of_hosts_are_left_away(tmp_path: Path) -> None:
    into = unzip(zipped({"repo-abc/a": "1", "repo-abc/skills/s/SKILL.md": "2"}), tmp_path)
    assert (into / "a").exists()
    other = tmp_path / "other"
    other.mkdir()
    assert (unzip(zipped({"skills/s/SKILL.md": "2"}), other) / "skills").exists()


Reader = Callable[[bytes, Path], Path]


@settings(max_examples=many(200), deadline=None)
@given(st.binary(max_size=3000), st.integers(0, 2000), st.sampled_from([untar, unzip]))
def test_anything_is_refused_kindly(
    tmp_path_factory: pytest.TempPathFactory, noise: bytes, at: int, reader: Reader
) -> None:
    """Noise, and noise in the middle of an archive."""
    plain = tarball({"a": "1", "b/c": "2"}) if reader is untar else zipped({"a": "1", "b/c": "2"})
    bare = gzip.compress(gzip.decompress(plain)[:at] + noise) if reader is untar else noise
    for data in (noise, bare, plain[:at] + noise + plain[at:]):
        folder = tmp_path_factory.mktemp("any")
        try:
            reader(data, folder)
        except SourceError as error:
            assert str(error)
        assert {path.name for path in folder.iterdir()} <= {"into", "a.zip"}
