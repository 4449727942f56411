"""Requests of a model begin with the same bytes, whatever is learned of its window meanwhile."""

from __future__ import annotations

import json
import os
from pathlib import Path

from gatewright.agent.context.briefing import Briefing
from gatewright.agent.context.tool_sources import ToolSources
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.models.opener import ModelOpener
from gatewright.agent.settings.live_settings import LiveSettings
from gatewright.agent.settings.workspace import survey
from gatewright.tools.registry import BuiltinTools
from tests.agent.test_attachments import OPEN


async def test_a_models_form_stays_when_its_window_changes(tmp_path: Path) -> None:
    path = tmp_path / ".gatewright" / "settings.json"
    path.parent.mkdir()

    def settle(window: int) -> None:
        models = {"small": {"window": window}, "large": {"window": 64_000}}
        path.write_text(
            json.dumps({"providers": {"llamacpp": {"models": models}}}), encoding="utf-8"
        )

    settle(8_000)
    env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    options = LaunchOptions(cwd=str(tmp_path), model="llamacpp/small")
    said: list[str] = []
    live = LiveSettings(survey(options, env, interactive=False), env, tell=said.append)
    tools = BuiltinTools(("core",))
    opener = ModelOpener(
        live, ToolSources([tools]).offered, "s", Briefing(lambda: live.around, OPEN)
    )

    async def offered(model: str) -> dict[str, str]:
        opened = opener(model, "")
        await opened.provider.close()
        return {spec.name: spec.description for spec in opened.frame.tools}

    short = {spec.name: spec.description for spec in tools.specs(short=True)}
    full = {spec.name: spec.description for spec in tools.specs()}
    assert await offered("llamacpp/small") == short != full
    assert await offered("llamacpp/large") == full
    settle(640_000)
    live.refresh()
    opened = opener("llamacpp/small", "")
    await opened.provider.close()
    assert (opened.window, said) == (640_000, [])
    assert await offered("llamacpp/small") == short
    known = {name: opener.window(f"llamacpp/{name}") for name in ("small", "large", "unheard-of")}
    assert known == {"small": 640_000, "large": 64_000, "unheard-of": 0}
    assert opener.window("nobody/at-all") == 0 == opener.window("llamacpp/large[1m]")
