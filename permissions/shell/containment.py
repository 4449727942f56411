"""Whether everything a line names stays below the project root, and what in it changes things."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from gatewright.permissions.shell.coverage import HARMLESS_NAMES
from gatewright.permissions.shell.danger_table import NETWORK, PRIVILEGE, RUNS_CODE
from gatewright.permissions.shell.line import Part
from gatewright.permissions.shell.operands import Operand, git_words, touched
from gatewright.permissions.shell.reach import Reach
from gatewright.permissions.shell.suggest import runs_code
from gatewright.permissions.shell.words import Arg

_REMOTE = re.compile(r"[a-z][a-z0-9+.-]*://|[\w.-]+@[\w.-]+:|//", re.IGNORECASE)
_PATH_INSIDE = re.compile(r"(?:\.\.?/|/|~).*", re.DOTALL)

REMOTE_PROGRAMS: frozenset[str] = (NETWORK - {"openssl"}) | frozenset(
    {"kubectl", "helm", "terraform", "gcloud", "az", "heroku", "fly", "flyctl", "vercel", "netlify",
     "firebase", "ansible", "ansible-playbook", "psql", "mysql", "redis-cli", "mongosh", "glab",
     "doctl", "wrangler", "pulumi"}
)  # fmt: skip
SYSTEM_PROGRAMS: frozenset[str] = frozenset(
    {"apt", "apt-get", "dnf", "yum", "zypper", "apk", "pacman", "brew", "snap", "flatpak", "port",
     "kill", "pkill", "killall", "mount", "umount", "sysctl", "ifconfig", "ip", "iptables", "nft",
     "useradd", "usermod", "userdel", "groupadd", "passwd", "chsh", "service", "launchctl",
     "docker", "podman", "nerdctl", "open", "xdg-open", "osascript", "defaults", "modprobe",
     "insmod", "swapoff", "crontab", "at", "tmux", "screen", "systemctl", "loginctl"}
)  # fmt: skip
REMOTE_GIT: frozenset[str] = frozenset({"push", "send-email", "request-pull", "send-pack"})


def contained(parts: Sequence[Part], reach: Reach) -> bool:
    """All parts (wrappers opened) stay in the root and change nothing elsewhere."""
    return all(_part_contained(part, reach) for part in parts)


def _part_contained(part: Part, reach: Reach) -> bool:
    paths = reach.paths
    if not part.bases or None in part.bases:
        return False
    for base in part.bases:
        if base is None or not paths.in_root(paths.locate(base)):
            return False
    if any(arg.dynamic for arg in (*part.argv, *(value for _, value in part.assigns))):
        return False
    if not all(any(fnmatchcase(name, one) for one in HARMLESS_NAMES) for name, _ in part.assigns):
        return False
    if not part.argv:
        return _targets_contained(part, reach)
    program = part.program
    if program in SYSTEM_PROGRAMS or runs_code(part) or {"-g", "--global"} & set(part.texts):
        return False
    if program in PRIVILEGE or program in REMOTE_PROGRAMS or _remote_git(part):
        return False
    if part.fed and RUNS_CODE.match(program) is not None:
        return False
    if not all(_word_contained(arg, part, reach) for arg in part.argv[1:]):
        return False
    return _targets_contained(part, reach)


def _remote_git(part: Part) -> bool:
    words = git_words(part) if part.program == "git" else ()
    return bool(words) and words[0].text in REMOTE_GIT


def _word_contained(arg: Arg, part: Part, reach: Reach) -> bool:
    """A word that could be a path must be one inside the root."""
    for text in arg.readings:
        if _REMOTE.match(text):
            return False
        candidates = [text]
        if text.startswith("-"):
            found = re.search(r"=(.*)|(?<=^-\w)(.+)", text, re.DOTALL)
            candidates = [found.group(1) or found.group(2) or ""] if found else []
            candidates = [one for one in candidates if _PATH_INSIDE.match(one) or "/" in one]
        for candidate in candidates:
            for base in part.bases:
                if not reach.paths.in_root(reach.paths.locate(candidate, base)):
                    return False
    return True


def _targets_contained(part: Part, reach: Reach) -> bool:
    found = touched(part)
    return all(operand_contained(one, reach, written=True) for one in found.writes) and all(
        operand_contained(one, reach, written=False) for one in found.reads
    )


def operand_contained(operand: Operand, reach: Reach, *, written: bool) -> bool:
    paths = reach.paths
    if operand.arg.unknown or None in operand.bases:
        return False
    for located in reach.locations(operand.arg, operand.bases):
        if not paths.in_root(located):
            return False
        if written:
            tier = paths.glob_tier(located.lexical) if operand.arg.patterns else paths.tier(located)
            if tier or (operand.whole and paths.tier_below(located)):
                return False
    return True


def strictly_inside(operand: Operand, reach: Reach) -> bool:
    """Contained, unprotected, and not the root itself nor all of its content."""
    if not operand_contained(operand, reach, written=True):
        return False
    roots = {reach.paths.place.root, reach.paths.resolver.real(reach.paths.place.root)}
    for located in reach.locations(operand.arg, operand.bases):
        if roots & set(located.readings):
            return False
        parent = located.lexical.rpartition("/")[0]
        if operand.arg.patterns and parent in roots:
            return False
    return True


# --- plan mode --------------------------------------------------------------------------------

GIT_WRITES: frozenset[str] = frozenset(
    {"add", "commit", "merge", "rebase", "cherry-pick", "am", "apply", "checkout", "switch", "pull",
     "push", "init", "clone", "reset", "restore", "rm", "mv", "revert", "clean", "fetch", "gc",
     "filter-branch", "filter-repo", "update-ref", "update-index", "write-tree", "commit-tree",
     "notes", "replace", "submodule", "sparse-checkout", "prune", "repack", "fast-import", "bisect"}
)  # fmt: skip
_GIT_LISTS: Mapping[str, frozenset[str]] = {
    "stash": frozenset({"list", "show"}),
    "worktree": frozenset({"list"}),
    "remote": frozenset({"show", "get-url", "-v", "--verbose"}),
}
PACKAGE_MANAGERS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(
        ("npm", "pnpm", "yarn", "bun"),
        frozenset({"install", "i", "ci", "add", "remove", "rm", "uninstall", "un", "update", "up",
                   "upgrade", "link", "unlink", "dedupe", "prune", "init", "rebuild", "import"})),
    **dict.fromkeys(("pip", "pip3", "pipx"), frozenset({"install", "uninstall", "upgrade", "inject"})),
    "uv": frozenset({"add", "remove", "sync", "lock", "init", "venv", "pip install", "pip uninstall",
                     "pip sync", "tool install", "python install"}),
    "poetry": frozenset({"add", "remove", "install", "update", "lock", "init", "new"}),
    "pdm": frozenset({"add", "remove", "install", "update", "lock", "sync"}),
    "pipenv": frozenset({"install", "uninstall", "update", "lock", "sync"}),
    "cargo": frozenset({"add", "remove", "rm", "install", "uninstall", "update", "init", "new", "fix"}),
    "go": frozenset({"get", "install", "mod tidy", "mod download", "mod init", "mod vendor"}),
    "gem": frozenset({"install", "uninstall", "update"}),
    "bundle": frozenset({"install", "add", "update", "remove"}),
    "composer": frozenset({"install", "require", "remove", "update"}),
    **dict.fromkeys(
        ("apt", "apt-get", "dnf", "yum", "zypper", "brew", "port", "snap", "flatpak", "conda", "mamba"),
        frozenset({"install", "remove", "purge", "update", "upgrade", "autoremove", "uninstall",
                   "reinstall", "create", "full-upgrade", "dist-upgrade"})),
    "apk": frozenset({"add", "del", "update", "upgrade"}),
    "pacman": frozenset({"-S", "-Sy", "-Syu", "-R", "-Rs", "-U"}),
    "rustup": frozenset({"install", "update", "component add", "target add", "default"}),
    "npx": frozenset(),
}  # fmt: skip


def changes_something(part: Part) -> bool:
    """Whether a command writes by its nature: files, the repository, or installed packages."""
    if any(one.file and one.writes for one in part.redirects) or touched(part).writes:
        return True
    if not part.argv:
        return False
    program = part.program
    if program == "git":
        return _git_changes(part)
    table = PACKAGE_MANAGERS.get(program)
    if table is None:
        return False
    words = [text for text in part.texts[1:] if not text.startswith("-") or program == "pacman"]
    if program == "yarn" and not words:
        return True
    return any(" ".join(words[: len(known.split())]) == known for known in table)


def _git_changes(part: Part) -> bool:
    words = [arg.text for arg in git_words(part)]
    if not words:
        return False
    sub, rest = words[0], words[1:]
    if sub in GIT_WRITES:
        return True
    operands = [word for word in rest if not word.startswith("-")]
    lists = _GIT_LISTS.get(sub)
    if lists is not None:
        return not (operands and operands[0] in lists) and (bool(operands) or sub == "stash")
    if sub in ("branch", "tag"):
        listing = any(
            word in ("-l", "--list", "--contains", "--merged", "--no-merged", "--points-at",
                     "--no-contains") for word in rest
        )  # fmt: skip
        return bool(operands) and not listing
    if sub == "config":
        reads = any(word.startswith(("--get", "--list")) or word == "-l" for word in rest)
        return len(operands) > 1 and not reads
    return sub == "reflog" and operands[:1] in (["expire"], ["delete"])
