"""Invoked in a composed session: a picture that a skill names, and what "always" is stored as."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from gatewright.agent.record.events import ToolFinished
from gatewright.tools.protocol import ImageContent
from tests.fakes.plugin_trees import bare_plugin
from tests.skills.invocations import call, opened, skill, turns


async def test_a_picture_that_the_template_names_is_one(tmp_path: Path) -> None:
    file = skill(tmp_path / "home", "look", "Compare with @pic.png and @broken.png\n")
    Image.new("RGB", (4, 3), "red").save(file.parent / "pic.png")
    (file.parent / "broken.png").write_bytes(b"\x89PNG no")
    async with opened(tmp_path, call("look"), "say: 1") as made:
        await turns(made, "go")
        (done,) = [e for e in made.seen.of(ToolFinished) if e.call_id == "s1"]
        assert sum(isinstance(part, ImageContent) for part in done.content) == 1


async def test_always_for_a_skill_of_a_plugin_covers_that_one_alone(tmp_path: Path) -> None:
    options = {"plugin_dirs": (str(bare_plugin(tmp_path / "tidy")),)}
    script = (call("sweep"), call("tidy:sweep", "2", "s2"), "say: done")
    async with opened(tmp_path, *script, options=options) as made:
        made.session.submit("go")
        asked = await made.asked()
        assert any("Skill(tidy:sweep)" in option.label for option in asked.ask.options)
        made.answer(asked, "always")
        await made.ended()
        second = await made.decided("s2")
        assert (second.answer, second.rule) == ("", "Skill(tidy:sweep)")
