"""The macOS policy as text: what is allowed, what is taken away after it, and in which spelling."""

from __future__ import annotations

import re

from msgspec.structs import replace

from gatewright.permissions.sandbox.limits import Limits
from gatewright.permissions.sandbox.profile import Masked, Network, SandboxProfile
from gatewright.permissions.sandbox.seatbelt import command, policy

PROFILE = SandboxProfile(
    cwd="/Users/me/p",
    home="/Users/me",
    writable=("/Users/me/p",),
    seen=(),
    temp="/var/folders/x/T",
    anchors=("/Users/me/p/.git",),
    protected=("/Users/me/p/.git/hooks", '/Users/me/p/odd"name'),
    masked=(Masked("/Users/me/.ssh", "dir"),),
    network=Network(),
    limits=Limits(),
)


def with_network(network: Network, port: int = 0) -> str:
    return policy(replace(PROFILE, network=network), proxy_port=port)


def test_everything_is_denied_first() -> None:
    assert policy(PROFILE).startswith("(version 1)\n(deny default)\n")
    assert policy(PROFILE).count("(") == policy(PROFILE).count(")")
    assert command(PROFILE)[:2] == ["/usr/bin/sandbox-exec", "-p"]


def test_denials_follow_what_they_take_away_from() -> None:
    text = policy(PROFILE)
    allowed = text.index('(allow file-write*\n  (subpath "/Users/me/p")')
    assert allowed < text.index('(deny file-write*\n  (subpath "/Users/me/p/.git/hooks")')
    assert text.index("(allow file-read*)") < text.index('(deny file-read*\n  (subpath "/Users/me/')
    assert '(deny file-write-unlink\n  (literal "/Users/me/p/.git")' in text


def test_both_spellings_of_the_systems_aliases() -> None:
    text = policy(PROFILE)
    assert '(subpath "/var/folders/x/T")' in text
    assert '(subpath "/private/var/folders/x/T")' in text


def test_quotes_do_not_end_a_string() -> None:
    assert r'(subpath "/Users/me/p/odd\"name")' in policy(PROFILE)


def test_protected_names_at_any_depth_and_in_any_case() -> None:
    patterns = [
        re.compile(text) for text in re.findall(r'\(regex #"(\^/Users.*)"\)', policy(PROFILE))
    ]
    assert len(patterns) == 2

    def denied(path: str) -> bool:
        return any(pattern.search(path) for pattern in patterns)

    assert denied("/Users/me/p/a/b/.VSCode/tasks.json")
    assert denied("/Users/me/p/.mcp.json")
    assert denied("/Users/me/p/sub/.Git/Hooks/pre-commit")
    assert denied("/Users/me/p/.git/modules/x/config")
    assert not denied("/Users/me/p/.git/objects/ab")
    assert not denied("/Users/me/p/src/config")
    assert not denied("/Users/me/other/.vscode")


def test_the_network() -> None:
    assert "network" not in policy(PROFILE)
    assert "(allow network*)" in with_network(Network(reach="open"))
    proxied = with_network(Network(reach="proxy", allowed=("a.org",)), port=8123)
    assert '(allow network-outbound (remote ip "localhost:8123"))' in proxied
    assert "network-bind" not in proxied
    assert "network-bind" in with_network(Network(local_binding=True))
    assert '(path-literal "/x.sock")' in with_network(Network(unix_sockets=("/x.sock",)))
