"""Images are recognised by their first bytes; nothing is decoded here."""

from __future__ import annotations

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
)


def image_type(sample: bytes) -> str:
    """The media type by the first bytes; empty for anything that is no image."""
    if sample[:4] == b"RIFF" and sample[8:12] == b"WEBP":
        return "image/webp"
    if sample[:2] == b"BM" and sample[6:10] == b"\0\0\0\0":  # else it is text about cars
        return "image/bmp"
    return next((kind for magic, kind in _MAGIC if sample.startswith(magic)), "")
