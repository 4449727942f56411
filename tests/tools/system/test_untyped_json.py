"""Messages of other programs: what is no text is replaced, and costs a stranger as much as us."""

from __future__ import annotations

import msgspec
import pytest

from gatewright.tools.system.untyped_json import MENDED, shaped

HALF = rb'"\ud800"'


@pytest.mark.parametrize("text", [HALF, b'"\xff"'])
def test_what_is_no_text_is_replaced_in_what_is_not_too_large(text: bytes) -> None:
    assert shaped(b"[" + text + b"]", list[str]) in (["?"], ["\ufffd"])
    large = b"[" + b"[]," * (MENDED // 3) + text + b"]"
    with pytest.raises(msgspec.DecodeError):
        shaped(large, object)
    assert shaped(large, list[object], mended=len(large))[-1] in ("?", "\ufffd")
