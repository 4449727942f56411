"""What one command does to files: the words that name them, and where it changes unnamed ones."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from gatewright.permissions.shell.line import Bases
from gatewright.permissions.shell.parse.words import Arg


class Operand(msgspec.Struct, frozen=True):
    """One file operand. `walks`: everything below it too; `whole`: moved or removed as a whole;
    `via` says whether a redirection or a word of the command named it."""

    arg: Arg
    bases: Bases
    walks: bool = False
    whole: bool = False
    redirect: bool = False


class Touched(msgspec.Struct, frozen=True):
    reads: tuple[Operand, ...] = ()
    writes: tuple[Operand, ...] = ()
    maybe: tuple[Operand, ...] = ()  # what an unknown program probably writes
    sweeps: tuple[Operand, ...] = ()  # it changes files in there, and no word says which
    shown: tuple[Operand, ...] = ()  # it prints files in there, and no word says which

    opaque: bool = False  # its sweeps may be of any protected file

    def __bool__(self) -> bool:
        return bool(self.reads or self.writes)


def text_arg(text: str, like: Arg) -> Arg:
    """A part of a word as a word of its own, as uncertain as the whole."""
    return (
        replace(like, text=text, raw=text, patterns=(), variants=()) if text != like.text else like
    )
