"""An agent of ours that speaks the protocol by a script: a program of its own, that needs nothing.

`python scripted_agent.py STORY`: a JSON file with `start` (how it answers at first) and `prompts`,
a list of steps for each. What it was answered, or told, it says where the story wants that.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Json = dict[str, Any]


class Agent:
    def __init__(self, story: Json) -> None:
        self.start: Json = story.get("start", {})
        self.prompts: list[list[Json]] = story.get("prompts", [])
        self.session, self.cancelled, self.deaf = "s1", False, False
        self.answers: list[Any] = []
        self.told: list[Any] = []  # the prompts it got
        self.ids: list[str] = []  # of its terminals
        self.begun: dict[int, int] = {}  # requests that were begun and not waited for
        self.found: dict[int, Any] = {}
        self.next = 100

    def send(self, **message: Any) -> None:
        self.raw(json.dumps({"jsonrpc": "2.0", **message}) + "\n")

    def raw(self, text: str) -> None:
        os.write(1, text.encode()) if len(text) < 4096 else self._all(text.encode())

    def _all(self, data: bytes) -> None:
        while data:
            data = data[os.write(1, data) :]

    def receive(self) -> Json:
        line = sys.stdin.readline()
        if not line:
            sys.exit(0)
        message: Json = json.loads(line)
        if message.get("method") == "session/cancel":
            self.cancelled = True
        return message

    def main(self) -> None:
        while True:
            self.serve(self.receive())

    def serve(self, message: Json) -> None:
        method, id = message.get("method"), message.get("id")
        how: Json | None = self.start.get(str(method))
        if how is not None:
            for step in how.get("steps", ()):
                self.step(step)
            if "result" in how:
                self.send(id=id, result=how["result"])
            elif "error" in how:
                self.send(id=id, error=how["error"])
        elif method == "initialize":
            self.told.append(message["params"])
            result = {"protocolVersion": 1, "agentCapabilities": {}, "agentInfo": {"name": "x"}}
            self.send(id=id, result=result)
        elif method == "session/new":
            self.told.append(message["params"])
            self.send(id=id, result={"sessionId": self.session, "modes": {"availableModes": []}})
        elif method == "session/prompt":
            self.prompt(message)
        elif id is not None and method is not None:
            self.send(id=id, error={"code": -32601, "message": "unknown"})

    def prompt(self, message: Json) -> None:
        self.cancelled = False
        self.told.append([block.get("text") for block in message["params"]["prompt"]])
        reason: str = "end_turn"
        for step in self.prompts.pop(0) if self.prompts else [{"say": "nothing to do"}]:
            if "stop" in step:
                reason = step["stop"]
            else:
                self.step(step)
        if self.cancelled:
            reason = "cancelled"
        self.send(id=message["id"], result={"stopReason": reason})

    def step(self, step: Json) -> None:
        (what,) = step
        self.steps[what](step[what])

    def say(self, text: str) -> None:
        block = {"type": "text", "text": text}
        self.update({"sessionUpdate": "agent_message_chunk", "content": block})

    def report(self, what: str) -> None:
        self.say(json.dumps(self.answers if what == "answers" else self.told))

    def until_cancelled(self, _: Any) -> None:
        while not self.cancelled:
            self.receive()

    def ignore(self, _: Any) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            signal.pause()

    def write(self, path: str) -> None:
        try:
            Path(path).write_text("x", encoding="utf-8")
            self.answers.append("written")
        except OSError as error:
            self.answers.append(f"cannot: {error.strerror}")

    def look(self, path: str) -> None:
        try:
            self.answers.append(Path(path).read_text(encoding="utf-8")[:80])
        except OSError as error:
            self.answers.append(f"cannot: {error.strerror}")

    def reach(self, address: str) -> None:
        host, _, port = address.partition(":")
        try:
            socket.create_connection((host, int(port)), timeout=5).close()
            self.answers.append("reached")
        except OSError as error:
            self.answers.append(f"cannot: {error.strerror}")

    def flood(self, count: int) -> None:
        for _ in range(count):
            self.raw('{"jsonrpc": "2.0", "method": "x"}\n' * 100)

    def remember(self, request: list[Any]) -> None:
        self.begun[len(self.begun)] = self.begin(*request)

    @property
    def steps(self) -> dict[str, Callable[[Any], object]]:
        return {
            "say": self.say,
            "report": self.report,
            "update": self.update,
            "ask": lambda request: self.answers.append(self.ask(*request)),
            "begin": self.remember,
            "await": lambda at: self.answers.append(self.awaited(self.begun[at])),
            "until": self.until_cancelled,
            "ignore": self.ignore,
            "write": self.write,
            "look": self.look,
            "reach": self.reach,
            "env": lambda name: self.answers.append(os.environ.get(name)),
            "errors": lambda text: os.write(2, text.encode()),
            "raw": self.raw,
            "long": lambda size: self.raw("x" * size + "\n"),
            "flood": self.flood,
            "exit": os._exit,
        }

    def update(self, update: Json) -> None:
        params = {"sessionId": self.session, "update": update}
        self.send(method="session/update", params=params)

    def begin(self, method: str, params: Json) -> int:
        self.next += 1
        given = {"sessionId": self.session, **params}
        if given.get("terminalId") == "$":
            given["terminalId"] = self.ids[-1]
        self.send(id=self.next, method=method, params=given)
        return self.next

    def ask(self, method: str, params: Json) -> Any:
        return self.awaited(self.begin(method, params))

    def awaited(self, id: int) -> Any:
        while id not in self.found:
            message = self.receive()
            if "method" in message:
                if message["method"] != "session/cancel":
                    self.serve(message)
            elif isinstance(message.get("id"), int):
                self.found[message["id"]] = message
        message = self.found.pop(id)
        if "error" in message:
            return {"error": message["error"]}
        result: Json = message["result"] or {}
        if made := result.get("terminalId"):
            self.ids.append(made)
        return result


if __name__ == "__main__":
    Agent(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))).main()
