"""How long, how often and for how much a turn may go on; what it was given decides."""

from __future__ import annotations

import msgspec


class Limits(msgspec.Struct, frozen=True):
    """Zero means no limit; `silence` is how long a stream may say nothing, `patience` how long
    nothing but that the server is alive. `together`: the requests are those of all turns."""

    requests: int = 0
    cost: float = 0.0
    silence: float = 90.0
    patience: float = 1800.0
    together: bool = False

    def behind(self, requests: int) -> Limits:
        """Those of a turn, once others have made so many requests; one is always left to it."""
        if not (self.together and self.requests):
            return self
        return msgspec.structs.replace(self, requests=max(1, self.requests - requests))
