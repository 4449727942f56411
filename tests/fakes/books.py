"""A person's rules and settings over real files and a real gate, without a session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from gatewright.agent.commands.outcome import Outcome
from gatewright.agent.commands.rules.rule_editor import PermissionBook
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.settings.live_settings import LiveSettings
from gatewright.agent.settings.overview import SettingsBook
from gatewright.agent.settings.policy_settings import policy_config
from gatewright.agent.settings.workspace import survey
from gatewright.permissions.policy import Policy
from tests.fakes.commands import Desk, told


class Books:
    """`user`, `project` and `local` are the settings of those layers."""

    def __init__(self, folder: Path, *, trusted: bool = True, **layers: Any) -> None:
        self.home, self.project = folder / "home", folder / "project"
        self.files = {
            "user": self.home / ".gatewright" / "settings.json",
            "project": self.project / ".gatewright" / "settings.json",
            "local": self.project / ".gatewright" / "settings.local.json",
        }
        given: dict[str, Any] = {"user": {}, **layers}
        for name, values in given.items():
            self.files[name].parent.mkdir(parents=True, exist_ok=True)
            self.files[name].write_text(json.dumps(values), encoding="utf-8")
        self.project.mkdir(exist_ok=True)
        env = {"HOME": str(self.home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
        options = LaunchOptions(cwd=str(self.project), trust=trusted)
        around = survey(options, env, interactive=True)
        self.policy = Policy(policy_config(around, "default"))
        self.live = LiveSettings(around, env, tell=lambda text: None)
        self.live.listen(lambda now: self.policy.follow(policy_config(now, self.policy.current())))
        self.permissions = PermissionBook(self.policy, self.live)
        self.settings = SettingsBook(self.live)

    def stored(self, name: str, *keys: str) -> Any:
        """What a file holds at these keys, None where nothing."""
        if not self.files[name].exists():
            return None
        found: Any = json.loads(self.files[name].read_text(encoding="utf-8"))
        for key in keys:
            found = cast("dict[str, Any]", found).get(key) if isinstance(found, dict) else None
        return found

    async def run(self, line: str) -> Outcome:
        desk = Desk(
            modes=self.policy,
            rules=self.policy,
            permissions=self.permissions,
            settings=self.settings,
        )
        return await desk.run(line)

    async def said(self, line: str) -> str:
        return told(await self.run(line))
