"""Large pastes and pictures stand as a chip in the prompt and are whole again when sent."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from gatewright.tools.protocol import Content, ImageContent

MANY_CHARACTERS = 1000
MANY_LINES = 15
MAX_PICTURE = 5 * 1024 * 1024
PICTURES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
}


def normal(text: str) -> str:
    """Line ends as newlines, without characters no prompt needs."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")


def large(text: str) -> bool:
    return len(text) > MANY_CHARACTERS or text.count("\n") >= MANY_LINES


def dropped_picture(text: str) -> Path | None:
    """The picture a terminal pastes the path of when one is dropped on it."""
    path = text.strip().strip("'\"").replace("\\ ", " ")
    if path.startswith("file://"):
        path = unquote(urlsplit(path).path)
    if "\n" in path or len(path) > 4096 or Path(path).suffix.lower() not in PICTURES:
        return None
    found = Path(path).expanduser()
    return found if found.is_absolute() and found.is_file() else None


class Chips:
    """The chips of one prompt, by the text that stands for them."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._pictures: dict[str, Path] = {}
        self._count = 0

    def fold(self, text: str) -> str:
        """A chip for a large paste or a dropped picture; small text stays what it is."""
        picture = dropped_picture(text)
        if picture is None and not large(text):
            return text
        self._count += 1
        if picture is not None:
            chip = f"[Picture {picture.name} #{self._count}]"
            self._pictures[chip] = picture
            return chip
        chip = f"[Pasted {text.count(chr(10)) + 1} lines #{self._count}]"
        self._texts[chip] = text
        return chip

    def unfold(self, text: str) -> str:
        """The text with every paste in its place."""
        for chip, whole in self._texts.items():
            text = text.replace(chip, whole)
        return text

    def pictures(self, text: str) -> tuple[Content, ...]:
        """The pictures whose chips still stand in the text. Raises OSError."""
        found: list[Content] = []
        for chip, path in self._pictures.items():
            if chip in text:
                if path.stat().st_size > MAX_PICTURE:
                    raise OSError(f"{path.name} is larger than 5 MB")
                data = base64.b64encode(path.read_bytes()).decode("ascii")
                found.append(ImageContent(PICTURES[path.suffix.lower()], data))
        return tuple(found)

    def before(self, text: str) -> str:
        """The chip that ends here, for deleting it whole."""
        match = re.search(r"\[(?:Pasted|Picture) [^\[\]]*#\d+\]$", text)
        known = match is not None and (match[0] in self._texts or match[0] in self._pictures)
        return match[0] if match is not None and known else ""

    def clear(self) -> None:
        self._texts.clear()
        self._pictures.clear()
