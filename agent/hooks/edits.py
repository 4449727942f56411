"""A call that changes files under another name than Edit is an Edit of each file to hooks, too.

People's hooks name the tools that edit; what forbids, checks or formats an edit holds for these.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TypeAlias

from msgspec.structs import replace

from gatewright.tools.access import Access, Edited
from gatewright.tools.moments import (
    CallDenied,
    CallEnded,
    CallPrepared,
    Moment,
    PersonNeeded,
    Verdict,
    merged,
)
from gatewright.tools.protocol import JsonObject, ToolCall, ToolResult

NAME = "Edit"  # what everybody's hooks call it
KEPT = 50  # calls under way
_Asked: TypeAlias = CallPrepared | PersonNeeded


class Edits:
    """Knows of each call under way what it changes: when it has ended, its plan is gone."""

    def __init__(self) -> None:
        self._of: OrderedDict[str, tuple[Edited, ...]] = OrderedDict()

    def each(self, moment: Moment) -> Sequence[Moment]:
        """The moment as it is for each file; none for all other calls."""
        match moment:
            case CallPrepared(call=call, access=access) | PersonNeeded(call=call, access=access):
                if access.edits:
                    self._of[call.id] = access.edits
                    while len(self._of) > KEPT:
                        self._of.popitem(last=False)
                return [_asked(moment, each) for each in access.edits]
            case CallEnded(call=call, result=result):
                edits = self._of.pop(call.id, ())
                return [_ended(moment, each) for each in edits] if result.ok else ()
            case CallDenied(call=call):
                self._of.pop(call.id, None)
                return ()
            case _:
                return ()


def _asked(moment: _Asked, edit: Edited) -> Moment:
    access = Access(reads=(edit.path,), writes=(edit.path,))
    return replace(moment, call=_call(moment.call, edit), access=access)


def _ended(moment: CallEnded, edit: Edited) -> Moment:
    data: JsonObject = {
        "filePath": str(edit.path), "oldString": edit.old, "newString": edit.new,
        "replaceAll": False,
    }  # fmt: skip
    result = replace(ToolResult.text(f"{edit.path} was changed."), data=data)
    return replace(moment, call=_call(moment.call, edit), result=result)


def _call(call: ToolCall, edit: Edited) -> ToolCall:
    input: JsonObject = {
        "file_path": str(edit.path), "old_string": edit.old, "new_string": edit.new,
    }  # fmt: skip
    return ToolCall(call.id, NAME, input)


def with_edits(whole: Verdict, each: Sequence[Verdict], files: int) -> Verdict:
    """The strictest word of all. To allow, every file has to be; nothing of a part is rewritten."""
    allowed = len(each) == files and all(one.word == "allow" for one in each)
    parts = [
        Verdict(
            word="" if one.word == "allow" and not allowed else one.word,
            text=one.text,
            context=one.context,
            notice=one.notice,
        )
        for one in each
    ]
    return merged([whole, *parts])
