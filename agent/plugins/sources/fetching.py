"""Fetch a source aside: into an empty directory of the caller's, all of it or nothing.

Nothing that comes is run. Whatever goes wrong is one sentence, and the directory is empty again.
"""

from __future__ import annotations

import asyncio
import errno
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from gatewright.agent.plugins.sources.limits import Clock, Limits, SourceError, aside
from gatewright.agent.plugins.sources.local import copied
from gatewright.agent.plugins.sources.repositories import checked_out
from gatewright.agent.plugins.sources.source import (
    FileSource,
    GitSource,
    LocalSource,
    NpmSource,
    Source,
    ZipSource,
    host_of,
)
from gatewright.agent.plugins.sources.writing import TreeWriter, emptied
from gatewright.agent.plugins.sources.zips import unzipped
from gatewright.agent.providers.transport.address import on_loopback
from gatewright.tools.system.git import Caller
from gatewright.tools.system.gitfetch import kind_of

_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT})


class Ways(msgspec.Struct, frozen=True, kw_only=True):
    """How to reach sources. `base` is the market's directory, empty where there is none.

    `near`: whoever wrote the source may name places of this machine, as the person may.
    """

    env: Mapping[str, str]
    avoid: tuple[Path, ...] = ()  # directories whose programs are not used
    base: Path | None = None
    near: bool = True
    scratch: Path | None = None  # where what is on its way lies; the system's place otherwise
    limits: Limits = Limits()


class Fetched(msgspec.Struct, frozen=True, kw_only=True):
    """`resolved` is the commit, the version or the digest that it is now; `digest` the archive's.

    `pinned` is the source that gives the very same again.
    """

    folder: Path
    resolved: str
    pinned: Source
    digest: str = ""
    files: int = 0
    bytes: int = 0
    depends: tuple[str, ...] = ()  # packages of npm that it wants and that nobody installs


async def fetch(source: Source, into: Path, ways: Ways) -> Fetched:
    """Raises SourceError; then nothing is left in `into`."""
    clock = Clock(ways.limits)
    writer = TreeWriter(into, clock)
    try:
        _may_be_named(source, ways)
        async with asyncio.timeout(ways.limits.seconds):
            return await _by_kind(source, into, writer, ways, clock)
    except TimeoutError as error:
        emptied(into)
        raise SourceError(f"It took longer than {ways.limits.seconds:.0f} s.") from error
    except OSError as error:
        emptied(into)
        raise SourceError(_of_system(error)) from error
    except BaseException:
        emptied(into)
        raise


def _may_be_named(source: Source, ways: Ways) -> None:
    """A market from elsewhere says nothing about this machine but what lies in itself."""
    match source:
        case GitSource(url=url) if not ways.near and (
            kind_of(url) in ("file", "http") or on_loopback(host_of(source))
        ):
            raise SourceError(f"{url} is on this machine, which only you may name.")
        case LocalSource(path=path) if ways.base is None and not path.startswith("/"):
            raise SourceError(f"{path} lies in its market's directory, and the market has none.")
        case FileSource():
            raise SourceError(f"{source.where} is a list of plugins, and none itself.")
        case _:
            return


async def _by_kind(
    source: Source, into: Path, writer: TreeWriter, ways: Ways, clock: Clock
) -> Fetched:
    def done(resolved: str, pinned: Source, **more: Any) -> Fetched:
        return Fetched(
            folder=into, resolved=resolved, pinned=pinned, files=writer.files, bytes=writer.bytes,
            **more,
        )  # fmt: skip

    match source:
        case LocalSource(path=path):
            folder = _inside(path, ways)
            await aside(lambda: copied(folder, writer), clock)
            return done("", source)
        case GitSource():
            caller = Caller(ways.env, ways.avoid)
            commit = await aside(
                lambda: checked_out(source, writer, caller, clock, ways.scratch), clock
            )
            return done(commit, msgspec.structs.replace(source, sha=commit))
        case NpmSource():
            return await _package(source, writer, ways, clock, done)
        case ZipSource():
            digest = await _archive(source, writer, ways, clock)
            pinned = msgspec.structs.replace(source, sha256=digest)
            return done(f"sha256:{digest}", pinned, digest=f"sha256:{digest}")
        case _:
            raise SourceError(f"{source.said()} is no source of a plugin.")


async def _package(
    source: NpmSource, writer: TreeWriter, ways: Ways, clock: Clock, done: Callable[..., Fetched]
) -> Fetched:
    from gatewright.agent.plugins.sources.download import Downloads  # noqa: PLC0415  lazy: 30 ms
    from gatewright.agent.plugins.sources.npm_settings import NpmSettings  # noqa: PLC0415
    from gatewright.agent.plugins.sources.packages import unpacked  # noqa: PLC0415

    net = Downloads(ways.env, clock, near=ways.near)
    try:
        settings = NpmSettings(ways.env)
        found = await unpacked(source, writer, net, settings, clock, ways.scratch)
    finally:
        await net.close()
    pinned = msgspec.structs.replace(source, version=found.version)
    return done(found.version, pinned, digest=found.integrity, depends=found.depends)


async def _archive(source: ZipSource, writer: TreeWriter, ways: Ways, clock: Clock) -> str:
    from gatewright.agent.plugins.sources.download import Downloads  # noqa: PLC0415  lazy: 30 ms

    net = Downloads(ways.env, clock, near=ways.near)
    try:
        with tempfile.NamedTemporaryFile(prefix="gatewright-zip-", dir=ways.scratch) as file:
            found = await net.to_file(source.url, file)  # type: ignore[arg-type]
            file.flush()
            if source.sha256 and found.sha256 != source.sha256:
                raise SourceError(
                    f"{source.url} is not what was named: its SHA-256 is {found.sha256}. "
                    "Nothing of it was kept."
                )
            archive = Path(file.name)
            await aside(lambda: unzipped(archive, writer, ways.limits), clock)
            return found.sha256
    finally:
        await net.close()


def _inside(path: str, ways: Ways) -> Path:
    """The directory that is meant; of a market's own it stays in the market, links and all."""
    if ways.base is None:
        return Path(path)
    if path.startswith(("/", "~")):
        if not ways.near:
            raise SourceError(f"{path} is on this machine, which only you may name.")
        return Path(path).expanduser()
    folder, base = (ways.base / path).resolve(), ways.base.resolve()
    if not folder.is_relative_to(base):
        raise SourceError(f"{path} leads out of its market.")
    return folder


def _of_system(error: OSError) -> str:
    if error.errno in _ROOM:
        return "There is no room left on the disk."
    return f"It cannot be written: {error.strerror or error}."
