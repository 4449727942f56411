"""What we fetch with git: a reference of a repository's remote, or one commit of any address.

The address has a plain form, and no setting of a repository says how: not its ssh command, its
helpers or its rewriting of addresses. Nothing of it is changed but the objects that it now has.
"""

from __future__ import annotations

import contextlib
import re
import tempfile
import threading
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Final

from gatewright.tools.system.git import Caller, Git, Stop, of_itself
from gatewright.tools.system.gitfiles import Repository, remote_of
from gatewright.tools.system.programs import find

_REF: Final = re.compile(r"(?:HEAD|refs/[A-Za-z0-9._/+-]{1,200})")
_HOST: Final = r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?"
_USER: Final = r"(?:[A-Za-z0-9_][A-Za-z0-9_.-]*@)?"
_PATH: Final = r"[A-Za-z0-9_~][\w.~+/-]*"
_FORMS: Final = (
    (re.compile(rf"https://{_HOST}(?::\d+)?/{_PATH}"), "https"),
    (re.compile(rf"http://(?:127\.0\.0\.1|localhost)(?::\d+)?/{_PATH}"), "http"),
    (re.compile(rf"ssh://{_USER}{_HOST}(?::\d+)?/{_PATH}"), "ssh"),
    (re.compile(rf"{_USER}{_HOST}:{_PATH}"), "ssh"),
    (re.compile(r"/[\w.~+/ -]+"), "file"),
)
NAMED: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._/+-]{0,199}")  # a branch or tag, as people say
COMMIT: Final = re.compile(r"[0-9a-f]{40}")
# How a proxy and certificates are named to what git reaches the network with.
_NETWORK: Final = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
_LOOK: Final = 0.05  # seconds between two looks at what is left
_CLONE: Final = (
    "[core]\n\tbare = true\n[fetch]\n\tunpackLimit = 1\n[transfer]\n\tfsckObjects = true\n"
)


def fetched(
    caller: Caller, found: Repository, ref: str, seconds: float, stop: Stop | None = None
) -> str:
    """The commit that the remote has under this name. OSError where that cannot be learnt."""
    url = remote_of(found.common / "config", "origin")
    kind = kind_of(url)
    if not kind or not _REF.fullmatch(ref):
        raise OSError("it has no remote called origin with an address of a usual form")
    with tempfile.TemporaryDirectory(prefix="gatewright-git-") as folder:
        own = Path(folder)
        (own / "HEAD").write_text("ref: refs/heads/none\n", encoding="utf-8")
        (own / "refs").mkdir()
        (own / "config").write_text("[core]\n\tbare = true\n", encoding="utf-8")
        places = {
            "GIT_DIR": folder,
            "GIT_INDEX_FILE": str(own / "index"),
            "GIT_OBJECT_DIRECTORY": str(found.common / "objects"),
            **_reach(caller, kind),
        }
        alone = Caller(caller.env, caller.avoid)  # the network is what it needs
        git = Git(alone, places, own, stop)
        git.run("fetch", url, ref, seconds=seconds)
        return (
            git.run("rev-parse", "--verify", "-q", "FETCH_HEAD^{commit}", seconds=5)
            .decode()
            .strip()
        )


def kind_of(url: str) -> str:
    """How an address is reached: https, http (this machine only), ssh or file; empty for others."""
    return next((kind for form, kind in _FORMS if form.fullmatch(url)), "")


@contextlib.contextmanager
def cloned(
    caller: Caller, url: str, want: tuple[str, str], own: Path, left: Callable[[], float]
) -> Generator[tuple[Git, str]]:
    """One commit of a repository, in an empty directory that is the caller's to remove.

    `want` is a branch or tag, and a commit; either may be empty, and the commit counts. `left` are
    the seconds that there are, asked again while git runs. Raises OSError.
    """
    ref, commit = want
    kind = kind_of(url)
    if not kind or (ref and not _plain(ref)) or (commit and not COMMIT.fullmatch(commit)):
        raise OSError("it has no address, branch or commit of a usual form")
    for name in ("refs", "objects"):
        (own / name).mkdir()
    (own / "HEAD").write_text("ref: refs/heads/none\n", encoding="utf-8")
    (own / "config").write_text(_CLONE, encoding="utf-8")
    places = {"GIT_DIR": str(own), "GIT_INDEX_FILE": str(own / "index"), **_reach(caller, kind)}
    stop = Stop()
    git = Git(Caller(caller.env, caller.avoid), places, own, stop)
    with _watched(stop, left):
        _bring(git, url, ref, commit, left)
        wanted = f"{commit or 'FETCH_HEAD'}^{{commit}}"
        found = git.run("rev-parse", "--verify", "-q", wanted, seconds=left()).decode().strip()
        yield git, found


def _bring(git: Git, url: str, ref: str, commit: str, left: Callable[[], float]) -> None:
    """Not every server gives a commit that no branch or tag names now; its history has it then."""
    try:
        git.run("fetch", "--depth=1", url, commit or ref or "HEAD", seconds=left())
    except TimeoutError:
        raise
    except OSError:
        if not commit:
            raise
        git.run("fetch", url, ref or "HEAD", seconds=left())


@contextlib.contextmanager
def _watched(stop: Stop, left: Callable[[], float]) -> Generator[None]:
    """Git ends when nothing is left: who asks may have had enough of it, or no room for it."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(_LOOK):
            if left() <= 0:
                stop.stop()
                return

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _plain(ref: str) -> bool:
    return NAMED.fullmatch(ref) is not None and ".." not in ref and not ref.endswith((".lock", "/"))


def _reach(caller: Caller, kind: str) -> Mapping[str, str]:
    """What lets it reach that kind of address, and no other."""
    programs = of_itself(caller, 5, "--exec-path")
    reach = {"GIT_EXEC_PATH": programs, "GIT_ALLOW_PROTOCOL": kind}
    if kind == "https":
        names = [spelled for name in _NETWORK for spelled in (name, name.upper())]
        reach |= {name: caller.env[name] for name in names if caller.env.get(name)}
        if certificates := caller.env.get("SSL_CERT_FILE"):
            reach["GIT_SSL_CAINFO"] = certificates
    if kind == "ssh":
        ssh = find("ssh", caller.env, caller.avoid)
        if not ssh:
            raise FileNotFoundError("ssh is not installed")
        reach["GIT_SSH_COMMAND"] = f"'{ssh}' -oBatchMode=yes -oConnectTimeout=4"
        if agent := caller.env.get("SSH_AUTH_SOCK"):
            reach["SSH_AUTH_SOCK"] = agent
    return reach
