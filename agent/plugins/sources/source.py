"""Where a plugin or a market comes from, as markets, settings and people write it.

Reading a source fetches nothing. One that would run a command, or that has a form nobody knows, is
refused with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias, cast
from urllib.parse import urlsplit

import msgspec

from gatewright.agent.plugins.sources.limits import SourceError
from gatewright.tools.system.gitfetch import COMMIT, NAMED, kind_of
from gatewright.tools.system.untyped_json import obj

GITHUB: Final = "github.com"  # what "owner/repo" has meant everywhere; GH_HOST names another
_REPO: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,99}/[A-Za-z0-9._-]{1,100}")
_PACKAGE: Final = re.compile(r"(?:@[a-z0-9~-][a-z0-9._~-]{0,100}/)?[a-z0-9~-][a-z0-9._~-]{0,200}")
_SHA256: Final = re.compile(r"(?:sha256[:-])?([0-9a-fA-F]{64})")
_SHORT: Final = 12


class LocalSource(msgspec.Struct, frozen=True):
    """A directory: relative ones lie in the market that names them."""

    path: str

    def said(self) -> str:
        return self.path


class GitSource(msgspec.Struct, frozen=True):
    """`path` is the directory of it that counts; empty: all of it."""

    url: str
    ref: str = ""
    sha: str = ""
    path: str = ""

    def said(self) -> str:
        at = self.sha[:_SHORT] or self.ref
        return f"{self.url}{f' at {at}' if at else ''}{f', {self.path}' if self.path else ''}"


class NpmSource(msgspec.Struct, frozen=True):
    package: str
    version: str = ""  # a version, a tag or a range; empty: the latest
    registry: str = ""

    def said(self) -> str:
        return f"npm {self.package}{f'@{self.version}' if self.version else ''}"


class ZipSource(msgspec.Struct, frozen=True):
    url: str
    sha256: str = ""

    def said(self) -> str:
        return self.url


class FileSource(msgspec.Struct, frozen=True):
    """A marketplace.json alone: of an address, or on this machine. No plugin's."""

    where: str

    def said(self) -> str:
        return self.where


Source: TypeAlias = LocalSource | GitSource | NpmSource | ZipSource | FileSource


def read(raw: Any, env: Mapping[str, str]) -> Source:
    """What an entry of a market says. Raises SourceError."""
    if isinstance(raw, str):
        if raw.startswith(("./", "../", "/", "~")) or raw == ".":
            return LocalSource(raw)
        raise SourceError(f"Its source {raw!r} is no path: those begin with ./")
    if not isinstance(raw, Mapping):
        raise SourceError("Its source is neither a path nor an object.")
    said = obj(dict(cast("Mapping[str, object]", raw)))
    return _of_kind(said, said.get("source"), env)


def _of_kind(said: Mapping[str, Any], kind: object, env: Mapping[str, str]) -> Source:
    match kind:
        case "local" | "directory":
            return LocalSource(_text(said, "path"))
        case "file":
            return FileSource(_text(said, "path"))
        case "github":
            return _git(said, github(_text(said, "repo"), env), "path")
        case "git" | "url" | "git-subdir":
            return _addressed(said, env)
        case "npm":
            return _npm(said)
        case "zip" | "archive":
            return _zip(said)
        case "command":
            raise SourceError("Its source is a command: none is ever run to get a plugin.")
        case _:
            raise SourceError(f"Its source is of a kind that is not known here: {kind!r}.")


def typed(text: str, env: Mapping[str, str], cwd: Path, *, sha: str = "") -> Source:
    """What a person names: a directory or file, owner/repo, or an address. Raises SourceError."""
    begun, mark, ref = text.partition("#")
    place = Path(begun).expanduser() if begun.startswith("~/") else cwd / begun
    if begun.startswith((".", "/", "~/")) or (place.is_dir() and not _REPO.fullmatch(begun)):
        found = str(place) if mark == "" else str(cwd / text)
        return FileSource(found) if found.endswith(".json") else LocalSource(found)
    if _REPO.fullmatch(begun):
        return _git({"ref": ref, "sha": sha}, github(begun, env), "")
    if begun.startswith("npm:"):
        package, _, version = begun[4:].rpartition("@") if "@" in begun[5:] else (begun[4:], "", "")
        return _npm({"package": package, "version": version})
    if begun.startswith(("https://", "http://")) and (ending := _ending(begun)) != ".git":
        if ending == ".zip":
            return _zip({"url": begun, "sha256": sha})
        if ending == ".json":
            return FileSource(begun)
    return _git({"ref": ref, "sha": sha}, begun, "")


