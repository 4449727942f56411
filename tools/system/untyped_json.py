"""Foreign JSON: what is not there reads as empty, and what is no text in it is replaced."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, TypeVar, cast

import msgspec

Json: TypeAlias = Mapping[str, Any]
T = TypeVar("T")
MENDED = 256 * 1024  # bytes of a stranger's message: mending takes seventy times as long as reading


def obj(value: object) -> dict[str, Any]:
    """The object, or an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def items(value: object) -> list[object]:
    """The list, or an empty one."""
    return cast("list[object]", value) if isinstance(value, list) else []


def shaped(data: bytes, kind: type[T], *, mended: int = MENDED) -> T:
    """A message of another program. Raises msgspec.DecodeError, ValidationError or RecursionError.

    Half a pair of surrogates is no text, nor are bytes that are no UTF-8, but programs send them:
    in what has no more than `mended` bytes they are replaced.
    """
    try:
        if not data.isascii():
            data.decode()
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        if len(data) > mended:
            raise msgspec.DecodeError(str(error)) from None
        return msgspec.json.decode(_mended(data), type=kind)


def _mended(data: bytes) -> bytes:
    import json  # noqa: PLC0415  lazy: 3 ms, for a message that is wrong or rare

    try:
        text = json.dumps(json.loads(data.decode("utf-8", "replace")), ensure_ascii=False)
    except ValueError as error:
        raise msgspec.DecodeError(str(error)) from None
    return text.encode("utf-8", "replace")
