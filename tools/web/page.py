"""From a fetched page to text for a model: the right encoding, HTML as Markdown, no data URIs."""

from __future__ import annotations

import asyncio
import codecs
import re

from gatewright.tools.documents.child_process import shown_bytes
from gatewright.tools.files.fs import detect
from gatewright.tools.inert import visible
from gatewright.tools.protocol import Spawn, TextContent
from gatewright.tools.web.fetch import Page

_HTML = ("text/html", "application/xhtml+xml")
_TEXT = re.compile(r"text/|application/(?:[\w.+-]*(?:json|xml|javascript|yaml|toml|x-sh)|rtf)")
_META = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([\w-]{2,20})", re.IGNORECASE)
_HEAVY = re.compile(r"<(svg|script|style|template)\b", re.IGNORECASE)
_DATA_URI = re.compile(r"data:[\w/+.;=-]{0,80},[\w+/=%.-]*", re.IGNORECASE)
_BLANK = re.compile(r"\n{3,}")
# The encodings of pages. Others of Python's raise what they please, or take hours for a page.
_ENCODING = re.compile(
    r"ascii|utf-(?:8|16|32)(?:-[lb]e|-sig)?|iso8859-\d+|cp\d{3,4}|koi8-[rut]|tis-620"
    r"|mac-(?:roman|cyrillic|greek|turkish|latin2|iceland)|gb(?:2312|k|18030)|hz|big5(?:hkscs)?"
    r"|euc_(?:jp|kr|jis_2004|jisx0213)|shift_jis(?:_2004|x0213)?|iso2022_(?:jp|kr)\w*|johab"
)


def is_text(page: Page) -> bool:
    """Whether the body can be shown as text; without a type its bytes decide."""
    if page.media_type:
        return _TEXT.match(page.media_type) is not None and b"\0" not in _narrow(page)
    return bool(detect(page.body[:65536])[0])


def _narrow(page: Page) -> bytes:
    """The start of the body where NUL bytes would mean binary content, not a wide encoding."""
    wide = detect(page.body[:65536])[0].startswith("utf-") or page.charset.lower().startswith("utf")
    return b"" if wide else page.body[:65536]


def plain(page: Page) -> tuple[str, bool]:
    """The body as text, and whether that is HTML, rid of what only makes it long."""
    text = _decoded(page)
    if page.media_type in _HTML or (not page.media_type and text.lstrip()[:1] == "<"):
        return _DATA_URI.sub("", _without_heavy(text)), True
    return text, False


async def to_text(page: Page, spawn: Spawn) -> str:
    """The body as text; HTML becomes Markdown, in a process with limits."""
    text, html = await asyncio.to_thread(plain, page)
    if html and text.strip():
        found = await shown_bytes("html", text.encode("utf-8", "replace"), page.url, spawn)
        text = "".join(part.text for part in found.content if isinstance(part, TextContent))
        text = _BLANK.sub("\n\n", text)
    return visible(text).strip()


def _decoded(page: Page) -> str:
    found = _META.search(page.body[:4096])
    sniffed, bom = detect(page.body, whole=True)
    names = [sniffed if bom else "", page.charset, found[1].decode() if found else "", sniffed]
    for name in names:
        if encoding := _encoding(name):
            return page.body[len(bom) :].decode(encoding, "replace")
    return page.body.decode("utf-8", "replace")


def _encoding(name: str) -> str:
    """The name Python has for it; empty for what is no encoding of pages."""
    try:
        found = codecs.lookup(name).name
    except (LookupError, ValueError):
        return ""
    return found if _ENCODING.fullmatch(found) else ""


def _without_heavy(html: str) -> str:
    """HTML without scripts, styles and drawings, in one pass whatever is left open."""
    pieces: list[str] = []
    at = 0
    folded = html.lower()
    unclosed: set[str] = set()
    for found in _HEAVY.finditer(html):
        name = found[1].lower()
        if found.start() < at or name in unclosed:
            continue
        end = folded.find(f"</{name}", found.end())
        if end < 0:
            unclosed.add(name)
            continue
        pieces.append(html[at : found.start()])
        at = folded.find(">", end) + 1 or len(html)
    return "".join([*pieces, html[at:]])
