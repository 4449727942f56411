"""What the person must know, from the real program: on stderr in every format, in every result."""

from __future__ import annotations

import json
import re
import resource
import shutil
import subprocess
from typing import Any

import pytest

from tests.cli.test_print_process import Shapes
from tests.e2e.program import Program
from tests.fakes.model_server import ModelServer, ServerThread
from tests.fakes.waiting import PATIENCE, until

pytestmark = pytest.mark.e2e

FORMATS = ["text", "json", "stream-json"]
LONG = "\n---\n".join(
    f'say: {"word " * 400}\ncall: Read {{"file_path": "notes.txt", "offset": {n + 1}}}'
    for n in range(4)
)


def result(out: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(out.splitlines()[-1])
    return found


def full() -> None:
    """A disk with room for 6,000 bytes in each file."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (6_000, 6_000))


@pytest.mark.parametrize("format", FORMATS)
def test_a_full_disk_is_told_and_the_answer_still_given(program: Program, format: str) -> None:
    with ServerThread(f"{LONG}\n---\nsay: Done.\n") as server:
        shapes = Shapes(program, server)
        shapes.env["PYTHONDONTWRITEBYTECODE"] = "1"  # half a file would break later runs
        flags = ("go", "--output-format", format)
        code, out, err = shapes.run(*flags, preexec_fn=full)
    assert code == 0, err
    assert err.count("This session is not being saved: File too large") == 1
    assert re.search(r"not saved: \d+ entries of \S+\.jsonl are missing\.", err), err
    if format == "text":
        assert out == "Done.\n"
    else:
        found = result(out)
        assert found["result"] == "Done."
        assert any("not being saved" in text for text in found["warnings"])
    if format == "stream-json":
        lines = map(json.loads, out.splitlines())
        assert any("not being saved" in line.get("text", "") for line in lines)


def until_asked(server: ModelServer, process: subprocess.Popen[Any], times: int) -> None:
    until(lambda: len(server.bodies) >= times or process.poll() is not None)
    assert process.poll() is None


@pytest.mark.parametrize("in_the_way", [False, True])
def test_a_home_that_goes_in_mid_run_is_told(program: Program, *, in_the_way: bool) -> None:
    script = 'call: Read {"file_path": "notes.txt"}\n---\ndelay: 1\nsay: Done.\n'
    home = program.home / ".gatewright"
    with ServerThread(script) as server:
        flags = ("go", "--output-format", "json")
        with Shapes(program, server).start(*flags) as process:
            until_asked(server, process, 2)
            shutil.rmtree(home)
            if in_the_way:
                home.write_text("no directory", encoding="utf-8")
            out, err = (text.decode() for text in process.communicate(timeout=PATIENCE))
    assert process.returncode == 0, err
    (warning,) = result(out)["warnings"]
    assert f"agent: {warning}\n" in err
    assert "Traceback" not in err
    if in_the_way:
        assert "This session is not being saved" in warning
        assert "was not saved" in err
    else:
        assert "was deleted; it is written anew" in warning

        kept = [line.get("type", line.get("event", {}).get("type")) for line in program.stored()]
        assert kept.count("assistant") == 2, kept


@pytest.mark.parametrize("format", FORMATS)
def test_a_refused_call_and_another_model_are_told(program: Program, format: str) -> None:
    settings = program.home / ".gatewright" / "settings.json"
    text = '{"smallModel": "demo", "fallbackModels": ["anthropic/claude-opus-5"]}'
    settings.write_text(text, encoding="utf-8")
    busy = "error: overloaded status=529 retry_after=0\n---\n" * 3
    script = f'{busy}call: Bash {{"command": "touch made"}}\n---\nsay: Done.\n'
    with ServerThread(script) as server:
        code, out, err = Shapes(program, server).run("go", "--output-format", format)
    assert code == 0, err
    for words in ("is overloaded; going on with", "Refused: Bash(touch made). No rule covers"):
        assert words in err
        if format != "text":
            assert any(words in text for text in result(out)["warnings"])
    assert "Trying again at once (1 of" in err


@pytest.mark.parametrize("format", FORMATS)
def test_ignored_settings_are_told_beside_a_slash_command(program: Program, format: str) -> None:
    settings = program.home / ".gatewright" / "settings.json"
    settings.write_text('{"smallModel": "demo", "modle": "x"}', encoding="utf-8")
    done = program.run("-p", "/help", "--model", "demo", "--output-format", format)
    assert done.returncode == 0
    assert "modle" in done.stderr
    if format != "text":
        assert any("modle" in text for text in result(done.stdout)["warnings"])


def test_without_a_key_print_mode_says_only_what_can_be_done_there(program: Program) -> None:
    done = program.run("-p", "hi")
    assert done.returncode != 0
    assert "ANTHROPIC_API_KEY" in done.stderr
    assert "`agent login`" in done.stderr
    assert "/login" not in done.stderr
    assert "/model" not in done.stderr
