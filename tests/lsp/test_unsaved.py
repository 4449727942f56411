"""An editor with changes nobody has saved: servers see the disk, and that is said, not renamed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gatewright.agent.settings.paths import places
from gatewright.agent.settings.trust import TrustStore
from tests.acp.fake_editor import FILES, Refused, editor
from tests.lsp.known_server import entry


def _asks(operation: str, **more: Any) -> str:
    asked = {"operation": operation, "filePath": "a.x", "symbol": "word", **more}
    return f"call: LSP {json.dumps(asked)}"


async def test_a_rename_over_unsaved_text_is_refused_with_what_to_do(tmp_path: Path) -> None:
    renames = _asks("rename", newName="other")
    script = ('call: ToolSearch {"query": "select:LSP"}', _asks("hover"), renames, renames,
              "say: Done.")  # fmt: skip
    own = {"lspServers": {"scripted": entry()}}
    async with editor(tmp_path, *script, can=FILES, own=own) as ed:
        for name in ("a.x", "b.x"):
            (ed.project / name).write_text("word\n", encoding="utf-8")
        env = {"HOME": str(tmp_path / "home")}
        TrustStore(places(ed.project, env), env).add(ed.project)
        texts = {str(ed.project / "a.x"): "new line\nword\n"}

        async def read(params: dict[str, Any]) -> Any:
            if params["path"] not in texts:
                raise Refused({"code": -32002, "message": "no such buffer"})
            return {"content": texts[params["path"]]}

        ed.handlers["fs/read_text_file"] = read
        ed.answers("once")
        await ed.turn(await ed.new(), "go")
        told = [json.dumps(body["messages"][-1]) for body in ed.server.bodies]
        assert "a.x is unsaved in the editor" in told[2]
        assert "a.x: unsaved in the editor" in told[3] and "must save it first" in told[3]
        assert "Plan" not in told[4] and "b.x: unsaved" not in told[4]
