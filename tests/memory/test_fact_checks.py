"""Whether what facts name is still there; what nobody looked through is not gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatewright.agent.autonomy.memory.fact_checks import gone, named


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "src" / "billing").mkdir(parents=True)
    (tmp_path / "src" / "billing" / "ledger.py").write_text(
        "def money_of(x): ...\nclass OldImporter: ...\n", encoding="utf-8"
    )
    (tmp_path / "Makefile").write_text("check:\n", encoding="utf-8")
    return tmp_path


NONE: set[str] = set()


@pytest.mark.parametrize(
    ("text", "paths", "symbols"),
    [
        ("It is in src/billing/ledger.py.", {"src/billing/ledger.py"}, NONE),
        ("See `ledger.py:12` and `money_of()`.", {"ledger.py"}, {"money_of"}),
        ("`OldImporter.run_all` and `run` do it.", NONE, {"run_all"}),
        ("It is at https://example.org/a/b.py, or ~/x/y.py, or /etc/x.", NONE, NONE),
        ("Ask for `make check` and `src/*.py`.", NONE, NONE),
    ],
)
def test_what_a_fact_names(text: str, paths: set[str], symbols: set[str]) -> None:
    assert tuple(map(set, named(text))) == (paths, symbols)


def test_what_is_gone_is_found(project: Path) -> None:
    texts = [
        "It is in src/billing/ledger.py.",
        "It is in src/billing/invoices.py.",
        "`money_of` rounds up.",
        "`cents_of` rounds up.",
        "`cents_of` calls `money_of`.",
        "`invoices.py` and `ledger.py` differ.",
        "Choose and/or, client/server or origin/main.",
        "Look at ../other/thing.py first.",
        "It names nothing.",
    ]
    assert gone(texts, [project]) == {
        texts[1]: (("src/billing/invoices.py",), True),
        texts[3]: (("cents_of",), True),
        texts[4]: (("cents_of",), False),
        texts[5]: (("invoices.py",), False),
    }


def test_another_work_tree_counts_too(project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "src" / "billing").mkdir(parents=True)
    (other / "src" / "billing" / "invoices.py").write_text("cents_of = 1\n", encoding="utf-8")
    texts = ["It is in src/billing/invoices.py.", "`cents_of` rounds up."]
    assert gone(texts, [other / "none", other]) == {}


def test_what_could_not_be_looked_through_is_not_gone(project: Path) -> None:
    late = iter([0.0, 100.0, 100.0, 100.0, 100.0])
    assert gone(["`cents_of` rounds."], [project], lambda: next(late)) == {}
    (project / "large.py").write_text("x = 1\n" * 200_000, encoding="utf-8")
    assert gone(["`cents_of` rounds."], [project]) == {}


def test_links_lead_nowhere(project: Path, tmp_path: Path) -> None:
    (project / "loop").symlink_to(project)
    (project / "x.py").symlink_to("/dev/zero")
    assert list(gone(["`cents_of` rounds."], [project])) == ["`cents_of` rounds."]
