"""Sub-commands, run in this process through the same entry as the program."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.launch.main import launch
from gatewright.agent.subcommands.names import SUBCOMMANDS, mistyped
from gatewright.permissions.sandbox.machine import machine
from gatewright.permissions.sandbox.probe import probe
from tests.fakes.model_server import ServerThread
from tests.fakes.models import LOCAL, NOBODY

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run in a project and with a home of the test's own."""
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(project)

    def run_(*arguments: str, input: str = "") -> tuple[int, str, str]:
        stdin = io.TextIOWrapper(io.BytesIO(input.encode()), encoding="utf-8")
        monkeypatch.setattr("sys.stdin", stdin)
        code = launch(arguments)
        out, err = capfd.readouterr()
        return code, out, err

    return run_


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_every_subcommand_explains_itself(run: Run, name: str) -> None:
    code, out, err = run(name, "--help")
    assert (code, err) == (0, "")
    assert out.startswith(f"Usage: agent {name}")


def test_help_names_subcommands_and_exit_codes(run: Run) -> None:
    code, out, _ = run("--help")
    assert code == 0
    for name in SUBCOMMANDS:
        assert f"agent {name}" in out
    for number in ("0", "1", "2", "42", "53", "54", "75", "130"):
        assert f"\n  {number} " in out
    assert max(map(len, out.splitlines())) <= 100


def test_an_unknown_subcommand_of_a_group_is_a_usage_error(run: Run) -> None:
    code, _, err = run("config", "gt")
    assert code == 2
    assert "gt" in err


class TestConfig:
    def test_set_get_list_unset(self, run: Run, tmp_path: Path) -> None:
        assert run("config", "set", "ui.theme", "light")[0] == 0
        assert run("config", "set", "maxTurns", "7", "--scope", "project")[0] == 0
        assert run("config", "get", "ui.theme") == (0, '"light"\n', "")
        assert run("config", "get", "maxTurns") == (0, "7\n", "")
        _, out, _ = run("config", "list")
        assert out == 'maxTurns = 7  (project)\nui.theme = "light"  (user)\n'
        assert run("config", "unset", "ui.theme")[0] == 0
        path = tmp_path / "home" / ".gatewright" / "settings.json"
        assert json.loads(path.read_text(encoding="utf-8")) == {"ui": {}}

    @pytest.mark.parametrize(
        ("key", "value", "text"),
        [
            ("effort", "huge", "effort expected one of"),
            ("ui.them", "x", "did you mean theme?"),
            ("maxTurns", "0", "at least 1"),
            ("ui.theme", "lihgt", 'names no theme, "lihgt"; did you mean light?\n'),
            ("ui.theme", "nonsense", 'no theme, "nonsense": there are auto, dark, light, '),
            ("ui.theme", "light/config unset ui.theme", "names no theme"),
        ],
    )
    def test_what_the_loader_would_refuse_is_not_written(
        self, run: Run, tmp_path: Path, key: str, value: str, text: str
    ) -> None:
        code, _, err = run("config", "set", key, value)
        assert code == 1
        assert text in err
        assert not (tmp_path / "home" / ".gatewright").exists()

    def test_a_theme_of_ones_own_is_a_theme(self, run: Run, tmp_path: Path) -> None:
        own = tmp_path / "home" / ".gatewright" / "themes"
        own.mkdir(parents=True)
        (own / "sea.json").write_text("{}", encoding="utf-8")
        assert run("config", "set", "ui.theme", "sea")[0] == 0
        assert run("config", "get", "ui.theme") == (0, '"sea"\n', "")

    def test_the_doctor_says_which_theme_there_is_not(self, run: Run, tmp_path: Path) -> None:
        own = tmp_path / "home" / ".gatewright"
        own.mkdir(parents=True)
        (own / "settings.json").write_text('{"ui": {"theme": "drak"}}', encoding="utf-8")
        code, out, _ = run("doctor")
        assert code == 1
        assert 'ui.theme names no theme, "drak"; did you mean dark?' in out

    def test_a_personal_key_is_refused_in_a_project(self, run: Run) -> None:
        code, _, err = run("config", "set", "permissions.skip.bash", "true", "-s", "project")
        assert code == 1
        assert "counts only in" in err

    def test_an_unset_key_says_so_by_its_code(self, run: Run) -> None:
        code, out, err = run("config", "get", "modle")
        assert (code, out) == (1, "")
        assert "modle is no setting; did you mean model?" in err
        assert run("config", "get", "fallbackModels") == (1, "", ""), "it is set nowhere"

    def test_schema_and_path(self, run: Run) -> None:
        document = json.loads(run("config", "schema")[1])
        assert "permissions" in document["$defs"]["Settings"]["properties"]
        _, out, _ = run("config", "path")
        assert [line.endswith("(absent)") for line in out.splitlines()] == [True] * 4


