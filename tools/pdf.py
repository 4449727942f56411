"""Pages of a PDF as text, and as a picture where a page holds no text; page by page."""

from __future__ import annotations

import base64
import re
import threading
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol, cast

from gatewright.tools.inert import visible
from gatewright.tools.picture import EDGE, smaller
from gatewright.tools.protocol import Content, ImageContent, TextContent, ToolFailure

if TYPE_CHECKING:
    from PIL.Image import Image


class _TextPage(Protocol):
    def count_chars(self) -> int: ...
    def get_text_range(self, *, count: int) -> str: ...
    def close(self) -> None: ...


class _Bitmap(Protocol):
    def to_pil(self) -> Image: ...
    def close(self) -> None: ...


class _Page(Protocol):
    def get_textpage(self) -> _TextPage: ...
    def get_size(self) -> tuple[float, float]: ...
    def render(self, *, scale: float) -> _Bitmap: ...
    def close(self) -> None: ...


class _Document(Protocol):
    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> _Page: ...
    def close(self) -> None: ...


class _Pdfium(Protocol):
    """The part of pypdfium2 used here; the package has no types."""

    PdfiumError: type[Exception]

    def PdfDocument(self, input: BinaryIO) -> _Document: ...


PAGES = 20
_PAGE_CHARS = 12_000
_SCANNED = 40  # a page with fewer characters is shown as a picture
_one_at_a_time = threading.Lock()  # PDFium is not thread-safe


def wanted(pages: str | None, total: int) -> list[int]:
    """Page numbers from 1 of a list such as "1-5,9"."""
    if not pages:
        if total > PAGES:
            raise ToolFailure(
                f'The PDF has {total} pages. Say which with pages, such as "1-{PAGES}".'
            )
        return list(range(1, total + 1))
    numbers: list[int] = []
    for part in pages.replace(" ", "").split(","):
        found = re.fullmatch(r"(\d+)(?:(-)(\d*))?", part)
        if not found:
            raise ToolFailure(f'pages is {pages!r}; write it as "3", "1-5" or "1-3,8".')
        first = int(found[1])
        last = min(int(found[3] or total), total) if found[2] else first
        if not 1 <= first <= total or last < first:
            raise ToolFailure(f"pages is {pages!r}, but the PDF has {total} pages.")
        numbers += range(first, last + 1)
        if len(numbers) > PAGES:
            raise ToolFailure(f"At most {PAGES} pages a call; {pages!r} is more.")
    return numbers


def pdf_pages(file: BinaryIO, path: Path, pages: str | None) -> tuple[list[Content], list[int]]:
    """The content of the wanted pages, and their numbers."""
    pypdfium2 = cast("_Pdfium", import_module("pypdfium2"))  # lazy: 60 ms
    with _one_at_a_time:
        try:
            document = pypdfium2.PdfDocument(file)
        except pypdfium2.PdfiumError as error:
            raise ToolFailure(f"{path} cannot be opened as a PDF: {error}.") from None
        try:
            total = len(document)
            numbers = wanted(pages, total)
            content: list[Content] = []
            for number in numbers:
                page = document[number - 1]
                content += _page(page, number, total)
                page.close()
            return content, numbers
        finally:
            document.close()


def _page(page: _Page, number: int, total: int) -> list[Content]:
    text_page = page.get_textpage()
    text = text_page.get_text_range(count=min(text_page.count_chars(), _PAGE_CHARS))
    text_page.close()
    head = f"[page {number} of {total}]"
    if len(text.strip()) >= _SCANNED:
        return [TextContent(f"{head}\n{visible(text)}")]
    width, height = page.get_size()
    bitmap = page.render(scale=EDGE / max(width, height, 1))
    data, kind = smaller(bitmap.to_pil())
    bitmap.close()
    picture = ImageContent(kind, base64.b64encode(data).decode("ascii"))
    return [TextContent(f"{head} {visible(text).strip()}".rstrip()), picture]
