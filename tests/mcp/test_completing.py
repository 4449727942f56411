"""What is offered behind `@server:`, and changes of resources that were read."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.commands.registry import Mention
from gatewright.agent.record.events import UserMessage
from gatewright.mcp.offered.completing import place_in
from tests.fakes.near_server import NEAR, Near, instead
from tests.fakes.waiting import PATIENCE, eventually
from tests.mcp.test_session import connected
from tests.permissions.composed import desk

OWN = {"mcpServers": {"db": NEAR}}
RESOURCES = {"resources": [
    {"uri": "db://notes", "name": "Notes", "description": "all of them\x1b[2J"},
    {"uri": "db://plans/next", "name": "Plans"},
]}  # fmt: skip
TEMPLATES = {"resourceTemplates": [
    {"uriTemplate": "db://{table}/rows/{id}", "name": "A row"},
    {"uriTemplate": "other://x{?query}", "name": "odd"},
]}  # fmt: skip
READ = {"contents": [{"uri": "db://notes", "text": "hello"}]}


@pytest.mark.parametrize(
    ("begun", "place"),
    [
        ("db://", ("table", "", "db://", "/rows/", False)),
        ("db://us", ("table", "us", "db://", "/rows/", False)),
        ("db://users/rows/", ("id", "", "db://users/rows/", "", True)),
        ("db://users/rows/4", ("id", "4", "db://users/rows/", "", True)),
        ("db:", None),
        ("x://", None),
        ("db:///rows/", None),
    ],
)
def test_the_place_of_a_template_that_is_written(begun: str, place: object) -> None:
    found = place_in("db://{table}/rows/{id}", begun)
    if place is None:
        assert found is None
    else:
        assert found is not None
        assert (found.name, found.begun, found.before, found.after, found.last) == place
    assert place_in("x{?query}", "xy") is None


def serving(answer: Any) -> Near:
    near = Near({
        "resources/list": RESOURCES, "resources/templates/list": TEMPLATES,
        "completion/complete": answer, "resources/read": READ, "resources/subscribe": {},
        "resources/unsubscribe": {},
    })  # fmt: skip
    near.capabilities["completions"] = {}
    near.capabilities["resources"] = {"listChanged": True, "subscribe": True}
    return near


async def test_servers_resources_templates_and_their_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def values(params: dict[str, Any]) -> dict[str, Any]:
        begun = params["argument"]["value"]
        names = {"table": ["users", "uploads", "a b"], "id": ["4", "42"]}
        found = [each for each in names[params["argument"]["name"]] if each.startswith(begun)]
        return {"completion": {"values": found, "hasMore": False}}

    near = serving(values)
    instead(monkeypatch, near)
    async with desk(tmp_path, [], own=OWN) as made:
        await connected(made, "db")

        async def names(begun: str) -> list[tuple[str, bool]]:
            return [(each.name, each.open) for each in await made.session.mentions(begun)]

        assert await names("") == [("db:", True)]
        assert await names("db:") == [
            ("db:db://notes", False), ("db:db://plans/next", False), ("db:db://", True),
            ("db:other://x", True),
        ]  # fmt: skip
        assert await names("db:PLANS") == [("db:db://plans/next", False)]
        assert ("db:db://users/rows/", True) in await names("db:db://u")
        assert await names("db:db://users/rows/4") == [
            ("db:db://users/rows/4", False), ("db:db://users/rows/42", False),
        ]  # fmt: skip
        assert await names("nobody:x") == []
        (notes,) = [each for each in await made.session.mentions("db:no") if "notes" in each.name]
        assert notes == Mention("db:db://notes", "Notes: all of them<U+001B>[2J")
        assert len(near.of("resources/list")) == 1


async def test_a_server_that_does_not_complete_in_time_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(params: dict[str, Any]) -> dict[str, Any]:
        del params
        await asyncio.Event().wait()
        return {}

    instead(monkeypatch, serving(never))
    async with desk(tmp_path, [], own=OWN) as made:
        await connected(made, "db")
        await made.session.mentions("db:")
        began = time.monotonic()
        assert await made.session.mentions("db:db://u") == []
        assert 0.2 < time.monotonic() - began < PATIENCE


async def test_many_templates_are_asked_about_within_one_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once: list[int] = []

    async def last_alone(params: dict[str, Any]) -> dict[str, Any]:
        """Only the template of number 3 knows something; the others are silent."""
        at_once.append(1)
        if params["ref"]["uri"] != "db://t3/{table}":
            await asyncio.Event().wait()
        return {"completion": {"values": ["users"]}}

    near = serving(last_alone)
    near.answers["resources/templates/list"] = {
        "resourceTemplates": [
            {"uriTemplate": f"db://t{n % 10}/{{{'table' if n < 10 else f'x{n}'}}}", "name": "t"}
            for n in range(500)
        ]
    }
    instead(monkeypatch, near)
    async with desk(tmp_path, [], own=OWN) as made:
        await connected(made, "db")
        await made.session.mentions("db:")
        began = time.monotonic()
        found = await made.session.mentions("db:db://t3/")
        assert [each.name for each in found] == ["db:db://t3/users"]
        assert 0.2 < time.monotonic() - began < 10  # one after another these were 15 s
        assert len(at_once) <= 9


async def test_a_resource_that_was_read_and_changes_is_told_to_the_model_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    near = serving({})
    instead(monkeypatch, near)
    async with desk(tmp_path, ["say: one", "say: two", "say: three"], own=OWN) as made:
        await connected(made, "db")
        made.session.submit("look at @db:db://notes")
        await made.ended()
        await eventually(lambda: near.of("resources/subscribe") != [])
        assert near.of("resources/subscribe") == [{"uri": "db://notes"}]
        for uri in ("db://notes", "db://notes", "db://other"):
            await near.notify("notifications/resources/updated", {"uri": uri})
        told = "The resource db://notes of the MCP server db has changed since it was read."
        made.session.submit("and now?")
        await made.ended(2)
        assert str(made.server.bodies[1]).count(told) == 1
        made.session.submit("again: @db:db://notes")
        await made.ended(3)
        await near.notify("notifications/resources/updated", {"uri": "db://notes"})
        hidden = [e for e in made.seen.of(UserMessage) if e.hidden and told in str(e.content)]
        assert len(hidden) == 1
        assert len(near.of("resources/subscribe")) == 1
