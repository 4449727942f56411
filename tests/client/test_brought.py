"""What a client brings counts in the session that it opens."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import BinaryIO

from gatewright.agent.build import open_session
from gatewright.agent.client.brought import Brought
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.record.events import ToolFinished
from gatewright.tools.files.disk import DISK
from gatewright.tools.protocol import TextContent
from tests.fakes.recorder import Recorder


class Buffers:
    """An editor that has not saved what it holds."""

    def __init__(self, held: dict[Path, bytes]) -> None:
        self.held = held

    def opened(self, real: Path) -> BinaryIO:
        return io.BytesIO(self.held[real]) if real in self.held else DISK.opened(real)

    def writable(self, real: Path) -> None:
        """Whatever is held may be changed."""

    def swap(self, real: Path, expected: bytes | None, data: bytes) -> None:
        assert self.held[real] == expected
        self.held[real] = data


async def test_the_text_of_files_is_the_clients(tmp_path: Path) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    project.mkdir()
    note = project / "note.txt"
    note.write_text("as it was saved\n", encoding="utf-8")
    editor = Buffers({note: b"not saved yet\n"})
    options = LaunchOptions(cwd=str(project), model="demo", no_session=True)
    env = {"HOME": str(home), "PATH": os.environ["PATH"]}
    client = Brought(files=editor)
    session = await open_session(options, env, interactive=False, client=client)
    async with Recorder(session) as seen:
        session.submit("read note.txt")
        finished = await seen.until(ToolFinished)
        await session.idle()
    await session.close()
    (content,) = finished.content
    assert isinstance(content, TextContent)
    assert "not saved yet" in content.text
    assert "as it was saved" not in content.text
