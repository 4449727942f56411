"""Whole paths in what a command leads to, as a person reads them: from the project, or from home.

Only our own words: code, output of programs and texts of the model stay as they are.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from gatewright.agent.commands.outcome import (
    Change,
    Choice,
    Listing,
    Offer,
    Outcome,
    Pick,
    Say,
    Secret,
)
from gatewright.tools.access import Where
from gatewright.tools.blocks import Block, Diff, Table, Text

Reads: TypeAlias = Callable[[str], Awaitable[Sequence[Block]]]


def as_read(outcome: Outcome, where: Where) -> Outcome:
    """The same with shorter paths; what is done with it does not change."""
    match outcome:
        case Say():
            return replace(outcome, blocks=_blocks(outcome.blocks, where))
        case Change():
            return replace(outcome, said=_blocks(outcome.said, where))
        case Offer():
            said = replace(outcome.fallback, blocks=_blocks(outcome.fallback.blocks, where))
            return _offered(replace(outcome, fallback=said), where)
        case _:
            return outcome


def _offered(offer: Offer, where: Where) -> Offer:
    match offer:
        case Pick():
            choices = tuple(_row(row, where) for row in offer.choices)
            return replace(offer, choices=choices, about=_texts(offer.about, where))
        case Listing():
            rows, looks = offer.rows, offer.looks
            return replace(
                offer,
                rows=lambda: [_row(row, where) for row in rows()],
                read=_reads(offer.read, where),
                looks=tuple(replace(look, read=_reads(look.read, where)) for look in looks),
            )
        case Secret():
            return replace(offer, about=_texts(offer.about, where))
        case _:
            return offer


def _reads(read: Reads, where: Where) -> Reads:
    async def shorter(id: str) -> Sequence[Block]:
        return _blocks(await read(id), where)

    return shorter


def _row(row: Choice, where: Where) -> Choice:
    told = where.told
    cells = _texts(row.cells, where)
    return replace(row, label=told(row.label), detail=told(row.detail), cells=cells)


def _texts(texts: Sequence[str], where: Where) -> tuple[str, ...]:
    return tuple(where.told(text) for text in texts)


def _blocks(blocks: Sequence[Block], where: Where) -> tuple[Block, ...]:
    return tuple(_block(block, where) for block in blocks)


def _block(block: Block, where: Where) -> Block:
    match block:
        case Text():
            return replace(block, text=where.told(block.text))
        case Table():
            return replace(block, rows=tuple(_texts(row, where) for row in block.rows))
        case Diff():
            return replace(block, path=where.told(block.path))
        case _:
            return block
