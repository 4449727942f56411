"""The facts that a call of another agent states in its input, wherever they stand in it.

What they say counts together. Whatever stands under a known name and is not understood makes the
whole vague, so that a person is asked.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import msgspec

from gatewright.tools.system.untyped_json import Json, items, obj

PATHS = (
    "path", "file_path", "filePath", "abs_path", "absPath", "absolute_path", "absolutePath",
    "target_file", "targetFile", "target_path", "filename", "file", "notebook_path", "old_path",
    "new_path", "old_file_path", "source", "destination", "directory", "dir", "paths", "files",
    "file_paths", "filePaths",
)  # fmt: skip
COMMANDS = ("command", "cmd", "script", "shell_command", "commands")
ARGS = ("args", "arguments", "argv")
CWDS = ("cwd", "workdir", "working_directory", "workingDirectory")
ENVS = ("env", "environment", "envs")
URLS = ("url", "uri", "href", "urls")
TEXTS = (
    "content", "contents", "file_text", "insert_text", "edits", "patch",
    "new_string", "newString", "new_str", "new_text", "newText",
    "old_string", "oldString", "old_str", "old_text", "oldText",
)  # fmt: skip
DEEP, TABLES = 6, 200  # of its input that are looked through


class Stated(msgspec.Struct):
    """`vague`: that this is not all; `changes`: it names a text, as who changes a file does."""

    commands: list[str] = []
    paths: list[str] = []
    urls: list[str] = []
    vague: bool = False
    changes: bool = False


def stated(raw: object, cwd: str) -> Stated:
    """`cwd` is where it works."""
    found = Stated()
    left: list[tuple[object, int]] = [(raw, 0)]
    tables = 0
    if isinstance(raw, (str, int, float)) and raw:
        found.vague = True
    while left:
        value, depth = left.pop()
        within = (*obj(value).values(), *items(value))
        inner: list[object] = [each for each in within if isinstance(each, (dict, list))]
        tables += 1
        if tables + len(left) + len(inner) > TABLES or (inner and depth >= DEEP):
            found.vague = True
            return found
        left += ((each, depth + 1) for each in reversed(inner))
        _table(obj(value), found, cwd)
    return found


def _table(table: Json, found: Stated, cwd: str) -> None:
    found.paths += _words(table, PATHS, found)
    found.urls += _words(table, URLS, found)
    found.vague = found.vague or any(table.get(name) for name in ENVS)
    found.changes = found.changes or any(table.get(name) is not None for name in TEXTS)
    places = [each for each in _words(table, CWDS, found) if each != cwd]
    commands = [line for name in COMMANDS if (line := _line(table.get(name), found))]
    if not commands:
        found.paths += places
        return
    before = "".join(entering(place) for place in places)
    after = "".join(f" {line}" for name in ARGS if (line := _line(table.get(name), found)))
    found.commands += (f"{before}{each}{after}" for each in commands)


def entering(place: str) -> str:
    """What goes before a command that runs there, and not at all where it cannot."""
    return f"cd -- {shlex.quote(place)} || exit 1; "


def _words(table: Json, names: Sequence[str], found: Stated) -> list[str]:
    said: list[str] = []
    for name in names:
        value = table.get(name)
        many = items(value) or ([value] if value else ())
        for each in many:
            if isinstance(each, str) and each and "\0" not in each:
                said.append(each)
            else:
                found.vague = True
    return said


def _line(value: object, found: Stated) -> str:
    """A line of a shell, of a text or of words."""
    if not value:
        return ""
    words = items(value)
    line = value.strip() if isinstance(value, str) else ""
    if words and all(isinstance(each, str) for each in words):
        line = shlex.join(map(str, words))
    if not line or "\0" in line:
        found.vague = True
        return ""
    return line
