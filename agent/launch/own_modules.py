"""A short way to modules of ours: where a name is a file, and what was compiled of it still holds.

Python looks through every way there may be to a module; of ours 300 are one file each. What is
loaded is what Python would load, told by the same time and size; all else is left to it.
"""

from __future__ import annotations

import sys
from _frozen_importlib import ModuleSpec
from _frozen_importlib_external import MAGIC_NUMBER, SourceFileLoader
from _io import open_code
from marshal import loads
from posix import stat
from types import CodeType

OURS = "gatewright."
PLAIN = MAGIC_NUMBER + b"\0\0\0\0"  # compiled from a source of that time and size
MASK = 0xFFFFFFFF
TAG = f".{sys.implementation.cache_tag}.pyc"


def compiled(file: str) -> str:
    """Where Python keeps what it made of a source."""
    folder, _, name = file.rpartition("/")
    return f"{folder}/__pycache__/{name[:-3]}{TAG}"


class OwnLoader(SourceFileLoader):
    """Reads what was compiled without looking for it."""

    def get_code(self, fullname: str) -> CodeType | None:
        try:
            at = stat(self.path)
            with open_code(compiled(self.path)) as file:
                data = file.read()
        except OSError:
            return super().get_code(fullname)
        source = (int(at.st_mtime) & MASK).to_bytes(4, "little")
        source += (at.st_size & MASK).to_bytes(4, "little")
        if data[:16] == PLAIN + source:
            code: CodeType = loads(memoryview(data)[16:])
            if code.co_filename == self.path:
                return code
        return super().get_code(fullname)


class OwnModules:
    """Finds the modules below the one folder that holds them."""

    def __init__(self, root: str) -> None:
        self._root = root

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        if not name.startswith(OURS):
            return None
        place = f"{self._root}/{name[len(OURS) :].replace('.', '/')}"
        file = f"{place}.py"
        try:
            stat(file)
        except OSError:  # a folder, for one
            return None
        spec = ModuleSpec(name, OwnLoader(name, file), origin=file)
        spec.has_location, spec.cached = True, compiled(file)
        return spec


def install(main: str) -> None:
    """`main` is the file of the process entry. Once, and only where Python compiles as usual."""
    root, _, rest = main.rpartition("/agent/launch/")
    if rest != "main.py" or sys.flags.optimize or sys.pycache_prefix:
        return
    if not any(isinstance(finder, OwnModules) for finder in sys.meta_path):
        sys.meta_path.insert(0, OwnModules(root))
