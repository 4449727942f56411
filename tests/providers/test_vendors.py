"""The clouds, as far as a loopback server can stand for them."""

from __future__ import annotations

import sys
from contextlib import aclosing
from typing import NoReturn

import pytest

from gatewright.agent.errors import FailureKind, ProviderError
from gatewright.agent.providers.protocol import Request, TextPiece
from gatewright.agent.providers.registry import open_provider
from gatewright.agent.providers.settings import ProviderSettings
from gatewright.agent.providers.transport.sdk import SdkWire
from gatewright.agent.record.messages import UserTurn
from gatewright.tools.protocol import TextContent
from tests.fakes.model_server import ModelServer, Recorded

REQUEST = Request(
    model="m", system=(), tools=(), turns=(UserTurn((TextContent("hi"),)),), max_output=100
)


async def ask(
    server: ModelServer, name: str, settings: ProviderSettings, env: dict[str, str]
) -> tuple[str, Recorded]:
    opened = open_provider(f"{name}/m", settings={name: settings}, env=env)
    try:
        async with aclosing(opened.provider.stream(REQUEST)) as stream:
            text = "".join([p.text async for p in stream if isinstance(p, TextPiece)])
    finally:
        await opened.provider.close()
    return text, server.requests[-1]


async def test_vertex_puts_the_model_into_the_address() -> None:
    async with ModelServer("say: from a cloud") as server:
        settings = ProviderSettings(
            base_url=server.url,
            api_key_env="TOKEN",
            options={"region": "europe-west1", "project": "p"},
        )
        text, request = await ask(server, "vertex", settings, {"TOKEN": "t"})
    assert text == "from a cloud"
    assert request.path.endswith("/publishers/anthropic/models/m:streamRawPredict")
    assert request.headers["authorization"] == "Bearer t"
    assert "model" not in request.body
    assert request.body["anthropic_version"]


async def test_foundry_speaks_the_messages_api() -> None:
    async with ModelServer("say: from a cloud") as server:
        settings = ProviderSettings(base_url=f"{server.url}/anthropic")
        env = {"ANTHROPIC_FOUNDRY_API_KEY": "k"}
        text, request = await ask(server, "foundry", settings, env)
    assert (text, request.path) == ("from a cloud", "/anthropic/v1/messages")
    assert "k" in (request.headers.get("api-key"), request.headers.get("x-api-key"))


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("azure", "/openai/deployments/m/chat/completions"),
        ("azure-responses", "/openai/responses"),
    ],
)
async def test_azure_speaks_both_of_openais(kind: str, path: str) -> None:
    async with ModelServer("say: from a cloud") as server:
        settings = ProviderSettings(
            type=kind, base_url=server.url, options={"apiVersion": "2026-01-01"}
        )
        text, request = await ask(server, "azure", settings, {"AZURE_OPENAI_API_KEY": "k"})
    assert text == "from a cloud"
    assert request.path == f"{path}?api-version=2026-01-01"
    assert request.headers["api-key"] == "k"


@pytest.mark.parametrize(
    ("name", "words"), [("azure", "baseUrl"), ("foundry", "baseUrl"), ("bedrock", "region")]
)
async def test_a_cloud_that_is_not_set_up_says_what_is_missing(
    name: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(ProviderError, match=words) as caught:
        open_provider(f"{name}/m", settings={}, env={})
    assert caught.value.kind is FailureKind.AUTH


@pytest.mark.parametrize(
    ("name", "said", "told"),
    [
        ("bedrock", "Could not resolve AWS credentials from session", "aws sso login"),
        ("bedrock", "No AWS region was provided. Set `aws_region`", "Set providers.bedrock.opt"),
        ("vertex", "No project_id was given and it could not", "ANTHROPIC_VERTEX_PROJECT_ID"),
        ("vertex", "Your default credentials were not found.", "gcloud auth application-default"),
    ],
)
async def test_what_a_package_misses_is_said_with_what_to_do(
    name: str, said: str, told: str
) -> None:
    class Signing(Exception):
        """Of boto or google: no error that Python names."""

    Signing.__module__ = "botocore.exceptions"

    async def post(body: object) -> NoReturn:
        raise Signing(said)

    async def close() -> None:
        return

    none = (KeyError, KeyError, KeyError)
    with pytest.raises(ProviderError, match=told) as caught:
        async with SdkWire(name, post=post, close=close, errors=none).exchange({}):
            pass
    assert caught.value.kind is FailureKind.AUTH
    assert said not in str(caught.value)


@pytest.mark.parametrize("name", ["foundry", "azure"])
async def test_a_cloud_without_a_key_says_so(name: str) -> None:
    settings = {name: ProviderSettings(base_url="https://a.example")}
    with pytest.raises(ProviderError, match=f"No key for {name}: set A[A-Z_]+_API_KEY"):
        open_provider(f"{name}/m", settings=settings, env={})


@pytest.mark.parametrize(
    ("name", "packages", "options"),
    [
        ("bedrock", ("boto3", "botocore"), {"region": "us-east-1"}),
        ("vertex", ("google", "google.auth"), {"project": "p"}),
    ],
)
async def test_a_cloud_without_its_packages_names_them(
    name: str, packages: tuple[str, ...], options: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in packages:
        monkeypatch.setitem(sys.modules, package, None)  # as if it were not there
    settings = {name: ProviderSettings(options=options)}
    provider = open_provider(f"{name}/m", settings=settings, env={}).provider
    with pytest.raises(ProviderError, match=r"gatewright\[clouds\]") as caught:
        async for _ in provider.stream(REQUEST):
            pass
    assert caught.value.kind is FailureKind.REFUSED
    await provider.close()
