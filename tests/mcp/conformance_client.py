"""Our side of the public conformance suite: `python conformance_client.py URL`, told by variables.

It drives what a session drives: a `Server` with its connection, its login and its tools. The person
at the page is played by a client that follows where a login server sends a browser.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import httpx2

from gatewright.mcp.asked.form import form_of
from gatewright.mcp.asked.questions import Elicitation, Reply
from gatewright.mcp.described import Described
from gatewright.mcp.errors import NotConnected
from gatewright.mcp.oauth.callback import Callback
from gatewright.mcp.oauth.desk import Desk, Wanted
from gatewright.mcp.oauth.errors import LoginFailed
from gatewright.mcp.oauth.grant import Grant, name_of, resource_of
from gatewright.mcp.oauth.logins import Login
from gatewright.mcp.server import Server
from gatewright.mcp.talk import connection
from gatewright.mcp.talk.login import log_in
from gatewright.tools.protocol import ToolFailure
from tests.mcp.test_login import Person
from tests.mcp.test_remote import far
from tests.mcp.test_server import Bench, words

SCENARIO = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
CONTEXT = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
ABOUT_US = "https://conformance-test.local/client-metadata.json"
LOGINS = 3  # a person does not log in for ever
SAMPLES: dict[str, Any] = {
    "text": "text",
    "string": "text",
    "boolean": True,
    "array": [],
    "object": {},
}


class Run:
    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.bench, self.person = Bench(folder), Person(folder)
        oauth = {"clientId": CONTEXT["client_id"]} if CONTEXT.get("client_id") else {}
        self.client = oauth.get("clientId", "")
        self.bench.login = self.login
        self.bench.elicits = agreed
        self.server: Server = far(self.bench, url, oauth=oauth)
        self.left = LOGINS

    def login(self, url: str, client: str) -> Any:
        return Login(name_of(resource_of(url), client), self.person.shelf, self.person.folder)

    async def all(self) -> None:
        if self.client:
            secret = CONTEXT.get("client_secret", "")
            grant = Grant(resource=self.url, client_id=self.client, client_secret=secret)
            await self.login(self.url, self.client).keep(grant)
        await self.connected()
        tools = list(self.server.tools().values())
        for tool in tools:
            given = arguments(tool.schema)
            if tool.name == "json_schema_echo":
                given = {"schema": tools[0].schema}
            for call in CONTEXT.get("toolCalls", ()):
                if call["name"] == tool.name:
                    given = call["arguments"]
            print(f"{tool.name}: {await self.called(tool, given)}")
        await self.server.close()

    async def connected(self) -> None:
        while True:
            try:
                await self.server.ready()
            except NotConnected as error:
                if error.login is None:
                    raise
                await self.logs_in(error.login.header)
            else:
                return

    async def called(self, tool: Described, given: dict[str, Any]) -> str:
        while True:
            # As a session does after it checked the input: one scenario wants what we would refuse.
            try:
                return words(await self.server.call(tool, given, self.bench.context()))
            except ToolFailure as failure:
                if (wants := self.server.wants.refusal) is None:
                    return str(failure)
            await self.logs_in(wants.header)
            self.server.wants.clear()
            await self.connected()

    async def logs_in(self, challenge: str) -> None:
        if not self.left:
            raise LoginFailed("there were logins enough")
        self.left -= 1
        wanted = Wanted(
            url=self.url,
            oauth=self.server.definition.oauth,
            metadata_url=ABOUT_US,
            challenge=challenge,
        )
        await log_in(wanted, self.login(self.url, self.client), Desk(sure=sure, show=show))


async def agreed(name: str, asked: Elicitation) -> Reply:
    """A person who takes what is filled in already, and something for the rest."""
    del name
    form = form_of(asked.schema or {})
    values = {
        field.name: sample({"type": field.type}) if field.default is None else field.default
        for field in form.fields
    }
    return Reply("accept", form.content(values))


async def sure(question: str) -> bool:
    print(question)
    return True


async def show(page: str, callback: Callback) -> None:
    """A browser: of what comes back only the address is looked at."""
    async with httpx2.AsyncClient(trust_env=False, verify=False) as browser:
        answer = await browser.get(page)
    callback.pasted(answer.headers["location"])


def arguments(schema: dict[str, Any]) -> dict[str, Any]:
    """Something for everything that is asked for."""
    return {
        name: about.get("default", about.get("enum", [sample(about)])[0])
        for name, about in schema.get("properties", {}).items()
    }


def sample(about: dict[str, Any]) -> Any:
    return SAMPLES.get(about.get("type", ""), 5)


async def main(url: str) -> int:
    connection.PROBE = 30.0  # thirty of us run at once: whoever is slow is not of the older era
    with tempfile.TemporaryDirectory() as folder:
        run = Run(url, Path(folder))
        try:
            await run.all()
        except (NotConnected, LoginFailed) as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
            return 1
        finally:
            await run.server.close()
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[-1])))
