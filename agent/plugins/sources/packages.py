"""A package of an npm registry as a source: its archive, checked against the registry's digest.

npm itself is not run: nothing of a package is built, its scripts and dependencies have no part.
"""

from __future__ import annotations

import base64
import hmac
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urljoin

import msgspec

from gatewright.agent.plugins.sources.download import Downloads
from gatewright.agent.plugins.sources.limits import Clock, SourceError, aside
from gatewright.agent.plugins.sources.npm_settings import NpmSettings
from gatewright.agent.plugins.sources.source import NpmSource
from gatewright.agent.plugins.sources.tarballs import untarred
from gatewright.agent.plugins.sources.versions import best
from gatewright.agent.plugins.sources.writing import TreeWriter
from gatewright.tools.system.untyped_json import obj

_ABOUT: Final = 16 * 1024 * 1024  # bytes of JSON, of which plain values are made: much more memory
# The short form of what a registry knows; some only have the long one.
_ACCEPT: Final = {"accept": "application/vnd.npm.install-v1+json, application/json;q=0.9"}


class Package(msgspec.Struct, frozen=True):
    """One version, as the registry describes it."""

    version: str
    url: str
    integrity: str
    depends: tuple[str, ...]


async def unpacked(
    source: NpmSource,
    writer: TreeWriter,
    net: Downloads,
    settings: NpmSettings,
    clock: Clock,
    scratch: Path | None = None,
) -> Package:
    """The version whose files were written. Raises SourceError."""
    registry = source.registry or await settings.registry(source.package)
    package = await described(source, f"{registry.rstrip('/')}/", net, settings)
    with tempfile.TemporaryFile(dir=scratch) as file:
        digests = await net.to_file(package.url, file, settings.headers(package.url))
        _check(package, digests.sha512)
        file.seek(0)
        await aside(lambda: untarred(file, writer, clock.limits), clock)
    return package


async def described(
    source: NpmSource, registry: str, net: Downloads, settings: NpmSettings
) -> Package:
    """What the version that is wanted is, and where. Raises SourceError."""
    url = urljoin(registry, quote(source.package, safe="@"))
    data = await net.bytes_of(url, _ABOUT, {**_ACCEPT, **settings.headers(url)})
    try:
        about = msgspec.json.decode(data, type=dict[str, Any])
    except msgspec.MsgspecError as error:
        raise SourceError(f"{url} is no registry of packages: its answer is no JSON.") from error
    version = _chosen(source, about)
    said = obj(obj(about.get("versions")).get(version))
    dist = obj(said.get("dist"))
    integrity = next(
        (word for word in str(dist.get("integrity", "")).split() if word.startswith("sha512-")), ""
    )
    if not integrity:
        raise SourceError(f"{source.package} {version} has no SHA-512 in its registry.")
    where = urljoin(url, str(dist.get("tarball", "")))
    return Package(version, where, integrity, tuple(sorted(obj(said.get("dependencies")))))


def _chosen(source: NpmSource, about: Mapping[str, Any]) -> str:
    versions, tags = obj(about.get("versions")), obj(about.get("dist-tags"))
    wanted = source.version or "latest"
    found = wanted if wanted in versions else str(tags.get(wanted, ""))
    if not found:
        latest = str(tags.get("latest", ""))
        found = latest if best(wanted, [latest]) else best(wanted, versions)
    if found not in versions:
        raise SourceError(f"There is no version {wanted} of {source.package}.")
    return found


def _check(package: Package, digest: bytes) -> None:
    try:
        wanted = base64.b64decode(package.integrity.removeprefix("sha512-"), validate=True)
    except ValueError as error:
        raise SourceError("The registry's digest cannot be read.") from error
    if not hmac.compare_digest(wanted, digest):
        raise SourceError(
            f"{package.url} is not what its registry says: the digest is another. "
            "Nothing of it was kept."
        )
