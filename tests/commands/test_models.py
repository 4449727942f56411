"""/model, /effort, /login and /logout where they say what they know: no screen is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatewright.agent.commands.models import model_commands
from gatewright.agent.commands.outcome import Change, Outcome, Pick, Secret, SetEffort
from gatewright.agent.commands.registry import CommandContext
from gatewright.agent.models.choices import ModelBook
from gatewright.agent.models.model import OpenModel
from gatewright.tools.blocks import Table, plain
from tests.fakes.commands import Desk, InUse
from tests.fakes.commands import told as said
from tests.fakes.house import house, open_scripted
from tests.fakes.model_server import ServerThread
from tests.fakes.models import model_book
from tests.fakes.scripted_provider import ScriptedProvider

SONNET = "anthropic/claude-sonnet-5-5"


async def run(line: str, book: ModelBook, model: str = SONNET, effort: str = "") -> Outcome:
    return await Desk(models=book, in_use=InUse(model, effort)).run(line)


def table(outcome: Outcome) -> Table:
    assert isinstance(outcome, Pick)
    (found,) = [block for block in outcome.fallback.blocks if isinstance(block, Table)]
    return found


async def test_models_with_a_key_come_first_and_the_current_one_is_marked(tmp_path: Path) -> None:
    book = model_book(tmp_path, ANTHROPIC_API_KEY="k")
    rows = table(await run("/model", book, model="sonnet")).rows
    assert {row[1].partition("/")[0] for row in rows} == {"anthropic", "demo"}
    assert [row[1] for row in rows if row[0]] == [SONNET]
    assert rows[-1][1:] == ("demo/demo", "", "", "", "no key needed")
    (row,) = [row for row in rows if row[0]]
    facts = book.facts(SONNET)
    assert row[2:] == ("1M", f"{facts.input:g}", f"{facts.output:g}", "ANTHROPIC_API_KEY")


async def test_one_key_lists_its_models_once(tmp_path: Path) -> None:
    rows = table(await run("/model", model_book(tmp_path, OPENAI_API_KEY="k"))).rows
    names = [row[1] for row in rows]
    assert names[0] == SONNET, "the model in use is listed although it has no key"
    assert {name.partition("/")[0] for name in names} == {"anthropic", "openai", "demo"}
    assert len(names) == len(set(names))


async def test_a_server_on_this_machine_says_what_it_has(tmp_path: Path) -> None:
    with ServerThread("say: hi") as server:
        book = model_book(tmp_path, OLLAMA_BASE_URL=f"{server.url}/v1")
        rows = table(await run("/model", book)).rows
    local = [row for row in rows if row[5] == "this machine"]
    assert local
    assert all(row[1].startswith("ollama/") for row in local)


async def test_effort_offers_what_the_model_has(tmp_path: Path) -> None:
    book = model_book(tmp_path)
    rows = table(await run("/effort", book)).rows
    assert [row[1] for row in rows] == ["auto", *book.facts(SONNET).efforts]
    assert [row[1] for row in rows if row[0]] == ["auto"]
    rows = table(await run("/effort", book, effort="high")).rows
    assert [row[1] for row in rows if row[0]] == ["high"]
    assert await run("/effort auto", book, effort="high") == Change(SetEffort(""))
    assert await run("/effort HIGH", book) == Change(SetEffort("high"))
    assert "takes one of auto, low" in said(await run("/effort lots", book))
    assert "demo has no levels" in said(await run("/effort", book, model="demo"))


async def test_ultracode_is_an_effort_where_there_are_workflows_and_the_level(
    tmp_path: Path,
) -> None:
    book = model_book(tmp_path)

    async def effort(args: str, *, there: bool = True, model: str = SONNET) -> Outcome:
        commands = {c.name: c for c in model_commands(book, InUse(model, ""), lambda: there)}
        return await commands["effort"].run(CommandContext(args=args))

    chosen = await effort("ultracode")
    assert isinstance(chosen, Change)
    assert chosen.operation == SetEffort("xhigh", ultracode=True)
    assert "nobody asks before one begins" in plain(chosen.said[0])
    offered = await effort("")
    assert isinstance(offered, Pick) and offered.choices[-1].id == "ultracode"
    picked = await offered.choose("ultracode")
    assert isinstance(picked, Change) and picked.operation == chosen.operation
    assert await offered.choose("high") == Change(SetEffort("high")), "which leaves it"
    assert "takes one of" in said(await effort("ultracode", there=False))
    without = await effort("", there=False)
    assert isinstance(without, Pick) and "ultracode" not in [row.id for row in without.choices]
    assert "ultracode" not in said(await effort("ultracode", model="demo")).partition("one of")[2]


async def test_a_login_asks_apart_and_stores(tmp_path: Path) -> None:
    book = model_book(tmp_path)
    assert [row[1] for row in table(await run("/login", book)).rows].count("none") > 8
    asked = await run("/login groq", book)
    assert isinstance(asked, Secret)
    text = said(asked)
    assert "agent login groq" in text
    assert "GROQ_API_KEY" in text
    again = await asked.take("two words")
    assert isinstance(again, Secret)
    assert "That is no key" in plain(again.told[0])
    assert "is kept in a file only you can read" in said(await asked.take(" gsk-1\n"))
    assert book.stored() == ("groq",)
    listed = table(await run("/model", book)).rows
    assert ("groq/llama-3.3-70b-versatile", "stored key") in {(row[1], row[5]) for row in listed}
    assert "There is one already: stored key" in said(await run("/login groq", book))


async def test_a_login_beside_the_variable_says_which_of_the_two_counts(tmp_path: Path) -> None:
    asked = await run("/login groq", model_book(tmp_path, GROQ_API_KEY="k"))
    assert isinstance(asked, Secret)
    told = said(await asked.take("gsk-1"))
    assert "but GROQ_API_KEY is set and comes before it" in told
    assert "next message" not in told


async def test_a_logout_forgets(tmp_path: Path) -> None:
    book = model_book(tmp_path, OPENAI_API_KEY="k")
    assert "No key is stored" in said(await run("/logout", book))
    book.keep("openai", "other")
    assert table(await run("/logout", book)).rows == (("openai",),)
    assert "Another one is still found: OPENAI_API_KEY" in said(await run("/logout openai", book))
    assert "No key for openai is stored" in said(await run("/logout openai", book))


@pytest.mark.parametrize(
    ("line", "told"),
    [("/login nobody", "There is no provider nobody"), ("/login groq gsk-1", "does not belong")],
)
async def test_what_cannot_be_logged_in_to(tmp_path: Path, line: str, told: str) -> None:
    assert told in said(await run(line, model_book(tmp_path)))
    assert not model_book(tmp_path).stored()


async def test_a_key_counts_from_the_next_message_on(tmp_path: Path) -> None:
    provider = ScriptedProvider.parse(
        "say: One.\n---\nsay: Two.\n---\nsay: Three.\n---\nsay: Four."
    )
    opened: list[str] = []

    def open_model(name: str, effort: str) -> OpenModel:
        opened.append(name)
        return open_scripted(provider, name, effort)

    book = model_book(tmp_path)
    async with house("", open_model=open_model, models=book) as built:
        for change in (None, None, "keep", "forget"):
            if change == "keep":
                book.keep("openai", "other")
            elif change == "forget":
                assert book.forget("openai")
            built.session.submit("Hi.")
            await built.session.idle()
    assert len(provider.requests) == 4
    assert opened == ["script"] * 3, "the model is opened again for a key and for nothing else"


@pytest.mark.parametrize(
    ("env", "model", "source"),
    [
        ({"ANTHROPIC_API_KEY": "k"}, "anthropic/sonnet", "default, ANTHROPIC_API_KEY"),
        (
            {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_MODEL": "claude-x"},
            "anthropic/claude-x",
            "ANTHROPIC_MODEL",
        ),
        (
            {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_MODEL": "claude-x"},
            "anthropic/claude-y",  # gone over to since
            "this session",
        ),
        (
            {"ANTHROPIC_API_KEY": "k", "GATEWRIGHT_MODEL": "anthropic/claude-x"},
            "anthropic/claude-x",
            "GATEWRIGHT_MODEL",
        ),
        (
            {"ANTHROPIC_API_KEY": "k", "GATEWRIGHT_MODEL": "anthropic/claude-x"},
            "anthropic/claude-y",
            "this session",
        ),
        ({"ANTHROPIC_API_KEY": "k"}, "anthropic/claude-y", "this session"),
    ],
)
def test_what_answers_is_shown_with_what_chose_it(
    tmp_path: Path, env: dict[str, str], model: str, source: str
) -> None:
    assert model_book(tmp_path, checked=False, **env).answering(model).endswith(f"  ({source})")


async def test_no_key_is_offered_for_servers_of_this_machine(
    tmp_path: Path,
) -> None:
    asked = await run("/login", model_book(tmp_path))
    assert isinstance(asked, Pick)
    names = {choice.id for choice in asked.choices}
    assert {"anthropic", "openai", "groq"} <= names
    assert not names & {"ollama", "lmstudio", "vllm", "llamacpp", "demo"}
    assert {"azure", "foundry"} <= names, "a key without a page of its own is a key"
    assert "openai-chat" not in names, "it takes that of openai"
