"""Host names that read as others are told in the form that is looked up."""

from __future__ import annotations

import time

import idna
import pytest

from gatewright.tools.system.hosts import MOST, ascii_form, looked_up, misread

APPLE = "\u0430\u0440\u0440\u04cf\u0435.com"  # all of it Cyrillic


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"curl https://{APPLE}/x", "xn--80ak6aa92e.com"),
        (f"curl {APPLE}", "xn--80ak6aa92e.com"),
        ("wget -q \u0440\u0430\u0443\u0440\u0430l.com/x", "xn--l-7sba6dbr.com"),
        ("git clone git@\u0430pple.com:foo", "xn--pple-43d.com"),
        (f"https://apple.com@{APPLE}/", "xn--80ak6aa92e.com"),
        ("https://b\u00fccher.example/", "xn--bcher-kva.example"),
        ("https://apple\u3002com/", "apple.com"),
        ("ssh me@\u0445\u043e\u0441\u0442.\u0440\u0444", "xn--n1agdj.xn--p1ai"),
    ],
)
def test_what_is_looked_up_is_told(text: str, told: str) -> None:
    (said,) = looked_up(text)
    assert said.endswith(f" is really {told}")


@pytest.mark.parametrize(
    "text",
    [
        "curl https://example.com/\u00fc",
        "cat \u043e\u0442\u0447\u0451\u0442.txt r\u00e9sum\u00e9.pdf",
        "echo '\u0434\u0430. \u043d\u0435\u0442.'",
        "git commit -m '@\u0438\u0432\u0430\u043d'",
        "\u65e5\u672c\u8a9e.txt",
    ],
)
def test_names_of_files_and_words_are_no_hosts(text: str) -> None:
    assert looked_up(text) == ()


@pytest.mark.parametrize(
    "name", [APPLE, "b\u00fccher.example", "\u65e5\u672c.jp", "stra\u00dfe.de", "B\u00dcCHER.de"]
)
def test_the_form_is_the_one_of_the_standard(name: str) -> None:
    assert ascii_form(name) == idna.encode(name, uts46=True).decode("ascii")


def test_many_are_counted() -> None:
    told = looked_up(" ".join(f"https://\u0430{n}.com" for n in range(20)))
    assert len(told) == MOST
    assert told[-1] == "17 more such names follow"


def test_a_long_text_costs_little() -> None:
    started = time.process_time()
    for text in ("a" * 400_000, "a." * 200_000, "//" * 200_000, "a@" * 200_000):
        looked_up(text + "\u0430")
    assert time.process_time() - started < 4


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("rm Makefil\u0435", "U+0435 cyrillic small letter ie"),
        ("cat sr\u0441/app.py", "U+0441 cyrillic small letter es"),
        ("cat /tmp/\u0430\u0440\u0435/x", "U+0430 cyrillic small letter a"),
        ("cat \uff53rc/app", "U+FF53 fullwidth latin small letter s"),
    ],
)
def test_a_name_of_a_file_that_imitates_another_is_told(text: str, letter: str) -> None:
    (told,) = misread(text)
    assert "is not what it looks like" in told
    assert letter in told


@pytest.mark.parametrize(
    "text",
    [
        "cat /home/\u0438\u0432\u0430\u043d/\u0444\u0430\u0439\u043b.txt",
        "git commit -m '\u043d\u043e\u0441 \u0438 \u0440\u043e\u0442'",
        "na\u00efve caf\u00e9/r\u00e9sum\u00e9.pdf",
        "cat a.txt",
    ],
)
def test_other_alphabets_are_no_imitation(text: str) -> None:
    assert misread(text) == ()


def test_hosts_are_told_as_before() -> None:
    assert misread("curl https://g\u043eogle.com/x") == looked_up("curl https://g\u043eogle.com/x")
