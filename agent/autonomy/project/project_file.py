"""`.gatewright/project/features.json`: read and replaced whole, with no link on the way.

Each change reads the file anew, so what the person wrote there meanwhile stays.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from gatewright.agent.autonomy.project.features import (
    MOST_BYTES,
    Change,
    Feature,
    FeatureList,
    ProjectError,
    read_list,
    written,
)
from gatewright.tools.system.exact import open_directory, open_exact
from gatewright.tools.system.project import FOLDER

NAME = "features.json"
PLACE = Path(FOLDER) / "project"
FILE = PLACE / NAME  # from the root of the project
NONE = (
    f"There is no list of features here ({FILE}). "
    "/project init GOAL has one drawn up and shows it to you; /project add TITLE begins one."
)


class ProjectFile:
    def __init__(self, root: Path) -> None:
        self.root = root

    @property
    def path(self) -> Path:
        return self.root / FILE

    @property
    def there(self) -> bool:
        return os.path.lexists(self.path)

    def read(self) -> FeatureList:
        """Raises ProjectError."""
        try:
            with open_exact(self._folder / NAME) as file:
                data = file.read(MOST_BYTES + 1)
        except FileNotFoundError:
            raise ProjectError(NONE) from None
        except OSError as error:
            raise ProjectError(f"{FILE} cannot be read: {error.strerror or error}.") from None
        try:
            return read_list(data)
        except ProjectError as error:
            raise ProjectError(f"{FILE}: {error} Correct it by hand, or remove it.") from None

    def write(self, list: FeatureList) -> None:
        """Whole or not at all. Raises ProjectError."""
        try:
            folder = open_directory(self._folder, make=True)
        except OSError as error:
            raise ProjectError(f"{FILE} cannot be written: {error.strerror or error}.") from None
        fresh = f".{NAME}.{secrets.token_hex(4)}"
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
            with os.fdopen(os.open(fresh, flags, 0o644, dir_fd=folder), "wb") as file:
                file.write(written(list))
                file.flush()
                os.fsync(file.fileno())
            os.rename(fresh, NAME, src_dir_fd=folder, dst_dir_fd=folder)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(fresh, dir_fd=folder)
            raise ProjectError(f"{FILE} cannot be written: {error.strerror or error}.") from None
        finally:
            os.close(folder)

    def change(self, how: Change) -> FeatureList:
        """Read, change and write, with nothing of this process in between."""
        made = how(self.read())
        self.write(made)
        return made

    def put(self, feature: Feature) -> FeatureList:
        return self.change(lambda list: list.changed(feature))

    @property
    def _folder(self) -> Path:
        return Path(os.path.realpath(self.root)) / PLACE
