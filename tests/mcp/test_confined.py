"""Servers in the sandbox: what they reach there, and that none of them runs without it."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.extensions.servers.confining import confines
from gatewright.agent.extensions.servers.plugging import McpServers
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.servers.approvals import ServerAnswers
from gatewright.agent.settings.workspace import survey
from gatewright.mcp.definitions import Sandboxed, Source, read
from gatewright.permissions.sandbox.commands import CommandSandbox
from gatewright.permissions.sandbox.profile import Network
from gatewright.permissions.sandbox.servers import Confines, ServerConfinement, widened
from gatewright.tools.protocol import Child, SpawnRequest, ToolFailure
from tests.fakes.waiting import eventually
from tests.mcp.test_session import become, connected
from tests.permissions.composed import desk

ON = {"enabled": True}
SERVER = """
import json, subprocess, sys
TOOL = {"name": "sh", "inputSchema": {"type": "object", "properties": {"line": {"type": "string"}}}}
for line in sys.stdin:
    said = json.loads(line)
    if "id" not in said:
        continue
    match said["method"]:
        case "initialize":
            result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                      "serverInfo": {"name": "sh", "version": "1"}}
        case "tools/list":
            result = {"tools": [TOOL]}
        case "tools/call":
            ran = subprocess.run(["/bin/sh", "-c", said["params"]["arguments"]["line"]],
                                 capture_output=True, text=True, timeout=60)
            text = ran.stdout + ran.stderr + f"[{ran.returncode}]"
            result = {"content": [{"type": "text", "text": text}]}
        case _:
            print(json.dumps({"jsonrpc": "2.0", "id": said["id"],
                              "error": {"code": -32601, "message": "no"}}), flush=True)
            continue
    print(json.dumps({"jsonrpc": "2.0", "id": said["id"], "result": result}), flush=True)
