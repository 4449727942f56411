"""Every kind of source is fetched aside, pinned, and says in one sentence why it was not."""

from __future__ import annotations

import asyncio
import hashlib
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.plugins.sources.fetching import Fetched, Ways, fetch
from gatewright.agent.plugins.sources.limits import Limits, SourceError
from gatewright.agent.plugins.sources.source import (
    FileSource,
    GitSource,
    LocalSource,
    NpmSource,
    Source,
    ZipSource,
    read,
    typed,
    written,
)
from tests.fakes.market_server import Handler, MarketServer, git, laid, repository, tarball, zipped
from tests.fakes.waiting import PATIENCE, eventually

PLUGIN = {
    ".claude-plugin/plugin.json": '{"name": "one"}',
    "bin/run*": "#!/bin/sh\n",
    "skills/a/SKILL.md": "---\ndescription: a\n---\nA\n",
}


@pytest.fixture
def into(tmp_path: Path) -> Path:
    folder = tmp_path / "into"
    folder.mkdir()
    return folder


def ways(**more: Any) -> Ways:
    env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
    return Ways(env={**env, **more.pop("env", {})}, **more)


def got(source: Source, into: Path, **more: Any) -> Fetched:
    return asyncio.run(fetch(source, into, ways(**more)))


def refused(source: Source, into: Path, **more: Any) -> str:
    with pytest.raises(SourceError) as raised:
        got(source, into, **more)
    assert not [*into.iterdir()], "something was left"
    return str(raised.value)


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


LONG = "d" * 90 + "/" + "e" * 90
PLAIN = {name.rstrip("*") for name in PLUGIN}


