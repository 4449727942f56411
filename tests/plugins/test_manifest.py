"""The manifest and the parts: lenient where it does no harm, and nothing outside of the plugin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.plugins.acting import acts_of
from gatewright.agent.plugins.lookalike import looks_like
from gatewright.agent.plugins.manifest import BadManifest, read_manifest
from gatewright.agent.plugins.parts import Plugin
from gatewright.agent.plugins.reading_parts import FoundPlugin, read_plugin
from tests.fakes.plugin_trees import bare_plugin, full_plugin, write, write_json


def read(root: Path, **entry: Any) -> FoundPlugin:
    return read_plugin(root, market="m", data=Path("/data"), entry=entry)


class TestManifest:
    def test_without_one_the_directory_names_it(self, tmp_path: Path) -> None:
        write(tmp_path / "tidy" / "commands" / "a.md", "Do it.\n")
        found = read(tmp_path / "tidy")
        assert found.plugin.id == "tidy@m"
        assert found.plugin.commands == (tmp_path / "tidy" / "commands",)

    def test_ours_comes_first(self, tmp_path: Path) -> None:
        root = bare_plugin(tmp_path / "x")
        write_json(root / ".gatewright-plugin" / "plugin.json", {"name": "ours"})
        assert read(root).plugin.name == "ours"

    def test_an_unknown_key_is_a_note_with_the_nearest(self, tmp_path: Path) -> None:
        found = read(bare_plugin(tmp_path / "x", outputStyle="./a", wild=1))
        assert found.notes == (
            "there is no key 'outputStyle', did you mean outputStyles?",
            "there is no key 'wild': ignored",
        )

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("version", 1),
            ("keywords", "a"),
            ("skills", {"a": 1}),
            ("hooks", 3),
            ("author", ["Ada"]),
            ("defaultEnabled", "yes"),
            ("userConfig", {"key": {"type": "colour"}}),
            ("dependencies", "other"),
            ("experimental", []),
        ],
    )
    def test_a_wrong_type_fails_it(self, tmp_path: Path, key: str, value: Any) -> None:
        with pytest.raises(BadManifest, match=rf"plugin\.json: {key}"):
            read_manifest(bare_plugin(tmp_path / "x", **{key: value}))

    def test_broken_json_names_the_line(self, tmp_path: Path) -> None:
        write(tmp_path / ".claude-plugin" / "plugin.json", '{\n "name": "a",\n}\n')
        with pytest.raises(BadManifest, match=r"plugin\.json:[23] "):
            read_manifest(tmp_path)

    def test_a_link_for_a_manifest_is_none(self, tmp_path: Path) -> None:
        (tmp_path / ".claude-plugin").mkdir()
        (tmp_path / ".claude-plugin" / "plugin.json").symlink_to("/etc/passwd")
        with pytest.raises(BadManifest, match=r"cannot be read|no regular file"):
            read_manifest(tmp_path)

    def test_an_entry_of_a_market_adds_what_is_not_said(self, tmp_path: Path) -> None:
        root = bare_plugin(tmp_path / "x")
        found = read(root, version="9", homepage="https://a.example", source="./x", category="c")
        assert (found.manifest.version, found.manifest.homepage) == ("1.0.0", "https://a.example")
        assert found.notes == ()

    def test_a_market_s_own_definition_stands_alone(self, tmp_path: Path) -> None:
        write(tmp_path / "own" / "a.md", "Do it.\n")
        found = read(tmp_path, name="tidy", strict=False, commands="./own")
        assert found.plugin.commands == (tmp_path / "own",)
        root = bare_plugin(tmp_path / "x", commands="./skills")
        with pytest.raises(BadManifest, match="both say commands"):
            read(root, strict=False, commands="./skills")

    @pytest.mark.parametrize(
        ("name", "other"), [("c0de", "code"), ("co-de", "code"), ("modem", "modern"), ("a1", "al")]
    )
    def test_names_that_look_alike(self, name: str, other: str) -> None:
        assert looks_like(name, [other]) == other
        assert looks_like(other, [other]) == ""
        assert looks_like("tidy", [other]) == ""


class TestParts:
    def test_all_of_them(self, tmp_path: Path) -> None:
        root = full_plugin(tmp_path / "x")
        found = read(root)
        plugin = found.plugin
        assert plugin.skills == (root / "skills",)
        assert plugin.agents == (root / "agents",)
        assert plugin.styles == (root / "output-styles",)
        assert plugin.themes == (root / "themes",)
        assert plugin.bin == root / "bin"
        assert plugin.settings == {"outputStyle": "Butler"}
        (hooks,) = plugin.hooks
        assert (hooks.where, list(hooks.entries)) == ("hooks/hooks.json", ["PostToolUse"])
        (servers,) = plugin.servers
        assert list(servers.entries) == ["shelf"]
        assert [said.where for said in plugin.language_servers] == [".lsp.json"]
        assert plugin.workflows == (root / "workflows",)
        assert {text.partition(":")[0] for text in found.later} == {"monitors"}
        assert found.notes == ("settings.json: permissions counts in no plugin: ignored",)

    def test_skills_add_and_commands_replace(self, tmp_path: Path) -> None:
        root = full_plugin(tmp_path / "x", skills="./more", commands=["./own/a.md"], agents=[])
        write(root / "more" / "b" / "SKILL.md", "---\ndescription: b\n---\nB.\n")
        write(root / "own" / "a.md", "A.\n")
        plugin = read(root).plugin
        assert plugin.skills == (root / "skills", root / "more")
        assert plugin.commands == (root / "own" / "a.md",)
        assert plugin.agents == ()

    def test_a_lone_skill_at_the_root(self, tmp_path: Path) -> None:
        root = tmp_path / "lone"
        write(root / "SKILL.md", "---\ndescription: one\n---\nOne.\n")
        assert read(root).plugin.skills == (root,)

    def test_hooks_and_servers_are_merged(self, tmp_path: Path) -> None:
        inline = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "b"}]}]}}
        root = full_plugin(tmp_path / "x", hooks=["./more.json", inline], mcpServers={"m": {}})
        write_json(root / "more.json", {"hooks": {"Stop": []}})
        write_json(root / ".mcp.json", {"flat": {"command": "c"}})
        plugin = read(root).plugin
        assert [said.where for said in plugin.hooks] == [
            "hooks/hooks.json", "more.json", "its manifest",
        ]  # fmt: skip
        assert [list(said.entries) for said in plugin.servers] == [["flat"], ["m"]]

    def test_one_part_that_is_wrong_leaves_the_rest(self, tmp_path: Path) -> None:
        root = full_plugin(tmp_path / "x")
        write(root / "hooks" / "hooks.json", "{")
        found = read(root)
        assert found.plugin.hooks == ()
        assert found.plugin.servers
        assert "hooks/hooks.json:1 is not valid JSON" in found.errors[0]

    @pytest.mark.parametrize("path", ["commands", "../x", "./a/../../x", "/etc", "./a\\b", "./out"])
    def test_a_path_begins_at_the_plugin_and_stays_there(self, tmp_path: Path, path: str) -> None:
        root = bare_plugin(tmp_path / "x", commands=path)
        (root / "out").symlink_to(tmp_path)
        found = read(root)
        assert found.plugin.commands == ()
        assert found.errors[0].startswith("commands: ")

    @pytest.mark.parametrize("part", ["skills", "commands", "hooks", "bin", ".mcp.json"])
    def test_a_usual_place_that_leads_out(self, tmp_path: Path, part: str) -> None:
        secret = tmp_path / "secret"
        full_plugin(secret)
        root = tmp_path / "x"
        write_json(root / ".claude-plugin" / "plugin.json", {"name": "x"})
        (root / part).symlink_to(secret / part)
        plugin = read(root).plugin
        assert plugin == Plugin(id="x@m", name="x", root=root, data=Path("/data"))


class TestActs:
    def test_what_only_looks_like_a_command_is_shown(self, tmp_path: Path) -> None:
        root = bare_plugin(tmp_path / "x")
        write(root / "commands" / "a.md", "```!\nrm -rf x\n```\nThen !`one` and not`!two`.\n")
        write(root / "skills" / "b" / "references" / "deep.md", "!`three`\n")
        hooks = "---\ndescription: c\nhooks: {Stop: [{hooks: [{type: command, command: four}]}]}\n"
        write(
            root / "skills" / "c" / "SKILL.md", f"{hooks}allowed-tools: [Read, Bash(x)]\n---\nC\n"
        )
        acts = {(act.kind, act.text) for act in acts_of(read(root).plugin)}
        assert acts == {
            ("command in text", "rm -rf x"),
            ("command in text", "one"),
            ("command in text", "three"),
            ("hook", "Stop: four"),
            ("allowed-tools", "Read, Bash(x)"),
        }

    def test_more_than_anybody_reads(self, tmp_path: Path) -> None:
        root = bare_plugin(tmp_path / "x")
        write(root / "commands" / "a.md", "".join(f"!`echo {n}`\n" for n in range(600)))
        with pytest.raises(BadManifest, match="600 things that act"):
            acts_of(read(root).plugin)
