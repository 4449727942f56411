"""Large pastes and pictures stand as a chip in the prompt and are whole again when sent."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from gatewright.tools.protocol import Content, ImageContent
from gatewright.tools.system.regular import TooLarge, read_regular
from gatewright.tui.prompt.attached import Attachment
from gatewright.tui.prompt.files import mention

MANY_CHARACTERS = 1000
MANY_LINES = 15
TOO_LONG = 20_000  # characters of an earlier message
MAX_CHIPS = 50
MAX_KEPT = 20_000_000  # characters of all chips
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


_SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b\x9c\n]*(?:\x07|\x9c|\x1b\\)"
)
_DROPPED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b\u2060-\u2064\ufeff]")
_SPELLED = re.compile("[\u202a-\u202e\u2066-\u206f\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]")
_ENDS = re.compile("[\u2028\u2029]")


def seen(text: str) -> str:
    """What may stand in a prompt: sequences and controls go, what hides or reorders is spelled.

    Joiners and direction marks stay: words of some languages need them.
    """
    if text.isascii() and text.isprintable():
        return text
    text = _DROPPED.sub("", _SEQUENCE.sub("", _ENDS.sub("\n", text)))
    return _SPELLED.sub(lambda match: f"<U+{ord(match[0]):04X}>", text)


def large(text: str) -> bool:
    return len(text) > MANY_CHARACTERS or text.count("\n") >= MANY_LINES


def dropped_picture(text: str) -> Path | None:
    """The picture a terminal pastes the path of when one is dropped on it."""
    found = _existing(text)
    picture = found is not None and found.suffix.lower() in PICTURES
    return found if found is not None and picture and found.is_file() else None


def _existing(text: str) -> Path | None:
    """Where the text leads if it is nothing but an absolute path, quoted or escaped."""
    path = re.sub(r"\\(.)", r"\1", text.strip().strip("'\""))
    if path.startswith("file://"):
        path = unquote(urlsplit(path).path)
    if "\n" in path or len(path) > 4096 or not path.startswith(("/", "~/")):
        return None
    try:
        found = Path(path).expanduser()
        return found if len(found.parts) > 1 and found.exists() else None
    except (OSError, ValueError, RuntimeError):
        return None


_PASTED = re.compile(r"\[Pasted \d+ lines #\d+\]")
_PICTURE = re.compile(r"\[Picture [^\[\]]*#\d+\]")


def _name(chip: str) -> str:
    return chip.removeprefix("[Picture ").rpartition(" #")[0]


def _size(picture: Path | Content) -> int:
    if isinstance(picture, Path):
        try:
            return picture.stat().st_size
        except OSError:
            return -1
    return len(picture.data) * 3 // 4 if isinstance(picture, ImageContent) else -1


def dropped_path(text: str) -> str:
    """A mention of the file or folder a terminal pastes the path of; empty for any other text."""
    found = _existing(text)
    return mention(str(found)) if found is not None else ""


class Chips:
    """The chips of one prompt, by the text that stands for them."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._pictures: dict[str, Path | Content] = {}  # content: taken back, it was read before
        self._count = 0

    def fold(self, text: str, *, shell: bool = False) -> str:
        """A chip for a large paste or a dropped picture, a mention for another dropped path.

        Other small text stays what it is, and in a `shell` command every path does.
        """
        picture = None if shell else dropped_picture(text)
        if picture is None and not large(text):
            return text if shell else dropped_path(text) or text
        if picture is None:
            return self._stand_in(text)
        self._count += 1
        name = picture.name.replace("[", "(").replace("]", ")")
        chip = f"[Picture {name} #{self._count}]"
        self._pictures[chip] = picture
        return chip

    def picture(self, content: Content, name: str) -> str:
        """A chip for a picture that is in no file."""
        self._count += 1
        chip = f"[Picture {name} #{self._count}]"
        self._pictures[chip] = content
        return chip

    def fold_again(self, text: str) -> str:
        """Chips for the pastes that an earlier text had, and for what no prompt can show."""
        if large(text):
            for chip, whole in sorted(self._texts.items(), key=lambda kept: -len(kept[1])):
                text = text.replace(whole, chip)
        return self._stand_in(text) if len(text) > TOO_LONG else text

    def _stand_in(self, text: str) -> str:
        for chip, whole in self._texts.items():
            if whole == text:
                return chip
        self._count += 1
        lines = text.removesuffix("\n").count("\n") + 1
        chip = f"[Pasted {lines} lines #{self._count}]"
        self._texts[chip] = text
        return chip

    def unfold(self, text: str) -> str:
        """The text with every paste in its place; what looks like a chip in a paste stays."""
        return _PASTED.sub(lambda match: self._texts.get(match[0], match[0]), text)

    def pictures(self, text: str) -> tuple[Content, ...]:
        """The pictures whose chips still stand in the text. Raises OSError."""
        found: list[Content] = []
        for chip in dict.fromkeys(match[0] for match in _PICTURE.finditer(text)):
            path = self._pictures.get(chip)
            if isinstance(path, Path):
                try:
                    data = base64.b64encode(read_regular(path, MAX_PICTURE)).decode("ascii")
                except TooLarge as error:
                    raise OSError(f"{path.name} is larger than 5 MB") from error
                found.append(ImageContent(PICTURES[path.suffix.lower()], data))
            elif path is not None:
                found.append(path)
        return tuple(found)

    def listed(self, text: str) -> tuple[Attachment, ...]:
        """The pictures whose chips stand in the text, with their sizes."""
        return tuple(
            Attachment(_name(chip), _size(picture))
            for chip, picture in self._pictures.items()
            if chip in text
        )

    def restore(self, text: str, attached: Sequence[Content]) -> None:
        """A message was taken back: its chips stand for its pictures again, in their order."""
        chips = dict.fromkeys(match[0] for match in _PICTURE.finditer(text))
        self._pictures.update(zip(chips, attached, strict=False))

    def before(self, text: str) -> str:
        """The chip that ends here, for deleting it whole."""
        match = re.search(r"\[(?:Pasted|Picture) [^\[\]]*#\d+\]$", text)
        known = match is not None and (match[0] in self._texts or match[0] in self._pictures)
        return match[0] if match is not None and known else ""

    def trim(self) -> None:
        """Forget the oldest; a draft put aside, taken back or undone still has its chips."""
        while len(self._texts) > 1 and (
            len(self._texts) > MAX_CHIPS or sum(map(len, self._texts.values())) > MAX_KEPT
        ):
            del self._texts[next(iter(self._texts))]
        while len(self._pictures) > MAX_CHIPS:
            del self._pictures[next(iter(self._pictures))]
