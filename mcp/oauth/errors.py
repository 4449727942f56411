"""What can go wrong with a login. Every text is for people, and holds no secret."""

from __future__ import annotations


class LoginFailed(Exception):
    """There is no login now. `later`: what is kept stays, and may do another time."""

    def __init__(self, why: str, *, later: bool = False) -> None:
        super().__init__(why)
        self.later = later
