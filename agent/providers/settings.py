"""How a model server is configured; presets and the user's settings share this form."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec


class ModelSettings(
    msgspec.Struct, frozen=True, rename="camel", kw_only=True, forbid_unknown_fields=True
):
    """Facts about one model that the catalogue lacks or has wrong; None keeps what is known."""

    window: int | None = None
    max_output: int | None = None
    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None
    thinking: str | None = None
    efforts: tuple[str, ...] | None = None
    images: bool | None = None
    documents: bool | None = None
    tools: bool | None = None
    structured: bool | None = None


class ProviderSettings(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """One entry below `providers`; what is empty comes from the preset of the same name.

    `api_key_helper` is a command that prints a key. `quirks` are the fields of `quirks.Quirks`.
    `options` are for the clouds: region, project, resource, profile, apiVersion. At most
    `max_concurrent` requests run at once with one key; 0 is the usual number.
    """

    type: str = ""
    base_url: str = ""
    api_key_env: str = ""
    api_key_helper: str = ""
    headers: dict[str, str] = {}
    quirks: dict[str, Any] = {}
    models: dict[str, ModelSettings] = {}
    transport: Literal["", "http", "sdk"] = ""
    options: dict[str, str] = {}
    max_concurrent: Annotated[int, msgspec.Meta(ge=0)] = 0
