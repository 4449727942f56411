"""Choosing models and efforts from a list, and storing a key that nobody sees."""

from __future__ import annotations

from pathlib import Path

from gatewright.tui.app import AgentApp
from tests.fakes.fake_session import FakeSession
from tests.fakes.model_server import ServerThread
from tests.fakes.models import model_book
from tests.tui.scenes import question
from tests.tui.stage import Stage, stage

SONNET = "anthropic/claude-sonnet-5-5"
KEY = "sk-hidden-42"


def session(folder: Path, **env: str) -> FakeSession:
    made = FakeSession(model=SONNET)
    made.know("effort", "login", "logout")
    made.models = model_book(folder, checked=False, **env)
    return made


async def run(s: Stage, line: str) -> None:
    await s.type(line)
    await s.press("enter")


def everything(app: AgentApp) -> str:
    """Whatever the program holds that is shown or kept."""
    repl = app.repl
    return repr(
        (repl.transcript.records.all(), repl.box.history_.entries(), repl.box.text, repl.view)
    )


async def test_the_model_list_filters_and_switches(tmp_path: Path) -> None:
    async with stage(session(tmp_path, ANTHROPIC_API_KEY="k")) as s:
        await run(s, "/model")
        shown = await s.see("dollars for a million tokens", "Window   $ in   $ out", "in use")
        assert SONNET in next(row for row in shown.split("\n") if "in use" in row)
        await s.type("opus-4-8")
        await s.gone("in use")
        await s.press("enter")
        await s.see("Model: anthropic/claude-opus-4-8")
        assert s.session.model == "anthropic/claude-opus-4-8"


async def test_the_model_list_leads_to_logging_in(tmp_path: Path) -> None:
    async with stage(session(tmp_path)) as s:
        await run(s, "/model")
        await s.see("other models")
        await s.type("other")
        await s.press("enter")
        await s.see("Store a key for", "openrouter")


async def test_the_effort_list(tmp_path: Path) -> None:
    async with stage(session(tmp_path)) as s:
        await run(s, "/effort")
        await s.see("quickest and cheapest", "most thorough", "in use")
        await s.press("escape")
        await s.gone("most thorough")


async def test_a_key_is_stored_and_seen_by_nobody(tmp_path: Path) -> None:
    async with stage(session(tmp_path)) as s:
        await run(s, "/login groq")
        await s.see("Key for groq", "it is not shown")
        await s.press(*"sk-", "backspace", "minus")
        await s.paste("hidden-42\n")
        shown = await s.see("•" * len(KEY))
        assert "hidden" not in shown
        assert "hidden" not in everything(s.app)
        await s.press("enter")
        await s.see("The key for groq is kept in a file")
        assert "hidden" not in s.text() + everything(s.app) + repr(s.app.repl.secret.__dict__)
        assert s.app.focused is s.app.repl.box
        stored = (tmp_path / "home" / "keys.json").read_text(encoding="utf-8")
        assert KEY in stored


async def test_escape_stores_nothing_and_forgets(tmp_path: Path) -> None:
    async with stage(session(tmp_path)) as s:
        await run(s, "/login groq")
        await s.see("Key for groq")
        await s.type(KEY)
        await s.press("escape")
        await s.gone("Key for groq")
        await run(s, "/login openai")
        await s.see("Key for openai", "it is not shown")
        assert not (tmp_path / "home" / "keys.json").exists()


async def test_a_question_does_not_get_what_is_typed_into_the_field(tmp_path: Path) -> None:
    async with stage(session(tmp_path)) as s:
        await run(s, "/login groq")
        await s.see("Key for groq")
        await s.type("sk-")
        question(s.session)
        await s.settled()
        s.clock.now += 1
        await s.type("y1")
        await s.see("•" * 5)
        assert not s.session.answers
        await s.press("escape")
        await s.gone("Key for groq")
        assert s.app.focused is s.app.repl.panel


async def test_a_login_line_is_not_remembered(tmp_path: Path) -> None:
    async with stage(session(tmp_path)) as s:
        await run(s, f"/login groq {KEY}")
        await s.see("does not belong in the prompt")
        assert KEY not in "".join(s.app.repl.box.history_.entries())


async def test_forgetting_a_key(tmp_path: Path) -> None:
    made = session(tmp_path)
    assert made.models is not None
    made.models.keep("groq", KEY)
    async with stage(made) as s:
        await run(s, "/logout")
        await s.see("Forget the key for", "groq")
        await s.press("enter")
        await s.see("The key for groq is forgotten.")


async def test_a_start_where_nothing_can_answer_offers_what_there_is(tmp_path: Path) -> None:
    made = session(tmp_path)
    made.setup_due = True
    made.know("setup")
    async with stage(made, size=(80, 24)) as s:
        await s.see("What shall answer?", "a key for anthropic", "the demo")
        await s.press("escape")
        await s.gone("What shall answer?")
        assert s.app.focused is s.app.repl.box, "the prompt is usable"
        await run(s, "/setup")
        await s.see("the demo")
        await s.type("demo")
        await s.press("enter")
        await s.see("Model: demo")


async def test_a_start_in_little_room_cuts_nothing_that_is_to_be_read(tmp_path: Path) -> None:
    made = session(tmp_path)
    made.setup_due = True
    made.know("setup")
    async with stage(made, size=(40, 12)) as s:
        await s.see("What shall answer?", "a key for another provider")
        assert made.models is not None
        page = next(one.page for one in made.models.key_places() if one.provider == "anthropic")
        assert page in "".join(row.strip(" ▎") for row in s.text().split("\n"))
        await s.press("up", "down", "down", "down", "down", "down")
        await s.see("the demo", "a guided tour: no key, no network")
        await s.press("escape")
        await s.see("no model yet: /setup chooses one\n", "/ commands")


async def test_a_message_that_nobody_can_answer_waits_and_can_be_taken_back(tmp_path: Path) -> None:
    made = session(tmp_path)
    made.setup_due = True
    made.know("setup")
    async with stage(made, size=(80, 24)) as s:
        await s.see("What shall answer?")
        await s.press("escape")
        await s.gone("What shall answer?")
        await s.type("Hello.")
        await s.press("enter")
        await s.see("What shall answer?", "Hello.")
        assert made.sent == []
        await s.press("escape")
        await s.gone("What shall answer?")
        await s.press("up")
        assert s.app.repl.box.text == "Hello."
        await s.press("enter")
        await s.see("What shall answer?")
        made.setup_due = False  # as what is chosen makes it
        await s.type("demo")
        await s.press("enter")
        await s.see("Model: demo")
        await s.settled()
        assert made.sent == ["Hello."]


async def test_a_wrong_key_is_said_and_asked_for_again(tmp_path: Path) -> None:
    with ServerThread("") as server:
        server.key = KEY
        made = session(tmp_path)
        made.models = model_book(tmp_path, checked=True, ANTHROPIC_BASE_URL=server.url)
        async with stage(made) as s:
            await run(s, "/login anthropic")
            await s.see("Key for anthropic")
            await s.type("wrong")
            await s.press("enter")
            await s.see("does not know this key", "it is not shown")
            assert not made.models.stored()
            await s.type(KEY)
            await s.press("enter")
            await s.see("is kept in a file", "Model: anthropic/")
            assert made.models.stored() == ("anthropic",)
