"""How dangerous a line is, judged on everything it might run.

Generous by design: what cannot be read counts for the worse.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from gatewright.permissions.paths import Located, Paths, ancestors, components_meet, inside
from gatewright.permissions.rulebook.patterns import globs_meet
from gatewright.permissions.shell.danger import danger_table as table
from gatewright.permissions.shell.danger.danger_flow import flows
from gatewright.permissions.shell.danger.danger_git import git_danger
from gatewright.permissions.shell.danger.hazard import Hazard
from gatewright.permissions.shell.files.git_files import git_words
from gatewright.permissions.shell.files.operand import Operand
from gatewright.permissions.shell.files.operands import find_actions
from gatewright.permissions.shell.files.reach import Reach
from gatewright.permissions.shell.line import Part
from gatewright.permissions.shell.own_cli import own_hazards
from gatewright.permissions.shell.parse.words import Arg
from gatewright.permissions.shell.rules.matching import without_globals
from gatewright.tools.system.patterns import later

# Bounded everywhere: a line of ten thousand characters must not cost more than milliseconds.
# Functions that start themselves without end, recognised in the raw text.
_FORK_BOMB = later(r"([^\s(){};|&]{1,40})\(\)\{[^}]{0,200}\1\|[^}]{0,200}\1[^}]{0,200}&")
_FUNCTION = later(
    r"(?:function\s+([\w:.-]{1,40})\s{0,9}(?:\(\s*\))?|([\w:.-]{1,40})\s{0,9}\(\s*\))"
    r"\s{0,9}[{(]([^{}]{0,400})[})]"
)


class Danger:
    """Judges parts of one line against the places that matter."""

    def __init__(self, reach: Reach, *, is_safe: Callable[[Part], bool]) -> None:
        self._reach = reach
        self._paths: Paths = reach.paths
        self._is_safe = is_safe

    def hazards(self, parts: Sequence[Part], text: str) -> Iterator[Hazard]:
        if endless(text):
            yield Hazard(2, "It starts copies of itself without end.", text)
        for part in parts:
            for hazard in self._of_part(part):
                source = " ".join(part.texts)[:120]
                yield replace(hazard, source=source)
        yield from flows(parts, self._reach)

    def _of_part(self, part: Part) -> Iterator[Hazard]:
        yield from self._devices(part)
        if not part.argv:
            return
        program = part.program
        if program in table.CATASTROPHIC or program.startswith("mkfs"):
            text = table.CATASTROPHIC.get(program, "destroys a disk")
            if not (program == "shutdown" and "-c" in part.texts):
                yield Hazard(2, f"{program} {text}.")
        elif program in ("init", "telinit") and part.texts[1:2] in (("0",), ("6",)):
            yield Hazard(2, f"{program} stops the machine.")
        elif program in table.DANGEROUS:
            files = self._reach.touched(part).writes if program in ("shred", "truncate") else None
            yield Hazard(1, f"{program} {table.DANGEROUS[program]}.", files=files, deletes=True)
        yield from own_hazards(part)
        yield from self._by_program(part, program)

    def _by_program(self, part: Part, program: str) -> Iterator[Hazard]:
        match program:
            case "rm":
                yield from self._rm(part)
            case "chmod" | "chown" | "chgrp":
                yield from self._modes(part, program)
            case "find" | "gfind":
                yield from self._find(part)
            case "rsync":
                yield from self._rsync(part)
            case "git":
                yield from self._git(part)
            case "systemctl" | "service" | "loginctl":
                yield from _systemctl(part)
            case "kill" | "crontab" | "source" | ".":
                yield from _small(part, program)
            case _:
                yield from _subcommand(part, program)

    def _devices(self, part: Part) -> Iterator[Hazard]:
        for operand in self._reach.touched(part).writes:
            for located in self._reach.locations(operand.arg, operand.bases):
                if any(path.startswith(table.BLOCK_DEVICES) for path in located.readings):
                    yield Hazard(2, f"It writes to {located.lexical}.")

    # --- deleting and changing trees ---

    def _rm(self, part: Part) -> Iterator[Hazard]:
        recursive, forced, operands = _rm_options(part)
        files = tuple(Operand(arg, part.bases, whole=True) for arg in operands)
        if recursive and any(_abbreviates(text, "--no-preserve-root") for text in part.texts):
            yield Hazard(2, "rm would not spare the root directory.")
        if recursive:
            for arg in operands:
                what = self._listed(arg, part)
                if what:
                    yield Hazard(2, f"It would delete {what}.")
        if recursive or forced:
            yield Hazard(1, "It deletes files for good.", files=files, deletes=True)

    def _modes(self, part: Part, program: str) -> Iterator[Hazard]:
        words = part.argv[1:]
        recursive = any(
            _abbreviates(arg.text, "--recursive") or re.fullmatch(r"-[A-Za-z]*R[A-Za-z]*", arg.text)
            for arg in words
        )
        operands = [arg for arg in words if not re.fullmatch(r"-[A-Za-z-]+(=.*)?", arg.text)]
        if recursive:
            for arg in operands:
                what = self._listed(arg, part)
                if what:
                    yield Hazard(2, f"It would change all of {what}.")
            files = tuple(Operand(arg, part.bases, whole=True) for arg in operands[1:])
            yield Hazard(1, f"{program} changes a whole tree.", files=files)
        if program == "chmod" and operands and _MODES.fullmatch(operands[0].text):
            yield Hazard(1, "It opens the file to everybody or lends it its owner's rights.")

    def _find(self, part: Part) -> Iterator[Hazard]:
        actions = find_actions(part.argv[1:])
        if not actions:
            return
        roots = [operand.arg for operand in self._reach.touched(part).reads if operand.walks]
        inner = [one for one in self._reach.opened_of(part) if one.argv]
        removes = "-delete" in actions or any(one.program in ("rm", "unlink") for one in inner)
        if removes:
            narrowed = _narrowed(part.texts)
            for root in roots or [Arg(".", ".")]:
                what = self._listed(root, part)
                if what and (not narrowed or what not in ("the project", "its content")):
                    yield Hazard(2, f"It would delete {what}.")
            files = tuple(Operand(arg, part.bases, whole=True) for arg in roots)
            yield Hazard(1, "find would delete files.", files=files, deletes=True)
        elif any(not self._is_safe(one) for one in inner):
            yield Hazard(1, "find would run a command on every file.")

    def _rsync(self, part: Part) -> Iterator[Hazard]:
        if not any(text.startswith("--del") for text in part.texts):
            return
        operands = [arg for arg in part.argv[1:] if not arg.text.startswith("-")]
        what = self._listed(operands[-1], part) if operands else ""
        if what:
            yield Hazard(2, f"It would delete in {what}.")
        yield Hazard(1, "rsync would delete files.")

    def _git(self, part: Part) -> Iterator[Hazard]:
        text, loses = git_danger(part)
        if not text:
            return
        words = git_words(part)
        if words and words[0].text == "clean":
            where = self._listed(Arg(".", "."), part)
            if where and where not in ("the project", "its content"):
                yield Hazard(2, f"git clean would empty {where}.")
        yield Hazard(1, f"git {words[0].text} {text}.", git_loss=loses)

    # --- which directory is too much to lose ---

    def _listed(self, arg: Arg, part: Part) -> str:
        """What of the irreplaceable an operand of a recursive command is, or ''."""
        if arg.unknown and arg.leads:
            return "whatever its first variable holds"
        for base in part.bases:
            for text in arg.readings:
                if base is None and not text.startswith(("/", "~")):
                    if _content_of(text) == "":
                        return "whatever directory it is in"
                    continue
                located = self._paths.locate(text, base or "/")
                found = self._irreplaceable(located, bool(arg.patterns) or arg.unknown)
                if found:
                    return found
        return ""

    def _irreplaceable(self, located: Located, pattern: bool) -> str:
        for reading in located.readings:
            stripped = _content_of(reading) if pattern else reading
            found = self._name_of(stripped if stripped is not None else reading)
            if found:
                return found
            if pattern and stripped is None:
                found = self._matches_listed(reading)
                if found:
                    return found
        return ""

    def _name_of(self, path: str) -> str:
        path = path or "/"
        place = self._paths.place
        if path == "/":
            return "the whole file system"
        home = {place.home, self._paths.resolver.real(place.home)}
        if path in home or any(inside(one, path) for one in home):
            return "the home directory"
        roots = {place.root, place.start if inside(place.start, place.root) else place.root}
        roots |= {self._paths.resolver.real(place.root)}
        if path == place.root or path == self._paths.resolver.real(place.root):
            return "the project"
        if any(inside(root, path) for root in roots if root != place.start):
            return "a directory above the project"
        if path.count("/") == 1:
            return f"the system directory {path}"
        if path.rpartition("/")[2].casefold() == ".git":
            return "a git repository"
        return ""

    def _matches_listed(self, pattern: str) -> str:
        """A glob that could expand to something listed, such as `.g*` or `/us*`."""
        parts = pattern.split("/")
        if components_meet(".git", parts[-1]) and "*" in parts[-1]:
            return "a git repository"
        if len(parts) == 2:
            return "system directories"
        place = self._paths.place
        for known in (place.root, place.home):
            for above in ancestors(known):
                if (
                    above != "/"
                    and globs_meet(above.split("/"), parts)
                    and len(parts) <= (above.count("/") + 1)
                ):
                    return "the project or home directory"
        return ""


_MODES = later(r"[0-7]*777|0?[2467][0-7]{3}|.*[ugoa]*[+=][rwxXt]*s.*|(?:o|a)?[+=].*w.*")


_NARROWS = frozenset(
    {"-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-mtime", "-mmin",
     "-newer", "-size", "-empty", "-ctime", "-atime", "-user", "-perm", "-inum"}
)  # fmt: skip


_CONTENT = later(r"(?:\*+|\.\*|\.|\.\.|\?\*|\.\?\*|\.\[!?\^?\.\]\*|\.\?\?\*|\[\^?!?[^\]]*\]\*)")


def _narrowed(texts: Sequence[str]) -> bool:
    """Whether a find expression picks some files rather than nearly all."""
    if "!" in texts or "-not" in texts or "-o" in texts or "-or" in texts:
        return False
    return any(
        text in _NARROWS and value not in ("*", "**", ".*", "*.*", "./*")
        for text, value in zip(texts, (*texts[1:], ""), strict=True)
    )


def _content_of(path: str) -> str | None:
    """The directory whose whole content a glob like `d/*` stands for, else None."""
    found: str | None = None
    current = path.rstrip("/")
    while current:
        head, _, tail = current.rpartition("/")
        if not tail or _CONTENT.fullmatch(tail) is None:
            break
        found = head if head else ("/" if path.startswith("/") else "")
        current = head
    return found


def _abbreviates(text: str, option: str) -> bool:
    return len(text) > 4 and option.startswith(text.partition("=")[0])


def _rm_options(part: Part) -> tuple[bool, bool, list[Arg]]:
    recursive = forced = ended = False
    operands: list[Arg] = []
    for arg in part.argv[1:]:
        text = arg.text
        if ended or not text.startswith("-") or text == "-":
            operands.append(arg)
        elif text == "--":
            ended = True
        elif text.startswith("--"):
            recursive = recursive or (len(text) > 3 and "--recursive".startswith(text))
            forced = forced or (len(text) > 3 and "--force".startswith(text))
        else:
            recursive = recursive or "r" in text or "R" in text
            forced = forced or "f" in text
    return recursive, forced, operands


def _small(part: Part, program: str) -> Iterator[Hazard]:
    """Programs that are only dangerous in one form."""
    texts = part.texts[1:]
    if program == "kill":
        if "-1" in texts[1:] or texts == ("-1",):
            yield Hazard(1, "It ends every process.")
    elif program == "crontab":
        if "-l" not in texts:
            yield Hazard(1, "crontab changes what runs by itself.")
    elif any(arg.substitution or arg.raw.startswith("<(") for arg in part.argv[1:]):
        yield Hazard(1, "It sources what a command prints.")


def _systemctl(part: Part) -> Iterator[Hazard]:
    words = [text for text in part.texts[1:] if not text.startswith("-")]
    if part.program == "service":
        if words[1:2] and words[1] != "status":
            yield Hazard(1, "It changes a service.")
        return
    if words and words[0] in table.SYSTEMCTL_STOPS:
        yield Hazard(2, "It stops the machine.")
    elif words and words[0] not in table.SYSTEMCTL_READS:
        yield Hazard(1, "It changes a service.")


def _subcommand(part: Part, program: str) -> Iterator[Hazard]:
    rows = table.SUBCOMMANDS.get(program)
    if rows is None:
        return
    words = [text for text in without_globals(part) if not text.startswith("-")]
    if program in table.SCRIPT_RUNNERS and words[:1] in (["run"], ["run-script"]):
        if words[1:2] and re.match(r"(?:deploy|publish)(?:$|[:_-])", words[1]):
            yield Hazard(1, f"{program} would {words[1]}.")
        return
    for known, why in rows.items():
        if words[: len(known.split())] == known.split() or (
            known.startswith("--") and known in part.texts
        ):
            yield Hazard(1, f"{program} {known} {why}.")
            return


def endless(text: str) -> bool:
    """A function that starts itself more than once."""
    if "{" not in text and "function" not in text:
        return False
    return _FORK_BOMB.search(re.sub(r"\s+", "", text)) is not None or _self_calling(text)


def _self_calling(text: str) -> bool:
    for found in _FUNCTION.finditer(text):
        name, body = found.group(1) or found.group(2), found.group(3)
        calls = len(re.findall(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", body))
        if calls >= 2 and ("&" in body or "|" in body):
            return True
    return False
