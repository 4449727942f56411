"""From a server's refusal to one of seven kinds of failure, with a sentence for the person.

Status first, then the machine-readable code, and words of the message only where servers give
nothing better.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from gatewright.agent.errors import FailureKind, ModelLoading, ProviderError, UnknownModel
from gatewright.agent.providers.streams.foreign_json import Unreadable, decoded, rows, table, text
from gatewright.agent.providers.tried import Tried
from gatewright.agent.text.well_formed import well_formed, well_formed_json
from gatewright.tools.system.patterns import later

_LONGEST = 400
_FAULTS = 5
_SECRET = later(r"\b(sk|key|gsk|xai|csk)[-_][A-Za-z0-9_\-*.]{6,}")
_TOO_LONG = later(
    r"prompt is too long|context.?length|maximum context|context window|context size"
    r"|input is too long|too many (input )?tokens|reduce the length"
    r"|exceeds the (available |model.s )|maximum prompt length|tokens in request more than max"
    r"|input length and .max_tokens.",
    re.IGNORECASE,
)
_NO_CREDIT = later(
    r"insufficient_quota|credit balance|exceeded your current quota|billing|payment", re.IGNORECASE
)
_CODES = {
    "authentication_error": FailureKind.AUTH,
    "permission_error": FailureKind.AUTH,
    "invalid_api_key": FailureKind.AUTH,
    "billing_error": FailureKind.QUOTA,
    "insufficient_quota": FailureKind.QUOTA,
    "rate_limit_error": FailureKind.RATE,
    "rate_limit_exceeded": FailureKind.RATE,
    "overloaded_error": FailureKind.OVERLOADED,
    "request_too_large": FailureKind.TOO_LONG,
    "context_length_exceeded": FailureKind.TOO_LONG,
    "exceed_context_size_error": FailureKind.TOO_LONG,
    "api_error": FailureKind.TRANSPORT,
    "server_error": FailureKind.TRANSPORT,
    "timeout_error": FailureKind.TRANSPORT,
    "invalid_request_error": FailureKind.REFUSED,
    "not_found_error": FailureKind.REFUSED,
}
_STATUS = {
    401: FailureKind.AUTH,
    402: FailureKind.QUOTA,
    403: FailureKind.AUTH,
    408: FailureKind.TRANSPORT,
    409: FailureKind.TRANSPORT,
    413: FailureKind.TOO_LONG,
    425: FailureKind.TRANSPORT,
    429: FailureKind.RATE,
    503: FailureKind.OVERLOADED,
    529: FailureKind.OVERLOADED,
}
_PASSING = frozenset({408, 409, 425, 429})  # of 4xx: the same request may succeed later
_RETRIED = frozenset({FailureKind.RATE, FailureKind.OVERLOADED, FailureKind.TRANSPORT})
_LOADING = later(r"\bloading\b|warming up", re.IGNORECASE)
_PLACE = "country|region|territory|location"
_UNSERVED = "not supported|not available|unsupported|restricted"
_REGION = later(
    rf"({_PLACE})\b.{{0,40}}({_UNSERVED})|({_UNSERVED}).{{0,60}}({_PLACE})", re.IGNORECASE
)
_NO_MODEL = later(
    r"\bmodel\b.*(not found|not exist|unknown|not available|no such)"
    r"|^model: |(unknown|invalid|no such) model",
    re.IGNORECASE,
)
_NONE_LOADED = later(r"\bno models?\b.*\bloaded\b", re.IGNORECASE)  # and its name is right
_NEXT = {
    FailureKind.AUTH: " Check it, or run `agent login` or /login.",
    FailureKind.TOO_LONG: (
        " /rewind goes back to before what was too much, /clear begins anew, "
        "/model chooses one with more room."
    ),
}
_FORBIDDEN = "{who} does not let this key do that{status}{said}"
_REGION_CODE = "unsupported_country_region_territory"
_NO_PAGE = frozenset({"", "not found", "404 page not found", "404 not found", "no route matched"})
_SENTENCE = {
    FailureKind.AUTH: "{who} did not accept the key{status}{said}",
    FailureKind.QUOTA: "{who} reports no credit or quota left{status}{said}",
    FailureKind.RATE: "{who} limits the rate of requests{status}{said}",
    FailureKind.OVERLOADED: "{who} is overloaded{status}{said}",
    FailureKind.TOO_LONG: "The conversation is too long for the model{status}{said}",
    FailureKind.REFUSED: "{who} refused the request{status}{said}",
    FailureKind.NO_MODEL: "{who} refused the request{status}{said}",
    FailureKind.TRANSPORT: "{who} failed to answer{status}{said}",
}


def failure_of(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    who: str = "The model server",
    tried: Tried | None = None,
) -> ProviderError:
    """The failure an HTTP answer other than 200 stands for. `headers` have lower-case names."""
    message, codes = _read(body)
    if special := _special(status, message, codes, who, tried):
        return special
    if 300 <= status < 400:
        place = headers.get("location", "elsewhere")
        message = f"it redirects to {place}; set that as the base URL"
    kind = _kind(status, codes, message)
    return failure(kind, message, who=who, status=status, retry_after=retry_after(headers))


def _special(
    status: int, message: str, codes: tuple[str, ...], who: str, tried: Tried | None
) -> ProviderError | None:
    """What needs another sentence than its kind has."""
    said, message = _said(message), message[:_LONGEST]
    if status == 503 and _LOADING.search(message):
        return ModelLoading(FailureKind.OVERLOADED, f"{who} is loading the model{said}", status=503)
    unknown = "model_not_found" in codes or _NO_MODEL.search(message)
    if status in (400, 404) and unknown and not _NONE_LOADED.search(message):
        text = f"{who} refused the request ({status}){said}"
        return UnknownModel(FailureKind.NO_MODEL, text, status=status)
    if (
        status == 404
        and tried is not None
        and " ".join(well_formed(message).split()).strip(" .").lower() in _NO_PAGE
    ):
        return ProviderError(FailureKind.REFUSED, tried.nothing(who), status=404)
    if status in (403, 451) and (_REGION.search(message) or _REGION_CODE in codes):
        text = (
            f"{who} does not serve your region ({status}){said} "
            "The key is not the problem: use another provider, or a network it serves."
        )
        return ProviderError(FailureKind.REFUSED, text, status=status)
    return None


def _said(message: str) -> str:
    """A server's words as the end of a sentence."""
    said = _SECRET.sub("[key]", " ".join(well_formed(message).split()))
    if len(said) > _LONGEST:
        said = f"{said[:_LONGEST]}…"
    text = f": {said}" if said else "."
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def failure_in_stream(error: object, *, who: str = "The model server") -> ProviderError:
    """The failure an error object in the middle of a stream stands for."""
    message, codes = _read(msgspec.json.encode(well_formed_json(error)))
    status = next((int(code) for code in codes if code.isdigit()), 0)
    return failure(_kind(status, codes, message), message, who=who, status=status)


