"""What reaches the model without a call of Read is judged as Read would be, and by one port."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatewright.agent.context.attach_ports import AttachPorts
from gatewright.agent.context.attachments import attach
from gatewright.agent.context.file_judge import readable_by
from gatewright.agent.context.readable import Readable, Verdict, Withheld
from gatewright.permissions.policy import Policy, PolicyConfig
from gatewright.permissions.rulebook.rules import RuleTexts
from gatewright.tools.access import Where
from gatewright.tools.protocol import TextContent
from tests.guards.readers import blind_openers, unjudged_readers
from tests.guards.sources import own_sources, plant


def test_nobody_reads_on_the_models_behalf_but_through_the_port() -> None:
    found = unjudged_readers(own_sources())
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "line", ["Path('a').read_text()", "open('a')", "os.open('a', 0)", "head_of('a', 1)"]
)
def test_a_reader_without_the_port_would_be_found(tmp_path: Path, line: str) -> None:
    sources = plant(tmp_path, {"agent/context/prompt/news.py": f"text = {line}\n"})
    assert len(unjudged_readers(sources)) == 1
    assert not unjudged_readers(
        plant(tmp_path, {"agent/context/prompt/news.py": "readable.open(p)\n"})
    )


def test_nothing_that_is_read_at_the_start_is_opened_blindly() -> None:
    found = blind_openers(own_sources())
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "line",
    ["Path('a').read_text()", "path.read_bytes()", "path.open('rb')", "path.open(encoding='utf-8')",
     "open('a')", "os.open('a', os.O_RDONLY | os.O_CLOEXEC)"],
)  # fmt: skip
def test_a_blind_opener_would_be_found(tmp_path: Path, line: str) -> None:
    assert len(blind_openers(plant(tmp_path, {"agent/settings/news.py": f"a = {line}\n"}))) == 1


@pytest.mark.parametrize(
    "line", ["open('a', 'wb')", "path.open('x')", "head_of('a', 1)", "os.open(path, os.O_WRONLY)"]
)
def test_no_other_opener_is_taken_for_one(tmp_path: Path, line: str) -> None:
    assert not blind_openers(plant(tmp_path, {"agent/settings/news.py": f"a = {line}\n"}))


@pytest.mark.parametrize("mode", ["default", "plan", "delegate", "bypassPermissions", "dontAsk"])
@pytest.mark.parametrize("interactive", [True, False])
@pytest.mark.parametrize("trusted", [True, False])
def test_rules_and_places_decide_whatever_the_mode(
    tmp_path: Path, mode: str, interactive: bool, trusted: bool
) -> None:
    root = tmp_path / "project"
    (root / "keys").mkdir(parents=True)
    for name in ("AGENTS.md", "keys/a", "plan.md"):
        (root / name).write_text("text", encoding="utf-8")
    (tmp_path / "outside").write_text("text", encoding="utf-8")
    (root / "link").symlink_to("keys/a")
    rules = RuleTexts(deny=("Read(/keys/**)",), ask=("Read(/plan.md)",))
    policy = Policy(
        PolicyConfig(
            root=root,
            cwd=root,
            home=tmp_path / "home",
            rules={"user": rules},
            mode=mode,
            interactive=interactive,
            trusted=trusted,
        )
    )
    readable = readable_by(policy, lambda: Where(root, root, tmp_path / "home"))
    assert readable.head(root / "AGENTS.md", 10) == b"text"
    for name in ("keys/a", "link"):
        with pytest.raises(Withheld, match=r"Read\(/keys/\*\*\)"):
            readable.head(root / name, 10, agreed=True)
    for path in (root / "plan.md", tmp_path / "outside"):
        with pytest.raises(Withheld):
            readable.head(path, 10)
        assert readable.head(path, 10, agreed=True) == b"text"


def test_what_was_judged_is_what_is_opened(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("open", encoding="utf-8")
    (tmp_path / "b").write_text("precious", encoding="utf-8")
    link = tmp_path / "link"
    link.symlink_to("a")

    def judge(path: Path, real: Path) -> Verdict:
        (tmp_path / "a").unlink()
        (tmp_path / "a").symlink_to("b")
        return Verdict("yes" if real.name == "a" else "denied")

    with pytest.raises(OSError, match="symbolic links"):
        Readable(judge).head(link, 10)


def test_a_listing_names_nothing_that_a_rule_denies(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    for name in ("open.txt", "secret.txt"):
        (tmp_path / "d" / name).write_text("x", encoding="utf-8")
    denied = Verdict("denied", "a rule")
    readable = Readable(lambda _, real: denied if real.name == "secret.txt" else Verdict("yes"))
    ports = AttachPorts(
        lambda data, path: None, lambda path, data: None, readable, list[str]().append
    )
    (listing,) = attach("@d", Where(tmp_path, tmp_path, tmp_path), ports)
    assert isinstance(listing, TextContent)
    assert "open.txt" in listing.text and "secret" not in listing.text


def test_who_names_a_link_of_the_project_does_not_mean_where_it_leads(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "key").write_text("s3cret", encoding="utf-8")
    (tmp_path / "keys").mkdir()
    (root / "notes.txt").symlink_to("../key")
    (root / "folder").symlink_to("../keys")
    (tmp_path / "keys/plain.txt").write_text("s3cret", encoding="utf-8")
    policy = Policy(PolicyConfig(root=root, cwd=root, home=tmp_path / "home"))
    where = Where(root, root, tmp_path / "home")
    readable = readable_by(policy, lambda: where)
    ports = AttachPorts(
        lambda data, path: None, lambda path, data: None, readable, list[str]().append
    )
    for said in ("@notes.txt", "@folder", "@folder/plain.txt", "@folder/../key"):
        (part,) = attach(said, where, ports)
        assert isinstance(part, TextContent) and "was not attached" in part.text
        assert "s3cret" not in part.text
    for said in ("@../key", f"@{tmp_path}/key"):  # the file itself
        (part,) = attach(said, where, ports)
        assert isinstance(part, TextContent) and "s3cret" in part.text
