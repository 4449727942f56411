from __future__ import annotations

import json

import pytest

from gatewright.agent.errors import FailureKind
from gatewright.agent.providers.errors import failure_in_stream, failure_of, retry_after

K = FailureKind


def anthropic(type: str, message: str) -> str:
    return json.dumps({"type": "error", "error": {"type": type, "message": message}})


def openai(message: str, *, type: str = "invalid_request_error", code: str | None = None) -> str:
    return json.dumps({"error": {"message": message, "type": type, "param": None, "code": code}})


TABLE: list[tuple[int, str, FailureKind]] = [
    (401, anthropic("authentication_error", "invalid x-api-key"), K.AUTH),
    (403, anthropic("permission_error", "not for you"), K.AUTH),
    (402, anthropic("billing_error", "pay"), K.QUOTA),
    (400, anthropic("invalid_request_error", "Your credit balance is too low to go on"), K.QUOTA),
    (429, anthropic("rate_limit_error", "slow down"), K.RATE),
    (429, openai("You exceeded your current quota", code="insufficient_quota"), K.QUOTA),
    (429, openai("Rate limit reached", type="tokens", code="rate_limit_exceeded"), K.RATE),
    (529, anthropic("overloaded_error", "Overloaded"), K.OVERLOADED),
    (503, "upstream connect error", K.OVERLOADED),
    (500, anthropic("api_error", "Internal server error"), K.TRANSPORT),
    (500, anthropic("overloaded_error", "Overloaded"), K.OVERLOADED),
    (502, "<html><body>Bad gateway</body></html>", K.TRANSPORT),
    (504, "", K.TRANSPORT),
    (408, "", K.TRANSPORT),
    (409, "", K.TRANSPORT),
    (413, anthropic("request_too_large", "Request exceeds the maximum size"), K.TOO_LONG),
    (400, anthropic("invalid_request_error", "prompt is too long: 210000 > 200000"), K.TOO_LONG),
    (400, openai("too long", code="context_length_exceeded"), K.TOO_LONG),
    (400, openai("This model's maximum context length is 8192 tokens"), K.TOO_LONG),
    (
        400,
        '{"error":{"code":400,"message":"the request exceeds the available context size",'
        '"type":"exceed_context_size_error"}}',
        K.TOO_LONG,
    ),
    (400, anthropic("invalid_request_error", "messages.0: all is wrong"), K.REFUSED),
    (404, anthropic("not_found_error", "model: claude-nope"), K.NO_MODEL),
    (404, '{"detail":"Not Found"}', K.REFUSED),
    (422, '{"object":"error","message":"bad field","type":"invalid"}', K.REFUSED),
    (400, '[{"error":{"code":400,"message":"API key not valid","status":"INVALID"}}]', K.REFUSED),
    (400, '{"error":"model not found"}', K.NO_MODEL),
    (307, "", K.REFUSED),
]


@pytest.mark.parametrize(("status", "body", "kind"), TABLE)
def test_kinds(status: int, body: str, kind: FailureKind) -> None:
    error = failure_of(status, {}, body.encode())
    assert error.kind is kind
    assert error.status == status
    text = str(error)
    assert str(status) in text
    assert text[0].isupper()
    assert text.rstrip("`").endswith((".", "!", "?"))
    assert "<html>" not in text
    assert "{" not in text


def test_the_sentence_names_server_and_reason_but_no_secret() -> None:
    body = openai("Incorrect API key provided: sk-abc***************xyz9.", code="invalid_api_key")
    error = failure_of(401, {}, body.encode(), who="openai")
    assert str(error).startswith("openai did not accept the key (401): Incorrect API key")
    assert "sk-abc" not in str(error)
    assert "agent login" in str(error)


def test_endless_messages_are_cut() -> None:
    assert len(str(failure_of(400, {}, b"word " * 100_000))) < 600


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "12"}, 12.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        (
            {
                "retry-after": "Wed, 21 Oct 2026 07:28:30 GMT",
                "date": "Wed, 21 Oct 2026 07:28:00 GMT",
            },
            30.0,
        ),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "soon", "date": "now"}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"type": "error", "error": {"type": "overloaded_error", "message": "Over"}}, K.OVERLOADED),
        ({"error": {"message": "busy", "code": 503}}, K.OVERLOADED),
        ({"error": {"message": "limit", "code": "rate_limit_exceeded"}}, K.RATE),
        (
            {"error": {"message": "context_length_exceeded", "type": "invalid_request_error"}},
            K.TOO_LONG,
        ),
        ({"message": "something"}, K.TRANSPORT),
        ("boom", K.TRANSPORT),
    ],
)
def test_errors_in_the_stream(error: object, kind: FailureKind) -> None:
    assert failure_in_stream(error).kind is kind


@pytest.mark.parametrize(
    ("status", "body", "text"),
    [
        (
            401,
            anthropic("authentication_error", "invalid x-api-key"),
            "who did not accept the key (401): invalid x-api-key. "
            "Check it, or run `agent login` or /login.",
        ),
        (401, "", "who did not accept the key (401). Check it, or run `agent login` or /login."),
        (429, '{"oops": [1, 2]}', "who limits the rate of requests (429)."),
        (429, '[1, "a"]', "who limits the rate of requests (429)."),
        (500, '{"error": {"mess', "who failed to answer (500)."),
        (
            429,
            openai(anthropic("rate_limit_error", "slow down")),
            "who limits the rate of requests (429): slow down.",
        ),
        (
            404,
            anthropic("not_found_error", "model: claude-nope"),
            "who refused the request (404): model: claude-nope.",
        ),
    ],
)
def test_what_a_person_reads_is_a_sentence(status: int, body: str, text: str) -> None:
    assert str(failure_of(status, {}, body.encode(), who="who")) == text
