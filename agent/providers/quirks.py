"""How one server departs from the API it claims to speak: data, never code by name."""

from __future__ import annotations

from typing import Any, Literal

import msgspec


class Quirks(msgspec.Struct, frozen=True, rename="camel", kw_only=True, forbid_unknown_fields=True):
    """The defaults describe the API's own documentation.

    `omit` removes fields of the body, `extra` adds them. `reasoning_back` is the field in which
    the model's reasoning is returned to it, `call_extra` what the first call of a message carries
    if it came without, `call_ids` how short its call ids must be, `bridge`
    what the model must have said between the results of its calls and the person's words,
    `phases` whether the model's texts are marked as comments or answers.
    """

    omit: tuple[str, ...] = ()
    extra: dict[str, Any] = {}
    max_tokens: Literal["max_completion_tokens", "max_tokens"] = "max_completion_tokens"
    system_role: Literal["system", "developer"] = "system"
    stream_usage: bool = True
    effort: Literal["", "reasoning_effort", "reasoning"] = "reasoning_effort"
    reasoning_back: Literal[
        "", "reasoning_content", "reasoning", "reasoning_details", "extra_content"
    ] = ""
    call_extra: dict[str, Any] = {}
    call_ids: Literal["", "nine"] = ""
    bridge: str = ""
    images: bool = True
    documents: bool = False
    cache_points: bool = False
    cache_key: bool = False
    store: bool = False
    phases: bool = False
    key_required: bool = True
