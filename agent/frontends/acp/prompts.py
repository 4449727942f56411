"""The prompts of one session: in order, each answered once, whatever hangs.

A prompt waits for the turn before it. What is cancelled is answered soon, even if its turn is not
over by then; the next prompt waits for that.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

from msgspec.structs import replace

from gatewright.agent.errors import FailureKind
from gatewright.agent.frontends.acp.jsonrpc import AUTH, DEFECT, RpcError
from gatewright.agent.frontends.acp.offered_options import full_access
from gatewright.agent.frontends.acp.prompt_blocks import Message
from gatewright.agent.frontends.acp.shown_blocks import markdown
from gatewright.agent.frontends.slash_text import ASKS, command, no_command
from gatewright.agent.record.events import InputRefused, TurnEnded, UserMessage
from gatewright.agent.record.ids import new_id
from gatewright.agent.session.session import Session
from gatewright.agent.turn.stop import Stop
from gatewright.tools.system.untyped_json import Json

SETTLES = 1.5  # seconds that a cancelled turn has, of the two in which its prompt is answered
MOST = 64  # prompts that wait
FULL = f"{MOST} prompts of this session wait already."
ENDS = {
    Stop.COMPLETED: "end_turn",
    Stop.USER_REFUSED: "end_turn",
    Stop.HOOK_STOPPED: "end_turn",
    Stop.TOOL_DEFERRED: "end_turn",
    Stop.MAX_TURNS: "max_turn_requests",
    Stop.BUDGET_EXHAUSTED: "max_turn_requests",
    Stop.LOOP_GUARD: "max_turn_requests",
    Stop.ABORTED_STREAMING: "cancelled",
    Stop.ABORTED_TOOLS: "cancelled",
}
MODEL_STOPS = {"length": "max_tokens", "refusal": "refusal"}
Read: TypeAlias = Callable[[], Awaitable[Message]]
CANCELLED: Json = {"stopReason": "cancelled"}


class _Prompt:
    def __init__(self, read: Read) -> None:
        loop = asyncio.get_running_loop()
        self.read = read
        self.id = new_id()
        self.sent = self.taken = False
        self.ended: asyncio.Future[TurnEnded | None] = loop.create_future()  # None: not sent
        self.answer: asyncio.Future[Json] = loop.create_future()

    def settle(self, answer: Json) -> None:
        if not self.answer.done():
            self.answer.set_result(answer)

    def fail(self, error: BaseException) -> None:
        if not self.answer.done():
            self.answer.set_exception(error)


class Prompts:
    """`say` shows the client a text of ours; `auth` says how a model can be had."""

    def __init__(
        self, session: Session, say: Callable[[str], None], auth: Callable[[], Sequence[Json]]
    ) -> None:
        self._session, self._say, self._auth = session, say, auth
        self._waiting: deque[_Prompt] = deque()
        self._now: _Prompt | None = None
        self._work: asyncio.Task[None] | None = None
        self._cancelling: set[asyncio.Task[None]] = set()

    async def answer(self, read: Read) -> Json:
        """The end of its turn. Raises RpcError.

        What it says is read when it is its turn: it is in its place, and can be cancelled, before.
        """
        if len(self._waiting) >= MOST:
            raise RpcError(DEFECT, FULL)
        prompt = _Prompt(read)
        self._waiting.append(prompt)
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._run(), name="prompts of a client")
        return await prompt.answer

    def cancel(self) -> None:
        """Stop what runs, and take up nothing of what waits."""
        waiting, self._waiting = list(self._waiting), deque()
        for prompt in waiting:
            prompt.settle(CANCELLED)
        back = self._session.take_back(lambda taken: None)  # noqa: ARG005  nobody wants it back
        self._session.interrupt()
        now = self._now
        if now is not None and (back or not now.sent):
            now.settle(CANCELLED)  # it has no turn that could end
        elif now is not None:
            task = asyncio.create_task(self._settled(now), name="a cancelled prompt")
            self._cancelling.add(task)
            task.add_done_callback(self._cancelling.discard)

    async def close(self) -> None:
        self.cancel()
        ending = [*self._cancelling, *([self._work] if self._work is not None else [])]
        if self._now is not None:
            self._now.settle(CANCELLED)
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)

    # what happens, in order

    def saw(self, event: UserMessage | TurnEnded | InputRefused) -> None:
        prompt = self._now
        if prompt is None:
            return
        match event:
            case UserMessage(input_id=id):
                prompt.taken = prompt.taken or id == prompt.id
            case InputRefused() if not prompt.taken and not prompt.ended.done():
                prompt.ended.set_result(None)
            case TurnEnded() if prompt.taken and not prompt.ended.done():
                prompt.ended.set_result(event)
            case _:
                pass

    async def _settled(self, prompt: _Prompt) -> None:
        """A turn that ends by itself meanwhile says how; one that hangs is not waited for."""
        await asyncio.wait([prompt.answer], timeout=SETTLES)
        prompt.settle(CANCELLED)

    async def _run(self) -> None:
        while self._waiting:
            prompt = self._now = self._waiting.popleft()
            doing = asyncio.create_task(self._one(prompt), name="a prompt")
            try:
                either: list[asyncio.Future[Any]] = [doing, prompt.answer]
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            finally:
                doing.cancel()
                await asyncio.wait([doing])
                self._now = None
            if not doing.cancelled() and (defect := doing.exception()) is not None:
                prompt.fail(defect)
            prompt.settle(CANCELLED)

    async def _one(self, prompt: _Prompt) -> None:
        session, message = self._session, await prompt.read()
        await session.opened()
        await session.idle()  # a turn that woke by itself, or one that was cancelled
        scope, text = None, message.text
        if text.lstrip().startswith("/"):
            front = replace(ASKS, agrees=full_access(session))
            said = no_command(session, text) or await command(session, text, front, markdown)
            if isinstance(said, str):
                await session.keep()  # it may have chosen something
                self._say(said)
                prompt.settle({"stopReason": "end_turn"})
                return
            text, scope = said.text, said.scope
        if session.setup_due:
            data = {"authMethods": list(self._auth())}
            raise RpcError(AUTH, "No model is set up. Give a key, or name a model.", data)
        if prompt.answer.done():
            return  # cancelled meanwhile: nothing of it is sent any more
        prompt.sent = True
        session.submit(text, message.attachments, scope=scope, id=prompt.id)
        ended = await prompt.ended
        if ended is None:
            prompt.settle({"stopReason": "end_turn"})
        else:
            prompt.settle(answered(ended))


def answered(ended: TurnEnded) -> Json:
    """Raises RpcError for what is no end of a turn but a failure of the provider."""
    reason = MODEL_STOPS.get(ended.model_stop) or ENDS.get(ended.stop)
    if reason is None:
        data: dict[str, Any] = {"kind": _kind(ended)}
        if ended.retry_after is not None:
            data["retryAfter"] = ended.retry_after
        code = AUTH if ended.failure is FailureKind.AUTH else DEFECT
        raise RpcError(code, ended.message or str(ended.stop), data)
    return {"stopReason": reason, "usage": usage(ended)}


def _kind(ended: TurnEnded) -> str:
    return str(ended.failure.value if ended.failure is not None else ended.stop.value)


def usage(ended: TurnEnded) -> Json:
    used = ended.usage
    told = {
        "inputTokens": used.input,
        "outputTokens": used.output,
        "cachedReadTokens": used.cache_read,
        "cachedWriteTokens": used.cache_write,
    }
    return {**told, "totalTokens": sum(told.values())}
