"""How each provider's own server differs from the next: address, key, stream, words of a refusal.

The addresses are those of the providers' documentation, below the base URL of the preset.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

KEY = "key-of-the-story"
BEARER = ("authorization", f"Bearer {KEY}")
CHAT = "/chat/completions"
IN_THE_PATH = ""  # where the address names the model and the body does not


@dataclass(frozen=True, kw_only=True)
class Story:
    """`refused` is a status and a body as this provider writes it, `told` what the person reads of
    it. `stream` are lines of a script: how this server's streams look. `base` is the path below
    which the API is where the preset has no address of its own."""

    path: str
    refused: tuple[int, Any]
    told: str
    model: str = "the-model"
    named: str = "the-model"  # in the body
    auth: tuple[str, str] = BEARER
    stream: str = ""
    key: str = ""  # the variable of the key, where the preset names none
    base: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    env: Mapping[str, str] = field(default_factory=dict[str, str])


def _error(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


def _delta(**fields: Any) -> str:
    chunk = {"id": "c", "object": "chat.completion.chunk", "model": "the-model"}
    choice = {"index": 0, "delta": fields, "finish_reason": None}
    return f"raw: data: {json.dumps({**chunk, 'choices': [choice]})}\\n\\n\n"


_NO_KEY = _error("Invalid API Key", type="invalid_request_error", code="invalid_api_key")
_DENIED = (
    "Access denied due to invalid subscription key or wrong API endpoint. "
    "Make sure to provide a valid key for an active subscription."
)

STORIES: dict[str, Story] = {
    "anthropic": Story(
        path="/v1/messages",
        auth=("x-api-key", KEY),
        stream="ping:\nthink: Where is it?\n",
        refused=(
            401,
            {"type": "error", "error": {"type": "authentication_error", "message": "invalid key"}},
        ),
        told="anthropic did not accept the key (401): invalid key.",
    ),
    "openai": Story(
        path="/v1/responses",
        settings={"type": "openai-responses"},  # at another address it would speak the older one
        stream="think: Where is it?\n",
        refused=(
            429,
            _error(
                "You exceeded your current quota, please check your plan and billing details.",
                type="insufficient_quota",
                code="insufficient_quota",
            ),
        ),
        told="openai reports no credit or quota left (429)",
    ),
    "openai-chat": Story(
        path=f"/v1{CHAT}",
        refused=(
            401,
            _error(
                "Incorrect API key provided: sk-proj-abcdefgh1234.",
                type="invalid_request_error",
                code="invalid_api_key",
            ),
        ),
        told="openai-chat did not accept the key (401): Incorrect API key provided: [key]",
    ),
    "openai-responses": Story(
        path="/v1/responses",
        refused=(
            404,
            _error(
                "The model `the-model` does not exist or you do not have access to it.",
                type="invalid_request_error",
                code="model_not_found",
            ),
        ),
        told="openai-responses knows no model the-model (404). It has fake.",
    ),
    "openrouter": Story(
        path=f"/api/v1{CHAT}",
        model="a-maker/the-model",
        named="a-maker/the-model",
        stream=_delta(
            reasoning="Where is it?",
            reasoning_details=[{"type": "reasoning.text", "text": "Where is it?", "index": 0}],
        ),
        refused=(402, _error("This request requires more credits.", code=402)),
        told="openrouter reports no credit or quota left (402): This request requires more",
    ),
    "groq": Story(
        path=f"/openai/v1{CHAT}",
        stream=_delta(reasoning="Where is it?") + "atonce:\n",
        refused=(401, _NO_KEY),
        told="groq did not accept the key (401): Invalid API Key.",
    ),
    "cerebras": Story(
        path=f"/v1{CHAT}",
        stream=_delta(reasoning="Where is it?") + "atonce:\n",
        refused=(
            404,
            {
                "message": "Model the-model does not exist or you do not have access to it.",
                "type": "not_found_error",
                "param": "model",
                "code": "model_not_found",
            },
        ),
        told="cerebras knows no model the-model (404). It has fake.",
    ),
    "mistral": Story(
        path=f"/v1{CHAT}",
        stream="atonce:\n",
        refused=(
            422,
            {
                "detail": [
                    {
                        "type": "extra_forbidden",
                        "loc": ["body", "store"],
                        "msg": "Extra inputs are not permitted",
                    }
                ]
            },
        ),
        told="mistral refused the request (422): body.store: Extra inputs are not permitted.",
    ),
    "xai": Story(
        path=f"/v1{CHAT}",
        stream=_delta(reasoning_content="Where is it?") + "atonce:\n",
        refused=(
            400,
            {
                "code": "Client specified an invalid argument",
                "error": "Incorrect API key provided: ab***yz.",
            },
        ),
        told="(400): Incorrect API key provided: ab***yz.",
    ),
    "deepseek": Story(
        path=CHAT,
        stream="think: Where is it?\n",
        refused=(
            402,
            _error("Insufficient Balance", type="unknown_error", code="invalid_request_error"),
        ),
        told="deepseek reports no credit or quota left (402): Insufficient Balance.",
    ),
    "gemini": Story(
        path=f"/v1beta/openai{CHAT}",
        stream="atonce:\n",
        refused=(
            400,
            [
                {
                    "error": {
                        "code": 400,
                        "message": "API key not valid. Please pass a valid API key.",
                        "status": "INVALID_ARGUMENT",
                    }
                }
            ],
        ),
        told="(400): API key not valid. Please pass a valid API key.",
    ),
    "ollama": Story(
        path=f"/v1{CHAT}",
        model="qwen3:8b",
        named="qwen3:8b",
        auth=("authorization", ""),
        stream=_delta(reasoning="Where is it?") + "atonce:\n",
        refused=(404, _error('model "qwen3:8b" not found, try pulling it first', type="api_error")),
        told="ollama knows no model qwen3:8b (404). It has fake.",
    ),
    "lmstudio": Story(
        path=f"/v1{CHAT}",
        auth=("authorization", ""),
        refused=(
            404,
            _error(
                "No models loaded. Please load a model in the developer page.",
                type="invalid_request_error",
                param="model",
                code="model_not_found",
            ),
        ),
        told="No models loaded. Please load a model in the developer page.",
    ),
    "vllm": Story(
        path=f"/v1{CHAT}",
        stream="think: Where is it?\n",
        refused=(
            400,
            {
                "object": "error",
                "message": '"auto" tool choice requires --enable-auto-tool-choice',
                "type": "BadRequestError",
                "param": None,
                "code": 400,
            },
        ),
        told='(400): "auto" tool choice requires --enable-auto-tool-choice.',
    ),
    "llamacpp": Story(
        path=f"/v1{CHAT}",
        stream="think: Where is it?\n",
        refused=(401, _error("Invalid API Key", code=401, type="authentication_error")),
        told="llamacpp did not accept the key (401): Invalid API Key.",
    ),
    "bedrock": Story(
        path="/model/anthropic.claude-x-v1:0/invoke-with-response-stream",
        model="anthropic.claude-x-v1:0",
        named=IN_THE_PATH,
        auth=("authorization", "AWS4-HMAC-SHA256 Credential=AKIDSTORY/"),
        settings={"options": {"region": "eu-central-1"}},
        env={"AWS_ACCESS_KEY_ID": "AKIDSTORY", "AWS_SECRET_ACCESS_KEY": "secret-of-the-story"},
        refused=(403, {"message": "The security token included in the request is invalid."}),
        told="The security token included in the request is invalid.",
    ),
    "vertex": Story(
        path="/v1/projects/p/locations/europe-west1/publishers/anthropic/models/"
        "the-model:streamRawPredict",
        base="/v1",
        named=IN_THE_PATH,
        key="VERTEX_TOKEN",
        settings={"options": {"region": "europe-west1", "project": "p"}},
        refused=(
            403,
            [
                {
                    "error": {
                        "code": 403,
                        "message": "Permission 'aiplatform.endpoints.predict' denied.",
                        "status": "PERMISSION_DENIED",
                    }
                }
            ],
        ),
        told="(403): Permission 'aiplatform.endpoints.predict' denied.",
    ),
    "foundry": Story(
        path="/anthropic/v1/messages",
        base="/anthropic",
        auth=("x-api-key", KEY),
        refused=(401, _error(_DENIED, code="401")),
        told="foundry did not accept the key (401): Access denied due to invalid subscription key",
    ),
    "azure": Story(
        path=f"/openai/deployments/the-model{CHAT}?api-version=2026-01-01",
        auth=("api-key", KEY),
        settings={"options": {"apiVersion": "2026-01-01"}},
        refused=(
            404,
            _error(
                "The API deployment for this resource does not exist.", code="DeploymentNotFound"
            ),
        ),
        told="The API deployment for this resource does not exist.",
    ),
}
WITHOUT_A_SERVER = {"demo"}  # its story is tests/e2e/test_tour.py
