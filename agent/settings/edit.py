"""Change files that several processes may write: lock, read again, change, replace atomically.

A file that cannot be parsed is never overwritten: the change is refused, naming the place.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, cast

from gatewright.agent.errors import SettingsError
from gatewright.agent.settings.layers.broken import Broken, parse_object
from gatewright.agent.settings.layers.key import parts_of
from gatewright.agent.settings.layers.settled import MAX_BYTES
from gatewright.tools.system import private
from gatewright.tools.system.locks import let_go, taken
from gatewright.tools.system.regular import read_regular

LOCK_SECONDS = 5.0
LOCAL = "settings.local.json"


def edit(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Apply `change` to the JSON object in `path`, keeping every other key and its order."""
    try:
        private.folder(path.parent)
        if path.name == LOCAL:
            _keep_out_of_git(path.parent)
        with locked(path):
            text = _read(path)
            values = _parse(path, text)
            change(values)
            replace(path, _dump(values, like=text))
    except OSError as error:
        raise SettingsError(f"Cannot change {path}: {error.strerror or error}.") from error


def read_object(path: Path) -> dict[str, Any]:
    """What a settings file holds. Raises SettingsError where it cannot be parsed."""
    return _parse(path, _read(path))


def set_value(path: Path, key: str, value: Any) -> None:
    """Set a dotted key; `None` removes it."""
    *parents, last = parts_of(key)

    def change(values: dict[str, Any]) -> None:
        inner = section(path, values, *parents)
        if value is None:
            inner.pop(last, None)
        else:
            inner[last] = value

    edit(path, change)


def section(path: Path, values: dict[str, Any], *keys: str) -> dict[str, Any]:
    """The object below these keys, made where there is none. Raises SettingsError."""
    for key in keys:
        inner = values.setdefault(key, {})
        if not isinstance(inner, dict):
            raise SettingsError(f"{path}: {key} is no object, so nothing can be set in it.")
        values = cast("dict[str, Any]", inner)
    return values


def entries(path: Path, values: dict[str, Any], key: str) -> list[Any]:
    """The list at this key, made where there is none. Raises SettingsError."""
    found = values.setdefault(key, [])
    if not isinstance(found, list):
        raise SettingsError(f"{path}: {key} is no list, so nothing can be added to it.")
    return cast("list[object]", found)


@contextlib.contextmanager
def locked(path: Path) -> Generator[None]:
    """Hold the lock beside `path`; it dies with its process and leaves no file behind."""
    lock = path.with_name(f".{path.name}.lock")
    deadline = time.monotonic() + LOCK_SECONDS
    while (descriptor := taken(lock)) is None:
        if time.monotonic() > deadline:
            raise SettingsError(
                f"{path} has been locked by another process for {LOCK_SECONDS:.0f} s."
            )
        time.sleep(0.01)
    try:
        yield
    finally:
        let_go(lock, descriptor)


def _keep_out_of_git(folder: Path) -> None:
    """What is the person's own in a project is nobody else's: git shows neither it nor this."""
    with (
        contextlib.suppress(FileExistsError),
        (folder / ".gitignore").open("x", encoding="utf-8") as file,
    ):
        file.write(f".gitignore\n{LOCAL}\n.settings.*\n")


def replace(path: Path, text: str) -> None:
    """Write beside and rename: a reader sees the old bytes or the new. Links are followed."""
    target = path.resolve()
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, mode)  # noqa: PTH101  the name is what mkstemp returns
        os.replace(name, target)  # noqa: PTH105
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)  # noqa: PTH108
        raise


def _read(path: Path) -> str:
    try:
        return read_regular(path, MAX_BYTES).decode("utf-8-sig")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path} is not UTF-8; it was left as it is.") from error


def _parse(path: Path, text: str) -> dict[str, Any]:
    if not text.strip():
        return {}
    try:
        return parse_object(text)
    except Broken as broken:
        place = f"{path}:{broken.line}" if broken.line else str(path)
        raise SettingsError(
            f"{place} {broken.message}. Repair it first; it was left as it is."
        ) from broken


def _dump(values: dict[str, Any], *, like: str) -> str:
    indent: int | str = 2
    for line in like.splitlines()[1:2]:
        space = line[: len(line) - len(line.lstrip())]
        indent = "\t" if space.startswith("\t") else len(space) or 2
    return json.dumps(values, indent=indent, ensure_ascii=False) + "\n"
