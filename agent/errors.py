"""The exceptions of the core.

    GatewrightError          shown to the person as it is: says what to do next
    +-- SettingsError        a settings file or flag is wrong
    +-- SessionError         a transcript cannot be found, read or locked
    +-- ProviderError        a model request failed, in one of seven kinds
        +-- ModelLoading     the server will answer once it has the model in memory
        +-- UnknownModel     the server knows no model of that name

Tools raise `tools.protocol.ToolFailure`; everything else that escapes is a defect.
"""

from __future__ import annotations

import enum


class GatewrightError(Exception):
    """Its text is one or two sentences for the person."""


class SettingsError(GatewrightError):
    pass


class SessionError(GatewrightError):
    pass


class SessionHeld(SessionError):
    """Another process works on it."""


class FailureKind(enum.StrEnum):
    """What kind of failure it is decides what the loop does: retry, switch, compact or stop."""

    AUTH = "auth"
    QUOTA = "quota"  # no credit: waiting does not help
    RATE = "rate"
    OVERLOADED = "overloaded"
    TOO_LONG = "too_long"
    REFUSED = "refused"  # the request itself is wrong: never retried
    NO_MODEL = "no_model"  # the server knows none of that name
    TRANSPORT = "transport"


class ProviderError(GatewrightError):
    def __init__(
        self,
        kind: FailureKind,
        message: str,
        *,
        status: int = 0,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = status
        self.retry_after = retry_after
        self.tries = 1  # how often it was asked before this was given up
        self.waits: float | None = None  # seconds that the queue for the server waits by itself


class ModelLoading(ProviderError):
    """Waited for by the clock, not by a number of tries."""


class UnknownModel(ProviderError):
    pass
