"""Rules and directories kept where the person wants them, moved, taken away and put back."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatewright.agent.commands.panels import FolderRow, RuleRow, RulesPanel
from gatewright.agent.commands.rules.rule_editor import why_fixed
from gatewright.agent.errors import SettingsError
from gatewright.permissions.paths import Paths
from tests.fakes.books import Books

NOTED = {"rule": "Bash(make)", "description": "mine", "addedAt": "2026", "addedBy": "user"}


@pytest.fixture(autouse=True)
def outside_a_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GATEWRIGHT", raising=False)


def row(books: Books, text: str, source: str = "") -> RuleRow:
    found = [r for r in books.permissions.rows() if r.text == text and source in ("", r.source)]
    assert len(found) == 1, found
    return found[0]


def in_force(books: Books) -> list[tuple[str, str, str]]:
    rows = books.permissions.rows()
    return [(r.behavior, r.text, r.source) for r in rows if r.source != "builtin"]


@pytest.mark.parametrize("scope", ["local", "project", "user"])
async def test_a_rule_is_kept_where_it_is_wanted(tmp_path: Path, scope: str) -> None:
    books = Books(tmp_path)
    assert "Added to" in await books.said(f"/permissions deny --{scope} Bash(rm:*)")
    assert books.stored(scope, "permissions", "deny") == ["Bash(rm:*)"]
    assert in_force(books) == [("deny", "Bash(rm:*)", scope)]
    others = {"local", "project", "user"} - {scope}
    assert all(books.stored(name, "permissions") is None for name in others)
    assert "already" in await books.said(f"/permissions deny --{scope} Bash(rm:*)")


async def test_without_a_scope_it_is_for_this_session(tmp_path: Path) -> None:
    books = Books(tmp_path)
    await books.said("/permissions allow Bash(ls)")
    assert in_force(books) == [("allow", "Bash(ls)", "session")]
    assert books.stored("user") == {}


async def test_an_untrusted_project_is_no_place_for_grants(tmp_path: Path) -> None:
    books = Books(tmp_path, trusted=False)
    names = [(shelf.name, shelf.label) for shelf in books.permissions.shelves()]
    assert [name for name, _ in names] == ["session", "local", "user"]
    await books.said("/permissions allow --local Bash(make)")
    own = books.stored("user", "projects", str(books.project), "permissions", "allow")
    assert own == ["Bash(make)"]
    assert not books.files["local"].exists()
    assert "--project here" in await books.said("/permissions allow --project Bash(make)")
    assert "Removed from" in await books.said("/permissions remove Bash(make)")
    assert in_force(books) == []


async def test_a_rule_for_this_project_alone_says_so(tmp_path: Path) -> None:
    books = Books(tmp_path, trusted=False, user={"permissions": {"allow": ["Bash(ls)"]}})
    by_name = {shelf.name: shelf for shelf in books.permissions.shelves()}
    await books.permissions.add("allow", "Bash(make)", by_name["local"])
    here, everywhere = row(books, "Bash(make)"), row(books, "Bash(ls)")
    assert (here.here, here.place) == (True, by_name["local"].shown)
    assert (everywhere.here, everywhere.place) == (False, by_name["user"].shown)
    done = await books.permissions.move(here, by_name["user"])
    assert books.stored("user", "permissions", "allow") == ["Bash(ls)", "Bash(make)"]
    assert not row(books, "Bash(make)").here
    assert done.undo is not None
    assert (await done.undo()).startswith(f"Back in {by_name['local'].shown}")
    assert row(books, "Bash(make)").here


async def test_a_mistake_is_said_and_nothing_is_written(tmp_path: Path) -> None:
    books = Books(tmp_path)
    assert "not of the form" in await books.said("/permissions allow --user Bash(")
    assert "Nothing can be kept in --moon" in await books.said("/permissions allow --moon Bash")
    assert books.stored("user") == {}


async def test_a_removed_rule_comes_back_as_it_was(tmp_path: Path) -> None:
    rules = ["Bash(ls)", NOTED, "Bash(cat)"]
    books = Books(tmp_path, user={"permissions": {"allow": rules}, "mine": 1})
    done = await books.permissions.remove(row(books, "Bash(make)"))
    assert done.text == "Removed from ~/.gatewright/settings.json: allow Bash(make)"
    assert books.stored("user", "permissions", "allow") == ["Bash(ls)", "Bash(cat)"]
    assert ("allow", "Bash(make)", "user") not in in_force(books)
    assert done.undo is not None
    await done.undo()
    assert books.stored("user") == {"permissions": {"allow": rules}, "mine": 1}
    assert ("allow", "Bash(make)", "user") in in_force(books)


async def test_added_rules_are_taken_back(tmp_path: Path) -> None:
    for trusted in (True, False):
        books = Books(tmp_path / str(trusted), trusted=trusted)
        for shelf in books.permissions.shelves():
            done = await books.permissions.add("deny", "WebFetch", shelf)
            assert len(in_force(books)) == 1
            assert done.undo is not None
            await done.undo()
            assert in_force(books) == [], shelf


async def test_a_rule_moves_and_moves_back(tmp_path: Path) -> None:
    books = Books(tmp_path, user={"permissions": {"deny": ["Bash(rm:*)"]}})
    by_name = {shelf.name: shelf for shelf in books.permissions.shelves()}
    done = await books.permissions.move(row(books, "Bash(rm:*)"), by_name["project"])
    assert in_force(books) == [("deny", "Bash(rm:*)", "project")]
    assert books.stored("user", "permissions", "deny") == []
    assert done.undo is not None
    await done.undo()
    assert in_force(books) == [("deny", "Bash(rm:*)", "user")]
    await books.permissions.move(row(books, "Bash(rm:*)"), by_name["session"])
    assert in_force(books) == [("deny", "Bash(rm:*)", "session")]
    done = await books.permissions.move(row(books, "Bash(rm:*)"), by_name["local"])
    assert in_force(books) == [("deny", "Bash(rm:*)", "local")]
    assert done.undo is not None
    await done.undo()
    assert in_force(books) == [("deny", "Bash(rm:*)", "session")]


async def test_undoing_takes_back_no_rule_that_was_there_before(tmp_path: Path) -> None:
    books = Books(tmp_path, user={"permissions": {"deny": ["Bash(rm:*)"]}})
    session = books.permissions.shelves()[0]
    first = await books.permissions.add("deny", "WebFetch", session)
    again = await books.permissions.add("deny", "WebFetch", session)
    assert (first.undo is not None, again.undo) == (True, None)
    assert "already" in again.text
    await books.permissions.add("deny", "Bash(rm:*)", session)
    moved = await books.permissions.move(row(books, "Bash(rm:*)", "user"), session)
    assert moved.undo is not None
    await moved.undo()
    assert ("deny", "Bash(rm:*)", "session") in in_force(books)
    assert ("deny", "Bash(rm:*)", "user") in in_force(books)


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("managed", "administrator"),
        ("cli", "command line"),
        ("flag", "--settings"),
        ("legacy", "older agent"),
        ("builtin", "built in"),
    ],
)
async def test_what_is_not_the_persons_own_stays(tmp_path: Path, source: str, says: str) -> None:
    books = Books(tmp_path)
    fixed = RuleRow("deny", "Bash", source, "", "", source, why_fixed(source))
    shelf = books.permissions.shelves()[0]
    for work in (books.permissions.remove(fixed), books.permissions.move(fixed, shelf)):
        with pytest.raises(SettingsError, match=says):
            await work
    assert in_force(books) == []


async def test_removing_asks_where_when_it_is_not_clear(tmp_path: Path) -> None:
    rule = {"permissions": {"deny": ["Bash"]}}
    books = Books(tmp_path, user=rule, project=rule)
    assert "say --project or --user" in await books.said("/permissions remove Bash")
    await books.said("/permissions remove --user Bash")
    assert in_force(books) == [("deny", "Bash", "project")]
    assert "is no rule of this session" in await books.said("/permissions remove Read")


async def test_a_command_of_a_session_changes_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEWRIGHT", "1")
    books = Books(tmp_path)
    (tmp_path / "other").mkdir()
    for line in ("/permissions allow --user Bash", "/add-dir --user ../other"):
        assert "changed by the person" in await books.said(line)
    assert books.stored("user") == {}


# directories


def inside(books: Books, path: Path) -> bool:
    paths = Paths(books.policy.place, books.policy.resolver)
    return paths.is_inside(paths.locate(str(path)))


async def test_a_directory_opens_and_closes(tmp_path: Path) -> None:
    books = Books(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    heard: list[tuple[Path, ...]] = []
    books.live.listen(lambda now: heard.append(now.where.added))
    assert str(other) in await books.said("/add-dir ../other")
    assert inside(books, other / "a")
    assert heard == [(other,)]
    (added,) = [r for r in books.permissions.folders.rows() if r.source == "session"]
    done = await books.permissions.folders.close(added)
    assert not inside(books, other / "a")
    assert done.undo is not None
    await done.undo()
    assert inside(books, other / "a")


@pytest.mark.parametrize("scope", ["local", "project", "user"])
async def test_a_directory_is_kept(tmp_path: Path, scope: str) -> None:
    books = Books(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    await books.said(f"/add-dir --{scope} {other}")
    assert books.stored(scope, "permissions", "additionalDirectories") == [str(other)]
    assert inside(books, other)
    (added,) = [r for r in books.permissions.folders.rows() if r.source == scope]
    await books.permissions.folders.close(added)
    assert not inside(books, other)


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("../nothing", "There is no"),
        ("../file", "is a file; its directory is"),
        (".", "inside already"),
        ("./src", "inside already"),
        ("../link", "inside already"),
        ("/", "whole machine"),
        ("~/.gatewright", "never opened"),
        ("~", "whole home"),
        ("~/.ssh", "--anyway"),
        ("..", "whole home"),
    ],
)
async def test_what_is_not_opened_is_said(tmp_path: Path, path: str, says: str) -> None:
    books = Books(tmp_path)
    (tmp_path / "file").touch()
    (books.project / "src").mkdir()
    (books.home / ".ssh").mkdir()
    (tmp_path / "link").symlink_to(books.project / "src")
    assert says in await books.said(f"/add-dir {path}")
    assert books.policy.place.directories == ()


async def test_what_is_doubtful_opens_on_purpose(tmp_path: Path) -> None:
    books = Books(tmp_path)
    (books.home / ".ssh").mkdir()
    assert "run code" in await books.said("/add-dir --anyway ~/.ssh")
    assert inside(books, books.home / ".ssh")
    assert "whole machine" in await books.said("/add-dir --anyway /")


async def test_files_of_an_untrusted_project_open_nothing(tmp_path: Path) -> None:
    wanted = {"permissions": {"additionalDirectories": ["/opt", "../other"]}}
    (tmp_path / "other").mkdir()
    books = Books(tmp_path, trusted=False, project=wanted, local=wanted)
    rows = books.permissions.folders.rows()
    assert [r.source for r in rows] == ["root"]
    assert rows[0].fixed
    assert not inside(books, tmp_path / "other")
    assert [s.name for s in books.permissions.folders.shelves()] == ["session", "user"]
    await books.said("/add-dir ../other")
    assert inside(books, tmp_path / "other"), "the person may, for this session"


async def test_directories_are_completed(tmp_path: Path) -> None:
    books = Books(tmp_path)
    for name in ("other", "otter", ".hidden"):
        (tmp_path / name).mkdir()
    (tmp_path / "ot.txt").touch()
    complete = books.permissions.folders.complete
    assert await complete("../ot") == ["../other/", "../otter/"]
    assert await complete("../.h") == ["../.hidden/"]
    assert await complete("../nowhere/x") == []


async def test_the_panel_opens_at_the_directories(tmp_path: Path) -> None:
    outcome = await Books(tmp_path).run("/add-dir")
    assert isinstance(outcome, RulesPanel)
    assert outcome.tab == "directories"


async def test_a_managed_directory_stays(tmp_path: Path) -> None:
    books = Books(tmp_path)
    managed = FolderRow("/x", "/x", "managed", "managed", "Your administrator opened it.")
    with pytest.raises(SettingsError, match="administrator"):
        await books.permissions.folders.close(managed)