class TestADirectory:
    def test_is_copied_but_for_its_repository(self, tmp_path: Path, into: Path) -> None:
        folder = tmp_path / "plugin"
        repository(folder, {**PLUGIN, "docs->skills": ""})
        found = got(LocalSource(str(folder)), into)
        assert names(into) - {"docs"} == PLAIN
        assert str((into / "docs").readlink()) == "skills"
        assert (into / "bin/run").stat().st_mode & 0o777 == 0o755
        assert (into / "skills/a/SKILL.md").stat().st_mode & 0o777 == 0o644
        assert found.bytes == sum(len(text) for text in PLUGIN.values())

    @pytest.mark.parametrize("target", ["/etc/passwd", "../../x", "skills/../../x", "a/../../x"])
    def test_no_link_leads_out(self, tmp_path: Path, into: Path, target: str) -> None:
        folder = laid(tmp_path / "plugin", {**PLUGIN, "a->skills/a": "", f"out->{target}": ""})
        assert "leads out of it" in refused(LocalSource(str(folder)), into)

    def test_no_chain_of_links_leads_out(self, tmp_path: Path, into: Path) -> None:
        """Each looks as if it stayed inside."""
        folder = laid(tmp_path / "plugin", {"d/up->..": "", "out->d/up/../..": ""})
        assert "leads out of it" in refused(LocalSource(str(folder)), into)

    def test_what_is_no_file_is_refused(self, tmp_path: Path, into: Path) -> None:
        folder = laid(tmp_path / "plugin", PLUGIN)
        os.mkfifo(folder / "pipe")
        assert "pipe is a FIFO" in refused(LocalSource(str(folder)), into)

    def test_nothing_runs_as_somebody_else(self, tmp_path: Path, into: Path) -> None:
        folder = laid(tmp_path / "plugin", PLUGIN)
        (folder / "bin/run").chmod(0o755 | stat.S_ISUID)
        assert "set-id" in refused(LocalSource(str(folder)), into)

    @pytest.mark.parametrize(("one", "other"), [("A.md", "a.MD"), ("ß", "SS"), ("é", "e\u0301")])
    def test_names_that_are_one_elsewhere(
        self, tmp_path: Path, into: Path, one: str, other: str
    ) -> None:
        folder = laid(tmp_path / "plugin", {one: "1", other: "2"})
        assert "the same file on some systems" in refused(LocalSource(str(folder)), into)

    def test_the_limits(self, tmp_path: Path, into: Path) -> None:
        folder = laid(tmp_path / "plugin", PLUGIN)
        source = LocalSource(str(folder))
        assert "more than 3 files" in refused(source, into, limits=Limits(files=3))
        assert "larger than" in refused(source, into, limits=Limits(bytes=20))
        assert "longer than" in refused(source, into, limits=Limits(seconds=0))

    def test_of_a_market_stays_in_it(self, tmp_path: Path, into: Path) -> None:
        market = tmp_path / "market"
        laid(market / "plugins/one", PLUGIN)
        laid(tmp_path / "else", PLUGIN)
        (market / "link").symlink_to(tmp_path / "else")
        got(LocalSource("./plugins/one"), into, base=market)
        assert names(into) == PLAIN
        other = tmp_path / "other"
        other.mkdir()
        for path in ("../else", "./link"):
            assert "leads out" in refused(LocalSource(path), other, base=market)
        here = str(tmp_path / "else")
        assert "only you may name" in refused(LocalSource(here), other, base=market, near=False)

    def test_no_room_is_told(
        self, tmp_path: Path, into: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = laid(tmp_path / "plugin", PLUGIN)
        monkeypatch.setattr(os, "write", _full)
        assert refused(LocalSource(str(folder)), into) == "There is no room left on the disk."


def _silent(handler: Handler) -> None:
    handler.rfile.read(1)


def _full(*_: object) -> int:
    raise OSError(28, "No space left on device")


class TestARepository:
    def test_is_pinned_to_its_commit(self, server: MarketServer, into: Path) -> None:
        folder = server.repositories / "one"
        repository(folder, {"old": "1"}, tag="v1")
        commit = repository(folder, PLUGIN, tag="v2")
        found = got(GitSource(server.git("one"), ref="v2"), into)
        assert found.resolved == commit
        assert found.pinned == GitSource(server.git("one"), ref="v2", sha=commit)
        assert names(into) == {*PLAIN, "old"}
        assert (into / "bin/run").stat().st_mode & 0o100

    def test_a_commit_counts_though_its_tag_moved(self, server: MarketServer, into: Path) -> None:
        folder = server.repositories / "one"
        first = repository(folder, {"a": "first"}, tag="v1")
        repository(folder, {"a": "second"}, tag="v1")
        got(GitSource(server.git("one"), ref="v1", sha=first), into)
        assert (into / "a").read_text(encoding="utf-8") == "first"

    def test_a_directory_of_it(self, server: MarketServer, into: Path) -> None:
        laid(server.repositories / "mono/tools/x", PLUGIN)
        repository(server.repositories / "mono", {"README": "r"})
        got(GitSource(server.git("mono"), path="tools/x"), into)
        assert names(into) == PLAIN

    def test_nothing_of_it_runs(self, server: MarketServer, into: Path, tmp_path: Path) -> None:
        """Filters, line ends, hooks and submodules: the bytes are those of the commit."""
        folder = server.repositories / "one"
        mark = tmp_path / "ran"
        files = {
            ".gitattributes": "* text eol=crlf filter=evil ident\n",
            ".gitmodules": '[submodule "s"]\n\tpath = s\n\turl = https://example.com/x\n',
            "a.txt": "one\n$Id$\n",
        }
        repository(folder, files)
        git(folder, "config", "filter.evil.smudge", f"touch {mark}")
        got(GitSource(server.git("one")), into)
        assert (into / "a.txt").read_bytes() == b"one\n$Id$\n"
        assert not mark.exists()

    def test_a_link_out_is_refused(self, server: MarketServer, into: Path) -> None:
        repository(server.repositories / "one", {**PLUGIN, "out->../../etc": ""})
        assert "leads out of it" in refused(GitSource(server.git("one")), into)

    def test_what_is_not_there(self, server: MarketServer, into: Path) -> None:
        repository(server.repositories / "one", PLUGIN)
        url = server.git("one")
        assert "no v9" in refused(GitSource(url, ref="v9"), into)
        assert "no directory x" in refused(GitSource(url, path="x"), into)
        assert "f" * 12 in refused(GitSource(url, sha="f" * 40), into)
        assert "cannot be fetched" in refused(GitSource(server.git("none")), into)

    def test_the_limits(self, server: MarketServer, into: Path) -> None:
        repository(server.repositories / "one", {**PLUGIN, "large": "x" * 100_000})
        source = GitSource(server.git("one"))
        assert "larger than" in refused(source, into, limits=Limits(bytes=50_000))
        assert "more than 2 files" in refused(source, into, limits=Limits(files=2))

    def test_one_that_never_answers_is_given_up(self, server: MarketServer, into: Path) -> None:
        repository(server.repositories / "one", PLUGIN)
        gone = server.git("one").removesuffix("/.git")
        server.answers["/git/one/.git/info/refs"] = _silent
        said = refused(GitSource(f"{gone}/.git"), into, limits=Limits(seconds=1))
        assert said == "It took longer than 1 s."

    def test_this_machine_is_the_persons_to_name(self, server: MarketServer, into: Path) -> None:
        https, ssh = "https://localhost:8443/one.git", "me@127.0.0.1:one"
        for url in (server.git("one"), "/srv/repository", https, ssh):
            assert "only you may name" in refused(GitSource(url), into, near=False)
        assert not server.asked


class TestAPackage:
    def source(self, server: MarketServer, version: str = "") -> NpmSource:
        return NpmSource("@me/one", version, server.url)

    def test_is_checked_and_pinned(self, server: MarketServer, into: Path) -> None:
        more = {**PLUGIN, LONG: "beyond the header"}
        server.package("@me/one", {"1.0.0": tarball({}), "1.2.0": tarball(more)})
        found = got(self.source(server), into)
        assert found.resolved == "1.2.0"
        assert found.digest.startswith("sha512-")
        assert found.pinned == self.source(server, "1.2.0")
        assert found.depends == ("left",)
        assert names(into) == {*PLUGIN, LONG}

    def test_a_range(self, server: MarketServer, into: Path) -> None:
        archives = {v: tarball({"v": v}) for v in ("1.0.0", "1.4.1", "1.10.0", "2.0.0")}
        server.package("@me/one", archives)
        assert got(self.source(server, "^1.0.0"), into).resolved == "1.10.0"
        assert (into / "v").read_text(encoding="utf-8") == "1.10.0"

    def test_another_digest(self, server: MarketServer, into: Path) -> None:
        server.package("@me/one", {"1.0.0": tarball(PLUGIN)}, integrity="sha512-" + "A" * 86 + "==")
        assert "the digest is another" in refused(self.source(server), into)

    def test_none_of_that_version(self, server: MarketServer, into: Path) -> None:
        server.package("@me/one", {"1.0.0": tarball(PLUGIN)})
        assert "no version 3.0.0" in refused(self.source(server, "3.0.0"), into)
        assert "404" in refused(NpmSource("other", "", server.url), into)

    def test_the_registry_that_the_person_named(
        self, server: MarketServer, into: Path, tmp_path: Path
    ) -> None:
        """Its token goes there and nowhere else."""
        server.package("@me/one", {"1.0.0": tarball({"a": "b"})})
        host = server.url.removeprefix("http:")
        (tmp_path / ".npmrc").write_text(
            f"@me:registry={server.url}/\n{host}/:_authToken=${{TOKEN}}\n//else/:_authToken=no\n",
            encoding="utf-8",
        )
        env = {"HOME": str(tmp_path), "TOKEN": "s3cret"}
        got(NpmSource("@me/one"), into, env=env)
        assert [head["authorization"] for head in server.heads] == ["Bearer s3cret"] * 2

    def test_without_a_registry(self, into: Path) -> None:
        said = refused(NpmSource("one"), into, env={"PATH": "/nonexistent"})
        assert "npm config set registry" in said

    @pytest.mark.parametrize("home", ["", "gone"], ids=["a home", "no home"])
    def test_npm_is_asked_for_its_registry(
        self, server: MarketServer, into: Path, tmp_path: Path, home: str
    ) -> None:
        server.package("one", {"1.0.0": tarball({"a": "b"})})
        laid(tmp_path / "bin", {"npm*": f"#!/bin/sh\necho {server.url}\n"})
        path = f"{tmp_path}/bin:{os.environ['PATH']}"
        got(NpmSource("one"), into, env={"PATH": path, "HOME": str(tmp_path / home)})
        assert names(into) == {"a"}


@pytest.mark.parametrize("kind", ["git", "npm", "zip"])
def test_who_waits_no_longer_ends_it_at_once(server: MarketServer, into: Path, kind: str) -> None:
    """A server that says nothing holds nobody up: neither a session's end nor its own time."""
    for path in ("/git/one/.git/info/refs", "/one", "/one.zip"):
        server.answers[path] = _silent
    sources: dict[str, Source] = {
        "git": GitSource(server.git("one")),
        "npm": NpmSource("one", "", server.url),
        "zip": ZipSource(f"{server.url}/one.zip"),
    }
    source = sources[kind]

    async def left() -> None:
        task = asyncio.create_task(fetch(source, into, ways()))
        await eventually(lambda: bool(server.asked))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, PATIENCE)

    asyncio.run(left())
    assert not [*into.iterdir()]
    assert "longer than 1 s" in refused(source, into, limits=Limits(seconds=1))


