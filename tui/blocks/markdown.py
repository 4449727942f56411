"""Markdown pieces as styled rows; raw HTML stays text, links show where they lead."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from gatewright.tools.blocks import Markdown
from gatewright.tools.system.hosts import looked_up
from gatewright.tui.blocks import code, table
from gatewright.tui.blocks.highlight import language_of
from gatewright.tui.blocks.pieces import Piece, pieces
from gatewright.tui.line import BLANK, Line, Span, flow, indent, slice_spans, wrap
from gatewright.tui.sanitize import visible

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

PROSE = 100  # longer rows of prose are hard to read
MAX_DEPTH = 12
MAX_TARGET = 2000  # terminals ignore longer ones
_BULLETS = ("•", "◦", "▪")
_BOXES = {"[ ] ": "☐ ", "[x] ": "☑ "}
_RULE = "─"


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415  lazy: 20 ms, not before the first frame

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    return parser.disable("reference")  # pieces are parsed alone, and definitions would vanish


def draw(block: Markdown, width: int) -> list[Line]:
    rows: list[Line] = []
    for piece in pieces(block.text):
        if rows and not piece.joined:
            rows.append(BLANK)
        rows += draw_piece(piece, width)
    return rows


def draw_piece(piece: Piece, width: int) -> list[Line]:
    """Rows of one piece, without a gap around it."""
    if piece.kind == "code":
        label = "" if piece.joined else piece.language
        return code.fence(piece.text, piece.language, width, piece.state, label=label)
    from markdown_it.tree import SyntaxTreeNode  # noqa: PLC0415  lazy: with the parser

    tree = SyntaxTreeNode(_parser().parse(visible(piece.text)))
    return _blocks(tree.children, min(width, PROSE), width, 0)


def _blocks(nodes: Iterable[SyntaxTreeNode], width: int, full: int, depth: int) -> list[Line]:
    rows: list[Line] = []
    for node in nodes:
        made = _block(node, width, full, depth)
        if rows and made and not _tight(node):
            rows.append(BLANK)
        rows += made
    return rows


def _tight(node: SyntaxTreeNode) -> bool:
    """Blocks of a tight list item follow each other without a gap."""
    parent = node.parent
    if parent is None or parent.type != "list_item":
        return False
    first = parent.children[0]
    return first.type == "paragraph" and bool(first.hidden)


def _block(node: SyntaxTreeNode, width: int, full: int, depth: int) -> list[Line]:
    if depth > MAX_DEPTH:
        return flow(node.content or "", width)
    match node.type:
        case "heading":
            return _inline_rows(node, width, "title" if node.tag in ("h1", "h2") else "heading")
        case "bullet_list" | "ordered_list":
            return _list(node, width, full, depth)
        case "blockquote":
            inner = _blocks(node.children, width - 2, full - 2, depth + 1)
            return indent(inner, Span("│ ", "faint"), Span("│ ", "faint"))
        case "fence" | "code_block":
            language = language_of(node.info.split(" ")[0]) if node.info else ""
            return code.fence(node.content.rstrip("\n"), language, full, label=language)
        case "hr":
            return [Line((Span(_RULE * min(width, 40), "faint"),))]
        case "table":
            return _table(node, full)
        case _:
            return _inline_rows(node, width, "text") if node.children else flow(node.content, width)


def _list(node: SyntaxTreeNode, width: int, full: int, depth: int) -> list[Line]:
    start = int(node.attrs.get("start", 1))
    ordered = node.type == "ordered_list"
    last = start + len(node.children) - 1
    bullet = _BULLETS[min(depth, len(_BULLETS) - 1)]
    rows: list[Line] = []
    loose = any(
        child.type == "paragraph" and not child.hidden
        for item in node.children
        for child in item.children
    )
    for number, item in enumerate(node.children, start):
        mark = f"{number:>{len(str(last))}}. " if ordered else f"{bullet} "
        size = len(mark)
        inner = _blocks(item.children, width - size, full - size, depth + 1) or [BLANK]
        mark, inner = _boxed(mark, inner)
        if rows and loose:
            rows.append(BLANK)
        # marks and indentation of a list are content: a copy keeps them
        rows += [row._replace(gutter=0) for row in indent(inner, Span(mark, "dim"))]
    return rows


def _boxed(mark: str, rows: list[Line]) -> tuple[str, list[Line]]:
    """The item of a list of things to do has its box for a bullet."""
    box = _BOXES.get(rows[0].plain[:4].lower())
    if box is None or mark[0].isdigit():
        return mark, rows
    first = rows[0]._replace(spans=slice_spans(rows[0].spans, 4, len(rows[0].plain)))
    return box, [first, *rows[1:]]


def _table(node: SyntaxTreeNode, width: int) -> list[Line]:
    sections = [section.children for section in node.children]
    grid: list[list[tuple[Span, ...]]] = [
        [tuple(map(_on_one_row, _inline(cell, "text"))) for cell in row.children]
        for rows in sections
        for row in rows
    ]
    sides: list[table.Side] = [
        _side(str(cell.attrs.get("style", ""))) for cell in node.children[0].children[0].children
    ]
    return table.grid(grid[0], grid[1:], width, sides)


def _side(style: str) -> table.Side:
    return "right" if "right" in style else "center" if "center" in style else "left"


def _on_one_row(span: Span) -> Span:
    return span._replace(text=span.text.replace("\n", " "))


def _inline_rows(node: SyntaxTreeNode, width: int, role: str) -> list[Line]:
    rows: list[Line] = []
    current: list[Span] = []
    for span in _inline(node, role):
        head, *others = span.text.split("\n")
        if head:
            current.append(span._replace(text=head))
        for other in others:
            rows += wrap(current, width)
            current = [span._replace(text=other)] if other else []
    return rows + wrap(current, width)


_ATTRIBUTE = {"strong": "b", "em": "i", "s": "s"}
_BREAK = {"softbreak": " ", "hardbreak": "\n"}


def _inline(node: SyntaxTreeNode, role: str) -> list[Span]:
    """Spans of everything inline below a node; a newline in a span breaks the row."""
    spans: list[Span] = []
    for child in node.children:
        kind = child.type
        if kind in _ATTRIBUTE:
            spans += _inline(child, _with(role, _ATTRIBUTE[kind]))
        elif kind == "inline":
            spans += _inline(child, role)
        elif kind == "link":
            spans += _link(child, role)
        elif kind == "image":
            source = str(child.attrs.get("src", ""))
            label = f"{child.content}, {source}" if child.content else source
            spans.append(Span(f"[image: {label}]", "dim"))
        elif kind == "code_inline":
            spans.append(Span(child.content, "code"))
        else:
            spans.append(Span(_BREAK.get(kind, child.content or ""), role))
            spans += _hosts(child.content or "")
    # after parsing: entities can stand for any character
    return [span._replace(text=visible(span.text)) for span in spans if span.text]


def _hosts(text: str) -> list[Span]:
    """The real form of an address in plain text, which terminals make a link of by themselves."""
    told = looked_up(text, bare=False)
    return [Span(f" ({', '.join(told)})", "dim")] if told else []


def _with(role: str, attribute: str) -> str:
    name, _, attributes = role.partition(":")
    return f"{name}:{''.join(sorted({*attributes, attribute}))}"


def _link(node: SyntaxTreeNode, role: str) -> list[Span]:
    """The label leads where it says; where it does not say it, the host or all of it follows."""
    target = str(node.attrs.get("href", ""))
    shown = _inline(node, role)
    label = "".join(span.text for span in shown).strip()
    host = host_of(target)
    if not host:
        return [*shown, Span(f" ({target})", "dim")] if target and target != label else shown
    linked = [Span(span.text, "link", target) for span in shown]
    said = label in (target, host) or host_of(label) == host
    facts = [] if said else [host]
    if title := str(node.attrs.get("title", "")):
        facts.append(title)
    return [*linked, Span(f" ({', '.join(facts)})", "dim")] if facts else linked


def host_of(target: str) -> str:
    """Where a link leads that may be followed; empty for any other."""
    if len(target) > MAX_TARGET or not (target.isascii() and target.isprintable()):
        return ""
    try:
        parts = urlsplit(target)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or "@" in parts.netloc or "\\" in target:
        return ""  # a user name imitates a host
    return (parts.hostname or "") + port
