"""Files that the editor holds: what the model sees and changes, and when it is the disk instead."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.acp.fake_editor import FILES, Editor, Refused, editor

READ = 'call: Read {"file_path": "notes.txt"}'
NOTES = "alpha\nbeta\n"


def change(old: str, new: str, path: str = "notes.txt") -> str:
    given = {"file_path": path, "old_string": old, "new_string": new}
    return f"call: Edit {json.dumps(given)}"


class Buffers:
    """Texts by path; `broken` is what happens instead of an answer, by method."""

    def __init__(self, ed: Editor, **texts: str) -> None:
        self.texts = {str(ed.project / f"{name}.txt"): text for name, text in texts.items()}
        self.broken: dict[str, Any] = {}
        self.asked: list[tuple[str, str]] = []
        ed.handlers["fs/read_text_file"] = self.read
        ed.handlers["fs/write_text_file"] = self.write
        ed.answers("once")

    async def read(self, params: dict[str, Any]) -> Any:
        self.asked.append(("read", params["path"]))
        if "read" in self.broken:
            return await self.broken["read"]()
        if params["path"] not in self.texts:
            raise Refused({"code": -32002, "message": "no such buffer"})
        return {"content": self.texts[params["path"]]}

    async def write(self, params: dict[str, Any]) -> Any:
        self.asked.append(("write", params["path"]))
        if "write" in self.broken:
            return await self.broken["write"]()
        self.texts[params["path"]] = params["content"]
        return {}


def given(ed: Editor, at: int = -1) -> str:
    """What the model was told of its last call."""
    return json.dumps(ed.server.bodies[at]["messages"][-1])


def write(folder: Path, text: str | bytes = NOTES, name: str = "notes.txt") -> Path:
    (folder / "project").mkdir(exist_ok=True)
    path = folder / "project" / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


async def test_the_model_sees_what_nobody_has_saved(tmp_path: Path) -> None:
    path = write(tmp_path)
    script = (READ, change("unsaved", "changed"), "say: Done.")
    async with editor(tmp_path, *script, can=FILES) as ed:
        buffers = Buffers(ed, notes="alpha\nunsaved\n")
        session = await ed.new()
        await ed.turn(session, "go")
        assert "unsaved" in given(ed, 1)
        assert buffers.texts[str(ed.project / "notes.txt")] == "alpha\nchanged\n"
        assert path.read_text(encoding="utf-8") == NOTES  # the editor's to save
        diffs: list[dict[str, Any]] = [
            content
            for each in ed.updates(session, "tool_call_update")
            for content in each.get("content", ())
            if content.get("type") == "diff"
        ]
        assert diffs[-1]["newText"] == "alpha\nchanged\n"
        assert diffs[-1]["oldText"] == "alpha\nunsaved\n"


@pytest.mark.parametrize("pointed", [True, False])
async def test_what_the_person_points_at_is_what_nobody_has_saved(
    tmp_path: Path, *, pointed: bool
) -> None:
    write(tmp_path)
    async with editor(tmp_path, "say: Yes.", can=FILES) as ed:
        Buffers(ed, notes="alpha\nunsaved\n")
        link = {"type": "resource_link", "uri": f"file://{ed.project}/notes.txt", "name": "notes"}
        await ed.turn(await ed.new(), "see" if pointed else "see @notes.txt", *[link][:pointed])
        assert "unsaved" in given(ed)
        assert "beta" not in given(ed)


async def test_a_buffer_that_changed_since_it_was_read_is_read_again(tmp_path: Path) -> None:
    write(tmp_path)
    async with editor(tmp_path, READ, change("beta", "x"), "say: Done.", can=FILES) as ed:
        buffers = Buffers(ed, notes=NOTES)
        path = str(ed.project / "notes.txt")

        async def permission(params: dict[str, Any]) -> Any:
            buffers.texts[path] = "alpha\nbeta\nmore\n"
            return {"outcome": {"outcome": "selected", "optionId": "once"}}

        ed.handlers["session/request_permission"] = permission
        await ed.turn(await ed.new(), "go")
        assert "Read it again" in given(ed)
        assert buffers.texts[path] == "alpha\nbeta\nmore\n"


async def test_a_change_that_the_editor_refuses_is_a_failed_call(tmp_path: Path) -> None:
    path = write(tmp_path)
    async with editor(tmp_path, READ, change("beta", "x"), "say: Done.", can=FILES) as ed:
        buffers = Buffers(ed, notes=NOTES)

        async def refuse() -> Any:
            raise Refused({"message": "the file is locked"})

        buffers.broken["write"] = refuse
        session = await ed.new()
        await ed.turn(session, "go")
        assert "the file is locked" not in given(
            ed
        )  # nothing of the editor's words is data of ours
        assert "did not take the change" in given(ed)
        assert ed.updates(session, "tool_call_update")[-1]["status"] == "failed"
    assert path.read_text(encoding="utf-8") == NOTES


@pytest.mark.parametrize("silent", ["read", "write", "both"])
async def test_an_editor_that_does_not_answer_leaves_it_to_the_disk(
    tmp_path: Path, silent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gatewright.agent.frontends.acp.editor_files.EditorFiles.patience", 0.2)
    path = write(tmp_path)
    async with editor(tmp_path, READ, change("beta", "x"), "say: Done.", can=FILES) as ed:
        buffers = Buffers(ed, notes=NOTES)

        async def hang() -> Any:
            await asyncio.Event().wait()

        for name in ("read", "write") if silent == "both" else (silent,):
            buffers.broken[name] = hang
        session = await ed.new()
        await ed.turn(session, "go")
        shown = json.dumps(ed.updates(session, "tool_call_update"))
        assert "did not answer" in shown
    assert (
        path.read_text(encoding="utf-8") == ("alpha\nx\n" if silent != "read" else NOTES)
        or silent == "read"
    )


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("wide.txt", "ä".encode("latin-1") * 10),
        ("nul.txt", b"a\0b"),
        ("large.txt", b"line\n" * 300_000),
    ],
)
async def test_what_no_editor_holds_is_the_disks(tmp_path: Path, name: str, data: bytes) -> None:
    write(tmp_path, data, name)
    script = (f'call: Read {{"file_path": "{name}"}}', "say: Done.")
    async with editor(tmp_path, *script, can=FILES) as ed:
        buffers = Buffers(ed)
        await ed.turn(await ed.new(), "go")
        assert not buffers.asked


async def test_a_file_outside_is_never_asked_of_the_editor(tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("out\n", encoding="utf-8")
    script = (f'call: Read {{"file_path": "{outside}"}}', "say: Done.")
    async with editor(tmp_path, *script, can=FILES) as ed:
        buffers = Buffers(ed)
        await ed.turn(await ed.new(), "go")
        assert "out" in given(ed)
        assert not buffers.asked


async def test_crlf_of_a_file_stays(tmp_path: Path) -> None:
    write(tmp_path, "alpha\r\nbeta\r\n")
    async with editor(tmp_path, READ, change("beta", "x"), "say: Done.", can=FILES) as ed:
        buffers = Buffers(ed, notes="alpha\nbeta\n")
        await ed.turn(await ed.new(), "go")
        assert buffers.texts[str(ed.project / "notes.txt")] == "alpha\r\nx\r\n"


async def test_a_new_file_goes_through_the_editor(tmp_path: Path) -> None:
    script = ('call: Write {"file_path": "new.txt", "content": "fresh\\n"}', "say: Done.")
    async with editor(tmp_path, *script, can=FILES) as ed:
        buffers = Buffers(ed)
        await ed.turn(await ed.new(), "go")
        assert buffers.texts[str(ed.project / "new.txt")] == "fresh\n"


async def test_an_editor_that_only_reads_holds_nothing(tmp_path: Path) -> None:
    path = write(tmp_path)
    can = {"fs": {"readTextFile": True}}
    async with editor(tmp_path, READ, change("beta", "x"), "say: Done.", can=can) as ed:
        buffers = Buffers(ed, notes="other\n")
        await ed.turn(await ed.new(), "go")
        assert not buffers.asked
    assert path.read_text(encoding="utf-8") == "alpha\nx\n"


@pytest.mark.parametrize("at", [1, 2, 3])
async def test_a_link_that_comes_while_the_editor_answers_leads_nowhere(
    tmp_path: Path, at: int
) -> None:
    inside, outside = tmp_path / "project" / "d", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir(parents=True)
        (folder / "notes.txt").write_text(NOTES, encoding="utf-8")
    path = "d/notes.txt"
    script = (
        f'call: Read {{"file_path": "{path}"}}',
        change("beta", "changed", path),
        "say: Done.",
    )
    own = {"permissions": {"defaultMode": "acceptEdits"}}
    async with editor(tmp_path, *script, can=FILES, own=own) as ed:
        reads = 0

        async def read(params: dict[str, Any]) -> Any:
            nonlocal reads
            reads += 1
            if reads == at:
                inside.rename(tmp_path / "project" / "before")
                inside.symlink_to(outside)
                (outside / "notes.txt").write_text("beta hunter2\n", encoding="utf-8")
            held = at == 3  # its buffer, whatever the file is by now
            return {"content": NOTES if held else Path(params["path"]).read_text(encoding="utf-8")}

        async def write(params: dict[str, Any]) -> Any:
            Path(params["path"]).write_text(params["content"], encoding="utf-8")
            return {}

        ed.handlers |= {"fs/read_text_file": read, "fs/write_text_file": write}
        await ed.turn(await ed.new(), "go")
        assert reads >= at
        assert (outside / "notes.txt").read_text(encoding="utf-8") == "beta hunter2\n"
        assert "hunter2" not in json.dumps(ed.server.bodies)


async def test_a_link_that_comes_while_the_editor_writes_is_told(tmp_path: Path) -> None:
    inside, outside = tmp_path / "project" / "d", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir(parents=True)
        (folder / "notes.txt").write_text(NOTES, encoding="utf-8")
    path = "d/notes.txt"
    script = (
        f'call: Read {{"file_path": "{path}"}}',
        change("beta", "changed", path),
        "say: Done.",
    )
    own = {"permissions": {"defaultMode": "acceptEdits"}}
    async with editor(tmp_path, *script, can=FILES, own=own) as ed:
        buffers = Buffers(ed)

        async def write() -> Any:
            inside.rename(tmp_path / "project" / "before")
            inside.symlink_to(outside)
            return {}

        buffers.broken["write"] = write
        session = await ed.new()
        await ed.turn(session, "go")
        assert "became a link while the editor wrote" in given(ed)
        assert ed.updates(session, "tool_call_update")[-1]["status"] == "failed"


async def test_beside_a_command_in_the_background_the_disk_is_written(tmp_path: Path) -> None:
    path, other = write(tmp_path), write(tmp_path, "alpha\nsaved\n", "other.txt")
    script = (
        'call: Bash {"command": "cat fifo", "run_in_background": true}',
        READ,
        change("beta", "changed"),
        'call: Read {"file_path": "other.txt"}',
        change("unsaved", "changed", "other.txt"),
        "say: Done.",
    )
    os.mkfifo(tmp_path / "project" / "fifo")
    async with editor(tmp_path, *script, can=FILES) as ed:
        buffers = Buffers(ed, notes=NOTES, other="alpha\nunsaved\n")
        await ed.turn(await ed.new(), "go")
        (tmp_path / "project" / "fifo").open("wb", buffering=0).close()
        assert path.read_text(encoding="utf-8") == "alpha\nchanged\n"
        assert other.read_text(encoding="utf-8") == "alpha\nsaved\n"  # the editor's to save
        assert [at for how, at in buffers.asked if how == "write"] == [str(ed.project / other.name)]


@pytest.mark.parametrize("unsaved", [False, True])
async def test_a_write_that_is_late_loses_nobodys_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, unsaved: bool
) -> None:
    monkeypatch.setattr("gatewright.agent.frontends.acp.editor_files.EditorFiles.patience", 0.2)
    path = write(tmp_path)
    async with editor(tmp_path, READ, change("beta", "x"), "say: Done.", can=FILES) as ed:
        buffers = Buffers(ed, notes="beta\nunsaved\n" if unsaved else NOTES)
        theirs = NOTES if unsaved else "of somebody else\n"

        async def hang() -> Any:
            path.write_text(theirs, encoding="utf-8")
            await asyncio.Event().wait()

        buffers.broken["write"] = hang
        session = await ed.new()
        await ed.turn(session, "go")
        assert ed.updates(session, "tool_call_update")[-1]["status"] == "failed"
    assert path.read_text(encoding="utf-8") == theirs
