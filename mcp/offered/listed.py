"""What a server offers besides tools, as plain data: every text is the server's, made printable."""

from __future__ import annotations

import msgspec

MOST_RESOURCES = 500
MOST_PROMPTS = 200
MOST_ARGUMENTS = 50  # of a prompt
LONGEST_URI = 2_000
SHORT, LONG = 100, 500  # characters of a name, and of what is said of it


class Resource(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`uri` is as the server wrote it; of a template it has places to fill in."""

    uri: str
    name: str = ""
    about: str = ""
    kind: str = ""  # what the server says that it is, which nothing relies on
    template: bool = False

    def line(self) -> str:
        facts = ", ".join(filter(None, (self.name, self.kind, "template" if self.template else "")))
        more = f" ({facts})" if facts else ""
        return f"{self.uri}{more}{f': {self.about}' if self.about else ''}"


class Resources(msgspec.Struct, frozen=True):
    found: tuple[Resource, ...] = ()
    more: bool = False  # there are others, which were left out


class Argument(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    name: str
    about: str = ""
    required: bool = False


class Prompt(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    name: str
    title: str = ""
    about: str = ""
    arguments: tuple[Argument, ...] = ()