class TestTrust:
    def test_add_status_list_remove(self, run: Run, tmp_path: Path) -> None:
        project = str(tmp_path / "project")
        assert run("trust", "status")[0] == 1
        assert run("trust", "add")[0] == 0
        assert run("trust", "status")[0] == 0
        assert run("trust", "list") == (0, f"{project}\n", "")
        assert run("trust", "remove", project)[0] == 0
        assert run("trust", "status")[0] == 1
        assert run("trust", "list") == (0, "", "No project is trusted.\n")
        assert run("config", "list") == (0, "", "All settings have their defaults.\n")

    def test_home_is_refused(self, run: Run, tmp_path: Path) -> None:
        code, _, err = run("trust", "add", str(tmp_path / "home"))
        assert code == 1
        assert "too wide" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ("trust", "add"),
        ("trust", "remove"),
        ("config", "set", "model", "x"),
        ("config", "unset", "model"),
        ("permissions", "add", "allow", "Bash"),
        ("permissions", "remove", "Bash"),
    ],
)
def test_a_command_of_a_session_cannot_loosen_anything(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setenv("GATEWRIGHT", "1")
    code, _, err = run(*arguments)
    assert code == 1
    assert "by the person" in err
    assert list((tmp_path / "home").iterdir()) == []
    assert list((tmp_path / "project").iterdir()) == []


class TestPermissions:
    def test_add_list_remove(self, run: Run, tmp_path: Path) -> None:
        assert run("permissions", "add", "deny", "Bash(rm:*)", "-s", "user")[0] == 0
        code, out, _ = run("permissions", "add", "allow", "Bash(npm test)")
        assert code == 0
        assert "not trusted" in out
        assert "already" in run("permissions", "add", "allow", "Bash(npm test)")[1]
        _, out, err = run("permissions", "list")
        assert "allow  Bash(npm test)  (local)\n" in out
        assert "deny   Bash(rm:*)  (user)\n" in out
        assert "ask    Read(**/.env)  (builtin)\n" in out, "what asks unasked-for is in force, too"
        assert "not trusted: for commands it counts in the sandbox alone" in err
        assert run("permissions", "remove", "Bash(npm test)")[0] == 0
        assert run("permissions", "remove", "Bash(npm test)")[0] == 1
        local = tmp_path / "project" / ".gatewright" / "settings.local.json"
        assert json.loads(local.read_text(encoding="utf-8")) == {"permissions": {"allow": []}}

    @pytest.mark.parametrize("rule", ["(x)", "Bash(", "mcp__*"])
    def test_a_malformed_rule_is_refused(self, run: Run, tmp_path: Path, rule: str) -> None:
        code, _, err = run("permissions", "add", "allow", rule)
        assert code == 1
        assert rule in err
        assert not (tmp_path / "project" / ".gatewright").exists()

    def test_a_rule_with_a_note_is_found_by_its_text(self, run: Run, tmp_path: Path) -> None:
        own = tmp_path / "home" / ".gatewright"
        own.mkdir()
        noted = {"rule": "Read(//x)", "addedBy": "user"}
        (own / "settings.json").write_text(
            json.dumps({"permissions": {"allow": [noted]}}), encoding="utf-8"
        )
        assert run("permissions", "list")[1].startswith("allow  Read(//x)  (user)\n")
        assert run("permissions", "remove", "Read(//x)", "-s", "user")[0] == 0

    def test_check_answers_line_by_line(self, run: Run) -> None:
        asked = [
            {"id": "a", "tool": "Read", "input": {"file_path": "/w/proj/a.py"}},
            {"id": "b", "tool": "Edit", "input": {"file_path": "/w/proj/a.py"}},
        ]
        lines = "".join(json.dumps(line) + "\n" for line in asked)
        code, out, _ = run("permissions", "check", "--jsonl", input=lines)
        answers: list[dict[str, Any]] = [json.loads(line) for line in out.splitlines()]
        assert code == 0
        assert [(answer["id"], answer["behavior"]) for answer in answers] == [
            ("a", "allow"),
            ("b", "ask"),
        ]

    def test_check_fails_on_what_it_cannot_read(self, run: Run) -> None:
        code, out, _ = run("permissions", "check", "--jsonl", input='{"id": 1}\nnonsense\n')
        answers = [json.loads(line) for line in out.splitlines()]
        assert code == 1
        assert [answer["id"] for answer in answers] == [1, None]
        assert all("error" in answer and "behavior" not in answer for answer in answers)

    def test_check_needs_its_flag(self, run: Run) -> None:
        assert run("permissions", "check")[0] == 2


class TestJudging:
    def test_explain_shows_every_stage_up_to_the_decisive_one(self, run: Run) -> None:
        code, out, _ = run("permissions", "explain", "rm -rf /")
        assert code == 0
        assert out.startswith("  hooks: nothing to say\n")
        assert "\n> hard floor: ask. " in out
        assert "skip switches" not in out

    def test_explain_uses_the_settings_and_mode_of_here(self, run: Run) -> None:
        assert run("permissions", "add", "deny", "Bash(curl:*)", "-s", "user")[0] == 0
        assert "> deny rules: deny. " in run("permissions", "explain", "curl x")[1]
        edit = ("permissions", "explain", "-t", "Edit", '{"file_path": "a.py"}')
        assert "mode acceptEdits" in run(*edit)[1]
        assert "> mode: allow. " in run(*edit, "--mode", "acceptEdits")[1]

    def test_explain_says_what_would_permit_it_where_nobody_is(self, run: Run) -> None:
        assert run("permissions", "add", "ask", "Bash(make:*)", "-s", "user")[0] == 0
        assert "> nobody to ask: deny. " in run("permissions", "explain", "make x", "--print")[1]

    def test_explain_says_what_the_sandbox_makes_of_it(self, run: Run, tmp_path: Path) -> None:
        command = ("permissions", "explain", "git status --short")
        if probe(machine()).level == "bwrap":
            out = run(*command)[1]
            assert "> mode: allow. " in out
            assert "it would run in the sandbox" in out
        assert run("config", "set", "sandbox.enabled", "false")[0] == 0
        out = run(*command)[1]
        assert "> mode: ask. " in out
        assert "it would run outside of the sandbox" in out
        assert "sandbox" not in run("permissions", "explain", "-t", "Read", '{"file_path": "a"}')[1]

    @pytest.mark.parametrize(
        "arguments", [("x", "--mode", "work"), ("x", "-t", "Edit"), ("[]", "-t", "Edit")]
    )
    def test_explain_refuses_what_it_cannot_read(
        self, run: Run, arguments: tuple[str, ...]
    ) -> None:
        code, out, err = run("permissions", "explain", *arguments)
        assert code in (1, 2)
        assert (out, err.startswith("agent: ")) == ("", True)

    def test_rule_tests(self, run: Run, tmp_path: Path) -> None:
        file = tmp_path / "project" / "rules.jsonl"
        lines = [
            "// what this project relies on",
            '{"command": "rm -rf /", "expect": "ask"}',
            "",
            '{"tool": "Edit", "input": {"file_path": "a"}, "mode": "acceptEdits",'
            ' "expect": "allow"}',
            '{"command": "rm -rf ~", "expect": "deny"}',
        ]
        file.write_text("\n".join(lines), encoding="utf-8")
        code, out, _ = run("permissions", "test", str(file))
        assert code == 1
        assert out.startswith("WRONG rm -rf ~: behavior: expected 'deny', got 'ask'\n")
        assert out.endswith("2 of 3 as expected\n")
        file.write_text("\n".join(lines[:-1]), encoding="utf-8")
        assert run("permissions", "test", str(file)) == (0, "2 of 2 as expected\n", "")

    def test_rule_tests_see_the_rules_of_here(self, run: Run, tmp_path: Path) -> None:
        file = tmp_path / "rules.jsonl"
        file.write_text(
            '{"command": "curl x", "expect": {"rule": "Bash(curl:*)"}}', encoding="utf-8"
        )
        assert run("permissions", "test", str(file))[0] == 1
        assert run("permissions", "add", "deny", "Bash(curl:*)", "-s", "user")[0] == 0
        assert run("permissions", "test", str(file)) == (0, "1 of 1 as expected\n", "")

    @pytest.mark.parametrize("line", ["{", '{"command": "x"}', '{"expect": "allow"}'])
    def test_a_rule_test_that_cannot_be_read(self, run: Run, tmp_path: Path, line: str) -> None:
        file = tmp_path / "rules.jsonl"
        file.write_text(f"\n{line}\n", encoding="utf-8")
        code, _, err = run("permissions", "test", str(file))
        assert code == 42
        assert f"{file}:2: " in err

    def test_nothing_to_suggest(self, run: Run) -> None:
        assert run("permissions", "suggest")[1] == "Nothing was asked that often here.\n"


def test_debug_redirect(run: Run) -> None:
    lines = '{"id": 1, "from": "http://a.org/x", "to": "https://a.org/x"}\n\n{}\n'
    code, out, _ = run("debug", "redirect", "--jsonl", input=lines)
    assert code == 1
    assert [json.loads(line)["decision"] for line in out.splitlines()] == ["follow", "stop"]


class TestDoctor:
    def test_it_says_what_to_do(self, run: Run) -> None:
        code, out, _ = run("doctor")
        assert code == 0
        assert "none found" in out
        assert "Set ANTHROPIC_API_KEY" in out

    def test_a_key_is_named_and_never_shown(
        self, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
        _, out, _ = run("doctor")
        assert "ANTHROPIC_API_KEY" in out
        assert "sk-secret" not in out

    def test_broken_settings_fail_it(self, run: Run, tmp_path: Path) -> None:
        own = tmp_path / "home" / ".gatewright"
        own.mkdir()
        (own / "settings.json").write_text("{,", encoding="utf-8")
        code, out, _ = run("doctor")
        assert code == 1
        assert "settings.json:1: is not valid JSON" in out


class TestModels:
    def test_a_providers_models(self, run: Run) -> None:
        code, out, _ = run("models", "anthropic")
        head, *rows = out.splitlines()
        assert code == 0
        assert head.startswith("Model")
        assert rows
        assert all(row.startswith("anthropic/") for row in rows)

    def test_an_unknown_provider_names_the_known(self, run: Run) -> None:
        code, _, err = run("models", "nobody")
        assert code == 1
        assert "anthropic" in err

    def test_json(self, run: Run) -> None:
        found = json.loads(run("models", "anthropic", "--json")[1])
        assert all("window" in facts for facts in found.values())

    def test_what_a_key_is_there_for_is_marked_and_the_key_never_shown(
        self, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("GEMINI_API_KEY", "secret-gemini")
        assert run("login", "xai", "--no-check", input="secret-xai\n")[0] == 0
        _, out, _ = run("models")
        rows = [line.split() for line in out.splitlines()]
        marked = {row[0].partition("/")[0]: " ".join(row[-2:]) for row in rows[1:]}
        assert marked["gemini"].endswith("GEMINI_API_KEY")
        assert marked["xai"] == "stored key"
        assert "KEY" not in marked["anthropic"]
        assert "google" not in marked, "names are those that --model takes"
        assert "secret" not in out + run("models", "--json")[1]

    @pytest.mark.parametrize("api", ["anthropic", "openai", "openai-responses"])
    def test_a_providers_own_list_is_read_and_kept(
        self, run: Run, tmp_path: Path, api: str
    ) -> None:
        with ServerThread("") as server:
            server.models = ["alpha-1", "beta\x1b[31m", "x" * 900]
            server.facts = {"alpha-1": {"context_length": 65_536, "max_completion_tokens": 4_096}}
            base = server.url if api == "anthropic" else server.openai_url
            configure(tmp_path, {"fake": {"type": api, "baseUrl": base}})
            code, out, err = run("models", "fake", "--refresh")
        assert (code, err) == (0, "fake: 1 models\n")
        assert out.splitlines()[1].split()[:3] == ["fake/alpha-1", "65k", "4k"]
        assert len(out.splitlines()) == 2
        assert run("models", "fake")[1] == out, "kept"
        configure(tmp_path, {"fake": {"type": api, "baseUrl": "http://127.0.0.1:9"}})
        assert run("models", "fake")[0] == 1, "a list counts for the address it came from"

    def test_a_list_has_a_cap(self, run: Run, tmp_path: Path) -> None:
        with ServerThread("") as server:
            server.models = [f"model-{n:05}" for n in range(5_000)]
            configure(tmp_path, {"fake": {"type": "openai", "baseUrl": server.openai_url}})
            assert run("models", "fake", "--refresh")[2] == "fake: 2000 models\n"

    def test_a_list_that_is_not_to_be_had(
        self, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        configure(tmp_path, {"fake": {"type": "openai", "baseUrl": "http://127.0.0.1:9/v1"}})
        code, _, err = run("models", "fake", "--refresh")
        assert code == 1
        assert err.startswith("fake: ")
        for name in LOCAL:
            monkeypatch.setenv(name, NOBODY)
        code, _, err = run("models", "--refresh")
        assert code == 1
        assert "No models" not in err
        assert "gives no list" in run("models", "bedrock", "--refresh")[2]

    def test_a_broken_list_is_as_good_as_none(self, run: Run, tmp_path: Path) -> None:
        state = tmp_path / "home" / ".gatewright" / "state"
        state.mkdir(parents=True)
        (state / "models.json").write_text("{,", encoding="utf-8")
        assert run("models", "anthropic")[0] == 0
        with ServerThread("") as server:
            configure(tmp_path, {"fake": {"type": "openai", "baseUrl": server.openai_url}})
            assert run("models", "fake", "--refresh")[0] == 0


def configure(tmp_path: Path, providers: dict[str, dict[str, str]]) -> None:
    own = tmp_path / "home" / ".gatewright"
    own.mkdir(exist_ok=True)
    text = json.dumps({"providers": providers})
    (own / "settings.json").write_text(text, encoding="utf-8")


class TestSessions:
    def test_none_yet(self, run: Run) -> None:
        assert run("sessions", "list") == (0, "None here; try --all.\n", "")
        assert run("sessions", "list", "--json") == (0, "[]\n", "")
        assert run("sessions", "show", "abc")[0] == 1


def test_the_system_prompt_can_be_seen(run: Run) -> None:
    code, out, err = run("--dump-system-prompt", "--append-system-prompt", "Be brief.")
    assert (code, err) == (0, "")
    assert out.startswith("You are Gatewright")
    assert out.rstrip().endswith("Be brief.")


def test_flags_without_effect_say_so(run: Run) -> None:
    _, _, err = run("--dump-system-prompt", "--betas", "x", "--permission-prompt-tool", "x")
    assert err == (
        "agent: Features of the API are not chosen in this version: --betas is left out.\n"
        "agent: --permission-prompt-tool is stdio, or an MCP tool in print mode: "
        "mcp__server__tool.\n"
    )


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--mode", "work"), "Valid modes"),
        (("--cwd", "/nowhere"), "there is no directory /nowhere"),
        (("--system-prompt-file", "absent"), "cannot read absent"),
        (("--json-schema", "{"), "takes a JSON object"),
        (("--json-schema", "absent"), "cannot read absent"),
    ],
)
def test_wrong_usage_is_exit_code_2(run: Run, arguments: tuple[str, ...], text: str) -> None:
    code, _, err = run("-p", "hi", *arguments)
    assert code == 2
    assert text in err


class TestKeys:
    def test_a_piped_key_is_kept_found_and_forgotten(self, run: Run, tmp_path: Path) -> None:
        code, out, err = run("login", "openai", "--no-check", input="sk-test-1\n")
        assert (code, err) == (0, "")
        assert "only you can read" in out
        assert "not tried" in out
        path = tmp_path / "home" / ".gatewright" / "state" / "keys.json"
        assert path.stat().st_mode & 0o777 == 0o600
        assert "openai (logged in)" in run("doctor")[1]
        assert "is forgotten" in run("logout", "openai")[1]
        assert "was stored" in run("logout", "openai")[1]

    @pytest.mark.parametrize("provider", ["anthropic", "openai"])
    def test_a_key_is_tried_before_it_is_kept(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provider: str
    ) -> None:
        keys = tmp_path / "home" / ".gatewright" / "state" / "keys.json"
        with ServerThread("") as server:
            server.key = "sk-right"
            monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
            monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
            code, out, err = run("login", provider, input="sk-wrong\n")
            assert (code, out) == (1, "")
            assert f"{provider} does not know this key (401). Nothing was stored." in err
            assert not keys.exists()
            code, out, err = run("login", provider, input="sk-right\n")
            assert (code, err) == (0, "")
            assert "It works." in out
            assert [request.method for request in server.requests] == ["GET", "GET"]
        monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
        monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
        code, out, _ = run("login", provider, input="sk-other\n")
        assert code == 0, "who is offline keeps a key all the same"
        assert "Whether it works is not known" in out
        assert "sk-" not in out + err

    @pytest.mark.parametrize("key", ["", "\n", "two words\n", "a\x1bb\n"])
    def test_what_is_no_key_is_refused(self, run: Run, tmp_path: Path, key: str) -> None:
        assert run("login", input=key)[0] == 42
        assert not (tmp_path / "home" / ".gatewright" / "state").exists()

    def test_an_unknown_provider_is_refused(self, run: Run) -> None:
        code, _, err = run("login", "nobody", input="key\n")
        assert code == 1
        assert "anthropic" in err


class TestProbe:
    def try_(self, run: Run, monkeypatch: pytest.MonkeyPatch, script: str) -> tuple[int, str, str]:
        with ServerThread(script) as server:
            monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
            monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
            return run("doctor", "--provider", "anthropic")

    def test_a_provider_that_answers(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        script = 'say: ready now\n---\ncall: echo {"word": "ready"}\n---\nsay: Red.\n'
        code, out, err = self.try_(run, monkeypatch, script)
        assert (code, err) == (0, "")
        assert "ok  Tool call" in out
        assert "ok  Image" in out

    def test_a_key_that_is_wrong(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        code, _, err = self.try_(
            run, monkeypatch, "error: auth status=401 message=invalid x-api-key\n"
        )
        assert code == 1
        assert "did not accept the key" in err

    def test_what_does_not_work_fails_it(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        script = "say: ready now\n---\nsay: I cannot call.\n---\nsay: Red.\n"
        code, out, _ = self.try_(run, monkeypatch, script)
        assert "XX  Tool call" in out
        assert code == 1

    def test_an_overload_is_temporary(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        assert self.try_(run, monkeypatch, "error: overloaded status=529\n")[0] == 75

    def test_no_key(self, run: Run) -> None:
        code, _, err = run("doctor", "--provider", "anthropic")
        assert code == 1
        assert "No key for anthropic" in err


def test_a_directory_that_is_gone_is_said(run: Run, tmp_path: Path) -> None:
    (tmp_path / "project").rmdir()
    for arguments in (("-p", "hi", "--model", "demo"), ("doctor",), ("config", "list")):
        code, _, err = run(*arguments)
        assert (code, err.count("\n")) == (1, 1)
        assert "no longer there" in err


@pytest.mark.parametrize("arguments", [("doctr",), ("sesions", "list"), ("Config", "get", "x")])
def test_a_mistyped_subcommand_is_no_prompt(run: Run, arguments: tuple[str, ...]) -> None:
    code, _, err = run(*arguments)
    assert code == 2
    assert err.startswith("agent: Did you mean agent ")


@pytest.mark.parametrize("word", ["hello", "fix", "explain", "tests", "fix the doctor", "./doctor"])
def test_other_words_are_prompts(word: str) -> None:
    assert mistyped(word) == ""


def test_help_as_a_word(run: Run) -> None:
    assert run("help")[:2] == run("--help")[:2]
