"""What a server said when it refused: which login it wants."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gatewright.mcp.described import printable

if TYPE_CHECKING:
    from gatewright.mcp.oauth.logins import Login

LONGEST = 4096
MORE = "insufficient_scope"
_FIELD = r'(?<![A-Za-z0-9_-]){name}\s*=\s*(?:"([^"]*)"|([^\s,"]+))'


class Refusal:
    """The last one, of `token`. `why` is a login that could not be renewed."""

    def __init__(self, login: Login | None = None, *, own: bool = False) -> None:
        self.login, self.own = login, own  # own: its definition brings what lets it in
        self.status, self.header, self.token, self.why = 0, "", "", ""

    def heard(self, status: int, header: str, token: str) -> None:
        self.status, self.header, self.token = status, header[:LONGEST], token

    def forget(self) -> None:
        self.status = 0

    async def is_over(self) -> bool:
        """Another login is kept by now."""
        kept = await self.login.kept() if self.login is not None else None
        return kept is not None and kept.access not in ("", self.token)

    def sentence(self) -> str:
        if self.why:
            return self.why
        if self.wants_more:
            more = f" ({printable(self.scope, 200)})" if self.scope else ""
            return f"it wants a login that allows more{more}"
        return f"it wants a login (HTTP {self.status})"

    @property
    def wants_more(self) -> bool:
        """It took the login, and wants one that allows more."""
        return self.status == 403 and field(self.header, "error") == MORE

    @property
    def scope(self) -> str:
        return field(self.header, "scope")


def field(header: str, name: str) -> str:
    """One field of a WWW-Authenticate header; empty where there is none."""
    found = re.search(_FIELD.replace("{name}", name), header, re.IGNORECASE)
    return (found[1] or found[2] or "") if found else ""


def joined(*scopes: str) -> str:
    """All of them, each once."""
    return " ".join(dict.fromkeys(word for each in scopes for word in each.split()))
