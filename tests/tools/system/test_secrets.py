"""One list says what a secret is: by name, by value, or because settings look for a key there."""

from __future__ import annotations

import pytest

from gatewright.agent.providers.presets import load_presets
from gatewright.tools.shell.environment import child_environment
from gatewright.tools.system.secrets import KEEP, Secrets, kept_by, secret_name, secret_value

PLAIN = Secrets()
WORD = "correct-horse-77"


@pytest.mark.parametrize(
    ("name", "value"),
    [("PGPASSWORD", "x"), ("MYSQL_PWD", "x"), ("OPENAI_KEY", "x"), ("OPENAI_API_KEYS", "x"),
     ("NETRC", "/h/.netrc"), ("PGPASSFILE", "/h/.pgpass"), ("AWS_ACCESS_KEY_ID", "x"),
     ("AWS_SESSION_TOKEN", "x"), ("AUTHORIZATION", "x"), ("SENTRY_DSN", "x"), ("my_secret", "x"),
     ("DATABASE_URL", f"postgres://me:{WORD}@db/x"), ("REDIS_URL", f"redis://:{WORD}@cache:6379"),
     ("GIT_REMOTE", "https://abcdefghij0123456789@example.org/x.git"),
     ("SQL", "Server=db;Password=hunter2;"), ("HOOK", "https://example.org/x?token=abc"),
     ("SSHPASS", "x"), ("DBPASS", "x"), ("DB_PASS2", "x"), ("PASSWORD1", "x"), ("USERPWD", "x"),
     ("LDAP_BINDPW", "x"), ("DB_PW", "x"), ("BASICAUTH", "x"), ("API_TOKEN2", "x"),
     ("MAIL", "key-3ax6xnjp29jd6fds4gc373sgvjxteol0"),
     ("OTEL_HEADERS", "authorization=Bearer abcdefghijklmnop")],
)  # fmt: skip
def test_a_command_does_not_get(name: str, value: str) -> None:
    assert name not in child_environment({name: value}, PLAIN)
    kept = PLAIN.keeping((name,))
    assert child_environment({name: value}, kept)[name] == value
    assert kept.shown({name: value})
    assert not PLAIN.shown({name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [("PATH", "/usr/bin:/bin"), ("HOME", "/home/me"), ("SSH_AUTH_SOCK", "/run/a"), ("OLDPWD", "/"),
     ("PWD", "/"), ("COMPASS", "x"), ("BYPASS", "1"), ("KEYBOARD", "de"), ("PWDS", "x"),
     ("AUTHOR", "me"), ("DATABASE_URL", "postgres://localhost/x"), ("NO_PROXY", "a,b"),
     ("HTTP_PROXY", "http://proxy:8080"), ("LS_COLORS", "di=01;34:ln=01;36"), ("TMUX", "/x,1,0"),
     ("PS1", "\\u@\\h:\\w\\$ "), ("GOPROXY", "https://proxy.example.org,direct")],
)  # fmt: skip
def test_a_command_gets(name: str, value: str) -> None:
    assert child_environment({name: value}, PLAIN)[name] == value


def test_a_variable_that_settings_name_is_a_secret_whatever_it_is_called() -> None:
    secrets = Secrets(named=frozenset({"WEATHER"}))
    assert "WEATHER" not in child_environment({"WEATHER": "x"}, secrets)
    assert secrets.masked({"WEATHER": "sunny and warm"}) == ("sunny and warm",)


def test_a_secret_under_another_name_is_one() -> None:
    env = {
        "SERVICE_TOKEN": WORD,
        "COPY": WORD,
        "GIT_CONFIG_VALUE_0": WORD,
        "STORED": "key-of-login",
    }
    knowing = PLAIN.knowing(("key-of-login",))
    assert knowing.given(env) == {"GIT_CONFIG_VALUE_0": ""}
    assert knowing.keeping(("COPY",)).given(env)["COPY"] == WORD


@pytest.mark.parametrize("name", ["HTTP_PROXY", "https_proxy", "ALL_PROXY"])
def test_a_proxy_keeps_its_address_and_loses_who_one_is_there(name: str) -> None:
    env = {name: f"http://me:{WORD}@proxy.example.org:3128/"}
    assert child_environment(env, PLAIN)[name] == "http://proxy.example.org:3128/"
    assert child_environment({name: f"me:{WORD}@proxy:1"}, PLAIN)[name] == "proxy:1"
    assert child_environment(env, PLAIN.keeping((name,)))[name] == env[name]


def test_configuration_of_git_that_is_counted_is_emptied_and_not_taken_out() -> None:
    env = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "http.extraHeader",
        "GIT_CONFIG_VALUE_0": "Authorization: Bearer abcdefghijklmnop",
    }
    given = child_environment(env, PLAIN)
    assert given["GIT_CONFIG_VALUE_0"] == ""
    assert given["GIT_CONFIG_KEY_0"] == "http.extraHeader"


def test_every_variable_of_a_preset_tells_by_its_name() -> None:
    for preset in load_presets().values():
        for name in preset.key_variables:
            assert secret_name(name), name


def test_values_are_masked_also_in_parts() -> None:
    env = {"DATABASE_URL": "postgres://me:p%40ssword1@db/x", "TOKEN_FILE": "/run/secret"}
    assert PLAIN.masked(env) == ("p%40ssword1", "p@ssword1")
    assert secret_name("x-api-key")
    assert secret_name("Authorization")
    assert not secret_value("https://example.org:8080/path")


def test_exceptions_are_names_with_commas_between() -> None:
    assert kept_by({KEEP: "A, B,,"}) == {"A", "B"}
    assert kept_by({}) == frozenset()
