"""A rename as a plan: which files would read how, worked out and kept until it is applied.

A plan is of the bytes that were there; where one of them changed it is void.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path

import msgspec

from gatewright.agent.lsp.questions.queries import WAYS, Question, asked
from gatewright.agent.lsp.questions.spots import Sight
from gatewright.agent.lsp.running.server import Server
from gatewright.agent.lsp.wire.connection import decoded
from gatewright.agent.lsp.wire.positions import Lines, edited, path_of
from gatewright.agent.lsp.wire.shapes import TextEdit, WorkspaceEdit
from gatewright.tools.access import Edited
from gatewright.tools.protocol import ToolFailure
from gatewright.tools.system.exact import real_path

PLANS, FILES, BYTES = 8, 200, 8 * 1024 * 1024


class Change(msgspec.Struct, frozen=True):
    path: str  # real
    before: bytes
    after: bytes
    count: int


class Plan(msgspec.Struct, frozen=True):
    new_name: str
    changes: tuple[Change, ...]

    @property
    def count(self) -> int:
        return sum(each.count for each in self.changes)

    @property
    def edits(self) -> tuple[Edited, ...]:
        """Each file's lines from the first that changes to the last."""
        return tuple(Edited(Path(each.path), *_lines(each)) for each in self.changes)


def _lines(change: Change) -> tuple[str, str]:
    old = change.before.decode().splitlines(keepends=True)
    new = change.after.decode().splitlines(keepends=True)
    first = sum(1 for _ in takewhile(_same, zip(old, new, strict=False)))
    behind = zip(reversed(old[first:]), reversed(new[first:]), strict=False)
    last = sum(1 for _ in takewhile(_same, behind))
    return "".join(old[first : len(old) - last]), "".join(new[first : len(new) - last])


def _same(pair: tuple[str, str]) -> bool:
    return pair[0] == pair[1]


class Plans:
    """The last few of a session."""

    def __init__(self) -> None:
        self._plans: OrderedDict[str, Plan] = OrderedDict()
        self._made = 0

    def find(self, id: str) -> Plan | None:
        return self._plans.get(id)

    def keep(self, plan: Plan) -> str:
        """Its id."""
        self._made += 1
        self._plans[id := f"p{self._made}"] = plan
        while len(self._plans) > PLANS:
            self._plans.popitem(last=False)
        return id

    def drop(self, id: str) -> None:
        self._plans.pop(id, None)


async def planned(server: Server, question: Question, sight: Sight) -> Plan:
    """Raises ToolFailure: it cannot, there is nothing to rename, or it goes too far."""
    way = WAYS["rename"]
    if not server.abilities.has(way.provider, way.method):
        raise ToolFailure(f"{server.name} cannot rename. Use findReferences and Edit instead.")
    raw = await asked(server, way.method, {**question.at(), "newName": question.new_name})
    said: WorkspaceEdit | None = decoded(raw, WorkspaceEdit | None)
    found = _by_file(said or WorkspaceEdit())
    if not found:
        raise ToolFailure(
            f"{server.name} renames nothing: is a name at exactly that place, and "
            f"{question.new_name[:80]!r} one that it can have?"
        )
    if len(found) > FILES:
        raise ToolFailure(f"It would change {len(found):,} files; {FILES} are the most.")
    changes: list[Change] = []
    size = 0
    for uri, edits in found.items():
        changes.append(_change(uri, edits, server, sight))
        size += len(changes[-1].before) + len(changes[-1].after)
        if size > BYTES:
            raise ToolFailure("It would change more than 8 MB of text: rename by other means.")
    changes = [each for each in changes if each.before != each.after]
    if not changes:
        raise ToolFailure("It would change nothing: is that its name already?")
    changes.sort(key=lambda each: each.path)
    return Plan(question.new_name, tuple(changes))


def _by_file(said: WorkspaceEdit) -> Mapping[str, Sequence[TextEdit]]:
    found: dict[str, list[TextEdit]] = {}
    for each in said.document_changes or ():
        if each.kind or each.text_document is None:
            raise ToolFailure(
                "It would also create, rename or delete files, which only a person may. Rename by "
                "other means."
            )
        found.setdefault(each.text_document.uri, []).extend(each.edits)
    if not found:
        found = {uri: list(edits) for uri, edits in (said.changes or {}).items()}
    return {uri: edits for uri, edits in found.items() if edits}


def _change(uri: str, edits: Sequence[TextEdit], server: Server, sight: Sight) -> Change:
    path = path_of(uri)
    path = real_path(path) if path else ""
    if not path or not sight.inside(path):
        raise ToolFailure("It would change a file outside the project: rename by other means.")
    if not sight.readable(path):
        raise ToolFailure("It would change a file that a Read rule denies: rename by other means.")
    found = sight.text(path)
    if found is None:
        raise ToolFailure(f"{sight.shown(path)} cannot be read as text.")
    text = found[0]
    lines = Lines(text, server.abilities.encoding)
    spans = [(*lines.span(each.range), each.new_text) for each in edits]
    try:
        after = edited(text, spans)
    except ValueError as error:
        raise ToolFailure(f"{server.name} gave no usable rename: {error}.") from None
    return Change(path, text.encode(), after.encode("utf-8", "surrogatepass"), len(edits))
