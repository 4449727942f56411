"""Which servers count, whose word wins, and what is said of the others."""

from __future__ import annotations

from typing import Any

import pytest

from gatewright.mcp.configured import Configured, Given, Terms, configured
from gatewright.mcp.definitions import BadDefinition, Definition, read
from gatewright.mcp.expansion import expanded, variables
from gatewright.mcp.names import tool_names


def one(name: str = "db", **raw: Any) -> Definition:
    return read(name, {"command": "serve", **raw}, "user", "settings.json")


def named(found: Configured) -> dict[str, str]:
    return {each.name: f"{each.source} {each.command}" for each in found.servers}


def test_the_strongest_sources_whole_entry_counts() -> None:
    found = configured(
        [
            Given(
                "user", "u", {"db": {"command": "mine", "args": ["-x"]}, "own": {"command": "o"}}
            ),
            Given("project", "p", {"db": {"command": "theirs"}}),
            Given("local", "l", {"own": {"command": "local"}}),
        ]
    )
    assert named(found) == {"db": "project theirs", "own": "local local"}
    assert [(each.args, each.shadows) for each in found.servers] == [((), "user"), ((), "user")]


def test_the_nearest_file_of_a_project_counts() -> None:
    near = Given("project", "a/.mcp.json", {"db": {"command": "near"}})
    far = Given("project", ".mcp.json", {"db": {"command": "far"}})
    assert named(configured([near, far])) == {"db": "project near"}


def test_a_look_alike_of_a_weaker_source_is_refused() -> None:
    own, other = Given("user", "u", {"my-db": {"command": "a"}}), {"My_DB": {"command": "b"}}
    found = configured([own, Given("local", "l", other)])
    assert named(found) == {"My_DB": "local b"}
    assert [fault.text() for fault in found.faults] == ["u: mcpServers.my-db: looks like My_DB"]


@pytest.mark.parametrize(
    ("name", "raw", "said"),
    [
        ("a__b", {"command": "x"}, "the name may hold no two underscores"),
        ("a b", {"command": "x"}, "the name may hold letters"),
        ("IDE", {"command": "x"}, "the name is reserved"),
        ("plugin-x", {"command": "x"}, "the name is reserved"),
        ("a", [], "expected an object"),
        ("a", {}, "command: is missing"),
        ("a", {"comand": "x"}, "command: is missing; comand: is not known here, did you mean comm"),
        ("a", {"command": 3}, "command: expected str, got int"),
        ("a", {"command": "x", "args": ["a", 1]}, "args[1]: expected str"),
        ("a", {"url": "https://x"}, 'url: needs "type": "http"'),
        ("a", {"type": "http"}, "url: is missing"),
        ("a", {"type": "ws", "url": "wss://x"}, "ws is not spoken here"),
        ("a", {"type": "sdk", "name": "a"}, "type: is one of"),
        ("a", {"command": "x", "timeout": -1}, "timeout: is in milliseconds"),
        ("a", {"type": "http", "url": "https://x", "sandbox": True}, "sandbox: is for a program"),
        (
            "a",
            {"command": "x", "sandbox": {"netwrk": []}},
            "sandbox: object contains unknown field",
        ),
    ],
)
def test_a_bad_entry_says_what_is_wrong_and_drops_no_other(
    name: str, raw: object, said: str
) -> None:
    with pytest.raises(BadDefinition, match=said.replace("[", r"\[").split("(")[0]):
        read(name, raw, "user", "u")
    found = configured([Given("user", "u", {name: raw, "good": {"command": "x"}})])
    assert "good" in named(found)
    assert len(found.faults) == 1


def test_warnings_name_the_field_and_never_its_value() -> None:
    found = one(comand="x", env={"KEY": " secret "})
    assert found.warnings == (
        "comand: is not known here, did you mean command?",
        "env.KEY: has blanks around its value",
    )


def test_the_signature_is_of_every_word_but_the_switch() -> None:
    assert one(disabled=True).signature == one().signature
    assert one(args=["-y"]).signature != one().signature
    assert one(extra=1).signature != one().signature


@pytest.mark.parametrize(
    ("terms", "left"),
    [
        (Terms(), ["cmd", "far"]),
        (Terms(denied=[{"serverName": "CMD"}]), ["far"]),
        (Terms(denied=[{"serverCommand": ["serve", "-x"]}]), ["far"]),
        (Terms(denied=[{"serverCommand": ["serve"]}]), ["cmd", "far"]),
        (Terms(denied=[{"serverUrl": "https://*.example.com/*"}]), ["cmd"]),
        (Terms(allowed=[]), []),
        (Terms(allowed=[{"serverName": "far"}]), ["far"]),
        (Terms(allowed=[{"serverName": "far"}], denied=[{"serverName": "far"}]), []),
    ],
)
def test_lists_of_servers_filter_every_source(terms: Terms, left: list[str]) -> None:
    far = {"type": "http", "url": "https://a.example.com/mcp"}
    cmd = {"command": "serve", "args": ["-x"]}
    found = configured([Given("flag", "f", {"far": far}), Given("user", "u", {"cmd": cmd})], terms)
    assert sorted(named(found)) == left


