"""Images for the model: recognised by their bytes, within its limits of size, at bounded cost."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import TYPE_CHECKING

from gatewright.tools.protocol import ImageContent, ToolFailure

if TYPE_CHECKING:
    from PIL.Image import Image

EDGE = 1568
BYTES = 3_700_000  # 5 MB as base64
_PIXELS = 80_000_000  # what decoding may cost: 240 MB

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
)
_ACCEPTED = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


def image_type(sample: bytes) -> str:
    """The media type by the first bytes; empty for anything that is no image."""
    if sample[:4] == b"RIFF" and sample[8:12] == b"WEBP":
        return "image/webp"
    if sample[:2] == b"BM" and sample[6:10] == b"\0\0\0\0":  # else it is text about cars
        return "image/bmp"
    return next((kind for magic, kind in _MAGIC if sample.startswith(magic)), "")


def image_content(data: bytes, path: Path) -> tuple[ImageContent, str]:
    """The image as the model may get it, and its size in words."""
    from PIL import Image, UnidentifiedImageError  # noqa: PLC0415  lazy: 40 ms

    Image.MAX_IMAGE_PIXELS = None  # the check below is stricter and warns nobody
    try:
        with Image.open(io.BytesIO(data)) as image:
            width, height = image.size
            if width * height > _PIXELS:
                raise ToolFailure(f"{path} has {width}x{height} pixels: too large to decode.")
            kind = image_type(data)
            words = f"{width}x{height}"
            if kind in _ACCEPTED and max(width, height) <= EDGE and len(data) <= BYTES:
                return _content(data, kind), words
            small, kind = smaller(image)
            return _content(small, kind), f"{words}, scaled down"
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as error:
        raise ToolFailure(f"{path} is a damaged image: {error}.") from None


def smaller(image: Image) -> tuple[bytes, str]:
    """The image within EDGE and BYTES, as PNG where that is small enough, else as JPEG."""
    image.draft("RGB", (EDGE, EDGE))  # JPEG decodes straight to a smaller size
    image.thumbnail((EDGE, EDGE))
    flat = image if image.mode in ("RGB", "RGBA", "L") else image.convert("RGBA")
    buffer = io.BytesIO()
    flat.save(buffer, "PNG")
    if buffer.tell() <= BYTES // 4:
        return buffer.getvalue(), "image/png"
    opaque = flat.convert("RGB")
    for quality in (85, 60, 30):
        buffer = io.BytesIO()
        opaque.save(buffer, "JPEG", quality=quality)
        if buffer.tell() <= BYTES:
            break
    return buffer.getvalue(), "image/jpeg"


def _content(data: bytes, kind: str) -> ImageContent:
    return ImageContent(kind, base64.b64encode(data).decode("ascii"))
