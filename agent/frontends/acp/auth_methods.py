"""How a person gives us a key: variables of the providers, and `agent login` in a terminal."""

from __future__ import annotations

from collections.abc import Mapping

from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.models.choices import ModelBook
from gatewright.agent.providers.presets import load_presets
from gatewright.agent.settings.workspace import survey
from gatewright.tools.system.untyped_json import Json

FIRST = ("anthropic", "openai", "openrouter", "gemini")  # whom people have keys of
LOGIN = "login"


def methods(*, terminal: bool) -> list[Json]:
    """`terminal`: the client can start us in one."""
    presets = load_presets()
    found: list[Json] = []
    for name in FIRST:
        preset = presets.get(name)
        if preset is None or not preset.api_key_env:
            continue
        variable = preset.api_key_env
        method: Json = {
            "id": f"env-{name}",
            "type": "env_var",
            "name": f"{variable} in the environment",
            "description": f"A key of {name}, in the environment that the editor starts us with",
            "vars": [{"name": variable, "secret": True}],
        }
        found.append({**method, "link": preset.key_page} if preset.key_page else method)
    if terminal:
        about = "Type a key into a terminal; it is kept in the system's keyring, or a private file"
        words: Json = {"id": LOGIN, "type": "terminal", "name": "agent login", "args": [LOGIN]}
        found.append({**words, "description": about})
    return found


def has_key(options: LaunchOptions, env: Mapping[str, str]) -> bool:
    """Whether any provider's key is found by now. May ask the keyring."""
    around = survey(options, env, interactive=False)
    return any(place.found for place in ModelBook(lambda: around).key_places())
