"""What plugins bring to a session: hooks, servers and variables, under their own names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.extensions.plugins.hooks_of_plugins import of_plugins
from gatewright.agent.extensions.plugins.servers_of_plugins import layers_of, plugin_servers
from gatewright.agent.hooks.kinds.running import filled
from gatewright.agent.plugins.parts import Plugin, PluginParts, Said
from gatewright.agent.servers.written import ServerLayer
from gatewright.mcp.configured import Configured, Given, configured
from gatewright.mcp.definitions import Definition
from gatewright.mcp.expansion import expanded
from gatewright.mcp.names import split, tool_names, wrong_name
from gatewright.mcp.surroundings import named_variables

TOKEN = "${user_config.token}"


def plugin(name: str = "tidy", **parts: Any) -> Plugin:
    root = Path("/store") / name
    return Plugin(id=f"{name}@m", name=name, root=root, data=Path("/data") / name, **parts)


def brought(*plugins: Plugin) -> tuple[Contribution, ...]:
    return (Contribution(parts=(PluginParts(plugins),)),)


def given(layer: ServerLayer) -> Given:
    return Given("plugin", layer.where, layer.entries, layer.own, layer.given)


def servers(entries: dict[str, Any], *more: Given, **parts: Any) -> Configured:
    (layer,) = layers_of(plugin(servers=(Said(".mcp.json", entries),), **parts))
    return configured([given(layer), *more])


def variables(definition: Definition) -> Any:
    return named_variables(definition, env={}, own_env={"HOME": "/h"}, root=Path("/p"))


class TestServers:
    def test_its_name_and_that_of_its_tools(self) -> None:
        (found,) = servers({"shelf": {"command": "x"}}).servers
        assert (found.name, found.source) == ("plugin:tidy:shelf", "plugin")
        assert tool_names(found.name, ["put"]) == {"put": "mcp__plugin_tidy_shelf__put"}
        assert split("plugin:tidy:shelf:file:///a") == ("plugin:tidy:shelf", ":", "file:///a")
        assert wrong_name("plugin:tidy:shelf") != "", "nobody else has such a name"

    @pytest.mark.parametrize("name", ["a__b", "a:b", "", "x y"])
    def test_a_name_that_is_none_costs_itself(self, name: str) -> None:
        found = servers({name: {"command": "x"}, "shelf": {"command": "x"}})
        assert [each.name for each in found.servers] == ["plugin:tidy:shelf"]
        assert len(found.faults) == 1

    def test_variables_are_put_in_once(self) -> None:
        entry = {"command": "${CLAUDE_PLUGIN_ROOT}/run", "args": ["${CLAUDE_PLUGIN_DATA}", TOKEN]}
        (found,) = servers({"s": entry}, options={"token": "${HOME}"}).servers
        assert expanded(found, variables(found)).command == "/store/tidy/run"
        assert expanded(found, variables(found)).args == ("/data/tidy", "${HOME}")
        assert "CLAUDE_PLUGIN_OPTION_TOKEN" not in found.given
        assert "${HOME}" not in str(found.raw), "what it was told is not kept with it"

    def test_one_that_the_person_has_by_hand_hides_it(self) -> None:
        own = Given("user", "settings", {"mine": {"command": "x", "args": ["a"]}})
        found = servers({"s": {"command": "x", "args": ["a"]}, "t": {"command": "x"}}, own)
        assert [each.name for each in found.servers] == ["mine", "plugin:tidy:t"]
        assert "is hidden: mine is the same" in found.faults[0].text()
        off = Given("user", "settings", {"mine": {"command": "x", "disabled": True}})
        assert len(servers({"s": {"command": "x"}}, off).servers) == 2

    def test_two_plugins_with_one_text_are_two_servers(self) -> None:
        said = (Said(".mcp.json", {"s": {"command": "x"}}),)
        layers = plugin_servers(brought(plugin(servers=said), plugin("other", servers=said)))
        first, second = configured(list(map(given, layers))).servers
        assert first.signature != second.signature

    def test_names_that_would_be_one_for_a_model(self) -> None:
        one = layers_of(plugin("a-b", servers=(Said("", {"c": {"command": "x"}}),)))
        two = layers_of(plugin("a", servers=(Said("", {"b-c": {"command": "y"}}),)))
        found = configured([given(layer) for layer in (*one, *two)])
        assert len(found.servers) == 1
        assert "looks like" in found.faults[0].text()


class TestHooks:
    def test_its_variables_and_its_name(self) -> None:
        entry = {"type": "command", "command": "x", "args": [TOKEN, "${CLAUDE_PLUGIN_ROOT}"]}
        said = Said("hooks/hooks.json", {"Stop": [{"hooks": [entry]}]})
        (read,) = of_plugins(brought(plugin(hooks=(said,), options={"token": "t ${HOME}"})))
        (handler,) = read.handlers
        assert (handler.place.origin, handler.place.name) == ("plugin", "tidy")
        found = dict(handler.place.given)
        assert found["CLAUDE_PLUGIN_ROOT"] == found["GATEWRIGHT_PLUGIN_ROOT"] == "/store/tidy"
        assert found["CLAUDE_PLUGIN_DATA"] == "/data/tidy"
        assert found["CLAUDE_PLUGIN_OPTION_TOKEN"] == "t ${HOME}"
        values = {**found, **dict(handler.place.fills), "HOME": "/h"}
        assert [filled(word, values) for word in handler.said.args or ()] == [
            "t ${HOME}", "/store/tidy",
        ]  # fmt: skip

    def test_what_is_wrong_is_said_of_its_file(self) -> None:
        (read,) = of_plugins(brought(plugin(hooks=(Said("hooks/hooks.json", {"Stopp": []}),))))
        assert "plugin tidy, hooks/hooks.json" in read.faults[0].text()
