"""`--log-protocol`: every message of both sides, one line each, without secrets, for its owner."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from gatewright.agent.frontends.json_lines import encode
from gatewright.agent.launch.exits import UsageError
from gatewright.agent.text.redact import Redactor
from gatewright.tools.system import private
from gatewright.tools.system.untyped_json import Json


class ProtocolLog:
    """Raises UsageError where the file cannot be written; a disk that fills up later ends it."""

    def __init__(self, path: Path, env: Mapping[str, str]) -> None:
        self._redactor = Redactor(env)
        try:
            self._file = open(path, "a", encoding="utf-8", opener=private.opener)  # noqa: SIM115  open while we run
        except OSError as error:
            raise UsageError(
                f"--log-protocol: {path} cannot be written: {error.strerror}."
            ) from None

    def write(self, by: str, message: Json) -> None:
        line = {"at": round(time.time(), 3), "from": by, "message": self._redactor.value(message)}
        try:
            self._file.write(encode(line))
            self._file.flush()
        except (OSError, ValueError):
            self.write = _nothing  # type: ignore[method-assign]

    def close(self) -> None:
        self._file.close()


def _nothing(by: str, message: Json) -> None:
    """There is no more room."""
