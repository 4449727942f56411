"""What models and keys there are, in a home of the test's own and without any keyring."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.models.choices import ModelBook
from gatewright.agent.providers.keys.stored_keys import KeyStore
from gatewright.agent.providers.presets import Endpoint
from gatewright.agent.settings.workspace import survey

NOBODY = "http://127.0.0.1:9/v1"  # no server of the machine that runs the test is asked
LOCAL = ("OLLAMA_BASE_URL", "LMSTUDIO_BASE_URL", "VLLM_BASE_URL", "LLAMACPP_BASE_URL")


class NoRing:
    def get_password(self, service: str, user: str) -> str | None:
        del service, user
        return None

    def set_password(self, service: str, user: str, password: str) -> None:
        raise RuntimeError("there is no keyring")

    def delete_password(self, service: str, user: str) -> None:
        raise RuntimeError("there is no keyring")


def model_book(folder: Path, *, checked: bool = False, **env: str) -> ModelBook:
    project = folder / "project"
    project.mkdir(exist_ok=True)
    whole = {"HOME": str(folder / "home"), **dict.fromkeys(LOCAL, NOBODY), **env}
    around = survey(LaunchOptions(cwd=str(project)), whole, interactive=True)

    def store(env: Mapping[str, str]) -> KeyStore:
        return KeyStore(Path(env["HOME"]) / "keys.json", keyring=NoRing())

    return ModelBook(lambda: around, store) if checked else ModelBook(lambda: around, store, _fine)


async def _fine(server: Endpoint, key: str, env: Mapping[str, str]) -> str:
    del server, key, env
    return ""
