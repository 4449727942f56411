"""What a script says of itself, read from the text of its literal: nothing is evaluated."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, NoReturn, cast

from gatewright.agent.workflows.script.checked import Meta, Phase
from gatewright.agent.workflows.script.tree import Script

if TYPE_CHECKING:
    from gatewright.agent.workflows.script.tree import SyntaxNode

PURE = "meta is a pure literal: texts, numbers, true, false, null, lists and objects of them"
DEEP = 64
MOST_TEXT = 20_000
KNOWN = ("name", "description", "whenToUse", "phases", "args", "budget")
_NAME = re.compile(r"[a-z0-9-]{1,40}")
_ESCAPES = {
    "n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": "",
    "\r\n": "", "\r": "", "\u2028": "", "\u2029": "",
}  # fmt: skip


def meta_of(script: Script, literal: SyntaxNode) -> tuple[Meta, list[str]]:
    """Raises ScriptProblem. The second are warnings: what is not known says nothing."""
    return _Reading(script, literal).meta()


class _Reading:
    def __init__(self, script: Script, literal: SyntaxNode) -> None:
        self._script = script
        self._literal = literal
        self._places: dict[str, SyntaxNode] = {}
        self._data: dict[str, Any] = self._object(literal, 0, "")
        self._warnings: list[str] = []

    def meta(self) -> tuple[Meta, list[str]]:
        self._unknown(self._data, KNOWN, "meta")
        name = self._text("name", needed=True)
        if not _NAME.fullmatch(name):
            self._fail("name", f'"{name[:60]}" must be 1 to 40 of the characters a-z, 0-9 and -')
        budget = self._dict("budget") or {}
        self._unknown(budget, ("usd", "tokens"), "meta.budget")
        tokens = self._amount(budget, "tokens")
        found = Meta(
            name,
            self._text("description", needed=True),
            self._text("whenToUse"),
            tuple(self._phases()),
            self._dict("args"),
            self._amount(budget, "usd"),
            None if tokens is None else int(tokens),
            self._data,
        )
        return found, self._warnings

    def _phases(self) -> list[Phase]:
        given = self._data.get("phases", [])
        if not isinstance(given, list):
            self._fail("phases", 'must be a list like [{title: "Search"}]')
        phases: list[Phase] = []
        for each in cast("list[object]", given):
            entry = cast("dict[str, object]", each) if isinstance(each, dict) else {}
            title = entry.get("title")
            if not isinstance(title, str) or not title.strip():
                self._fail("phases", 'is a list of objects with a title: [{title: "Search"}]')
            self._unknown(entry, ("title", "detail", "model"), "meta.phases")
            detail, model = entry.get("detail") or "", entry.get("model") or ""
            if not isinstance(detail, str) or not isinstance(model, str):
                self._fail("phases", "has texts for title, detail and model")
            phases.append(Phase(title, detail, model))
        return phases

    def _text(self, key: str, *, needed: bool = False) -> str:
        given = self._data.get(key)
        if given is None and not needed:
            return ""
        if not isinstance(given, str) or not given.strip():
            self._fail(key, "must be a text" if key in self._data else "is missing")
        return given

    def _dict(self, key: str) -> dict[str, Any] | None:
        given = self._data.get(key)
        if given is not None and not isinstance(given, dict):
            what = "a JSON Schema, an object" if key == "args" else "{usd, tokens}, or one of them"
            self._fail(key, f"must be {what}")
        return cast("dict[str, Any] | None", given)

    def _amount(self, budget: dict[str, Any], key: str) -> float | None:
        given = budget.get(key)
        if given is None:
            return None
        if isinstance(given, bool) or not isinstance(given, int | float) or given <= 0:
            self._fail("budget", f"has in {key} no number above 0")
        return given

    def _unknown(self, given: dict[str, Any], known: tuple[str, ...], where: str) -> None:
        self._warnings.extend(
            f"{where} has {key[:60]!r}, which says nothing here: known are {', '.join(known)}."
            for key in given
            if key not in known
        )

    def _fail(self, key: str, text: str) -> NoReturn:
        raise self._script.problem(self._places.get(key, self._literal), f"meta.{key} {text}.")

    # --- the literal ---

    def _object(self, node: SyntaxNode, depth: int, path: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for child in node.named_children:
            if child.type == "comment":
                continue
            if child.type != "pair":
                raise self._impure(child, path)
            key, value = (child.child_by_field_name(field) for field in ("key", "value"))
            assert key is not None
            assert value is not None
            name = self._key(key, path)
            if name in found:
                raise self._script.problem(key, f"meta has {name[:60]} twice: keep one.")
            if not path:
                self._places[name] = value
            found[name] = self._value(value, depth + 1, f"{path}.{name}")
        return found

    def _key(self, key: SyntaxNode, path: str) -> str:
        match key.type:
            case "property_identifier":
                name = self._script.text(key)
            case "string":
                name = self._string(key)
            case "number":
                name = f"{self._number(key):.17g}"
            case _:
                raise self._impure(key, path)
        if name == "__proto__":
            raise self._script.problem(key, "meta cannot have __proto__: take it out.")
        return name

    def _value(self, node: SyntaxNode, depth: int, path: str) -> Any:
        if depth > DEEP:
            raise self._script.problem(node, f"meta nests more than {DEEP} deep: make it flatter.")
        match node.type:
            case "object":
                return self._object(node, depth, path)
            case "array":
                entries = [child for child in node.named_children if child.type != "comment"]
                return [self._value(entry, depth + 1, path) for entry in entries]
            case "string":
                return self._string(node)
            case "template_string" if self._without_holes(node):
                return self._string(node)
            case "number":
                return self._number(node)
            case "unary_expression":
                return self._signed(node, path)
            case "true" | "false":
                return node.type == "true"
            case "null":
                return None
            case _:
                raise self._impure(node, path)

    def _without_holes(self, node: SyntaxNode) -> bool:
        return all(child.type != "template_substitution" for child in node.named_children)

    def _signed(self, node: SyntaxNode, path: str) -> float:
        sign, number = node.children[0].type, node.child_by_field_name("argument")
        if sign not in "+-" or number is None or number.type != "number":
            raise self._impure(node, path)
        return -self._number(number) if sign == "-" else self._number(number)

    def _number(self, node: SyntaxNode) -> float:
        text = self._script.text(node).replace("_", "").lower()
        try:
            found = int(text, 0) if text[:2] in ("0x", "0o", "0b") else float(text)
            whole = found == int(found) and abs(found) < 1 << 53
        except (ValueError, OverflowError):
            found, whole = math.inf, False
        if not math.isfinite(found):
            raise self._script.problem(node, f"meta cannot have the number {text[:40]}.")
        return int(found) if whole else found

    def _string(self, node: SyntaxNode) -> str:
        pieces: list[str] = []
        for child in node.named_children:
            text = self._script.text(child)
            pieces.append(_unescaped(text) if child.type == "escape_sequence" else text)
        found = "".join(pieces)
        found = found.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if len(found) > MOST_TEXT:
            raise self._script.problem(node, f"A text in meta is longer than {MOST_TEXT}: cut it.")
        return found

    def _impure(self, node: SyntaxNode, path: str) -> Exception:
        text = " ".join(self._script.text(node).split())
        told = f"`{text[:40]}{'…' if len(text) > 40 else ''}`"
        return self._script.problem(node, f"{PURE}; {told} in meta{path} is something else.")


def _unescaped(text: str) -> str:
    rest = text[1:]
    if rest in _ESCAPES:
        return _ESCAPES[rest]
    if rest[0] in "xu":
        digits = rest[1:].strip("{}")
        with_value = int(digits, 16) if re.fullmatch(r"[0-9a-fA-F]{1,8}", digits) else 0xFFFD
        return chr(with_value) if with_value <= 0x10FFFF else "\ufffd"
    return rest
