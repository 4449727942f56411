"""The answer on a terminal as it comes: all of it, once, and no line in the middle of another."""

from __future__ import annotations

import io

import pytest

from gatewright.agent.frontends import plain
from gatewright.agent.frontends.live import Live
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.record.events import AnyEvent, AssistantMessage, Envelope, TextDelta
from gatewright.agent.record.messages import TextPart
from gatewright.agent.text.printable import visible
from gatewright.tools.access import MAIN
from tests.fakes.house import house

GO = LaunchOptions(prompt="go", print_mode=True)
TOOLS = """
say: I will look first.
call: Read {"file_path": "a.py"}
---
say: Done.
"""


class Settled(io.StringIO):
    """What was out each time somebody else was about to write."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def settle(self) -> None:
        self.seen.append(self.getvalue())


async def run(script: str, options: LaunchOptions = GO, *, chatty: bool = False) -> Settled:
    out, err = Settled(), io.StringIO()
    async with house(script) as built:
        await plain.run(built.session, options, Live(out, out.settle), err, chatty=chatty)
    return out


async def test_every_message_is_shown_once() -> None:
    assert (await run(TOOLS)).getvalue() == "I will look first.\nDone.\n"


@pytest.mark.parametrize("size", [1, 2, 5, 1000])
def test_in_whatever_pieces_it_comes(size: int) -> None:
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    whole = f"Gr\u00fc\u00df {family} an alle\r\nund \u6f22\u5b57\u3002"
    written: list[str] = []
    out = Settled()
    out.write = written.append  # type: ignore[assignment,method-assign]
    live = Live(out, out.settle)
    for start in range(0, len(whole), size):
        live.saw(envelope(TextDelta(text=whole[start : start + size])))
    live.saw(envelope(AssistantMessage(id="m", model="x", parts=(TextPart(whole),))))
    assert "".join(written) == f"{whole}\n"
    assert "".join(map(visible, written)) == visible(f"{whole}\n"), "none is read by halves"


def envelope(event: AnyEvent) -> Envelope:
    return Envelope(seq=1, uuid="u", parent="", timestamp=0.0, agent=MAIN, event=event)


async def test_others_begin_a_line_of_their_own() -> None:
    out = await run(TOOLS, chatty=True)
    assert out.seen
    assert all(text.endswith("\n") for text in out.seen if text)


async def test_what_broke_off_is_shown_again_from_its_start() -> None:
    script = "say: Half a\nerror: transport message=Gone.\n---\nsay: Half a sentence."
    assert (await run(script)).getvalue() == "Half a\nHalf a sentence.\n"


async def test_an_answer_with_a_shape_is_printed_when_it_is_right() -> None:
    shaped = LaunchOptions(prompt="go", print_mode=True, json_schema='{"type": "object"}')
    assert (await run('say: {"a": 1}', shaped)).getvalue() == '{"a":1}\n'