def test_variables_are_filled_in_and_missing_ones_stay() -> None:
    definition = one(
        args=["${A}", "${B:-b}", "${C}", "$A"], env={"T": "x${A}"}, cwd="${EMPTY:-there}"
    )
    found = expanded(definition, {"A": "1", "EMPTY": ""})
    assert found.args == ("1", "b", "${C}", "$A")
    assert (found.env, found.cwd, found.missing) == ({"T": "x1"}, "there", ("C",))
    assert variables(definition) == (
        "A in args", "B in args", "C in args", "A in env.T", "EMPTY in cwd",
    )  # fmt: skip


def test_names_of_tools_are_what_providers_take_and_never_the_same() -> None:
    names = tool_names("db", ["get", "a.b", "a b", "x" * 90])
    assert names["get"] == "mcp__db__get"
    assert names["a.b"] != names["a b"]
    assert all(len(name) <= 64 for name in names.values())
    assert len(set(names.values())) == 4


def test_no_two_servers_have_tools_of_one_name() -> None:
    """Long names are cut: another server of the same beginning would answer in its place."""
    first, second = "x" * 58 + "a", "x" * 58 + "b"
    assert set(tool_names(first, ["t"]).values()) == set(tool_names(second, ["t"]).values())
    found = configured(
        [
            Given("user", "u", {second: {"command": "x"}}),
            Given("local", "l", {first: {"command": "y"}}),
        ]
    )
    assert [each.name for each in found.servers] == [first]
    assert found.faults[0].message == f"looks like {first}"


@pytest.mark.parametrize(
    ("entry", "denied"),
    [
        ({"command": "${NOPE:-npx}", "args": ["evil"]}, {"serverCommand": ["npx", "evil"]}),
        ({"command": "npx", "args": ["${WHICH}"]}, {"serverCommand": ["npx", "evil"]}),
        ({"url": "${NOPE:-https://evil.example}/mcp"}, {"serverUrl": "https://evil.example/*"}),
        ({"url": "https://evil.example./mcp"}, {"serverUrl": "https://evil.example/*"}),
        ({"url": "https://evil.example:443/mcp"}, {"serverUrl": "https://evil.example/*"}),
        ({"url": "https://EVIL.example"}, {"serverUrl": "https://evil.example/*"}),
        ({"url": "https://evil.example/a/../%6dcp"}, {"serverUrl": "https://evil.example/mcp"}),
    ],
)
def test_no_spelling_leads_around_a_denial(entry: dict[str, Any], denied: dict[str, Any]) -> None:
    raw = {"type": "http", **entry} if "url" in entry else entry
    terms = Terms(denied=[denied], variables=lambda _: {"WHICH": "evil"})
    assert configured([Given("project", "p", {"a": raw})], terms).servers == ()


@pytest.mark.parametrize(
    ("url", "pattern", "fits"),
    [
        ("https://a.corp.example/mcp", "https://*.corp.example/*", True),
        ("https://evil.example/x.corp.example/mcp", "https://*.corp.example/*", False),
        ("https://evil.example/?a=.corp.example/", "https://*.corp.example/*", False),
        ("https://a.corp.example@evil.example/", "https://a.corp.example*", False),
        ("https://a.corp.example.evil.example/", "https://a.corp.example/*", False),
        ("https://a.corp.example/ok/../admin", "https://a.corp.example/ok/*", False),
        ("http://a.corp.example/", "https://a.corp.example/*", False),
        ("https://a.corp.example:8443/", "https://a.corp.example/*", False),
        ("https://a.corp.example:8443/x", "https://a.corp.example:8443/*", True),
        ("https://a.corp.example/x?y=1", "https://a.corp.example/x", False),
        ("https://a.corp.example/x?y=1", "https://a.corp.example/x*", True),
        ("${X:-https://evil.example}/a", "https://a.corp.example/*", False),
        ("https://${X:-evil.example/}.corp.example/", "https://*.corp.example/*", False),
        ("https://anywhere.example/x", "*", True),
        ("https://a.corp.example", "https://a.corp.example", True),
    ],
)
def test_who_is_let_in_by_address_is_at_that_address(url: str, pattern: str, fits: bool) -> None:
    terms = Terms(allowed=[{"serverUrl": pattern}])
    found = configured([Given("user", "u", {"a": {"type": "http", "url": url}})], terms)
    assert bool(found.servers) is fits