class TestAnArchive:
    def test_is_pinned_to_its_digest(self, server: MarketServer, into: Path) -> None:
        data = zipped({f"top/{name}": text for name, text in PLUGIN.items()})
        url = server.put("/one.zip", data)
        digest = hashlib.sha256(data).hexdigest()
        found = got(ZipSource(url), into)
        assert found.pinned == ZipSource(url, digest)
        assert names(into) == set(PLUGIN)

    def test_another_digest(self, server: MarketServer, into: Path) -> None:
        url = server.put("/one.zip", zipped(PLUGIN))
        assert "not what was named" in refused(ZipSource(url, "0" * 64), into)

    def test_a_redirect_is_followed_and_looked_at(self, server: MarketServer, into: Path) -> None:
        url = server.put("/one.zip", zipped(PLUGIN))
        moved = server.put("/moved.zip", b"", status=302, Location=url)
        got(ZipSource(moved), into)
        away = server.put("/away.zip", b"", status=302, Location="http://example.com/x.zip")
        other = into.parent / "other"
        other.mkdir()
        assert "no https address" in refused(ZipSource(away), other)
        loop = server.put("/loop.zip", b"", status=302, Location="/loop.zip")
        assert "without an end" in refused(ZipSource(loop), other)

    def test_one_that_is_cut(self, server: MarketServer, into: Path) -> None:
        def cut(handler: Any) -> None:
            handler.send_response(200)
            handler.send_header("Content-Length", "1000")
            handler.end_headers()
            handler.wfile.write(b"PK")
            handler.close_connection = True

        server.answers["/one.zip"] = cut
        assert "in the middle of the answer" in refused(ZipSource(f"{server.url}/one.zip"), into)

    def test_a_market_from_elsewhere_names_no_address_here(
        self, server: MarketServer, into: Path
    ) -> None:
        url = server.put("/one.zip", zipped(PLUGIN))
        assert "only you may name" in refused(ZipSource(url), into, near=False)
        assert not server.asked

    def test_no_plain_http(self, into: Path) -> None:
        assert "no https" in refused(ZipSource("http://example.com/one.zip"), into)
        assert "never asked" in refused(ZipSource("https://metadata.google.internal/a.zip"), into)


