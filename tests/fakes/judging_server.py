"""A model server whose judge decides by what it is sent, and which counts what its cache serves.

It knows nothing but the bytes of each request: the lists in the system prompt, the lines of the
account, the last action. As servers do, it keeps what stands before a cache point, finds it again
where a later request begins so, looks at no more than some blocks before a point, keeps nothing
short, and puts the schema of an answer before everything else.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from tests.fakes.model_server import ModelServer
from tests.fakes.scripted_provider import Answer, read_script

Json = dict[str, Any]
ACCOUNT = "<account>"
LEAST = 1_024  # tokens of a prefix that is kept
BACK = 20  # blocks before a point that are looked at
BYTES = 4  # of a token, about
_LIST = re.compile(r"<(environment|allow|soft_deny|hard_deny)>\n(.*?)</\1>", re.DOTALL)


@dataclass
class Case:
    """What a judge is asked, as it reads it."""

    lists: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    words: list[str] = field(default_factory=list[str])
    account: list[Json] = field(default_factory=list[Json])
    quick: bool = True

    @property
    def action(self) -> Json:
        return next(each for each in reversed(self.account) if "action" in each)

    @property
    def command(self) -> str:
        return str(self.action["does"].get("command", ""))


@dataclass
class Served:
    """Tokens of one request: all, and what the cache had."""

    quick: bool
    tokens: int
    cached: int
    written: int

    @property
    def share(self) -> float:
        return self.cached / self.tokens


Judges = Callable[[Case], tuple[str, str, str]]  # verdict, label, why


def allows(case: Case) -> tuple[str, str, str]:
    del case
    return "allow", "", ""


class Cache:
    """What a server keeps of prompts."""

    def __init__(self) -> None:
        self._kept: set[bytes] = set()

    def serve(self, body: Json) -> tuple[int, int, int]:
        """Tokens of the request, of what was there, and of what is kept now."""
        ends: list[tuple[bytes, int]] = []  # what begins the request, and its tokens
        points: list[int] = []
        digest, size = hashlib.sha256(), 0
        for block, pointed in _blocks(body):
            digest.update(block)
            size += len(block)
            ends.append((digest.copy().digest(), size // BYTES))
            if pointed:
                points.append(len(ends) - 1)
        cached = written = 0
        for point in points:
            for at in range(point, max(-1, point - BACK), -1):
                key, tokens = ends[at]
                if key in self._kept:
                    cached = max(cached, tokens)
                    break
        for point in points:
            key, tokens = ends[point]
            if tokens >= LEAST:
                self._kept.add(key)
                written = max(written, tokens - cached)
        return size // BYTES, cached, written


class JudgingServer(ModelServer):
    """The main model plays the script, `judges` answers for the judge."""

    def __init__(
        self, script: str | Sequence[Answer] = "", *, judges: Judges = allows, repeat: bool = False
    ) -> None:
        super().__init__(script, repeat=repeat)
        self.judges = judges
        self.cases: list[Case] = []
        self.served: list[Served] = []
        self._cache = Cache()

    def _of_task(self, body: Json) -> Answer | None:
        if not is_judgement(body):
            return super()._of_task(body)
        case = case_of(body)
        self.cases.append(case)
        tokens, cached, written = self._cache.serve(body)
        self.served.append(Served(case.quick, tokens, cached, written))
        verdict, label, why = self.judges(case)
        told = {"why": "" if case.quick else why, "label": "" if case.quick else label}
        said = json.dumps({**told, "verdict": verdict})
        new = tokens - cached - written
        counts = f"in={new} cache_read={cached} cache_write={written} out={len(said) // BYTES + 1}"
        return read_script(f"usage: {counts}\nsay: {said}")[0]


def is_judgement(body: Json) -> bool:
    return ACCOUNT in json.dumps(body.get("messages", [])[:1])


def case_of(body: Json) -> Case:
    system = "\n".join(each["text"] for each in body["system"])
    case = Case(quick="at once" in json.dumps(body["messages"][-1]))
    for found in _LIST.finditer(system):
        entries = [json.loads(row) for row in found[2].strip().splitlines()]
        case.lists[found[1]] = [entry["text"] for entry in entries]
    for block in body["messages"][0]["content"]:
        if block["text"] != ACCOUNT:
            case.account += map(json.loads, block["text"].splitlines())
    case.words = [each["the_person_said"] for each in case.account if "the_person_said" in each]
    return case


def _blocks(body: Json) -> Iterator[tuple[bytes, bool]]:
    """In the order in which they are cached, and whether a point stands behind each."""
    output: Json = body.get("output_config", {})
    yield _bytes([output.get("format"), output.get("effort"), body.get("thinking")]), False
    for name in ("tools", "system"):
        for block in cast("list[Json]", body.get(name, [])):
            yield _bytes(block), "cache_control" in block
    for message in cast("list[Json]", body["messages"]):
        yield _bytes(message["role"]), False
        for block in cast("list[Json]", message["content"]):
            yield _bytes(block), "cache_control" in block


def _bytes(value: object) -> bytes:
    if isinstance(value, dict):
        fields = cast("Json", value)
        value = {name: each for name, each in fields.items() if name != "cache_control"}
    return json.dumps(value, ensure_ascii=False).encode()
