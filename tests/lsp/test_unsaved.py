"""An editor with changes nobody has saved: servers see them, and renames are made of them."""

from __future__ import annotations

import asyncio
import io
import json
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from gatewright.agent.lsp import texts as texts_
from gatewright.agent.lsp.texts import Texts
from gatewright.agent.settings.paths import places
from gatewright.agent.settings.trust import TrustStore
from gatewright.tools.files.disk import DISK
from gatewright.tools.textfiles import TextFiles
from tests.acp.fake_editor import FILES, Editor, Refused, editor
from tests.fakes.waiting import PATIENCE
from tests.lsp.known_server import entry

SELECT = 'call: ToolSearch {"query": "select:LSP"}'
RENAME = {"operation": "rename", "newName": "other"}
APPLY = 'call: LSP {"operation": "applyRename", "plan": "p1"}'


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is no slow editor."""
    monkeypatch.setattr(texts_, "LIMIT", PATIENCE)


def asks(operation: str, **more: Any) -> str:
    asked = {"operation": operation, "filePath": "a.x", "symbol": "word", **more}
    return f"call: LSP {json.dumps(asked)}"


class Buffers:
    """What the editor has of files, by name."""

    def __init__(self, ed: Editor, **texts: str) -> None:
        self.project = ed.project
        self.texts = {str(ed.project / f"{name}.x"): text for name, text in texts.items()}
        ed.handlers["fs/read_text_file"] = self.read
        ed.handlers["fs/write_text_file"] = self.write
        ed.answers("once")

    async def read(self, params: dict[str, Any]) -> Any:
        if params["path"] not in self.texts:
            raise Refused({"code": -32002, "message": "no such buffer"})
        return {"content": self.texts[params["path"]]}

    async def write(self, params: dict[str, Any]) -> Any:
        self.texts[params["path"]] = params["content"]
        return {}

    def of(self, name: str) -> str:
        return self.texts[str(self.project / f"{name}.x")]


@asynccontextmanager
async def served(
    folder: Path, *script: str, disk: dict[str, str], server: tuple[str, ...] = ()
) -> AsyncGenerator[tuple[Editor, list[list[Any]]]]:
    """With a server, and what that was given of texts."""
    trace = folder / "trace"
    own = {"lspServers": {"scripted": entry(f"trace={trace}", *server)}}
    seen: list[list[Any]] = []
    async with editor(folder, SELECT, *script, "say: Done.", can=FILES, own=own) as ed:
        for name, text in disk.items():
            (ed.project / f"{name}.x").write_text(text, encoding="utf-8")
        env = {"HOME": str(folder / "home")}
        TrustStore(places(ed.project, env), env).add(ed.project)
        yield ed, seen
        if trace.exists():
            seen += map(json.loads, trace.read_text(encoding="utf-8").splitlines())


def told(ed: Editor, at: int) -> str:
    return json.dumps(ed.server.bodies[at]["messages"][-1])


async def test_an_answer_is_of_the_text_in_the_editor(tmp_path: Path) -> None:
    disk = {"a": "word\n", "b": "x\n"}
    script = (asks("documentSymbol"), asks("hover", line=3))
    async with served(tmp_path, *script, disk=disk, server=("opens",)) as (ed, seen):
        Buffers(ed, a="new line\n\nword BAD thing\n")
        await ed.turn(await ed.new(), "go")
        assert "word word" in told(ed, 3)  # in a line that only the editor has
    texts = [text for name, _, text in seen if name == "a.x"]
    assert texts == ["new line\n\nword BAD thing\n"]


async def test_what_an_edit_broke_is_told_of_the_text_in_the_editor(tmp_path: Path) -> None:
    read = 'call: Read {"file_path": "a.x"}'
    edit = {"file_path": "a.x", "old_string": "fine", "new_string": "BAD thing"}
    script = (asks("hover"), read, f"call: Edit {json.dumps(edit)}")
    async with served(tmp_path, *script, disk={"a": "word\nfine\n"}) as (ed, seen):
        buffers = Buffers(ed, a="unsaved\nword\nfine\n")
        await ed.turn(await ed.new(), "go")
        assert "3:5" in told(ed, 4) and "thing is bad" in told(ed, 4)
        assert buffers.of("a") == "unsaved\nword\nBAD thing\n"
        assert (ed.project / "a.x").read_text(encoding="utf-8") == "word\nfine\n"
    versions = [version for _, version, _ in seen]
    assert versions == sorted(versions) and len(set(versions)) == len(versions)


async def test_what_is_saved_meanwhile_is_the_same_text(tmp_path: Path) -> None:
    save = {"command": r"printf 'one\nword\n' > a.x"}
    script = (asks("hover"), f"call: Bash {json.dumps(save)}", asks("hover"))
    async with served(tmp_path, *script, disk={"a": "word\n"}) as (ed, seen):
        Buffers(ed, a="one\nword\n")
        await ed.turn(await ed.new(), "go")
        assert "word word" in told(ed, 4)
    assert {text for _, _, text in seen} == {"one\nword\n"}


async def test_a_rename_is_made_and_applied_over_unsaved_text(tmp_path: Path) -> None:
    disk = {"a": "word\n", "b": "word\n", "c": "word\n"}
    script = (asks(**RENAME), APPLY)
    async with served(tmp_path, *script, disk=disk, server=("opens",)) as (ed, _):
        buffers = Buffers(ed, a="new line\nword\n", b="\n\nword unsaved\n")
        await ed.turn(await ed.new(), "go")
        assert "Plan p1: 3 changes in 3 files" in told(ed, 2)
        assert "Renamed to other" in told(ed, 3)
        assert buffers.of("a") == "new line\nother\n"
        assert buffers.of("b") == "\n\nother unsaved\n"
        assert [(ed.project / f"{n}.x").read_text(encoding="utf-8") for n in "ab"] == ["word\n"] * 2
        assert buffers.of("c") == "other\n"  # to save, as the others


async def test_a_plan_is_void_once_the_person_types(tmp_path: Path) -> None:
    disk = {"a": "word\n", "b": "word\n"}
    async with served(tmp_path, asks(**RENAME), APPLY, disk=disk, server=("opens",)) as (ed, _):
        buffers = Buffers(ed, a="new line\nword\n")

        async def permission(params: dict[str, Any]) -> Any:
            buffers.texts[str(ed.project / "a.x")] = "typed\nnew line\nword\n"
            return {"outcome": {"outcome": "selected", "optionId": "once"}}

        ed.handlers["session/request_permission"] = permission
        await ed.turn(await ed.new(), "go")
        assert "changed since the plan was made" in told(ed, 3)
        assert buffers.of("a") == "typed\nnew line\nword\n"
        assert (ed.project / "b.x").read_text(encoding="utf-8") == "word\n"


async def test_places_in_files_that_were_not_open_count_in_the_editors_text(
    tmp_path: Path,
) -> None:
    disk = {"a": "word\n", "b": "word\n"}
    script = (asks("findReferences"),)
    async with served(tmp_path, *script, disk=disk, server=("opens",)) as (ed, _):
        Buffers(ed, b="one\ntwo\nword here\n")
        await ed.turn(await ed.new(), "go")
        assert "b.x (1)" in told(ed, 2) and "3:1" in told(ed, 2) and "word here" in told(ed, 2)


class Held:
    """Text of files that no disk has; `stuck` is waited for before any is given."""

    def __init__(self, held: dict[str, bytes]) -> None:
        self.held, self.asked = held, list[str]()
        self.stuck: threading.Event | None = None

    def opened(self, real: Path) -> BinaryIO:
        self.asked.append(str(real))
        if self.stuck is not None:
            self.stuck.wait(PATIENCE)
        return io.BytesIO(self.held[str(real)]) if str(real) in self.held else DISK.opened(real)

    def writable(self, real: Path) -> None:
        return

    def swap(self, real: Path, expected: bytes | None, data: bytes) -> None:
        raise AssertionError


async def test_a_look_is_bounded_and_not_repeated_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.x"
    path.write_text("saved", encoding="utf-8")
    held = Held({str(path): b"unsaved"})
    files: TextFiles = held
    texts = Texts(files)
    assert await texts.look([str(path)] * 3) == {str(path)}
    assert texts.text_of(str(path)) == ("unsaved", texts.stamp_of(str(path)))
    monkeypatch.setattr(texts_, "LIMIT", 0.05)
    held.stuck = threading.Event()
    assert await texts.look([str(path)]) == set()
    assert (texts.text_of(str(path)) or ("",))[0] == "saved"  # who does not say has the disk's
    count = len(held.asked)
    assert await texts.look([str(path)]) == set() and len(held.asked) == count
    held.stuck.set()


async def test_the_same_text_or_none_is_the_disks(tmp_path: Path) -> None:
    same, binary, link = (tmp_path / name for name in ("same.x", "binary.x", "link.x"))
    same.write_text("same", encoding="utf-8")
    binary.write_bytes(b"\xff\x00")
    link.symlink_to(same)
    held = Held({str(same): b"same", str(binary): b"text", str(link): b"text",
                 str(tmp_path / "new.x"): b"new"})  # fmt: skip
    texts = Texts(held)
    new = str(tmp_path / "new.x")
    assert await texts.look([str(same), str(binary), str(link), new]) == {new}
    stamp = texts.stamp_of(new)
    held.held[new] = b"newer"
    await asyncio.gather(*(texts.look([new]) for _ in range(5)))
    assert texts.stamp_of(new) != stamp
    texts.forget()
    assert texts.stamp_of(new) is None


async def test_nothing_of_a_file_that_is_denied_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "kept.x"
    path.write_text("saved", encoding="utf-8")
    held, denied = Held({str(path): b"unsaved"}), set[str]()
    texts = Texts(held, lambda each: each not in denied)
    assert await texts.look([str(path)]) == {str(path)}
    denied.add(str(path))  # a rule that came while servers had it open
    assert texts.text_of(str(path)) is None
    count = len(held.asked)
    assert await texts.look([str(path)]) == set() and len(held.asked) == count
    assert texts.text_of(str(path)) is None and not texts.unsaved(str(path))
