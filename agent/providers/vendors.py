"""Providers reached through the vendors' own packages: clouds that sign, and whoever asks for it.

`options` of the provider's settings name what a cloud needs to know; what is not named the
package finds in its own environment variables and credential files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from gatewright.agent.errors import FailureKind, ProviderError
from gatewright.agent.providers.catalog import ModelFacts
from gatewright.agent.providers.direct import USER_AGENT, api_of, base_url, missing_key, stored_key
from gatewright.agent.providers.presets import Endpoint
from gatewright.agent.providers.protocol import Provider
from gatewright.agent.providers.streams.streamed import StreamedProvider
from gatewright.agent.providers.transport.cloud_setup import not_set_up
from gatewright.agent.providers.transport.sdk import (
    SdkWire,
    anthropic_wire,
    openai_wire,
)

if TYPE_CHECKING:
    import openai

    from gatewright.agent.providers.transport.sdk import AnthropicClient

_TIMEOUT = 600.0
_AZURE_VERSION = "2025-04-01-preview"
_SPOKEN = {
    "bedrock": "anthropic",
    "vertex": "anthropic",
    "foundry": "anthropic",
    "azure": "openai",
    "azure-responses": "openai-responses",
}


def open_vendor(
    server: Endpoint, facts: Callable[[str], ModelFacts], env: Mapping[str, str]
) -> Provider:
    spoken = _SPOKEN.get(server.type, server.type)
    api = api_of(server, facts, spoken)
    try:
        wire = _wire(server, spoken, api.path, env)
    except (ValueError, ImportError) as error:  # each client checks its own arguments
        raise not_set_up(server.name, error) from error
    return StreamedProvider(server.name, api=api, wire=wire)


def _wire(server: Endpoint, spoken: str, path: str, env: Mapping[str, str]) -> SdkWire:
    if spoken == "anthropic":
        return anthropic_wire(server.name, _anthropic_client(server, env))
    return openai_wire(server.name, _openai_client(server, env), path)


def _anthropic_client(server: Endpoint, env: Mapping[str, str]) -> AnthropicClient:
    options = server.settings.options
    address = server.base_url or None
    match server.type:
        case "bedrock":
            from anthropic.lib.bedrock import (  # noqa: PLC0415  lazy: of the same package
                AsyncAnthropicBedrock,
            )

            return AsyncAnthropicBedrock(
                aws_region=options.get("region"),
                aws_profile=options.get("profile"),
                base_url=address,
                **_common(server),
            )
        case "vertex":
            from anthropic import not_given  # noqa: PLC0415  lazy: of the same package
            from anthropic.lib.vertex import (  # noqa: PLC0415  lazy: of the same package
                AsyncAnthropicVertex,
            )

            project = options.get("project") or env.get("ANTHROPIC_VERTEX_PROJECT_ID")
            token = env.get(server.api_key_env) or None
            if token and not project:  # else the credentials may name one
                raise ValueError("no project_id")
            return AsyncAnthropicVertex(
                region=options.get("region") or env.get("CLOUD_ML_REGION") or "global",
                project_id=project or not_given,
                access_token=token,
                base_url=address,
                **_common(server),
            )
        case "foundry":
            return _foundry(server, env)
        case _:
            return _first_party(server, env)


def _common(server: Endpoint) -> dict[str, Any]:
    """What every client is given: it does not try again by itself, since we do."""
    headers = {"user-agent": USER_AGENT, **server.headers}
    return {"max_retries": 0, "timeout": _TIMEOUT, "default_headers": headers}


def _foundry(server: Endpoint, env: Mapping[str, str]) -> AnthropicClient:
    import anthropic  # noqa: PLC0415  lazy: 600 ms

    key = env.get(server.api_key_env) or None
    resource = server.settings.options.get("resource") or env.get("ANTHROPIC_FOUNDRY_RESOURCE")
    address = server.base_url or f"https://{resource}.services.ai.azure.com/anthropic/"
    if not (server.base_url or resource):
        raise ValueError("set providers.foundry.baseUrl or options.resource")
    if not key:
        raise missing_key(server)
    return anthropic.AsyncAnthropicFoundry(base_url=address, api_key=key, **_common(server))


def _first_party(server: Endpoint, env: Mapping[str, str]) -> AnthropicClient:
    import anthropic  # noqa: PLC0415  lazy: 600 ms

    key, token = env.get(server.api_key_env), env.get(server.token_env)
    if not (key or token):
        key = _stored(server, env)
    if not (key or token) and server.quirks.key_required:
        raise missing_key(server)
    return anthropic.AsyncAnthropic(
        api_key=key or None,
        auth_token=token or ("none" if not key else None),
        base_url=base_url(server, "anthropic"),
        **_common(server),
    )


def _openai_client(server: Endpoint, env: Mapping[str, str]) -> openai.AsyncOpenAI:
    import openai  # noqa: PLC0415  lazy: 300 ms

    options = server.settings.options
    if server.type in _SPOKEN:
        address, key = _azure_address(server, env), env.get(server.api_key_env) or None
        token = env.get("AZURE_OPENAI_AD_TOKEN") or None
        if not (key or token):
            raise missing_key(server)
        return openai.AsyncAzureOpenAI(
            azure_endpoint=address,
            api_version=options.get("apiVersion")
            or env.get("OPENAI_API_VERSION")
            or _AZURE_VERSION,
            api_key=key,
            azure_ad_token=token,
            **_common(server),
        )
    known = env.get(server.api_key_env, "") or _stored(server, env)
    if not known and server.quirks.key_required:
        raise missing_key(server)
    return openai.AsyncOpenAI(
        api_key=known or "none",
        base_url=server.base_url,
        **_common(server),
    )


def _stored(server: Endpoint, env: Mapping[str, str]) -> str:
    if server.api_key_helper:
        raise ProviderError(
            FailureKind.AUTH,
            f"The apiKeyHelper of {server.name} works with the transport http only; take "
            f"providers.{server.name}.transport away, or set {server.api_key_env or 'apiKeyEnv'}.",
        )
    return stored_key(server.name, env)


def _azure_address(server: Endpoint, env: Mapping[str, str]) -> str:
    resource = server.settings.options.get("resource")
    named = f"https://{resource}.openai.azure.com" if resource else ""
    address = server.base_url or named or env.get("AZURE_OPENAI_ENDPOINT", "")
    if not address:
        raise ValueError("set providers.azure.baseUrl or options.resource")
    return address
