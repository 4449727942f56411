"""Where a request went: told where a server knows no such place."""

from __future__ import annotations

import msgspec


class Tried(msgspec.Struct, frozen=True):
    """Where a request went, as far as a person can set it right."""

    base: str
    path: str

    def nothing(self, who: str) -> str:
        end = "" if self.base.endswith("/v1") or self.path.startswith("/v1") else ", often with /v1"
        return f"{who} has no {self.path} below {self.base} (404). Check the base URL{end}."