class TestWhatIsWritten:
    env = {"HOME": "/home/me"}

    @pytest.mark.parametrize(
        ("raw", "source"),
        [
            ("./plugins/a", LocalSource("./plugins/a")),
            ({"source": "github", "repo": "me/one"}, GitSource("https://github.com/me/one.git")),
            (
                {"source": "url", "url": "https://example.com/one.git", "ref": "v1"},
                GitSource("https://example.com/one.git", "v1"),
            ),
            (
                {"source": "git-subdir", "url": "me/one", "path": "./a/b/", "sha": "A" * 40},
                GitSource("https://github.com/me/one.git", "", "a" * 40, "a/b"),
            ),
            (
                {"source": "npm", "package": "@me/one", "version": "^1"},
                NpmSource("@me/one", "^1"),
            ),
            (
                {"source": "url", "url": "https://example.com/a.zip", "sha256": "AB" * 32},
                ZipSource("https://example.com/a.zip", "ab" * 32),
            ),
            ({"source": "directory", "path": "/srv/market"}, LocalSource("/srv/market")),
            (
                {"source": "url", "url": "https://example.com/marketplace.json"},
                FileSource("https://example.com/marketplace.json"),
            ),
        ],
    )
    def test_is_read_and_said_again(self, raw: Any, source: Source) -> None:
        assert read(raw, self.env) == source
        assert read(written(source), self.env) == source

    @pytest.mark.parametrize(
        ("raw", "why"),
        [
            ({"source": "command", "command": "curl x | sh"}, "none is ever run"),
            ({"source": "magic"}, "not known here"),
            ("plugins/a", "begin with ./"),
            (7, "neither a path nor an object"),
            ({"source": "github", "repo": "one"}, "no owner/repository"),
            ({"source": "github", "repo": "me/one", "sha": "abc"}, "no commit"),
            ({"source": "github", "repo": "me/one", "ref": "--upload-pack=x"}, "no name"),
            ({"source": "url", "url": "ext::sh -c x"}, "no address"),
            ({"source": "url", "url": "http://example.com/one.git"}, "no address"),
            ({"source": "url", "url": "https://me:pw@example.com/one.git"}, "name or password"),
            ({"source": "git-subdir", "url": "me/one", "path": "../x"}, "leads out"),
            ({"source": "npm", "package": "../x"}, "no name of a package"),
            ({"source": "zip", "url": "https://example.com/a.zip", "sha256": "1"}, "no SHA-256"),
            ({"source": "npm"}, "has no package"),
        ],
    )
    def test_or_refused(self, raw: Any, why: str) -> None:
        with pytest.raises(SourceError, match=why):
            read(raw, self.env)

    def test_what_a_person_types(self, tmp_path: Path) -> None:
        (tmp_path / "here").mkdir()

        def said(text: str) -> Source:
            return typed(text, self.env, tmp_path)

        assert said("./here") == LocalSource(str(tmp_path / "here"))
        assert said("here") == LocalSource(str(tmp_path / "here"))
        assert said("me/one#v2") == GitSource("https://github.com/me/one.git", "v2")
        assert said("git@example.com:me/one.git") == GitSource("git@example.com:me/one.git")
        assert said("https://example.com/a.zip") == ZipSource("https://example.com/a.zip")
        assert said("npm:@me/one@2") == NpmSource("@me/one", "2")
        assert said("npm:one") == NpmSource("one")
        assert said("https://example.com/m.json") == FileSource("https://example.com/m.json")
        other = typed("me/one", {"GH_HOST": "git.example.com"}, tmp_path)
        assert other == GitSource("https://git.example.com/me/one.git")
