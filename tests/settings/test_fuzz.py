"""Settings that are random, damaged or cut: never a crash, never more permitted, nothing lost."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, TypeAlias, cast

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gatewright.agent.errors import SettingsError
from gatewright.agent.settings.edit import set_value
from gatewright.agent.settings.grants import GrantStore
from gatewright.agent.settings.layers.sources import Loaded, RuleTexts, load
from gatewright.agent.settings.paths import Places
from gatewright.agent.settings.rulefile import add_rule, remove_rule
from gatewright.agent.settings.schema import Settings
from gatewright.agent.settings.traits import Source
from tests.fakes.examples import many

FILES = (Source.MANAGED, Source.LOCAL, Source.PROJECT, Source.USER)
Key: TypeAlias = tuple[str, ...]
PATIENT = settings(deadline=None, max_examples=many(60))  # each example writes and reads files

# What is valid for every key that has to do with permissions, and what cannot be.
RULE = st.sampled_from(["Bash", "Bash(rm *)", "Edit", "Read(/etc/**)", "WebFetch"])
ENTRY: st.SearchStrategy[Any] = st.one_of(
    RULE, st.fixed_dictionaries({"rule": RULE, "addedBy": st.just("user")})
)
TEXTS = st.lists(st.sampled_from(["a", "b", "~/c"]), max_size=3)
FLAG = st.booleans()
MODE = st.sampled_from(["default", "acceptEdits", "bypassPermissions", " Bypass ", "auto", "plan"])
VALID: dict[Key, st.SearchStrategy[Any]] = {
    ("permissions", "allow"): st.lists(ENTRY, max_size=3),
    ("permissions", "ask"): st.lists(ENTRY, max_size=3),
    ("permissions", "deny"): st.lists(ENTRY, max_size=3),
    ("permissions", "defaultMode"): MODE,
    ("permissions", "additionalDirectories"): TEXTS,
    ("permissions", "disableBypassPermissionsMode"): st.sampled_from(["", "disable"]),
    ("permissions", "disableAutoMode"): st.sampled_from(["", "disable"]),
    ("permissions", "planEnforcement"): st.sampled_from(["strict", "delegate", "block"]),
    ("permissions", "harmlessEnv"): TEXTS,
    **{("permissions", "skip", name): FLAG for name in ("edits", "bash", "skills", "mcp")},
    ("sandbox", "enabled"): st.sampled_from([True, False, "auto"]),
    ("sandbox", "failIfUnavailable"): FLAG,
    ("sandbox", "autoAllowBashIfSandboxed"): FLAG,
    ("sandbox", "allowUnsandboxedCommands"): FLAG,
    ("sandbox", "excludedCommands"): TEXTS,
    ("sandbox", "filesystem", "allowWrite"): TEXTS,
    ("sandbox", "filesystem", "denyWrite"): TEXTS,
    ("sandbox", "filesystem", "denyRead"): TEXTS,
    ("sandbox", "filesystem", "allowRead"): TEXTS,
    ("sandbox", "network", "allowedDomains"): TEXTS,
    ("sandbox", "network", "deniedDomains"): TEXTS,
    ("sandbox", "network", "allowAll"): FLAG,
}
RESTRICTS = {"ask", "deny", "denyWrite", "denyRead", "deniedDomains"}
JUNK: st.SearchStrategy[Any] = st.sampled_from(
    [None, 3.5, 7, {"?": 1}, {"rule": 1}, [[1]], [{"x": "Bash"}], "a\0b", ["\0"], 10**30]
)

TREES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), FLAG, st.integers(), st.floats(allow_nan=False), st.text(max_size=9)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.one_of(
                st.text(max_size=9),
                st.sampled_from(sorted({part for key in VALID for part in key} | {"env"})),
            ),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=20,
)
OBJECTS = st.dictionaries(st.text(max_size=9), TREES, max_size=5)


def put(document: dict[str, Any], key: Key, value: Any) -> None:
    for part in key[:-1]:
        document = document.setdefault(part, {})
    document[key[-1]] = value


def drop(document: dict[str, Any], key: Key) -> None:
    for part in key[:-1]:
        document = document[part]
    del document[key[-1]]


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for key in draw(st.lists(st.sampled_from(list(VALID)), unique=True, max_size=6)):
        put(document, key, draw(VALID[key]))
    return document


@st.composite
def damaged(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """A valid document, and the same with mistakes: wrong values, wrong names, wrong items."""
    whole = draw(documents())
    broken = cast("dict[str, Any]", json.loads(json.dumps(whole)))
    for key, value in list(leaves(whole)):
        match draw(st.sampled_from(["none", "none", "value", "name", "item"])):
            case "value":
                put(broken, key, draw(JUNK))
            case "name":
                drop(broken, key)
                put(broken, (*key[:-1], draw(st.sampled_from(["x", "A"])) + key[-1]), value)
            case "item" if isinstance(value, list):
                put(broken, key, [*cast("list[object]", value), draw(JUNK)])
            case _:
                pass
    return whole, broken


def leaves(document: dict[str, Any]) -> Iterator[tuple[Key, Any]]:
    for key in VALID:
        inside: Any = document
        for part in key:
            inside = inside.get(part) if isinstance(inside, dict) else None  # pyright: ignore
        if inside is not None:
            yield key, inside


@contextlib.contextmanager
def layers(others: dict[Source, dict[str, Any]]) -> Generator[Places]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        places = Places(home=folder / "h", root=folder / "p", managed=folder / "m")
        for source, document in others.items():
            keep(places, source, json.dumps(document).encode())
        yield places


def file_of(places: Places, source: Source) -> Path:
    path = places.file(source)
    assert path is not None
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def keep(places: Places, source: Source, data: bytes) -> None:
    file_of(places, source).write_bytes(data)


def loaded(places: Places, *, trusted: bool) -> Loaded:
    return load(places, env={}, trusted=trusted)


def looser(now: Loaded, without: Loaded, whole: Loaded) -> list[str]:
    """What `now` permits and neither of the others does; empty when nothing."""
    found: list[str] = []
    for source in Source:
        have, had, meant = (each.rules.get(source, RuleTexts()) for each in (now, without, whole))
        if not set(have.allow) <= {*had.allow, *meant.allow}:
            found.append(f"{source} allow")
        if not set(had.deny) <= set(have.deny) or not set(had.ask) <= set(have.ask):
            found.append(f"{source} deny or ask")
    for key in VALID:
        value, none, valid = (value_at(each.settings, key) for each in (now, without, whole))
        if not isinstance(value, tuple):
            good = value in (none, valid)
        elif key[-1] in RESTRICTS:
            good = all(item in value for item in none)
        else:
            good = all(item in (*none, *valid) for item in cast("tuple[object, ...]", value))
        if not good:
            found.append(".".join(key))
    return found


def value_at(settings: Settings, key: Key) -> Any:
    value: Any = settings
    for part in key:
        names = {field.encode_name: field.name for field in msgspec.structs.fields(value)}
        value = getattr(value, names[part])
    return value


@PATIENT
@given(
    st.dictionaries(st.sampled_from(FILES), documents()), damaged(), st.sampled_from(FILES), FLAG
)
def test_mistakes_permit_nothing(
    others: dict[Source, dict[str, Any]],
    pair: tuple[dict[str, Any], dict[str, Any]],
    source: Source,
    trusted: bool,
) -> None:
    others.pop(source, None)
    whole, broken = pair
    with layers(others) as places:
        without = loaded(places, trusted=trusted)
        keep(places, source, json.dumps(whole).encode())
        meant = loaded(places, trusted=trusted)
        keep(places, source, json.dumps(broken).encode())
        now = loaded(places, trusted=trusted)
        assert looser(now, without, meant) == []
        if whole == broken:
            assert (now.settings, now.rules) == (meant.settings, meant.rules)


@PATIENT
@given(documents(), documents(), st.data(), st.sampled_from(FILES))
def test_a_file_that_is_cut_counts_as_none(
    other: dict[str, Any], document: dict[str, Any], data: st.DataObject, source: Source
) -> None:
    rest = next(each for each in FILES if each is not source)
    text = json.dumps(document).encode()
    cut = data.draw(st.integers(1, len(text) - 1))
    with layers({rest: other}) as places:
        without = loaded(places, trusted=True)
        keep(places, source, text[:cut])
        now = loaded(places, trusted=True)
    assert (now.settings, now.rules) == (without.settings, without.rules)
    assert any(problem.source is source and not problem.key for problem in now.problems)


@PATIENT
@given(st.one_of(st.binary(max_size=60), TREES.map(lambda tree: json.dumps(tree).encode())))
@example(b'{"a": "\\ud800"}')
@example(b'{"maxTurns": ' + b"9" * 5000 + b"}")
@example(b'{"maxTurns": 1e999}')
@example(b'{"modle": ' + b"[" * 900 + b"]" * 900 + b"}")
@example(b'{"modle": ' + b'{"a":' * 90 + b"1" + b"}" * 90 + b"}")
@example(b"[" * 100_000)
@example(b'{"permissions": {"defaultMode": "nonsense"}}')
@example(b'{"env": {"": "x", "A=B": "x", "C": "\\u0000"}}')
def test_whatever_is_in_a_file_it_is_read_or_refused(data: bytes) -> None:
    with layers({}) as places:
        for source in FILES:
            keep(places, source, data)
        for problem in loaded(places, trusted=True).problems:
            assert problem.text()


EDITS = st.one_of(
    st.tuples(
        st.just("set"),
        st.lists(
            st.sampled_from(["model", "ui", "theme", "env", "A", "x"]), min_size=1, max_size=3
        ),
        st.one_of(st.none(), st.integers(), st.text(max_size=5)),
    ),
    st.tuples(st.sampled_from(["add", "remove", "grant"]), st.just(["permissions"]), RULE),
)


def change(path: Path, root: Path, edit: tuple[str, list[str], Any]) -> None:
    kind, key, value = edit
    places = Places(home=path.parent, root=root, managed=root)
    match kind:
        case "set":
            set_value(path, ".".join(key), value)
        case "add":
            add_rule(path, "deny", value)
        case "remove":
            remove_rule(path, value)
        case _:
            GrantStore(places, trusted=False).store([value])


@PATIENT
@given(
    st.one_of(OBJECTS, documents(), TREES),
    st.lists(EDITS, min_size=1, max_size=4),
    st.sampled_from([None, 2, 4, "\t"]),
)
@example({"big": 10**400, "small": 1e-300}, [("set", ["x"], 1)], None)
@example({"permissions": {"allow": "Bash"}}, [("grant", ["permissions"], "Edit")], 2)
@example({"projects": {"/p": 7}}, [("grant", ["permissions"], "Edit")], 2)
def test_edits_leave_every_other_key(
    document: Any, edits: list[tuple[str, list[str], Any]], indent: int | str | None
) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "settings.json"
        path.write_text(json.dumps(document, indent=indent), encoding="utf-8")
        for edit in edits:
            before = path.read_bytes()
            try:
                change(path, Path("/p"), edit)
            except SettingsError:
                assert path.read_bytes() == before
                continue
            touched = "projects" if edit[0] == "grant" else edit[1][0]
            old, new = json.loads(before), json.loads(path.read_bytes())
            order = [key for key in new if key in old]
            old.pop(touched, None)
            new.pop(touched, None)
            assert new == old
            assert order == [key for key in json.loads(before) if key in order]
            msgspec.json.decode(path.read_bytes())  # the loader reads what was written


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{\n  // mine\n  "model": "x"\n}', ":2 is not valid JSON: comments are not supported"),
        ('{"model": "x" /* mine */}', ":1 is not valid JSON: comments are not supported"),
        ('{"model": "x",\n}', "is not valid JSON: a comma stands before the end"),
        ('{"model": NaN}', "NaN is no value"),
        ('{"model": "\\ud800"}', "a character cannot be read"),
        ('{"ui": {"vim": true, "vim": false}}', "has the key vim twice"),
        ('{"maxTurns": ' + "9" * 5000 + "}", "a number is too large"),
        ('{"a": ' + "[" * 200 + "]" * 200 + "}", "is nested too deeply"),
        ("[" * 100_000, "is nested too deeply"),
        ("\ufeff[]", "expected an object"),
    ],
)
def test_what_cannot_be_written_back_is_refused(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "settings.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match="left as it is") as raised:
        set_value(path, "model", "y")
    assert says in str(raised.value)
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("text", ['{\n // mine\n "permissions": {"deny": ["Bash"]}}'])
def test_comments_are_named_where_a_file_is_read(tmp_path: Path, text: str) -> None:
    places = Places(home=tmp_path / "h", root=tmp_path / "p", managed=tmp_path / "m")
    keep(places, Source.USER, text.encode())
    (problem,) = loaded(places, trusted=True).problems
    assert problem.text().endswith(":2: is not valid JSON: comments are not supported")
