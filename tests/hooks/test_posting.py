"""Hooks that are addresses, and hooks that are questions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from gatewright.agent.errors import FailureKind, ProviderError
from gatewright.agent.hooks.answered.answers import understood
from gatewright.agent.hooks.kinds.judging_model import judged, question
from gatewright.agent.hooks.kinds.posting import Poster, PostPorts, listed
from gatewright.agent.hooks.kinds.running import Output
from tests.hooks.making import firing, handler

URL = "https://hooks.example/x"


class Server:
    def __init__(self, status: int = 200, body: bytes = b"") -> None:
        self.answer, self.sent = (status, body), list[tuple[str, Mapping[str, str], bool]]()

    async def post(
        self, url: str, headers: Mapping[str, str], body: bytes, only_public: bool
    ) -> tuple[int, bytes]:
        self.sent.append((url, headers, only_public))
        if self.answer[0] == 0:
            raise ProviderError(FailureKind.TRANSPORT, "Nothing answers.")
        return self.answer


async def posted(
    tmp_path: Path,
    server: Server,
    *,
    urls: tuple[str, ...] = ("*",),
    allowed: tuple[str, ...] = ("*",),
    **said: object,
) -> Output:
    env = {"TOKEN": "t1", "OTHER": "o1"}
    ports = PostPorts(
        post=server.post,
        env=lambda scrubbed: {"OTHER": "o1"} if scrubbed else env,
        urls=lambda: urls,
        variables=lambda: allowed,
    )
    each = handler(kind="http", **{"url": URL, **said})  # type: ignore[arg-type]
    return await Poster(ports).run(each, firing("PreToolUse", tmp_path, "Bash"))


@pytest.mark.parametrize(
    ("status", "body", "failure"),
    [
        (200, b"", ""),
        (204, b" \n", ""),
        (200, b'{"systemMessage": "x"}', ""),
        (200, b"fine", "no JSON"),
        (200, b"[1]", "no JSON object"),
        (302, b"", "it answered 302"),
        (500, b"{}", "it answered 500"),
        (0, b"", "Nothing answers."),
        (200, b" " * 2_000_000 + b"x", "larger than 1 MiB"),
        (200, b" " * 2_000_000, "larger than 1 MiB"),
    ],
)
async def test_what_a_server_answers(
    tmp_path: Path, status: int, body: bytes, failure: str
) -> None:
    output = await posted(tmp_path, Server(status, body))
    assert bool(output.failure) is bool(failure)
    assert failure in output.failure


async def test_headers_hold_only_what_both_lists_name(tmp_path: Path) -> None:
    headers = {"A": "Bearer $TOKEN", "B": "${OTHER}!", "C": "$NOPE"}
    server = Server()
    await posted(tmp_path, server, headers=headers, allowed_env_vars=("TOKEN", "OTHER"),
                 allowed=("TOKEN",))  # fmt: skip
    sent = server.sent[0][1]
    assert (sent["A"], sent["B"], sent["C"]) == ("Bearer t1", "!", "")
    assert sent["content-type"] == "application/json"


@pytest.mark.parametrize("named", [False, True])
async def test_a_projects_handler_sends_no_secret_that_nobody_named(
    tmp_path: Path, *, named: bool
) -> None:
    server = Server()
    allowed = ("*", "TOKEN") if named else ("*",)
    headers = {"A": "$TOKEN $OTHER"}
    await posted(tmp_path, server, headers=headers, allowed_env_vars=("TOKEN", "OTHER"),
                 allowed=allowed, origin="project")  # fmt: skip
    assert server.sent[0][1]["A"] == ("t1 o1" if named else " o1")


@pytest.mark.parametrize(
    ("pattern", "url", "fits"),
    [
        ("https://*.corp.example/*", "https://a.corp.example/x", True),
        ("https://*.corp.example/*", "https://10.0.0.1/.corp.example/x", False),
        ("https://*.corp.example/*", "https://10.0.0.1?.corp.example/x", False),
        ("https://*.corp.example/*", "https://10.0.0.1#.corp.example/x", False),
        ("https://*.corp.example/*", "https://10.0.0.1\\.corp.example/x", False),
        ("https://a.example:*", "https://a.example:@10.0.0.1/", False),
        ("http://localhost:*", "http://localhost:8080/hook?a=b", True),
        ("http://localhost:*", "http://localhost:8080@10.0.0.1/", False),
        ("https://a.example/*", "https://a.example/b/c?d", True),
        ("https://a.example/*", "https://a.example", False),
        ("*.corp.example/*", "https://10.0.0.1/.corp.example/x", False),
        ("*://a.example/*", "https://a.example/", True),
    ],
)
def test_what_a_pattern_of_addresses_fits(pattern: str, url: str, *, fits: bool) -> None:
    assert listed(url, [pattern]) is fits


@pytest.mark.parametrize(
    ("origin", "url", "urls", "sent", "public"),
    [
        ("user", "http://127.0.0.1/x", ("*",), True, False),
        ("user", URL, ("https://other/*",), False, False),
        ("user", URL, (), False, False),
        ("user", "ftp://hooks.example/x", ("*",), False, False),
        ("project", URL, ("*",), True, True),
        ("project", "http://hooks.example/x", ("*",), False, False),
        ("project", "http://127.0.0.1/x", ("*", "http://127.0.0.1/*"), True, False),
        ("project", "https://hooks.example.evil/", ("https://hooks.example/*",), False, False),
    ],
)
async def test_where_a_handler_may_post(
    tmp_path: Path, origin: str, url: str, urls: tuple[str, ...], *, sent: bool, public: bool
) -> None:
    server = Server()
    output = await posted(tmp_path, server, urls=urls, url=url, origin=origin)
    assert bool(server.sent) is sent
    assert bool(output.failure) is not sent
    if sent:
        assert server.sent[0][2] is public


def test_the_question_holds_the_event(tmp_path: Path) -> None:
    there = firing("Stop", tmp_path, stop_hook_active=False)
    asked = question(handler("Stop", kind="prompt", prompt="Done? $ARGUMENTS"), there)
    assert asked.startswith('Done? {"hook_event_name"')
    assert '"stop_hook_active":false' in question(handler("Stop", kind="prompt", prompt="x"), there)


@pytest.mark.parametrize(
    ("event", "said", "means"),
    [
        ("Stop", {"ok": True}, ""),
        ("Stop", {"ok": False, "reason": "tests"}, "blocks"),
        ("Stop", {"ok": False, "reason": "tests", "impossible": True}, ""),
        ("UserPromptSubmit", {"ok": False, "impossible": True}, "blocks"),
        ("PreToolUse", {"ok": False}, "stops"),
        ("PostToolUse", {"ok": False}, "stops"),
        ("Stop", {"ok": "yes"}, "fails"),
        ("Stop", {}, "fails"),
    ],
)
def test_what_a_models_answer_means(event: str, said: dict[str, object], means: str) -> None:
    each = handler(event, kind="prompt", prompt="x")
    for text in (json.dumps(said), f"```json\n{json.dumps(said)}\n```"):
        answer = understood(judged(text, each), each)
        found = {"blocks": answer.blocks, "stops": answer.stops, "fails": bool(answer.failure)}
        assert [name for name, is_so in found.items() if is_so] == ([means] if means else [])
    goes_on = handler("PreToolUse", kind="prompt", prompt="x", continue_on_block=True)
    answer = understood(judged('{"ok": false}', goes_on), goes_on)
    assert (answer.word, answer.stops) == ("deny", False)