"""


def house(folder: Path) -> Path:
    """The project, with a server in it, a key at home and something outside."""
    project, home, out = folder / "project", folder / "home", folder / "out"
    for place in (project / ".git" / "hooks", home / ".ssh", home / "wide", out):
        place.mkdir(parents=True)
    (project / "server.py").write_text(SERVER, encoding="utf-8")
    (home / ".ssh" / "id_ed25519").write_text("KEY sesame\n", encoding="utf-8")
    return project


def own(sandbox: Any = None, **more: Any) -> dict[str, Any]:
    entry: dict[str, Any] = {"command": "python3", "args": ["server.py"], **more}
    if sandbox is not None:
        entry["sandbox"] = sandbox
    rules = {"allow": ["mcp__fake"]}
    return {"mcpServers": {"fake": entry}, "permissions": rules, "sandbox": ON}


def script(*lines: str) -> list[str]:
    calls = [
        f"call[c{number}]: mcp__fake__sh {json.dumps({'line': line})}"
        for number, line in enumerate(lines, 1)
    ]
    return [*calls, "say: done"]


async def ran(folder: Path, lines: list[str], **settings: Any) -> list[str]:
    async with desk(folder, script(*lines), **settings) as made:
        await connected(made)
        made.session.submit("go")
        texts = [await made.finished(f"c{number}") for number in range(1, len(lines) + 1)]
        await made.ended()
    return texts


async def test_it_may_do_what_commands_may(tmp_path: Path) -> None:
    project = house(tmp_path)
    lines = [
        "echo made > made.txt && cat made.txt",
        "cat ~/.ssh/id_ed25519",
        f"echo x > {tmp_path}/out/made",
        "echo x > .git/hooks/pre-commit",
        "env",
    ]
    given = {"env": {"DB_TOKEN": "of-the-definition", "LD_LIBRARY_PATH": "/nowhere"}}
    env = {"OWN_SECRET_TOKEN": "not-for-servers"}
    texts = await ran(tmp_path, lines, own=own(sandbox=True, **given), env=env)
    assert texts[0].startswith("made\n")
    assert "sesame" not in texts[1]
    assert not (tmp_path / "out" / "made").exists()
    assert not (project / ".git" / "hooks" / "pre-commit").exists()
    assert "DB_TOKEN=of-the-definition" in texts[4]
    assert "LD_LIBRARY_PATH=/nowhere" in texts[4]
    assert "GATEWRIGHT_SANDBOX=1" in texts[4]
    assert "not-for-servers" not in texts[4]
    assert (project / "made.txt").read_text("utf-8") == "made\n"


@pytest.fixture
def page() -> Iterator[int]:
    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"the page")

        def log_message(self, format: str, *args: object) -> None: ...

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


FETCH = (
    "python3 -c 'import urllib.request as r;"
    ' print(r.urlopen("http://127.0.0.1:{}/", timeout=30).read())\''
)


async def test_what_it_is_opened_to_is_what_the_definition_says(tmp_path: Path, page: int) -> None:
    house(tmp_path)
    wide = {"network": ["127.0.0.1"], "write": ["~/wide"]}
    lines = [FETCH.format(page), "echo x > ~/wide/made", "echo x > ~/made", "cat ~/.ssh/*"]
    texts = await ran(tmp_path, lines, own=own(sandbox=wide))
    assert "the page" in texts[0]
    assert (tmp_path / "home" / "wide" / "made").exists()
    assert not (tmp_path / "home" / "made").exists()
    assert "sesame" not in texts[3]


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("~/.gatewright", "which no sandbox opens"),
        ("~/.gatewright/state", "which no sandbox opens"),
        (".git/hooks", "which no sandbox opens"),
        ("~/.ssh", "which no sandbox opens"),
        ("nowhere", "which is no directory"),
    ],
)
async def test_what_is_kept_from_all_is_opened_to_none(
    tmp_path: Path, place: str, why: str
) -> None:
    house(tmp_path)
    settings = own(sandbox={"write": [place]})
    async with desk(tmp_path, ["say: done"], own=settings) as made:
        await become(made, "fake", "failed")
        servers = made.session.part(McpServers)
        assert servers is not None
        (row,) = servers.rows()
        assert why in row.error


@pytest.mark.parametrize("where", ["project", "home/wide"])
async def test_no_link_that_it_made_itself_opens_more(tmp_path: Path, where: str) -> None:
    """It ran before, and put a link where the definition says that it writes."""
    house(tmp_path)
    (tmp_path / where / "sub").symlink_to(tmp_path / "out")
    writes = ["~/wide", "sub" if where == "project" else "~/wide/sub"]
    settings = own(sandbox={"write": writes})
    async with desk(tmp_path, ["say: done"], own=settings) as made:
        await become(made, "fake", "failed")
        servers = made.session.part(McpServers)
        assert servers is not None
        (row,) = servers.rows()
        assert "which is no directory" in row.error


async def test_without_a_word_of_it_there_is_no_network(tmp_path: Path, page: int) -> None:
    house(tmp_path)
    (text,) = await ran(tmp_path, [FETCH.format(page)], own=own(sandbox=True))
    assert "the page" not in text


async def test_what_is_denied_stays_denied_and_counts_at_once(tmp_path: Path, page: int) -> None:
    """Also by a rule that came when the server ran already."""
    house(tmp_path)
    lines = [FETCH.format(page), FETCH.format(page)]
    settings = own(sandbox={"network": ["127.0.0.1"]})
    calls = script(*lines)
    async with desk(tmp_path, [calls[0], "say: done", *calls[1:]], own=settings) as made:
        await connected(made)
        made.session.submit("go")
        assert "the page" in await made.finished("c1")
        await made.ended()
        made.session.restrict([("deny", "WebFetch(domain:127.0.0.1)")])
        made.session.submit("again")
        assert "the page" not in await made.finished("c2")
        await made.ended(2)


@pytest.mark.parametrize("how", ["off", "project", "all"])
async def test_the_setting_puts_servers_there(tmp_path: Path, how: str) -> None:
    house(tmp_path)
    settings = {**own(), "mcp": {"sandbox": how}}
    (text,) = await ran(tmp_path, ["cat ~/.ssh/id_ed25519"], own=settings)
    assert ("sesame" in text) is (how != "all"), "it is the person's own"


async def test_what_the_setting_says_later_counts_for_those_that_run(tmp_path: Path) -> None:
    house(tmp_path)
    calls = script("cat ~/.ssh/id_ed25519", "true", "cat ~/.ssh/id_ed25519")
    turns = [calls[0], "say: done", calls[1], "say: done", calls[2], "say: done"]
    async with desk(tmp_path, turns, own=own()) as made:
        await connected(made)
        made.session.submit("go")
        assert "sesame" in await made.finished("c1")
        await made.ended()
        path = tmp_path / "home" / ".gatewright" / "settings.json"
        values = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps({**values, "mcp": {"sandbox": "all"}}), encoding="utf-8")
        made.session.submit("settings are read again with the call")
        await made.finished("c2")
        await made.ended(2)
        await connected(made)
        made.session.submit("again")
        assert "sesame" not in await made.finished("c3")
        await made.ended(3)


async def test_what_prints_headers_of_a_projects_server_is_confined_with_it(
    tmp_path: Path,
) -> None:
    """An address needs no program of its own to read a key."""
    project = house(tmp_path)
    helper = "cat ~/.ssh/id_ed25519 > seen; echo {}"
    entry = {"type": "http", "url": "http://127.0.0.1:1/", "headersHelper": helper}
    text = json.dumps({"mcpServers": {"fake": entry}})
    (project / ".mcp.json").write_text(text, encoding="utf-8")
    settings = {"sandbox": ON, "mcp": {"sandbox": "project"}}
    async with desk(tmp_path, ["say: done"], own=settings) as made:
        asked = await made.asked()
        assert "It runs in the sandbox" in str(asked.ask.body)
        made.answer(asked, "use")
        await become(made, "fake", "failed")
    assert (project / "seen").read_text(encoding="utf-8") == ""


async def test_where_there_is_no_sandbox_it_is_not_started(tmp_path: Path) -> None:
    project = house(tmp_path)
    (project / "server.py").write_text("open('started', 'w')\n" + SERVER, encoding="utf-8")
    settings = {**own(sandbox=True), "sandbox": {"enabled": False}}
    async with desk(tmp_path, ["say: done"], own=settings) as made:
        await become(made, "fake", "failed")
        servers = made.session.part(McpServers)
        assert servers is not None
        (row,) = servers.rows()
        assert "not started without the sandbox" in row.error
    assert not (project / "started").exists()


async def test_a_person_puts_one_of_the_project_there(tmp_path: Path) -> None:
    project = house(tmp_path)
    entry = {"command": "python3", "args": ["server.py"]}
    text = json.dumps({"mcpServers": {"fake": entry}})
    (project / ".mcp.json").write_text(text, encoding="utf-8")
    settings = {"permissions": {"allow": ["mcp__fake"]}, "sandbox": ON}
    for number in (1, 2):  # the answer is kept
        lines = ["cat ~/.ssh/id_ed25519; echo $GATEWRIGHT_SANDBOX"]
        options = {"session_id": f"session-{number}"}
        async with desk(tmp_path, script(*lines), own=settings, options=options) as made:
            if number == 1:
                asked = await made.asked()
                assert [each.id for each in asked.ask.options] == [
                    "use", "sandbox", "later", "never",
                ]  # fmt: skip
                made.answer(asked, "sandbox")
                await connected(made)
            made.session.submit("go")
            told = await made.finished("c1")
            assert "sesame" not in told
            assert "\n1\n" in told or told.startswith("1\n")
            await made.ended()


async def test_it_ends_with_the_session(tmp_path: Path) -> None:
    house(tmp_path)
    async with desk(tmp_path, ["say: done"], own=own(sandbox=True)) as made:
        await connected(made)
        servers = made.session.part(McpServers)
        assert servers is not None
        (row,) = servers.rows()
        assert row.pid
    await eventually(lambda: not Path(f"/proc/{row.pid}").exists())


async def test_what_a_definition_gives_is_for_no_launcher(tmp_path: Path) -> None:
    """A launcher runs outside: a library that is loaded into it would, too."""
    house(tmp_path)
    seen: list[SpawnRequest] = []

    async def spawn(request: SpawnRequest) -> Child:
        seen.append(request)
        assert request.ended is not None
        request.ended()
        raise ToolFailure("seen")

    async with desk(tmp_path, ["say: done"], own={"sandbox": ON}) as made:
        sandbox = made.session.part(CommandSandbox)
        confinement = ServerConfinement(lambda: sandbox, lambda text: None)
        given = {"LD_PRELOAD": "/tmp/evil.so", "PATH": "/tmp/evil"}
        request = SpawnRequest(
            argv=("/bin/true",),
            cwd=tmp_path / "project",
            env={"A": "b", **given},
            stdin=7,
            errors=8,
        )
        with pytest.raises(ToolFailure, match="seen"):
            await confinement.starting(spawn, Confines("fake", env=given))(request)
        (made_of,) = seen
        assert not set(given) & set(made_of.env)
        assert made_of.env["A"] == "b"
        assert "evil" not in " ".join(made_of.argv)
        assert (made_of.stdin, made_of.errors) == (7, 8)
        wrong = confinement.starting(spawn, Confines("fake", writes=("nowhere",)))
        with pytest.raises(ToolFailure, match="nowhere, which is no directory"):
            await wrong(request)


@pytest.mark.parametrize(
    ("source", "how", "raw", "expected"),
    [
        ("user", "off", None, None),
        ("user", "off", True, Sandboxed()),
        ("user", "off", {"network": ["a.b"]}, Sandboxed(network=("a.b",))),
        ("user", "project", None, None),
        ("user", "all", None, Sandboxed()),
        ("user", "all", {"write": ["x"]}, Sandboxed(write=("x",))),
        ("project", "off", {"write": ["x"]}, Sandboxed(write=("x",))),
        ("project", "project", {"write": ["/"], "network": ["*"]}, Sandboxed()),
        ("project", "all", False, Sandboxed()),
    ],
)
def test_who_is_confined_and_how_far(
    tmp_path: Path, source: Source, how: str, raw: Any, expected: Sandboxed | None
) -> None:
    home = tmp_path / ".gatewright"
    home.mkdir()
    text = json.dumps({"mcp": {"sandbox": how}})
    (home / "settings.json").write_text(text, encoding="utf-8")
    options = LaunchOptions(cwd=str(tmp_path))
    around = survey(options, {"HOME": str(tmp_path), "PATH": ""}, interactive=False)
    entry: dict[str, Any] = {"command": "x"} if raw is None else {"command": "x", "sandbox": raw}
    answers = ServerAnswers(tmp_path / "state")
    assert confines(read("a", entry, source, "here"), around, answers) == expected
    far = read("a", {"type": "http", "url": "https://a.b"}, source, "here")
    assert confines(far, around, answers) is None
    helped = {"type": "http", "url": "https://a.b", "headersHelper": "x"}
    expected = None if source == "user" or how == "off" else Sandboxed()
    assert confines(read("a", helped, source, "here"), around, answers) == expected


def test_domains_are_added_and_denials_stay() -> None:
    none = Network(denied=("bad.example",))
    assert widened(none, ()) == none
    wide = widened(none, ("a.example",))
    assert (wide.reach, wide.allowed, wide.denied) == ("proxy", ("a.example",), ("bad.example",))
    assert widened(Network(reach="open"), ("a.example",)).reach == "open"
