"""A loopback server as hosts of code and registries are: git over HTTP, packages, archives, and
whatever of them goes wrong.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile
import threading
import zipfile
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeAlias, cast
from urllib.parse import unquote

Answer: TypeAlias = Callable[["Handler"], None]
GIT = shutil.which("git") or "git"
OWN = {
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"],
    "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.com", "HOME": "/nonexistent",
    "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.com",
}  # fmt: skip


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        [GIT, *words], cwd=folder, env=OWN, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def repository(folder: Path, files: Mapping[str, str], *, tag: str = "") -> str:
    """A repository with these files as its newest commit, which is returned."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / ".git").exists():
        git(folder, "init", "-q", "-b", "main")
    laid(folder, files)
    git(folder, "add", "-A", "-f")
    git(folder, "commit", "-q", "--allow-empty", "-m", "x")
    if tag:
        git(folder, "tag", "-f", tag)
    return git(folder, "rev-parse", "HEAD")


def laid(folder: Path, files: Mapping[str, str]) -> Path:
    """Files by their paths; one that ends in `*` runs, one with `->` is a link."""
    for name, text in files.items():
        path, mark, target = name.partition("->")
        place = folder / path.rstrip("*")
        place.parent.mkdir(parents=True, exist_ok=True)
        if mark:
            place.symlink_to(target)
            continue
        place.write_text(text, encoding="utf-8")
        if path.endswith("*"):
            place.chmod(0o755)
    return folder


def zipped(files: Mapping[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, text)
    return out.getvalue()


def tarball(files: Mapping[str, str], *more: tarfile.TarInfo, top: str = "package") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"{top}/{name}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
        for entry in more:
            archive.addfile(entry, io.BytesIO(b"\0" * entry.size))
    return gzip.compress(out.getvalue())


class Handler(BaseHTTPRequestHandler):
    @property
    def at(self) -> MarketServer:
        return cast("MarketServer", self.server)

    def do_GET(self) -> None:
        self._serve(b"")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        self._serve(body)

    def _serve(self, body: bytes) -> None:
        path = unquote(self.path.partition("?")[0])
        self.at.asked.append(self.path)
        self.at.heads.append(dict(self.headers.items()))
        if path in self.at.answers:
            self.at.answers[path](self)
        elif path.startswith("/git/"):
            self._git(path.removeprefix("/git"), body)
        else:
            self.give(b"nothing", status=404)

    def give(self, body: bytes, *, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _git(self, path: str, body: bytes) -> None:
        env = {
            **OWN, "GIT_PROJECT_ROOT": str(self.at.repositories), "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path, "REQUEST_METHOD": self.command, "REMOTE_ADDR": "127.0.0.1",
            "QUERY_STRING": self.path.partition("?")[2],
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }  # fmt: skip
        done = subprocess.run(
            [GIT, "http-backend"], input=body, env=env, capture_output=True, check=False
        )
        head, _, rest = done.stdout.partition(b"\r\n\r\n")
        said = dict(line.split(": ", 1) for line in head.decode().splitlines())
        status = int(said.pop("Status", "200").split()[0])
        self.give(rest, status=status, **said)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class MarketServer(ThreadingHTTPServer):
    """Repositories lie below `repositories` and are at /git/<name>; `answers` are by path."""

    daemon_threads = True

    def __init__(self, repositories: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.repositories = repositories
        self.answers: dict[str, Answer] = {}
        self.asked: list[str] = []
        self.heads: list[dict[str, str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def git(self, name: str) -> str:
        return f"{self.url}/git/{name}/.git"

    def put(self, path: str, body: bytes, *, status: int = 200, **headers: str) -> str:
        self.answers[path] = lambda handler: handler.give(body, status=status, **headers)
        return f"{self.url}{path}"

    def package(
        self, name: str, versions: Mapping[str, bytes], *, latest: str = "", integrity: str = ""
    ) -> None:
        """A package as a registry describes it, with the archive of each version."""
        about: dict[str, Any] = {"name": name, "versions": {}, "dist-tags": {}}
        for version, archive in versions.items():
            where = self.put(f"/{name}/-/{version}.tgz", archive)
            digest = base64.b64encode(hashlib.sha512(archive).digest()).decode()
            about["versions"][version] = {
                "dist": {"tarball": where, "integrity": integrity or f"sha512-{digest}"},
                "dependencies": {"left": "1"},
            }
        about["dist-tags"]["latest"] = latest or [*versions][-1]
        self.put(f"/{name}", json.dumps(about).encode())


@contextmanager
def market_server(repositories: Path) -> Generator[MarketServer]:
    server = MarketServer(repositories)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
