"""Both ways to a server, the direct one and the vendors' packages, give equal pieces."""

from __future__ import annotations

from contextlib import aclosing

import pytest

from gatewright.agent.errors import ProviderError
from gatewright.agent.providers.protocol import Alive, Piece, Request, TextPiece
from gatewright.agent.providers.registry import open_provider
from gatewright.agent.providers.settings import ProviderSettings
from gatewright.agent.record.messages import UserTurn
from gatewright.tools.protocol import TextContent
from tests.fakes.examples import some
from tests.fakes.model_server import ModelServer

REQUEST = Request(
    model="m",
    system=("s",),
    tools=(),
    turns=(UserTurn((TextContent("hello"),)),),
    max_output=100,
)
SCRIPTS = {
    "text": "say: Hello wörld 🎉, line\u2028separator and\x0cform feed",
    "everything": (
        'think: Hm.\nsay: Words.\ncall: Read {"file_path": "ä"}\ncall[]: Grep {"pattern": "x"}\n'
        "badcall: Read {oops\nusage: in=5 out=7 cache_read=9 cache_write=3"
    ),
    "careless": 'double:\natonce:\nnoindex:\nsay: Words.\ncall: Read {"a": 1}\nstop: length',
    "bytes": "chunks: 1\nthink: A thought.\nsay: Grüße\nping:\nsay: again",
    "refusal": "say: No.\nstop: refusal Not this.",
    "document": 'json:\nsay: All at once.\ncall: Read {"a": 1}',
    "no end": "nostop:\nsay: x",
    "cut": "say: half\ncut:",
    "dropped": "say: half\ndrop:",
    "error in the stream": "say: half\nerror: overloaded message=Busy",
    "garbage": "raw: data: {oops\\n\\n",
    "overloaded": "error: overloaded retry_after=3",
    "rate": "error: rate retry_after=3 message=Slow down",
    "bad key": "error: auth",
    "too long": "error: too_long",
    "refused": "error: refused message=No such field",
    "html": "status: 502 body=<html>Bad gateway</html>",
}


async def outcome(api: str, transport: str, script: str) -> tuple[list[Piece], object]:
    pieces: list[Piece] = []
    async with ModelServer(script) as server:
        base = server.url if api == "anthropic" else server.openai_url
        settings = ProviderSettings(
            type=api,
            base_url=base,
            transport="sdk" if transport == "sdk" else "http",
        )
        provider = open_provider("fake/m", settings={"fake": settings}, env={}).provider
        try:
            async with aclosing(provider.stream(REQUEST)) as stream:
                async for piece in stream:
                    if isinstance(piece, Alive):
                        continue  # the packages do not tell of comments
                    if pieces and isinstance(piece, TextPiece):
                        before = pieces[-1]
                        if isinstance(before, TextPiece):  # how much comes at once is no matter
                            pieces[-1] = TextPiece(before.text + piece.text)
                            continue
                    pieces.append(piece)
        except ProviderError as error:
            return pieces, (error.kind, error.status, error.retry_after)
        finally:
            await provider.close()
    return pieces, None


@pytest.mark.parametrize("api", ["anthropic", "openai", "openai-responses"])
@pytest.mark.parametrize("name", some(SCRIPTS, 2))
async def test_direct_and_packages_agree(api: str, name: str) -> None:
    direct = await outcome(api, "http", SCRIPTS[name])
    assert direct == await outcome(api, "sdk", SCRIPTS[name])
    assert direct[0] or direct[1]
