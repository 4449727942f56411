"""What servers refuse, as the person reads it: short, specific, and what to do next."""

from __future__ import annotations

import json
import time

import pytest

from tests.e2e.program import Program
from tests.fakes.model_server import ModelServer, ServerThread
from tests.fakes.waiting import PATIENCE

pytestmark = pytest.mark.e2e

HTML = "<html><body>404_Not_Found</body></html>"


def ask(
    program: Program,
    server: ModelServer,
    *flags: str,
    model: str = "openai/gpt-6-luna",
    base: str = "",
) -> tuple[int, str, str]:
    env = {
        "OPENAI_BASE_URL": base or server.openai_url,
        "OPENAI_API_KEY": "k",
        "ANTHROPIC_BASE_URL": server.url,
        "ANTHROPIC_API_KEY": "k",
    }
    done = program.run("-p", "hi", "--model", model, *flags, env=env)
    return done.returncode, done.stdout, done.stderr


def refusal(message: str, code: str = "") -> str:
    body = json.dumps({"error": {"message": message.replace(" ", "\u00a0"), "code": code}})
    return body.replace(" ", "")


@pytest.mark.parametrize("body", [HTML, "", '{"detail":"Not\u00a0Found"}'])
def test_a_wrong_base_url_is_named_with_the_path_that_was_tried(
    program: Program, body: str
) -> None:
    with ServerThread(f"status: 404 body={body}\n", repeat=True) as server:
        base = server.url
        code, _, err = ask(program, server, base=base)
        assert len(server.bodies) == 1
    assert code == 1
    path = server.requests[0].path
    said = f"openai has no {path} below {base} (404). Check the base URL, often with /v1."
    assert err == f"agent: {said}\n"


def test_a_model_that_is_not_there_lists_near_ones(program: Program) -> None:
    said = refusal("The model `gpt-6-lunar` does not exist", "model_not_found")
    with ServerThread(f"status: 404 body={said}\n", repeat=True) as server:
        server.models = ["gpt-6-luna", "gpt-6-sol", "whisper", "dall-e"]
        code, _, err = ask(program, server, model="openai/gpt-6-lunar")
        assert len(server.bodies) == 1
    assert code == 1
    assert err.startswith("agent: openai knows no model gpt-6-lunar (404). It has gpt-6-luna, ")
    assert err.endswith(" more. Choose one with --model or /model.\n")


def test_a_model_that_the_server_lists_itself_is_not_called_unknown(program: Program) -> None:
    said = refusal("The model `gpt-6-luna` does not exist", "model_not_found")
    with ServerThread(f"status: 404 body={said}\n", repeat=True) as server:
        server.models = ["gpt-6-luna", "gpt-6-sol"]
        code, _, err = ask(program, server, model="openai/gpt-6-luna")
    assert code == 1
    assert err == (
        "agent: openai lists gpt-6-luna and yet does not find it (404): this API or this key may "
        "not reach it. Choose another with --model or /model.\n"
    )


def test_a_region_that_is_not_served_is_no_problem_of_the_key(program: Program) -> None:
    said = refusal(
        "Country, region, or territory not supported", "unsupported_country_region_territory"
    )
    with ServerThread(f"status: 403 body={said}\n", repeat=True) as server:
        code, _, err = ask(program, server)
        assert len(server.bodies) == 1
    assert code == 1
    assert "openai does not serve your region (403)" in err
    assert "login" not in err


@pytest.mark.parametrize("status", [400, 403, 404, 405, 410, 422, 451])
@pytest.mark.parametrize(
    "kind", ["api_error", "server_error", "rate_limit_error", "overloaded_error"]
)
def test_what_was_wrong_once_is_not_asked_again(program: Program, status: int, kind: str) -> None:
    body = json.dumps({"error": {"message": "No.", "type": kind}}).replace(" ", "")
    with ServerThread(f"status: {status} body={body}\n", repeat=True) as server:
        code, _, err = ask(program, server)
        assert len(server.bodies) == 1, err
    assert code == 1


def test_the_count_of_tries_agrees_with_where_it_stops(program: Program) -> None:
    with ServerThread("status: 500 retry_after=0\n", repeat=True) as server:
        code, _, err = ask(program, server)
        assert len(server.bodies) == 5
    assert code == 75
    *waits, last = err.splitlines()
    counts = [line.rpartition("(")[2] for line in waits]
    assert counts == ["1 of 4).", "2 of 4).", "3 of 4).", "4 of 4)."]
    assert last == "agent: openai failed to answer (500). Given up after 5 tries."


def test_an_hour_is_told_and_not_waited(program: Program) -> None:
    began = time.monotonic()
    with ServerThread("status: 429 retry_after=3600\n", repeat=True) as server:
        code, _, err = ask(program, server)
        assert len(server.bodies) == 1
    assert (code, time.monotonic() - began < PATIENCE) == (75, True)
    said = "openai limits the rate of requests (429). It asks to wait 60 min; try again then."
    assert err == f"agent: {said}\n"


@pytest.mark.parametrize(
    ("body", "waited"),
    [
        (refusal("Loading model"), ["1 s.", "2 s.", "4 s."]),  # llama.cpp
        ('{"error":"Model\u00a0x\u00a0is\u00a0currently\u00a0loading"}', ["1 s."]),
    ],
    ids=["llama.cpp", "in other words"],
)
def test_a_model_that_is_being_loaded_is_waited_for(
    program: Program, body: str, waited: list[str]
) -> None:
    settings = program.home / ".gatewright" / "settings.json"
    text = '{"smallModel": "demo", "fallbackModels": ["anthropic/claude-opus-5"]}'
    settings.write_text(text, encoding="utf-8")
    busy = f"status: 503 body={body}\n---\n"
    with ServerThread(f"{busy * len(waited)}say: Here.\n") as server:
        code, out, err = ask(program, server)
    assert (code, out) == (0, "Here.\n")
    waits = err.splitlines()
    assert all("openai is loading the model" in line for line in waits)
    assert [line.rpartition("again in ")[2] for line in waits] == waited


@pytest.mark.parametrize("rule", ["Bash", "bash", "B*"])
def test_a_tool_that_is_wholly_denied_is_not_offered(program: Program, rule: str) -> None:
    with ServerThread("say: Done.\n") as server:
        code, out, err = ask(
            program, server, "--disallowedTools", rule, "--output-format", "stream-json"
        )
    assert code == 0, err
    offered = [tool["function"]["name"] for tool in server.bodies[0]["tools"]]
    assert "Bash" not in offered
    assert "Read" in offered
    assert sorted(json.loads(out.splitlines()[0])["tools"]) == sorted(offered)


def test_a_tool_that_is_denied_in_part_is_offered(program: Program) -> None:
    with ServerThread("say: Done.\n") as server:
        ask(program, server, "--disallowedTools", "Bash(rm:*)")
    assert "Bash" in [tool["function"]["name"] for tool in server.bodies[0]["tools"]]
