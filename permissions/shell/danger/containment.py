"""Whether everything a line names stays below the project root."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

from gatewright.permissions.shell.danger.danger_table import NETWORK, PRIVILEGE, runs_input
from gatewright.permissions.shell.files.git_files import git_words
from gatewright.permissions.shell.files.operand import Operand
from gatewright.permissions.shell.files.reach import Reach
from gatewright.permissions.shell.line import Part
from gatewright.permissions.shell.parse.words import Arg
from gatewright.permissions.shell.rules.coverage import HARMLESS_NAMES
from gatewright.permissions.shell.rules.suggest import runs_code
from gatewright.tools.system.patterns import later

# Programs that are never contained in a project, whatever their words say.
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
_REMOTE = later(r"[a-z][a-z0-9+.-]*://|[\w.-]+@[\w.-]+:|//", re.IGNORECASE)
_PATH_INSIDE = later(r"(?:\.\.?/|/|~).*", re.DOTALL)


def contained(parts: Sequence[Part], reach: Reach) -> bool:
    """All parts (wrappers opened) stay in the root and change nothing elsewhere."""
    return all(_part_contained(part, reach) for part in parts)


def _part_contained(part: Part, reach: Reach) -> bool:
    if not _starts_contained(part, reach) or not _targets_contained(part, reach):
        return False
    if not part.argv:
        return True
    if part.program in _NEVER or _remote_git(part) or {"-g", "--global"} & set(part.texts):
        return False
    if runs_code(part) or (part.fed and runs_input(part.program)):
        return False
    return all(_word_contained(arg, part, reach) for arg in part.argv[1:])


_NEVER = SYSTEM_PROGRAMS | PRIVILEGE | REMOTE_PROGRAMS


def _starts_contained(part: Part, reach: Reach) -> bool:
    """It runs in the root, with nothing unresolved and only harmless assignments."""
    paths = reach.paths
    for base in part.bases:
        if base is None or not paths.in_root(paths.locate(base)):
            return False
    if any(arg.dynamic for arg in (*part.argv, *(value for _, value in part.assigns))):
        return False
    return bool(part.bases) and all(
        any(fnmatchcase(name, one) for one in HARMLESS_NAMES) for name, _ in part.assigns
    )


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
    found = reach.touched(part)
    if found.opaque:
        return False
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
