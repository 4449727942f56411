"""Keys are taken out of text in every shape they come in; ordinary words stay."""

from __future__ import annotations

import io
import logging

import pytest

from gatewright.agent.text.redact import MARK, RedactingFilter, Redactor

PLAIN = Redactor({})
SECRETS = (
    "sk-" + "ant-api03-" + "a1B2" * 8,
    "sk-" + "proj-" + "Zz9_" * 6,
    "gh" + "p_" + "A1b2" * 9,
    "github" + "_pat_" + "A1b2" * 9,
    "glpat" + "-" + "x9Y8" * 5,
    "xox" + "b-1234567890-" + "abc" * 5,
    "AKIA" + "ABCDEFGHIJKLMNOP",
    "AIza" + "x1Y2" * 9,
    "hf" + "_" + "abcd" * 8,
    "sk" + "_live_" + "4e5f" * 6,
    "eyJ" + "hbGciOiJIUzI1" + "." + "eyJ" + "zdWIiOiIxMjM0" + "." + "SflKxwRJSMeKKF2QT4",
)


@pytest.mark.parametrize("secret", SECRETS)
def test_known_shapes(secret: str) -> None:
    for text in (secret, f"export KEY={secret}", f'"{secret}",', f"curl -H 'x: {secret}' host"):
        assert secret not in PLAIN.text(text)
        assert PLAIN.text(text) == text.replace(secret, MARK)


def test_headers_addresses_and_private_keys() -> None:
    begin, end = "-----BEGIN RSA PRIVATE " + "KEY-----", "-----END RSA PRIVATE " + "KEY-----"
    assert PLAIN.text(f"a\n{begin}\nMIIE\nabc\n{end}\nb") == f"a\n{MARK}\nb"
    assert PLAIN.text("Authorization: Bearer abcdefghijklmnop") == f"Authorization: Bearer {MARK}"
    assert PLAIN.text("https://me:hunter2@example.org/x") == f"https://{MARK}@example.org/x"


def test_values_of_telling_variables() -> None:
    env = {"MY_TOKEN": "correct-horse-1", "API_KEY": "p4ssw0rd!", "SSH_AUTH_SOCK": "/tmp/agent.1"}
    redactor = Redactor({**env, "HOME": "/home/me", "KEYBOARD": "us", "AUTHOR": "somebody"})
    text = "correct-horse-1 p4ssw0rd! /tmp/agent.1 /home/me us somebody"
    assert redactor.text(text) == f"{MARK} {MARK} /tmp/agent.1 /home/me us somebody"
    assert redactor.value({"a": ["x p4ssw0rd!", 3]}) == {"a": [f"x {MARK}", 3]}


def test_what_is_learned_later() -> None:
    redactor = Redactor({"API_KEY": "the-first-of-them"})
    assert "renewed-token" in redactor.text("renewed-token-2 the-first-of-them")
    redactor.learn(["renewed-token", "renewed-token-2", "short"])
    assert redactor.text("renewed-token-2 the-first-of-them short") == f"{MARK} {MARK} short"
    redactor.learn([f"another-{number:04}" for number in range(1000)])  # bounded, the newest stay
    assert redactor.text("another-0999") == MARK
    assert redactor.text("the-first-of-them") == MARK


@pytest.mark.parametrize(
    "text",
    [
        "def token_count(tokens: list[str]) -> int:",
        "task-1234567890123456789012",
        "See https://example.org:8080/path@v2 and user@example.org",
        "The bearer of this letter",
        "deadbeefdeadbeefdeadbeefdeadbeefdeadbeef",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert PLAIN.text(text) == text


def test_a_log_record_is_redacted_also_in_its_traceback() -> None:
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.addFilter(RedactingFilter(PLAIN))
    log = logging.getLogger("test.redact")
    log.propagate = False
    log.addHandler(handler)
    try:
        raise ValueError(SECRETS[0])
    except ValueError:
        log.exception("with %s", SECRETS[2])
    assert SECRETS[0] not in out.getvalue()
    assert SECRETS[2] not in out.getvalue()
    assert out.getvalue().count(MARK) >= 2