def written(source: Source) -> dict[str, Any]:
    """As a market would write it, to be read again."""
    kinds = {
        LocalSource: "local", GitSource: "git", NpmSource: "npm",
        ZipSource: "zip", FileSource: "file",
    }  # fmt: skip
    facts = {name: value for name, value in msgspec.structs.asdict(source).items() if value}
    if isinstance(source, FileSource):
        return {
            "source": "url" if "://" in source.where else "file",
            "url" if "://" in source.where else "path": source.where,
        }
    return {"source": kinds[type(source)], **facts}


def host_of(source: Source) -> str:
    """Whom it would be fetched from; empty for this machine."""
    match source:
        case GitSource(url=url) | ZipSource(url=url) | FileSource(where=url):
            if "://" in url:
                return (urlsplit(url).hostname or "").lower()
            place, mark, _ = url.partition(":")
            return place.rpartition("@")[2].lower() if mark and "/" not in place else ""
        case NpmSource(registry=registry):
            return (urlsplit(registry).hostname or "").lower()
        case _:
            return ""


def github(repo: str, env: Mapping[str, str]) -> str:
    """The address of owner/repo."""
    if not _REPO.fullmatch(repo):
        raise SourceError(f"Its source {repo!r} is no owner/repository.")
    return f"https://{env.get('GH_HOST') or GITHUB}/{repo.removesuffix('.git')}.git"


def _addressed(said: Mapping[str, Any], env: Mapping[str, str]) -> Source:
    """ "url" is a repository's, unless it ends as one of the other things there are."""
    url = _text(said, "url")
    if _REPO.fullmatch(url):
        return _git(said, github(url, env), "path")
    if said.get("source") == "url" and url.startswith(("https://", "http://")):
        if _ending(url) == ".zip":
            return _zip(said)
        if _ending(url) == ".json":
            return FileSource(_plain(url))
    return _git(said, url, "path")


def _git(said: Mapping[str, Any], url: str, path: str) -> GitSource:
    address = url if url.startswith("/") else _plain(url)
    if not kind_of(address):
        raise SourceError(f"{url!r} is no address of a repository: https, ssh or git@host:path.")
    ref, sha = _text(said, "ref", ""), _text(said, "sha", "").lower()
    if ref and not NAMED.fullmatch(ref):
        raise SourceError(f"{ref!r} is no name of a branch or tag.")
    if sha and not COMMIT.fullmatch(sha):
        raise SourceError(f"{sha!r} is no commit: those have forty digits.")
    below = _text(said, path, "") if path else ""
    parts = [part for part in below.removeprefix("./").split("/") if part]
    if ".." in parts or below.startswith("/") or ":" in below:
        raise SourceError(f"Its path {below!r} leads out of it.")
    return GitSource(address, ref, sha, "/".join(parts))


def _npm(said: Mapping[str, Any]) -> NpmSource:
    package, registry = _text(said, "package"), _text(said, "registry", "")
    if not _PACKAGE.fullmatch(package):
        raise SourceError(f"{package!r} is no name of a package.")
    if registry:
        _plain(registry)
    return NpmSource(package, _text(said, "version", ""), registry)


def _zip(said: Mapping[str, Any]) -> ZipSource:
    url, digest = _plain(_text(said, "url")), _text(said, "sha256", "")
    found = _SHA256.fullmatch(digest)
    if digest and found is None:
        raise SourceError(f"{digest!r} is no SHA-256.")
    return ZipSource(url, found[1].lower() if found is not None else "")


def _plain(url: str) -> str:
    """An address without a password in it: it would stand in files and on screens."""
    scheme, mark, _ = url.partition("://")
    if mark:
        try:
            parts = urlsplit(url)
            secret = parts.password is not None or (parts.username and scheme != "ssh")
        except ValueError as error:
            raise SourceError(f"{url!r} is no address.") from error
        if secret:
            raise SourceError("Its address holds a name or password: that is not kept anywhere.")
    return url


def _ending(url: str) -> str:
    name = urlsplit(url).path.rpartition("/")[2]
    return f".{name.rpartition('.')[2]}" if "." in name else ""


def _text(said: Mapping[str, Any], key: str, default: str | None = None) -> str:
    value = said.get(key, default)
    if not isinstance(value, str) or (default is None and not value):
        raise SourceError(
            f"Its source has no {key}." if key not in said else f"Its {key} is no text."
        )
    return value
