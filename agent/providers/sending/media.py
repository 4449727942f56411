"""Which content a model can be sent; for the rest a word in its place, so that it knows."""

from __future__ import annotations

from gatewright.agent.providers.catalog import ModelFacts
from gatewright.agent.providers.quirks import Quirks
from gatewright.tools.protocol import Content, DocumentContent, ImageContent, TextContent

_IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
_PDF = "application/pdf"


def sendable(item: Content, facts: ModelFacts, quirks: Quirks) -> Content:
    match item:
        case ImageContent(media_type=kind, data=data):
            if facts.images and quirks.images and kind in _IMAGES and data:
                return item
            return _note(f"an image ({kind})")
        case DocumentContent(media_type=kind, data=data, name=name):
            if facts.documents and quirks.documents and kind == _PDF and data:
                return item
            return _note(f"the document {name or kind}")
        case TextContent():
            return item


def _note(what: str) -> TextContent:
    return TextContent(f"[Left out: {what}, which this model cannot read.]")
