"""Whatever is invoked or started of a plugin stands in what the person agrees to, and whole."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gatewright.agent.plugins.acting import MOST_TEXT, acts_of
from gatewright.agent.plugins.consent import Consent
from gatewright.agent.plugins.installing import Declined
from gatewright.agent.plugins.manifest import BadManifest
from gatewright.agent.plugins.reading_parts import read_plugin
from gatewright.agent.plugins.record import Act, Record
from gatewright.agent.plugins.sources.source import LocalSource
from gatewright.skills.book import SkillBook
from gatewright.skills.places import Ground, PluginPlace
from gatewright.skills.template import commands_of
from tests.fakes.market_server import laid
from tests.fakes.plugin_trees import bare_plugin, write, write_json
from tests.plugins.market_place import LIST, Person, Place, below, listed, plugin

ACTS = "---\ndescription: d\nallowed-tools: Bash(wc:*)\n---\nx !`touch z`\n"
HOOK = "  Stop:\n    - hooks:\n      - {type: command, command: touch y}\n"


def shown(root: Path) -> set[tuple[str, str]]:
    found = read_plugin(root, market="m", data=Path("/data")).plugin
    return {(act.kind, act.text) for act in acts_of(found)}


def counts(root: Path) -> set[tuple[str, str]]:
    """What of its texts would act, as a session reads them."""
    found = read_plugin(root, market="m", data=Path("/data")).plugin
    nowhere = Path("/nonexistent")
    place = PluginPlace(found.name, found.root, found.skills, found.commands)
    ground = Ground(
        managed=nowhere, homes=(), root=nowhere, cwd=nowhere, trusted=True, bundled=False,
        plugins=(place,),
    )  # fmt: skip
    book = SkillBook(lambda: ground)
    acting: set[tuple[str, str]] = set()
    for skill in book.now().every:
        acting |= {("command in text", text) for text in commands_of(book.text(skill))}
        acting |= {("allowed-tools", rule) for rule in skill.said.allowed_tools}
        acting |= {("hook", "Stop: touch y") for _ in skill.said.hooks}
    return acting


@pytest.mark.parametrize(
    "text",
    [
        "---\ndescription: d\nAllowed-Tools: Bash(a:*)\n---\nx\n",
        "---\ndescription: d\nALLOWED_TOOLS: Bash(a:*)\n---\nx\n",
        "---\ndescription: d\nallowedtools: Bash(a:*)\n---\nx\n",
        f"---\ndescription: d\nHooks:\n{HOOK}---\nx\n",
        f"---\ndescription: mended: twice\nallowed-tools: Bash(a:*)\nhooks:\n{HOOK}---\nx\n",
        "---\ndescription: d\n---\n```! touch z\nls\n```\n",
        "---\ndescription: d\n---\n```!touch z\n```\n",
        "---\r\ndescription: d\r\n---\r\n```!\r\ntouch z\r\n```\r\n",
    ],
)
def test_a_text_is_read_as_it_is_when_it_is_invoked(tmp_path: Path, text: str) -> None:
    root = bare_plugin(tmp_path / "x")
    (root / "skills/sweep/SKILL.md").write_bytes(text.encode())
    acting = counts(root)
    assert acting
    assert acting <= shown(root)


@pytest.mark.parametrize("code", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
@pytest.mark.parametrize("text", ["---\nallowed-tools: Bash(a:*)\n---\nx\n", "!`touch z`\n"])
def test_in_whatever_code_it_is_written(tmp_path: Path, code: str, text: str) -> None:
    root = bare_plugin(tmp_path / "x")
    lead = b"\xfe\xff" if code == "utf-16-be" else b""
    (root / "skills/sweep/SKILL.md").write_bytes(lead + text.encode(code))
    acting = counts(root)
    assert acting
    assert acting <= shown(root)


def _linked(root: Path) -> None:
    write(root / "x/foo/SKILL.md", ACTS)
    (root / "skills/foo").symlink_to("../x/foo")


def _linked_group(root: Path) -> None:
    write(root / "x/g/foo/SKILL.md", ACTS)
    (root / "skills/g").symlink_to("../x/g")


def _linked_commands(root: Path) -> None:
    write(root / "x/foo.md", ACTS)
    (root / "commands").mkdir()
    (root / "commands/d").symlink_to("../x")


def _linked_file(root: Path) -> None:
    write(root / "x.txt", ACTS)
    (root / "commands").mkdir()
    (root / "commands/a.md").symlink_to("../x.txt")


def _shouted(root: Path) -> None:
    write(root / "commands/a.MD", ACTS)


@pytest.mark.parametrize("lay", [_linked, _linked_group, _linked_commands, _linked_file, _shouted])
def test_it_is_found_wherever_it_is_invoked_from(
    tmp_path: Path, lay: Callable[[Path], None]
) -> None:
    root = bare_plugin(tmp_path / "x")
    lay(root)
    assert counts(root) == {("command in text", "touch z"), ("allowed-tools", "Bash(wc:*)")}
    assert counts(root) <= shown(root)


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    root = bare_plugin(tmp_path / "x")
    write(root / "skills/foo/SKILL.md", ACTS)
    (root / "skills/foo/again").symlink_to("..")
    assert ("command in text", "touch z") in shown(root)


def test_nothing_of_a_command_is_cut_off(tmp_path: Path) -> None:
    root = bare_plugin(tmp_path / "x")
    command = f"echo {'x' * 5_000}; touch z"
    write_json(root / ".mcp.json", {"mcpServers": {"s": {"command": command}}})
    assert shown(root) == {("server", f"s: {command}")}
    one, other = (Act("hook", f"{'x' * 5_000}{end}") for end in "ab")
    record = Record(name="x", market="m")
    before = Record(name="x", market="m", acts=(one,))
    assert Consent(now=Record(name="x", market="m", acts=(other,)), before=before).new == (other,)
    assert Consent(now=record, before=before).gone == (one,)
    write_json(root / ".mcp.json", {"mcpServers": {"s": {"command": "x" * MOST_TEXT}}})
    with pytest.raises(BadManifest, match="too long"):
        shown(root)


def test_what_a_market_adds_later_is_asked_about_though_no_file_changed(tmp_path: Path) -> None:
    market = tmp_path / "market"
    entry = {"name": "one", "source": "./one", "strict": False}
    laid(market, {LIST: listed(entry), **below("one", plugin("one"))})
    place = Place(tmp_path / "home")
    place.add(LocalSource(str(market)))
    place.install("one")
    record = place.store.lock.read().plugins["one@tools"]
    server = {"command": "touch", "args": ["z"]}
    (market / LIST).write_text(listed({**entry, "mcpServers": {"s": server}}), encoding="utf-8")

    no = Person(says=False)
    (done,) = place.update(no)
    assert done.state == "declined"
    with pytest.raises(Declined):
        place.install("one", no)
    assert [[act.text for act in about.new] for about in no.saw] == [["s: touch z"]] * 2
    assert place.store.lock.read().plugins["one@tools"] == record

    (done,) = place.update()
    assert done.state == "updated"
    assert place.install("one", no).same
    assert len(no.saw) == 2, "agreed to"