def failure(
    kind: FailureKind,
    message: str,
    *,
    who: str = "The model server",
    status: int = 0,
    retry_after: float | None = None,
) -> ProviderError:
    where = f" ({status})" if status else ""
    template = _FORBIDDEN if status == 403 and kind is FailureKind.AUTH else _SENTENCE[kind]
    sentence = template.format(who=who, status=where, said=_said(message))
    sentence += _NEXT.get(kind, "")
    return ProviderError(kind, sentence, status=status, retry_after=retry_after)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds the server asks to wait, from a number or an HTTP date."""
    if millis := headers.get("retry-after-ms"):
        return _number(millis, 1000)
    given = headers.get("retry-after")
    if given is None:
        return None
    seconds = _number(given, 1)
    return _until(given, headers.get("date")) if seconds is None else seconds


def _number(digits: str, unit: int) -> float | None:
    try:
        return max(0.0, float(digits) / unit)
    except ValueError:
        return None


def _until(moment: str, now: str | None) -> float | None:
    """Both ends by the server's clock: ours may be wrong."""
    from email.utils import parsedate_to_datetime  # noqa: PLC0415  lazy: 12 ms, rare

    if now is None:
        return None
    try:
        wait = parsedate_to_datetime(moment) - parsedate_to_datetime(now)
    except (ValueError, TypeError):
        return None
    return max(0.0, wait.total_seconds())


def _kind(status: int, codes: tuple[str, ...], message: str) -> FailureKind:
    named = next((_CODES[code] for code in codes if code in _CODES), None)
    kind = _STATUS.get(status) or named
    if 400 <= status < 500 and status not in _PASSING and kind in _RETRIED:
        kind = named = None  # whatever it calls itself, the same request will fail again
    if kind is None:
        kind = FailureKind.REFUSED if 300 <= status < 500 else FailureKind.TRANSPORT
    if kind in (FailureKind.RATE, FailureKind.AUTH) and named is FailureKind.QUOTA:
        return FailureKind.QUOTA
    if named is FailureKind.OVERLOADED and kind is not FailureKind.AUTH:
        return named
    if kind in (FailureKind.REFUSED, FailureKind.RATE) and _NO_CREDIT.search(message):
        return FailureKind.QUOTA
    if kind is FailureKind.REFUSED and (named is FailureKind.TOO_LONG or _TOO_LONG.search(message)):
        return FailureKind.TOO_LONG
    return kind


def _read(body: bytes) -> tuple[str, tuple[str, ...]]:
    """The server's message and every code it gave, from the shapes servers use."""
    try:
        value: Any = decoded(body)
    except Unreadable:
        return _plain(body), ()
    message, codes = _of(value)
    if message[:1] in ("{", "["):  # a gateway that quotes what the server behind it said
        message, more = _read(message.encode())
        codes = (*codes, *more)
    return message, codes


def _of(value: Any) -> tuple[str, tuple[str, ...]]:
    if listed := rows(value):
        value = listed[0]  # Gemini's endpoint wraps the error in a list
    outer = table(value)
    if not outer:
        return "", ()
    if message := text(outer.get("error")):
        return message, ()
    inner = table(outer.get("error")) or outer
    message = text(inner.get("message")) or text(inner.get("detail")) or text(outer.get("message"))
    message = message or "; ".join(filter(None, map(_fault, rows(inner.get("detail"))[:_FAULTS])))
    details = table(inner.get("details"))
    codes = [inner.get("code"), inner.get("type"), inner.get("status"), outer.get("type")]
    codes.append(details.get("error_code"))
    return message, tuple(str(code) for code in codes if isinstance(code, str | int))


def _fault(value: Any) -> str:
    """What a server that checks each field says of one: where it is, and what is wrong."""
    fault = table(value)
    place = ".".join(str(part) for part in rows(fault.get("loc")))
    return ": ".join(filter(None, (place, text(fault.get("msg")))))


def _plain(body: bytes) -> str:
    page = body[:2000].decode("utf-8", "replace").strip()
    return "" if page[:1] in ("<", "{", "[") else page  # HTML or broken JSON is no sentence
