"""The vendors' own packages as a wire: they sign, find credentials and rewrite addresses.

They carry the same bodies and give the same events as the direct transport, before they parse
anything; their retries are off. Importing them costs 0.3 to 0.7 s, so only what needs them does.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from gatewright.agent.errors import FailureKind, ProviderError
from gatewright.agent.providers.carrier import media_type
from gatewright.agent.providers.errors import failure, failure_of
from gatewright.agent.providers.streams.answer_limits import CONTENT, STREAM, Meter
from gatewright.agent.providers.streams.sse import Sse
from gatewright.agent.providers.transport.cloud_setup import not_set_up, of_a_signer
from gatewright.tools.protocol import JsonObject

if TYPE_CHECKING:
    import anthropic
    import httpx2
    import openai
    from anthropic.lib.bedrock import AsyncAnthropicBedrock
    from anthropic.lib.vertex import AsyncAnthropicVertex

    AnthropicClient: TypeAlias = (
        anthropic.AsyncAnthropic
        | AsyncAnthropicBedrock
        | AsyncAnthropicVertex
        | anthropic.AsyncAnthropicFoundry
    )


class _Event(Protocol):
    """A server-sent event as either package has it."""

    @property
    def event(self) -> str | None: ...
    @property
    def data(self) -> str: ...


class _Stream(Protocol):
    @property
    def response(self) -> httpx2.Response: ...
    def __aiter__(self) -> AsyncIterator[_Event]: ...


Post = Callable[[JsonObject], Awaitable[_Stream]]


class SdkReply:
    def __init__(self, stream: _Stream, who: str) -> None:
        self._stream = stream
        self._who = who

    @property
    def media_type(self) -> str:
        found = media_type(self._stream.response.headers.get("content-type", ""))
        return "text/event-stream" if found.startswith("application/vnd.amazon") else found

    async def events(self) -> AsyncIterator[Sequence[Sse]]:
        meter = Meter(self._who, STREAM)
        async for event in self._stream:
            if event.data:
                meter.took(len(event.data))
                yield (Sse(event.event or "", event.data.encode("utf-8")),)

    async def read(self) -> bytes:
        return await _body(self._stream.response, Meter(self._who, CONTENT))


class SdkWire:
    """`errors` are the package's exceptions: with a status, without an answer, all of them."""

    def __init__(
        self,
        name: str,
        *,
        post: Post,
        close: Callable[[], Awaitable[None]],
        errors: tuple[type[Exception], type[Exception], type[Exception]],
    ) -> None:
        self._name = name
        self._post = post
        self._close = close
        self._with_status, self._unanswered, self._base = errors

    @property
    def tried(self) -> None:
        """The package makes the address."""
        return None

    @asynccontextmanager
    async def exchange(self, body: JsonObject) -> AsyncGenerator[SdkReply]:
        import httpx2  # noqa: PLC0415  lazy: 54 ms, and the package has it already

        stream: _Stream | None = None
        try:
            stream = await self._open(body)
            yield SdkReply(stream, self._name)
        except self._with_status as error:
            raise await _with_status(error, self._name) from error
        except (self._unanswered, httpx2.TransportError, httpx2.StreamError) as error:
            raise self._transport_failure(error) from error
        except self._base as error:
            raise not_set_up(self._name, error) from error
        finally:
            if stream is not None:
                await stream.response.aclose()

    async def warm(self) -> None:
        """The package connects when it sends."""

    async def close(self) -> None:
        await self._close()

    async def _open(self, body: JsonObject) -> _Stream:
        """The packages look for credentials only now, and complain in their own ways."""
        try:
            return await self._post(body)
        except (ImportError, RuntimeError, ValueError) as error:
            raise not_set_up(self._name, error) from error
        except Exception as error:  # of boto and google, which have no base of their own in common
            if of_a_signer(error):
                raise not_set_up(self._name, error) from error
            raise

    def _transport_failure(self, error: Exception) -> ProviderError:
        cause = error.__cause__ or error
        said = str(cause) or type(cause).__name__
        return failure(FailureKind.TRANSPORT, f"the connection failed: {said}", who=self._name)


async def _body(response: httpx2.Response, meter: Meter) -> bytes:
    if response.is_stream_consumed:  # by the package, which looks into what failed
        return response.content
    parts: list[bytes] = []
    async for part in response.aiter_bytes():
        meter.took(len(part))
        parts.append(part)
    return b"".join(parts)


async def _with_status(error: Exception, who: str) -> ProviderError:
    response: httpx2.Response = vars(error)["response"]
    body = await _body(response, Meter(who, CONTENT))
    return failure_of(response.status_code, dict(response.headers), body, who=who)


def anthropic_wire(name: str, client: AnthropicClient) -> SdkWire:
    """Also for the clients of Bedrock, Vertex and Foundry, which share its base."""
    import anthropic  # noqa: PLC0415  lazy: 600 ms

    class Events(anthropic.AsyncStream[Any]):
        async def __stream__(self) -> AsyncIterator[Any]:
            async for event in self._iter_events():
                yield event

    async def post(body: JsonObject) -> _Stream:
        return await client.post(
            "/v1/messages", body=body, cast_to=object, stream=True, stream_cls=Events
        )

    errors = (anthropic.APIStatusError, anthropic.APIError, anthropic.AnthropicError)
    return SdkWire(name, post=post, close=client.close, errors=errors)


def openai_wire(name: str, client: openai.AsyncOpenAI, path: str) -> SdkWire:
    """Also for the client of Azure, which puts the deployment into the path."""
    import openai  # noqa: PLC0415  lazy: 300 ms

    class Events(openai.AsyncStream[Any]):
        async def __stream__(self) -> AsyncIterator[Any]:
            async for event in self._iter_events():
                yield event

    async def post(body: JsonObject) -> _Stream:
        return await client.post(path, body=body, cast_to=object, stream=True, stream_cls=Events)

    errors = (openai.APIStatusError, openai.APIError, openai.OpenAIError)
    return SdkWire(name, post=post, close=client.close, errors=errors)
