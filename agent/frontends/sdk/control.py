"""The control protocol's wire: our requests to the client and its answers, matched by id."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from gatewright.agent.frontends.json_lines import Sink, encode
from gatewright.tools.system.untyped_json import Json, obj


class Refused(Exception):
    """The client answered with an error, or went away before it answered."""


class Client:
    """Who holds the other ends of our standard streams.

    Nobody knows the id of a request before it was sent: an answer written ahead finds none.
    """

    def __init__(self, out: Sink, new_id: Callable[[], str]) -> None:
        self._out = out
        self._new_id = new_id
        self._waiting: dict[str, asyncio.Future[Json]] = {}
        self._gone = False

    async def request(self, body: Json) -> Json:
        """Ask the client; a person may be behind it, so this waits as long as it is there.

        Raises Refused. Cancelling tells the client that nobody waits any more.
        """
        if self._gone:
            raise Refused("The client closed its end.")
        id = f"ask-{self._new_id()}"
        future: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._waiting[id] = future
        self.send({"type": "control_request", "request_id": id, "request": body})
        try:
            return await future
        except asyncio.CancelledError:
            self.send({"type": "control_cancel_request", "request_id": id})
            raise
        finally:
            self._waiting.pop(id, None)

    def answered(self, response: Json) -> None:
        """A control_response arrived; one that nobody waits for is dropped."""
        future = self._waiting.get(str(response.get("request_id")))
        if future is None or future.done():
            return
        if response.get("subtype") == "success":
            future.set_result(obj(response.get("response")))
        else:
            future.set_exception(Refused(str(response.get("error", "no reason given"))))

    def gone(self) -> None:
        """Its end is closed: nothing that waits will be answered."""
        self._gone = True
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(Refused("The client closed its end."))

    def reply(self, request_id: str, body: Json) -> None:
        response = {"subtype": "success", "request_id": request_id, "response": body}
        self.send({"type": "control_response", "response": response})

    def refuse(self, request_id: str, error: str) -> None:
        response = {"subtype": "error", "request_id": request_id, "error": error}
        self.send({"type": "control_response", "response": response})

    def send(self, line: Json) -> None:
        self._out.write(encode(line))
