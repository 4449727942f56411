"""The one thing we fetch: a reference of a repository's remote, from an address of plain form.

No setting of the repository says how: not its ssh command, its helpers or its rewriting of
addresses. Nothing of it is changed but the objects that it now has.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
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


def fetched(
    caller: Caller, found: Repository, ref: str, seconds: float, stop: Stop | None = None
) -> str:
    """The commit that the remote has under this name. OSError where that cannot be learnt."""
    url = remote_of(found.common / "config", "origin")
    kind = next((kind for form, kind in _FORMS if form.fullmatch(url)), "")
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


def _reach(caller: Caller, kind: str) -> Mapping[str, str]:
    """What lets it reach that kind of address, and no other."""
    programs = of_itself(caller, 5, "--exec-path")
    reach = {"GIT_EXEC_PATH": programs, "GIT_ALLOW_PROTOCOL": kind}
    if kind == "ssh":
        ssh = find("ssh", caller.env, caller.avoid)
        if not ssh:
            raise FileNotFoundError("ssh is not installed")
        reach["GIT_SSH_COMMAND"] = f"'{ssh}' -oBatchMode=yes -oConnectTimeout=4"
        if agent := caller.env.get("SSH_AUTH_SOCK"):
            reach["SSH_AUTH_SOCK"] = agent
    return reach
