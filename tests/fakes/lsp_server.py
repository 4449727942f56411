"""A language server that finds what texts say, and misbehaves as it is told.

`python lsp_server.py OPTION...`: a line with `BAD name` has an error `name is bad`, one with `WARN
name` a warning, `USES file` an error while that file beside it has the word GONE. Options:

    pull              answers pulls, with related files; else it publishes
    registers         says that it does only once it has the first text
    unversioned       its publications have no version
    late=0.3          seconds until it publishes or answers a pull
    gate=FILE         it does neither until there is that file
    slow=NAME         pulls of that file are answered in half a second
    twice             every publication comes twice
    stale             each publication is preceded by one of the text before, with that version
    backwards         publications come in the wrong order
    silent            nothing is ever published
    utf8              positions in bytes
    watches=GLOB      it hears of other files by being told, as it asked for with that pattern
    crash=WORD hang=WORD garbage=WORD huge=WORD storm=WORD eat=WORD grow=WORD ignore=WORD
                      what it does once a text has that word
    begin=crash|hang|garbage|slow   what it does instead of beginning
    changes=FILE      what it was told of other files: names, and how they changed
    opens             places in files that it has open are those of the open text
    trace=FILE        each text it gets, with its version, one JSON line each
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

Json = dict[str, Any]
OPTIONS = {word.partition("=")[0]: word.partition("=")[2] or "1" for word in sys.argv[1:]}
OUT = sys.stdout.buffer
LOCK = threading.Lock()
TEXTS: dict[str, tuple[int, str]] = {}
BEFORE: dict[str, tuple[int, str]] = {}
DISK: dict[str, str] = {}  # what it has read of other files, until it is told of a change
HELD: list[bytearray] = []
CHUNK = 64 * 1024 * 1024


def send(message: Json) -> None:
    data = json.dumps({"jsonrpc": "2.0", **message}).encode()
    with LOCK:
        OUT.write(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))
        OUT.flush()


def read() -> Json | None:
    size = 0
    while line := sys.stdin.buffer.readline():
        if line == b"\r\n":
            message: Json = json.loads(sys.stdin.buffer.read(size))
            return message
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            size = int(value)
    return None


def path_of(uri: str) -> str:
    return unquote(urlsplit(uri).path)


def column(line: str, at: int) -> int:
    encoding = "utf-8" if "utf8" in OPTIONS else "utf-16-le"
    return len(line[:at].encode(encoding)) // (1 if "utf8" in OPTIONS else 2)


def found(uri: str, text: str) -> list[Json]:
    rows: list[Json] = []
    for number, line in enumerate(text.splitlines()):
        for match in re.finditer(r"\b(BAD|WARN|USES) (\S+)", line):
            kind, name = match.groups()
            if kind == "USES":
                other = Path(path_of(uri)).parent / name
                known = next((t for u, (_, t) in TEXTS.items() if path_of(u) == str(other)), None)
                if known is None:
                    known = on_disk(other)
                if "GONE" not in (known or ""):
                    continue
            start = {"line": number, "character": column(line, match.start(2))}
            end = {"line": number, "character": column(line, match.end(2))}
            weight = 2 if kind == "WARN" else 1
            rows.append(
                {
                    "range": {"start": start, "end": end},
                    "severity": weight,
                    "message": f"{name} is {'doubtful' if weight == 2 else 'bad'}",
                    "code": "E1",
                    "source": "scripted",
                }
            )
    return rows


def on_disk(path: Path) -> str:
    if "watches" in OPTIONS and str(path) in DISK:
        return DISK[str(path)]
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    DISK[str(path)] = text
    return text


def publication(uri: str, version: int, text: str) -> Json:
    params: Json = {"uri": uri, "diagnostics": found(uri, text)}
    if "unversioned" not in OPTIONS:
        params["version"] = version
    return {"method": "textDocument/publishDiagnostics", "params": params}


def publish(uri: str) -> None:
    if "pull" in OPTIONS or "silent" in OPTIONS or uri not in TEXTS:
        return
    said: list[Json] = []
    if "stale" in OPTIONS and uri in BEFORE:
        said.append(publication(uri, *BEFORE[uri]))
    said.append(publication(uri, *TEXTS[uri]))
    if "twice" in OPTIONS:
        said.append(said[-1])
    if "backwards" in OPTIONS:
        said.reverse()
    others = [u for u, (_, text) in TEXTS.items() if u != uri and "USES" in text]
    said += [publication(each, *TEXTS[each]) for each in others]
    after([partial(send, each) for each in said])


def after(calls: list[Any]) -> None:
    def run() -> None:
        time.sleep(float(OPTIONS.get("late", "0")))
        while "gate" in OPTIONS and not Path(OPTIONS["gate"]).exists():
            time.sleep(0.01)
        for call in calls:
            call()

    if "late" in OPTIONS or "gate" in OPTIONS:
        threading.Thread(target=run, daemon=True).start()
    else:
        run()


def slow(params: Json) -> bool:
    return "slow" in OPTIONS and bool(params["textDocument"]["uri"].endswith(OPTIONS["slow"]))


def misbehave(text: str) -> None:
    for kind in ("crash", "hang", "garbage", "huge", "storm", "eat", "grow", "ignore"):
        if OPTIONS.get(kind) and OPTIONS[kind] in text:
            act(kind)


def act(kind: str) -> None:
    match kind:
        case "crash":
            os._exit(3)
        case "hang":
            time.sleep(600)
        case "garbage":
            OUT.write(b"npm WARN this is no header\r\n\r\n" * 3)
            OUT.flush()
        case "huge":
            row = {
                "message": "x" * 1000,
                "range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}},
            }
            send(
                {
                    "method": "textDocument/publishDiagnostics",
                    "params": {"uri": "file:///x", "diagnostics": [row] * 48_000},
                }
            )
        case "storm":
            for number in range(100_000):
                send(
                    {
                        "id": number,
                        "method": "workspace/configuration",
                        "params": {"items": [{"section": "a"}]},
                    }
                )
        case "eat" | "grow":  # the second to 4 GB, as fast as it can
            HELD.extend(bytearray(b"x") * CHUNK for _ in range(64 if kind == "grow" else 6))
        case "ignore":
            import signal

            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(600)
        case _:
            pass


def take(uri: str, version: int, text: str) -> None:
    if uri in TEXTS:
        BEFORE[uri] = TEXTS[uri]
    TEXTS[uri] = version, text
    if "trace" in OPTIONS:
        with Path(OPTIONS["trace"]).open("a", encoding="utf-8") as file:
            file.write(json.dumps([Path(path_of(uri)).name, version, text]) + "\n")
    misbehave(text)
    publish(uri)


NAME = re.compile(r"\w+")


def stored(path: str) -> str:
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return ""


def places(word: str) -> list[Json]:
    """Where the word stands, in the open files and the others of the project."""
    rows: list[Json] = []
    root = path_of(ROOT[0])
    for base, _, names in os.walk(root):
        for name in sorted(names):
            path = f"{base}/{name}"
            uri = "file://" + path
            text = TEXTS[uri][1] if "opens" in OPTIONS and uri in TEXTS else stored(path)
            for number, line in enumerate(text.replace("\r\n", "\n").split("\n")):
                rows += [
                    {
                        "uri": uri,
                        "range": {
                            "start": {"line": number, "character": column(line, match.start())},
                            "end": {"line": number, "character": column(line, match.end())},
                        },
                    }
                    for match in re.finditer(rf"\b{re.escape(word)}\b", line)
                ]
    return rows


def word_at(params: Json) -> str:
    text: str = TEXTS[params["textDocument"]["uri"]][1]
    lines: list[str] = text.replace("\r\n", "\n").split("\n")
    number: int = params["position"]["line"]
    want: int = params["position"]["character"]
    line = lines[number]
    for match in NAME.finditer(line):
        if column(line, match.start()) <= want < column(line, match.end()):
            return match[0]
    return ""


ROOT = [""]
ABLE: Json = {
    "textDocumentSync": {"openClose": True, "change": 1, "save": True},
    "definitionProvider": True, "referencesProvider": True, "hoverProvider": True,
    "renameProvider": True, "documentSymbolProvider": True, "workspaceSymbolProvider": True,
    "callHierarchyProvider": True,
}  # fmt: skip


def item(place: Json, name: str) -> Json:
    return {
        "name": name,
        "kind": 12,
        "uri": place["uri"],
        "range": place["range"],
        "selectionRange": place["range"],
        "data": {"kept": name},
    }


def answer(method: str, params: Json) -> Any:  # noqa: C901, PLR0911, PLR0912  one case each
    match method:
        case "initialize":
            ROOT[0] = params["rootUri"]
            able = dict(ABLE)
            if "utf8" in OPTIONS:
                able["positionEncoding"] = "utf-8"
            if "pull" in OPTIONS and "registers" not in OPTIONS:
                able["diagnosticProvider"] = {
                    "interFileDependencies": True,
                    "workspaceDiagnostics": False,
                }
            return {"capabilities": able}
        case "textDocument/diagnostic":
            uri = params["textDocument"]["uri"]
            return {"kind": "full", "items": found(uri, TEXTS[uri][1])}
        case "textDocument/definition":
            return places(word_at(params))[:1]
        case "textDocument/references":
            return places(word_at(params))
        case "textDocument/hover":
            return {"contents": {"kind": "markdown", "value": f"word {word_at(params)}"}}
        case "textDocument/documentSymbol":
            word = NAME.search(TEXTS[params["textDocument"]["uri"]][1])
            place = places(word[0] if word else "x")[0]["range"]
            return [
                {
                    "name": word[0] if word else "",
                    "kind": 12,
                    "range": place,
                    "selectionRange": place,
                }
            ]
        case "workspace/symbol":
            return [
                {"name": params["query"], "kind": 12, "location": each}
                for each in places(params["query"])
            ]
        case "textDocument/prepareCallHierarchy":
            return [item(place, word_at(params)) for place in places(word_at(params))[:1]]
        case "callHierarchy/incomingCalls":
            assert params["item"]["data"]["kept"] == params["item"]["name"]
            return [
                {"from": item(place, "caller"), "fromRanges": [place["range"]]}
                for place in places(params["item"]["name"])
            ]
        case "textDocument/rename":
            changes: dict[str, list[Json]] = {}
            for each in places(word_at(params)):
                edit = {"range": each["range"], "newText": params["newName"]}
                changes.setdefault(each["uri"], []).append(edit)
            return {"changes": changes}
        case "shutdown":
            return None
        case _:
            raise KeyError(method)


def main() -> None:
    if "begin" in OPTIONS and OPTIONS["begin"] != "slow":
        act(OPTIONS["begin"])
    while (message := read()) is not None:
        method: str = message.get("method", "")
        params: Json = message.get("params") or {}
        if "id" not in message:
            notified(method, params)
        elif method:
            if method == "initialize" and OPTIONS.get("begin") == "slow":
                time.sleep(600)
            try:
                said: Json = {"result": answer(method, params)}
            except KeyError:
                said = {"error": {"code": -32601, "message": "no such thing"}}
            reply = {"id": message["id"], **said}
            if method == "textDocument/diagnostic" and slow(params):
                threading.Timer(0.5, send, [reply]).start()
            elif method == "textDocument/diagnostic":
                after([partial(send, reply)])
            else:
                send(reply)


def notified(method: str, params: Json) -> None:
    match method:
        case "textDocument/didOpen":
            it = params["textDocument"]
            first = not TEXTS
            take(it["uri"], it["version"], it["text"])
            if "watches" in OPTIONS and first:
                pattern = {"baseUri": ROOT[0], "pattern": OPTIONS["watches"]}
                watcher = {"globPattern": pattern}
                send({"id": "w", "method": "client/registerCapability", "params": {
                    "registrations": [{
                        "id": "2", "method": "workspace/didChangeWatchedFiles",
                        "registerOptions": {"watchers": [watcher]},
                    }]
                }})  # fmt: skip
            if "registers" in OPTIONS and first:
                one: Json = {"id": "1", "method": "textDocument/diagnostic", "registerOptions": {}}
                asked = {"registrations": [one]}
                send({"id": "r", "method": "client/registerCapability", "params": asked})
        case "textDocument/didChange":
            it = params["textDocument"]
            take(it["uri"], it["version"], params["contentChanges"][-1]["text"])
        case "workspace/didChangeWatchedFiles":
            changes = [
                [Path(path_of(each["uri"])).name, each["type"]] for each in params["changes"]
            ]
            DISK.clear()
            if "changes" in OPTIONS:
                with Path(OPTIONS["changes"]).open("a", encoding="utf-8") as file:
                    file.write(json.dumps(sorted(changes)) + "\n")
            for uri in list(TEXTS):
                publish(uri)
        case "textDocument/didClose":
            TEXTS.pop(params["textDocument"]["uri"], None)
        case "exit":
            os._exit(0)
        case _:
            pass


if __name__ == "__main__":
    main()
