"""/skills learn and drafts in a whole session: asked for, looked at, tried, approved."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gatewright.agent.commands.outcome import Form, Listing, Offer, Outcome, Problem, Say
from gatewright.agent.commands.registry import Front
from gatewright.tools.blocks import plain
from tests.permissions.composed import Desk, desk

SECRET = "sk-" + "x1" * 12
READ = 'call: Read {"file_path": "notes.txt"}'
DRAFT = """say: ---
  name: tidy-notes
  description: Tidies notes. Use when notes are a mess.
  ---
  1. Read them with $ARGUMENTS and !`touch made` and @notes.txt"""


@pytest.fixture(autouse=True)
def _a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GATEWRIGHT", raising=False)


async def line(made: Desk, text: str) -> tuple[Outcome, str]:
    outcome = await made.session.run_command(text, Front(panels=True))
    said = outcome.fallback if isinstance(outcome, Offer) else outcome
    return outcome, "\n".join(map(plain, said.blocks)) if isinstance(said, Say) else ""


async def worked(made: Desk) -> None:
    (made.project / "notes.txt").write_text("alpha\n", encoding="utf-8")
    made.session.submit(f"Tidy the notes; the key is {SECRET}")
    await made.ended()


async def test_a_draft_is_made_looked_at_tried_and_approved(tmp_path: Path) -> None:
    script = [READ, "say: done", DRAFT, "say: tried"]
    async with desk(tmp_path, script) as made:
        await worked(made)
        _, text = await line(made, "/skills learn")
        assert "A draft is kept" in text and "Tidies notes" in text
        asked = json.dumps(made.server.bodies[2])
        assert "PERSON: Tidy the notes" in asked and "CALL: Read" in asked
        assert SECRET not in asked and "alpha" not in asked
        assert "tools" not in made.server.bodies[2] or not made.server.bodies[2]["tools"]
        path = tmp_path / "home/.gatewright/skill-drafts/tidy-notes/SKILL.md"
        assert "!`" not in path.read_text(encoding="utf-8")
        outcome, _ = await line(made, "/tidy-notes")
        assert isinstance(outcome, Problem), "a draft cannot be invoked"
        _, text = await line(made, "/skills")
        assert "tidy-notes" not in text
        listing, text = await line(made, "/skills drafts")
        assert isinstance(listing, Listing) and "Tidies notes" in text
        assert [row.cells[1:3] for row in listing.rows()] == [("new", "tidy-notes")]
        await line(made, "/skills drafts tidy-notes try on @notes.txt")
        await made.ended(2)
        tried = "\n".join(made.words(3))
        assert "Work by this draft" in tried and "Read them with $ARGUMENTS" in tried
        _, text = await line(made, "/skills drafts tidy-notes approve project")
        assert "/tidy-notes invokes it" in text
        assert (made.project / ".gatewright/skills/tidy-notes/SKILL.md").is_file()
        _, text = await line(made, "/skills info tidy-notes")
        assert "Tidies notes" in text
        _, text = await line(made, "/skills drafts")
        assert "There are no drafts" in text


async def test_keys_of_the_panel(tmp_path: Path) -> None:
    async with desk(tmp_path, [READ, "say: done", DRAFT, DRAFT]) as made:
        await worked(made)
        await line(made, "/skills learn tidy")
        listing, _ = await line(made, "/skills drafts")
        assert isinstance(listing, Listing)
        (row,) = listing.rows()
        fields = plain((await listing.read(row.id))[0])
        assert fields.startswith("---\nname: tidy\n") and fields.rstrip().endswith("---")
        acts = {act.key: act.run for act in listing.acts}
        form = await acts["e"](row.id)
        assert isinstance(form, Form)
        assert isinstance(await form.take("---\nname: tidy\n"), Problem)
        assert listing.rows()[0].cells[1] == "new"
        assert isinstance(await form.take(form.text + "2. More.\n"), Say)
        assert isinstance(await acts["u"](row.id), Say)
        assert listing.rows() == []
        await line(made, "/skills learn tidy")
        _, text = await line(made, "/skills drafts tidy")
        assert "What is different from /tidy (user)" in text and "2. More." in text
        assert isinstance(await acts["u"](row.id), Problem)
        _, text = await line(made, "/skills drafts tidy approve user replace")
        assert "is a skill now" in text


async def test_what_cannot_be_learned_is_said(tmp_path: Path) -> None:
    async with desk(tmp_path, ["say: hi", "say: NOTHING"]) as made:
        for text, told in (
            ("/skills learn", "Nothing was done in that session"),
            ("/skills learn a b", "Usage: /skills learn"),
            ("/skills learn --session nowhere", "No session here matches"),
            ("/skills drafts nobody", "There is no draft 'nobody'"),
            ("/skills drafts nobody nonsense", "Usage: /skills drafts"),
        ):
            outcome, said = await line(made, text)
            assert isinstance(outcome, Problem) and told in said, text
        assert made.server.bodies == []


@pytest.mark.parametrize("wish", ["suggest", "off"])
async def test_a_suggestion_is_one_line_at_the_end_and_asks_no_model(
    tmp_path: Path, wish: str
) -> None:
    def part(number: int) -> str:
        made = json.dumps({"file_path": f"f{number}.txt", "content": "x"})
        return "\n".join(
            (
                f"call: Write {made}",
                'call: Bash {"command": "echo built"}',
                'call: Bash {"command": "ls -l"}',
            )
        )

    script = [part(1), part(2), part(3), "say: done"]
    own = {"skills": {"learning": wish}}
    async with desk(tmp_path, script, own=own, mode="bypassPermissions") as made:
        made.session.submit("go")
        await made.ended()
        told = made.session.unsaved
        assert len(made.server.bodies) == 4
    assert ("/skills learn --session" in told) == (wish == "suggest")
    assert ("Write, Bash echo built, Bash ls" in told) == (wish == "suggest")
