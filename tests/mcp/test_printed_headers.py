"""Headers that a program of a definition prints, and programs that print something else."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import msgspec
import pytest

from gatewright.mcp.definitions import read
from gatewright.mcp.errors import NotConnected
from gatewright.mcp.oauth.logins import Login
from gatewright.mcp.printed_headers import HeaderProgram
from gatewright.tools.protocol import Child, SpawnRequest, ToolFailure
from tests.fakes.login_server import LoginServer
from tests.mcp.test_login import Person, serving
from tests.mcp.test_login import person as person  # the fixture
from tests.mcp.test_remote import far, served
from tests.mcp.test_server import Bench, words
from tests.mcp.test_server import bench as bench  # the fixture


@pytest.fixture
async def server() -> AsyncGenerator[LoginServer]:
    async with serving(LoginServer(served().streamable_http_app())) as made:
        yield made


def printing(path: Path) -> str:
    """Counts its runs; each prints the token of its number."""
    return f'echo x >> {path}; printf \'{{"Authorization": "Bearer t%s"}}\' $(wc -l < {path})'


async def test_they_let_in_and_are_asked_for_again_when_refused(
    server: LoginServer, bench: Bench, tmp_path: Path
) -> None:
    runs = tmp_path / "runs"
    server.access = {"t1": "read"}
    made = far(bench, f"{server.url}/mcp", headersHelper=printing(runs))
    await made.ready()
    assert words(await bench.call(made, "add", a=1, b=2)) == "3"
    assert runs.read_text("utf-8").count("x") == 1
    server.access = {"t2": "read"}
    assert words(await bench.call(made, "add", a=1, b=2)) == "3"
    assert runs.read_text("utf-8").count("x") == 2
    server.access = {}
    assert not (await bench.call(made, "add", a=1, b=2)).ok
    assert runs.read_text("utf-8").count("x") == 3


async def test_a_header_beside_a_login(server: LoginServer, bench: Bench, person: Person) -> None:
    def login(url: str, client: str) -> Login:
        del url, client
        return person.login(server)

    bench.login = login
    await person.logs_in(server)
    made = far(bench, f"{server.url}/mcp", headersHelper='echo \'{"X-Key": "k"}\'')
    await made.ready()
    assert words(await bench.call(made, "header")) == "k"
    assert server.sent("/mcp")["authorization"].startswith("Bearer access-token")


async def test_one_that_is_refused_has_failed(
    server: LoginServer, bench: Bench, tmp_path: Path
) -> None:
    made = far(bench, f"{server.url}/mcp", headersHelper=printing(tmp_path / "runs"))
    with pytest.raises(NotConnected, match="refuses the Authorization"):
        await made.ready()
    assert made.state == "failed"


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("echo no; echo why >&2; exit 3", "exit code 3, why"),
        ("echo '[1]'", "no JSON object"),
        ("echo '{\"A\": 1}'", "no JSON object"),
        ('printf \'{"A": "x\\\\ny"}\'', "no header can have"),
        ('echo \'{"A b": "x"}\'', "no header it may set"),
        ('echo \'{"Host": "x"}\'', "no header it may set"),
        ("head -c 70000 /dev/zero", "more than 64 KiB"),
        ("printf '\\377'", "no JSON object"),
        ("exec cat /dev/zero", "took more than"),
    ],
)
async def test_what_is_none(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, command: str, why: str
) -> None:
    monkeypatch.setattr(
        "gatewright.mcp.printed_headers.SECONDS", 0.3 if "exec" in command else 10.0
    )
    raw = {"type": "http", "url": "http://127.0.0.1:1/", "headersHelper": command}
    helper = HeaderProgram(read("fake", raw, "user", "here"), bench.ports().around())
    with pytest.raises(NotConnected, match=f"its headersHelper gave no headers: .*{why}"):
        await helper.headers()


@pytest.mark.parametrize("source", ["user", "project"])
async def test_where_it_runs_and_what_it_gets(bench: Bench, tmp_path: Path, source: str) -> None:
    """No secret of the environment, and of a project's only what every program needs."""
    bench.env["OTHER"] = "kept"
    bench.own = tmp_path / "own"
    bench.own.mkdir()
    command = 'echo "{\\"D\\": \\"$PWD $SECRET_TOKEN$OTHER\\"}"'
    raw = {"type": "http", "url": "http://127.0.0.1:1/", "headersHelper": command}
    helper = HeaderProgram(read("fake", raw, source, "here"), bench.ports().around())  # type: ignore[arg-type]
    place, seen = (bench.own, "kept") if source == "user" else (tmp_path, "")
    assert await helper.headers() == {"D": f"{place} {seen}"}


@pytest.mark.parametrize("source", ["user", "project"])
async def test_none_goes_on_when_we_are_killed(bench: Bench, source: str) -> None:
    """Nobody is left then who would end it when its time is over."""
    seen: list[SpawnRequest] = []

    async def start(request: SpawnRequest) -> Child:
        seen.append(request)
        raise ToolFailure("seen")

    around = msgspec.structs.replace(bench.ports().around(), spawn=start)
    raw = {"type": "http", "url": "http://127.0.0.1:1/", "headersHelper": "sleep 99"}
    with pytest.raises(NotConnected, match="seen"):
        await HeaderProgram(read("fake", raw, source, "here"), around).headers()  # type: ignore[arg-type]
    assert [each.dies_with_us for each in seen] == [True]
