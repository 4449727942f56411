from __future__ import annotations

import asyncio
import resource
import stat
from contextlib import aclosing
from pathlib import Path

import pytest

from gatewright.agent.errors import FailureKind, GatewrightError, ProviderError
from gatewright.agent.providers.keys.keyhelper import KEPT_SECONDS, KeyHelper
from gatewright.agent.providers.keys.stored_keys import (
    SERVICE,
    KeyStore,
    held_secrets,
    key_store,
    login_store,
)
from gatewright.agent.providers.protocol import Request, TextPiece
from gatewright.agent.providers.registry import default_model, open_provider
from gatewright.agent.providers.settings import ProviderSettings
from gatewright.agent.record.messages import UserTurn
from gatewright.tools.protocol import TextContent
from tests.fakes.model_server import ModelServer

REQUEST = Request(
    model="m", system=(), tools=(), turns=(UserTurn((TextContent("hi"),)),), max_output=100
)


class Ring:
    """A keyring in memory."""

    def __init__(self, *, broken: bool = False) -> None:
        self.kept: dict[tuple[str, str], str] = {}
        self.broken = broken

    def get_password(self, service: str, user: str) -> str | None:
        return self.kept.get((service, user))

    def set_password(self, service: str, user: str, password: str) -> None:
        if self.broken:
            raise RuntimeError("locked")
        self.kept[service, user] = password

    def delete_password(self, service: str, user: str) -> None:
        self.kept.pop((service, user))


def test_a_keyring_keeps_the_key_and_the_file_only_says_so(tmp_path: Path) -> None:
    path, ring = tmp_path / "state" / "keys.json", Ring()
    store = KeyStore(path, keyring=ring)
    assert store.put("openai", "secret") == "keyring"
    assert "secret" not in path.read_text(encoding="utf-8")
    assert (store.names(), store.find("openai")) == (("openai",), "secret")
    assert ring.kept == {(SERVICE, "openai"): "secret"}
    assert store.drop("openai")
    assert (store.names(), ring.kept, store.drop("openai")) == ((), {}, False)


def test_without_a_keyring_a_private_file_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    path.write_text("{}", encoding="utf-8")
    path.chmod(0o644)
    store = KeyStore(path, keyring=Ring(broken=True))
    assert store.put("groq", "secret") == "file"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert KeyStore(path).find("groq") == "secret"
    fresh = KeyStore(tmp_path / "new" / "keys.json", keyring=Ring(broken=True))
    fresh.put("groq", "secret")
    assert stat.S_IMODE((tmp_path / "new" / "keys.json").stat().st_mode) == 0o600


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    path.write_text("{oops", encoding="utf-8")
    with pytest.raises(GatewrightError, match=r"keys\.json"):
        KeyStore(path).find("openai")


async def test_a_stored_key_is_used_and_makes_its_provider_the_default(tmp_path: Path) -> None:
    env = {"GATEWRIGHT_HOME": str(tmp_path)}
    KeyStore(tmp_path / "state" / "keys.json", keyring=Ring(broken=True)).put("groq", "k")
    assert key_store(env).find("groq") == "k"
    assert default_model({}, env) == "groq/openai/gpt-oss-120b"
    assert default_model({}, {**env, "OPENAI_API_KEY": "o"}) == "openai/gpt-6.1-terra"
    async with ModelServer("say: yes") as server:
        settings = {"groq": ProviderSettings(base_url=server.openai_url)}
        opened = open_provider("groq/m", settings=settings, env=env)
        async with aclosing(opened.provider.stream(REQUEST)) as stream:
            assert [p.text async for p in stream if isinstance(p, TextPiece)]
        await opened.provider.close()
        assert server.requests[0].headers["authorization"] == "Bearer k"


def helper(command: str, now: list[float]) -> KeyHelper:
    return KeyHelper(command, {"PATH": "/usr/bin:/bin"}, clock=lambda: now[0], name="x")


async def test_a_helper_is_asked_once_and_again_later(tmp_path: Path) -> None:
    now = [0.0]
    asked = tmp_path / "asked"
    keys = helper(f"echo x >> {asked}; echo key-$(wc -l < {asked})", now)
    assert list(await asyncio.gather(keys.key(), keys.key())) == ["key-1", "key-1"]
    now[0] = KEPT_SECONDS + 1
    assert await keys.key() == "key-2"
    keys.forget()
    assert await keys.key() == "key-3"


@pytest.mark.parametrize(
    "command", ["exit 3", "true", "echo two; echo lines", "echo vault is shut >&2; exit 1"]
)
async def test_a_helper_that_gives_no_key_is_an_auth_failure(command: str) -> None:
    with pytest.raises(ProviderError, match="apiKeyHelper of x gave no key") as caught:
        await helper(command, [0.0]).key()
    assert caught.value.kind is FailureKind.AUTH
    assert ("vault is shut" in str(caught.value)) == ("vault" in command)


async def test_a_hanging_helper_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gatewright.agent.providers.keys.keyhelper.LIMIT_SECONDS", 0.1)
    with pytest.raises(ProviderError, match="within"):
        await helper("sleep 60", [0.0]).key()


@pytest.mark.parametrize("where", ["", " >&2"])
async def test_a_helper_that_never_stops_printing_is_ended(
    monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.setattr("gatewright.agent.providers.keys.keyhelper.LIMIT_SECONDS", 0.3)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ProviderError, match="apiKeyHelper of x gave no key within"):
        await helper(f"yes{where}", [0.0]).key()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20 * 1024


async def test_a_helper_that_prints_too_much_is_told() -> None:
    with pytest.raises(ProviderError, match="printed more than a key can be"):
        await helper("head -c 1000000 /dev/zero | tr '\\0' x", [0.0]).key()


def test_a_helper_and_a_package_do_not_go_together() -> None:
    settings = {"anthropic": ProviderSettings(transport="sdk", api_key_helper="echo k")}
    with pytest.raises(ProviderError, match="transport http only"):
        open_provider("anthropic/m", settings=settings, env={})


async def test_a_refused_key_is_asked_for_anew(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    command = f"echo x >> {asked}; echo key-$(wc -l < {asked})"
    async with ModelServer("error: auth\n---\nsay: yes") as server:
        settings = {
            "x": ProviderSettings(type="openai", base_url=server.openai_url, api_key_helper=command)
        }
        provider = open_provider("x/m", settings=settings, env={"PATH": "/usr/bin:/bin"}).provider
        for attempt in range(2):
            try:
                async for _ in provider.stream(REQUEST):
                    pass
            except ProviderError as error:
                assert (attempt, error.kind) == (0, FailureKind.AUTH)
        await provider.close()
        sent = [request.headers["authorization"] for request in server.requests]
    assert sent == ["Bearer key-1", "Bearer key-2"]


def test_what_a_file_of_ours_holds_is_masked(tmp_path: Path) -> None:
    """Keys, and of a login what lets somebody in."""
    env = {"GATEWRIGHT_HOME": str(tmp_path)}
    key_store(env).put("openai", "the-key-of-openai")
    login = '{"resource": "https://x", "access": "the-access", "refresh": "the-refresh"}'
    login_store(env).put("mcp:x", login)
    login_store(env).put("mcp:y", "{")
    assert set(held_secrets(env)) == {"the-key-of-openai", "the-access", "the-refresh"}
    assert key_store(env).names() == ("openai",)
