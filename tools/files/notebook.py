"""Jupyter notebooks: reading cells with their outputs, and changing cells with nbformat kept.

What a picture holds is not looked at here: it is whatever somebody wrote.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Sequence
from typing import Any, Literal, cast

import msgspec

from gatewright.tools.inert import inert, visible
from gatewright.tools.protocol import ToolFailure
from gatewright.tools.system.untyped_json import items, obj

CellType = Literal["code", "markdown", "raw"]
_OUTPUT_CHARS = 5000
_VALUES = 500_000
_NAME = 64  # characters of an id, a kind or a language: each is said with every cell
_INDENT = re.compile(r"\{\n([ \t]{1,16})")
_IMAGE_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")


class Drawn(msgspec.Struct, frozen=True):
    """What an output says is a picture, in base64."""

    data: str


class Notebook:
    """A parsed notebook that is written back in the style it was found in."""

    def __init__(self, text: str) -> None:
        if (
            sum(map(text.count, "[{,")) > _VALUES
        ):  # each takes a hundred bytes, and holds up the rest
            raise ToolFailure(
                f"The notebook holds more than {_VALUES:,} values: too many to parse."
                " Take out what you need with Bash (jq)."
            )
        self.raw = _parsed(text)
        self.cells = cast("list[dict[str, Any]]", self.raw["cells"])
        self._text = text

    @property
    def language(self) -> str:
        metadata = obj(self.raw.get("metadata"))
        language = obj(metadata.get("language_info")).get("name")
        return _word(language or obj(metadata.get("kernelspec")).get("language"))

    def dump(self) -> str:
        """The notebook as text; nothing but the cells that were changed differs."""
        end = "\n" if self._text.endswith("\n") else ""
        found = _INDENT.match(self._text)
        indent, ascii_only = found[1] if found else None, self._text.isascii()
        same = json.dumps(json.loads(self._text), indent=indent, ensure_ascii=ascii_only)
        if same + end != self._text:
            indent, ascii_only = " ", False
        return json.dumps(self.raw, indent=indent, ensure_ascii=ascii_only) + end

    def find(self, cell_id: str) -> int:
        """The index of a cell by its id, or by its position as "cell-3"."""
        for index, cell in enumerate(self.cells):
            if cell.get("id") == cell_id:
                return index
        if (found := re.fullmatch(r"cell-(\d+)", cell_id)) and int(found[1]) < len(self.cells):
            return int(found[1])
        known = ", ".join(self.name(i) for i in range(min(len(self.cells), 30)))
        raise ToolFailure(f"The notebook has no cell {cell_id}. It has: {known or 'none'}.")

    def name(self, index: int) -> str:
        return _word(self.cells[index].get("id")) or f"cell-{index}"

    def replace(self, index: int, source: str, kind: CellType | None) -> None:
        cell = self.cells[index]
        kind = kind or cell["cell_type"]
        cell["source"] = _as_it_was(cell.get("source"), source)
        cell["cell_type"] = kind
        if kind == "code":
            cell["outputs"], cell["execution_count"] = [], None
        else:
            cell.pop("outputs", None)
            cell.pop("execution_count", None)

    def insert(self, index: int, source: str, kind: CellType) -> str:
        cell: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": _lines(source)}
        if self._has_ids():
            cell["id"] = secrets.token_hex(4)
        if kind == "code":
            cell |= {"execution_count": None, "outputs": []}
        self.cells.insert(index, dict(sorted(cell.items())))
        return self.name(index)

    def _has_ids(self) -> bool:
        major, minor = self.raw.get("nbformat", 4), self.raw.get("nbformat_minor", 0)
        return isinstance(major, int) and isinstance(minor, int) and (major, minor) >= (4, 5)

    def parts(self) -> list[str | Drawn]:
        """The cells for the model: sources, and what they printed and drew."""
        parts: list[str | Drawn] = []
        spoken = f" {self.language}" if self.language else ""
        for index, cell in enumerate(self.cells):
            kind = _word(cell["cell_type"]) or "unknown"
            language = spoken if kind == "code" else ""
            text = visible(source(cell))
            parts.append(f"<cell id={self.name(index)} {kind}{language}>\n{text}\n</cell>")
            for output in cast("list[dict[str, Any]]", cell.get("outputs") or []):
                text, pictures = _output(output)
                parts += [f"<output>\n{text}\n</output>"] if text else []
                parts += pictures
        return parts


def _parsed(text: str) -> dict[str, Any]:
    """The notebook in the text, of the shape that all here rely on."""
    try:
        raw: object = json.loads(text)
    except json.JSONDecodeError as error:
        raise _invalid(f"it is not valid JSON, line {error.lineno}: {error.msg}") from None
    except RecursionError:
        raise _invalid("it is nested too deeply") from None
    except ValueError:  # a number of more digits than can be read
        raise _invalid("it holds a number that is too large") from None
    if not isinstance(raw, dict):
        raise _invalid("its JSON is no object")
    cells = cast("dict[str, Any]", raw).get("cells")
    if not isinstance(cells, list):
        raise _invalid("it has no list of cells")
    for number, cell in enumerate(cast("list[object]", cells), 1):
        table = obj(cell)
        if not isinstance(table.get("cell_type"), str):
            raise _invalid(f"its cell {number} is no object with a cell_type")
        outputs: object = table.get("outputs") or []
        if not isinstance(outputs, list) or not all(
            isinstance(output, dict) for output in cast("list[object]", outputs)
        ):
            raise _invalid(f"the outputs of its cell {number} are no list of objects")
    return cast("dict[str, Any]", raw)


def _invalid(why: str) -> ToolFailure:
    return ToolFailure(f"This is no valid notebook: {why}.")


def _word(value: object) -> str:
    """A name as it stands there; empty for what is none."""
    if isinstance(value, str) and len(value) <= _NAME and value.isprintable():
        return value
    return ""


def source(cell: dict[str, Any]) -> str:
    return _joined(cell.get("source", ""))


def _joined(value: object) -> str:
    if isinstance(value, list):
        return "".join(str(part) for part in cast("list[object]", value))
    return str(value)


def _as_it_was(before: object, text: str) -> str | list[str]:
    return text if isinstance(before, str) else _lines(text)


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def _output(output: dict[str, Any]) -> tuple[str, Sequence[Drawn]]:
    if output.get("output_type") == "stream":
        return _cut(_joined(output.get("text", ""))), ()
    if output.get("output_type") == "error":
        said = "\n".join(str(line) for line in items(output.get("traceback")))
        return _cut(said or f"{output.get('ename')}: {output.get('evalue')}"), ()
    data = obj(output.get("data"))
    pictures = [Drawn(_joined(data[kind])) for kind in _IMAGE_TYPES if kind in data]
    return _cut(_joined(data.get("text/plain", ""))), pictures


def _cut(text: str) -> str:
    text = inert(text).rstrip("\n")
    if len(text) <= _OUTPUT_CHARS:
        return text
    return f"{text[:_OUTPUT_CHARS]}\n[... {len(text) - _OUTPUT_CHARS:,} more characters]"
