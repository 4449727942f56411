"""WebFetch and WebSearch against a loopback server that behaves in every way a server can."""

from __future__ import annotations

import asyncio
import gzip
import ipaddress
import json
import time
from collections.abc import Sequence

import pytest

from gatewright.tools.access import Effect
from gatewright.tools.interact import Answer
from gatewright.tools.services import Hit
from gatewright.tools.system.addresses import IpAddress, kind_of
from gatewright.tools.web.address import parse
from gatewright.tools.web.fetch import Fetcher, Resolve
from gatewright.tools.web.redirect import decide_line, follows
from gatewright.tools.web.search_services import (
    Brave,
    DuckDuckGo,
    SearXng,
    brave_hits,
    duckduckgo_hits,
    searxng_hits,
    service,
)
from gatewright.tools.web.web_fetch import WebFetch
from tests.fakes.toolbox import Toolbox, text
from tests.fakes.website import Visit, moved, page, website


class TestPages:
    async def test_html_becomes_markdown(self, box: Toolbox) -> None:
        html = (
            "<html><head><title>T</title><style>x{}</style></head><body><h1>Head</h1>"
            "<script>evil()</script><p>A <a href='/x'>link</a></p><svg><path d='M0'/></svg>"
            "<img src='data:image/png;base64,AAAA'><ul><li>one</li></ul></body></html>"
        )
        async with website({"/": page(html)}) as site:
            said = await box.said("WebFetch", url=site.url, prompt="what")
        assert "# Head" in said and "[link](/x)" in said and "- one" in said
        assert "evil" not in said and "AAAA" not in said and "M0" not in said

    @pytest.mark.parametrize(
        ("body", "kind"),
        [
            ("größer".encode(), "text/plain; charset=utf-8"),
            ("größer".encode("latin-1"), "text/plain; charset=ISO-8859-1"),
            ("größer".encode("latin-1"), "text/plain"),
            ("größer".encode("utf-16"), "text/plain"),
            ('<meta charset="iso-8859-1">größer'.encode("latin-1"), "text/html"),
            ("größer".encode(), "text/plain; charset=nonsense"),
            ("größer".encode(), "text/plain; charset=undefined"),
            ("größer".encode(), "text/plain; charset=idna"),
            ("größer".encode(), "text/plain; charset=rot13"),
            ("größer".encode() + b"-" + b"bcdefghij" * 200_000, "text/plain; charset=punycode"),
            ("größer".encode("cp1252"), "text/plain; charset=windows-1252"),
            ("größer".encode(), ""),
            (b'{"a": "gr\xc3\xb6\xc3\x9fer"}', "application/json"),
        ],
    )
    async def test_encodings(self, box: Toolbox, body: bytes, kind: str) -> None:
        async with website({"/": page(body, kind)}) as site:
            assert "größer" in await box.said("WebFetch", url=site.url, prompt="")

    async def test_compressed(self, box: Toolbox) -> None:
        async def zipped(visit: Visit) -> None:
            body = gzip.compress(b"plain words")
            await visit.answer(body, "text/plain", 200, **{"Content-Encoding": "gzip"})

        async with website({"/": zipped}) as site:
            assert await box.said("WebFetch", url=site.url) == "plain words"

    async def test_binary_is_kept_in_a_file(self, box: Toolbox) -> None:
        body = b"\x89PNG\r\n\x1a\n\0\0"
        async with website({"/": page(body, "image/png")}) as site:
            said = await box.said("WebFetch", url=site.url)
        (file,) = box.ctx.spill.iterdir()
        assert str(file) in said and file.read_bytes() == body

    async def test_a_lie_about_the_type_is_seen(self, box: Toolbox) -> None:
        async with website({"/": page(b"\x7fELF\0\0\0", "text/plain")}) as site:
            assert "kept in" in await box.said("WebFetch", url=site.url)

    async def test_an_error_page_is_a_failure(self, box: Toolbox) -> None:
        async with website({"/": page("gone fishing", status=503)}) as site:
            said = await box.refused("WebFetch", url=site.url)
        assert "answered 503" in said and "gone fishing" in said

    async def test_controls_and_bidi_are_inert(self, box: Toolbox) -> None:
        async with website({"/": page("a\x1b[2Jb\u202ec", "text/plain")}) as site:
            assert await box.said("WebFetch", url=site.url) == "a\u241b[2Jb\\u202ec"

    async def test_broken_html_takes_no_time(self, box: Toolbox) -> None:
        html = "<svg <script" * 100_000 + "<div>" * 5_000 + "end"
        async with website({"/": page(html)}) as site:
            began = time.monotonic()
            await box.call("WebFetch", url=site.url)
            assert time.monotonic() - began < 20


class TestLimits:
    async def test_a_huge_body_is_cut(self, box: Toolbox) -> None:
        async def endless(visit: Visit) -> None:
            visit.writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
            while True:
                visit.writer.write(b"x" * 65536)
                await visit.writer.drain()

        async with website({"/": endless}) as site:
            result = await box.call("WebFetch", url=site.url)
        assert result.ok and "10 MB" in text(result) and len(text(result)) <= 31_000

    async def test_a_slow_server_is_given_up(self, box: Toolbox) -> None:
        async def trickle(visit: Visit) -> None:
            visit.writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
            for _ in range(1000):
                visit.writer.write(b"x")
                await visit.writer.drain()
                await asyncio.sleep(0.02)

        box = Toolbox(box.root, WebFetch(seconds=0.3))
        async with website({"/": trickle}) as site:
            began = time.monotonic()
            assert "took more than 0.3 s" in await box.refused("WebFetch", url=site.url)
            assert time.monotonic() - began < 15

    async def test_a_server_that_hangs_up(self, box: Toolbox) -> None:
        async def rude(visit: Visit) -> None:
            visit.writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")

        async with website({"/": rude}) as site:
            assert "cannot be fetched" in await box.refused("WebFetch", url=site.url)

    async def test_nobody_listens(self, box: Toolbox) -> None:
        async with website({}) as site:
            url = site.url
        assert "cannot be fetched" in await box.refused("WebFetch", url=url)

    @pytest.mark.parametrize(
        "url",
        [
            "ftp://example.com/",
            "http://user:pw@example.com/",
            "http://user@example.com/",
            "http://example.com\\@evil.com/",
            "http://exa%6dple.com/",
            "http://example.com/a b",
            "http://0x7f.1/",
            "http://2130706433/",
            "http://example.com:99999/",
            "https://" + "a" * 2000,
            "file:///etc/passwd",
            "http://[::1/",
        ],
    )
    async def test_odd_urls_are_refused_before_anything(self, box: Toolbox, url: str) -> None:
        facts = await box.facts("WebFetch", url=url, prompt="")
        assert "`url`" in facts.error

    async def test_what_is_judged_is_what_is_fetched(self, box: Toolbox) -> None:
        for given, judged in {
            "http://Example.COM./a?b#c": "https://example.com/a?b",
            "example.com/x": "https://example.com/x",
            "http://localhost/": "http://localhost/",
            "http://10.0.0.1:8080": "http://10.0.0.1:8080/",
            "http://b\u00fccher.example": "https://xn--bcher-kva.example/",
            "https://[::FFFF:127.0.0.1]/": "https://[::ffff:7f00:1]/",
        }.items():
            facts = await box.facts("WebFetch", url=given, prompt="")
            assert facts.access.urls == (judged,)
            assert Effect.OPEN_WORLD in facts.access.effects and facts.access.concurrent()


class TestRedirects:
    async def test_the_same_place_is_followed_ten_times(self, box: Toolbox) -> None:
        routes = {f"/{n}": moved(f"/{n + 1}") for n in range(11)}
        routes["/10"] = page("arrived", "text/plain")
        async with website(routes) as site:
            assert await box.said("WebFetch", url=f"{site.url}/0") == "arrived"
            routes["/10"], routes["/11"] = moved("/11"), page("too far", "text/plain")
            site.routes = routes
            said = await box.refused("WebFetch", url=f"{site.url}/0?again")
        assert "More than 10 redirects" in said

    @pytest.mark.parametrize(
        "location", ["http://localhost:{port}/", "http://example.com/", "//h/"]
    )
    async def test_another_place_is_reported(self, box: Toolbox, location: str) -> None:
        async with website({}) as site:
            site.routes["/"] = moved(location.format(port=site.port))
            result = await box.call("WebFetch", url=site.url)
            assert result.ok and "was not followed" in text(result)
            assert len(site.visits) == 1

    def test_what_is_followed(self) -> None:
        vectors = [
            ("http://h.example/a", "/b", True),
            ("http://h.example/a", "https://h.example/a", True),
            ("https://h.example/a", "https://H.EXAMPLE./b", True),
            ("https://h.example/a", "//h.example/b", True),
            ("https://h.example/a", "http://h.example/a", False),
            ("https://h.example/", "https://www.h.example/", False),
            ("https://h.example/", "https://evilh.example/", False),
            ("https://h.example/", "https://h.example.evil/", False),
            ("https://h.example/", "https://h.example:8443/", False),
            ("https://h.example/", "https://h.example@evil.com/", False),
            ("https://h.example/", "https://evil.com\\@h.example/", False),
            ("https://h.example/", "javascript:alert(1)", False),
            ("https://h.example/", "file:///etc/passwd", False),
            ("https://h.example/", "\t//evil.com/", False),
            ("http://h.example:8080/", "https://h.example/", False),
        ]
        for source, to, expected in vectors:
            assert follows(source, to, 1) is expected, (source, to)
        assert follows("https://h/", "/x", 10) and not follows("https://h/", "/x", 11)

    def test_lines_for_people_and_tests(self) -> None:
        def ask(**question: object) -> dict[str, object]:
            answer: dict[str, object] = json.loads(decide_line(json.dumps(question).encode()))
            return answer

        question = {"id": "q1", "from": "https://a.example/", "hop": 1, "context": {"rule": "*"}}
        assert ask(**question, to="/b") == {"id": "q1", "decision": "follow"}
        assert ask(**question, to="https://b.example/") == {"id": "q1", "decision": "stop"}
        assert ask(id=7, to="/b")["decision"] == "stop" and ask(id=7, to="/b")["id"] == 7
        assert json.loads(decide_line(b"no json"))["decision"] == "stop"


def names(**table: str) -> Resolve:
    """A name server that answers from a table, the next of its answers each time."""
    answers = {name: text.split() for name, text in table.items()}

    async def resolve(host: str, port: int) -> Sequence[IpAddress]:
        found = answers[host.partition(".")[0]]
        first = found.pop(0) if len(found) > 1 else found[0]
        return [ipaddress.ip_address(part) for part in first.split("+")]

    return resolve


class TestAddresses:
    @pytest.mark.parametrize(
        "address",
        [
            "127.0.0.1",
            "10.1.2.3",
            "192.168.1.1",
            "169.254.169.254",
            "100.100.100.200",
            "0.0.0.0",
            "::1",
            "fe80::1",
            "fd00::1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "224.0.0.1",
            "93.184.216.34+10.0.0.1",
        ],
    )
    async def test_a_public_name_with_another_address_is_refused(
        self, box: Toolbox, address: str
    ) -> None:
        box = Toolbox(box.root, WebFetch(resolver=names(site=address)))
        box.answers = [Answer(("no",))]
        said = await box.refused("WebFetch", url="https://site.example/")
        assert "not a public address; it was not contacted" in said

    @pytest.mark.parametrize("address", ["127.0.0.1", "169.254.1.1", "0.0.0.0", "10.0.0.1+::1"])
    async def test_for_some_nobody_is_asked(self, box: Toolbox, address: str) -> None:
        box = Toolbox(box.root, WebFetch(resolver=names(site=address)))
        await box.refused("WebFetch", url="https://site.example/")
        assert box.asked == []

    async def test_a_private_address_is_the_persons_to_allow(self, box: Toolbox) -> None:
        box = Toolbox(box.root, WebFetch(resolver=names(site="10.255.255.1")))
        box.answers = [Answer(cancelled=True)]
        assert "not contacted" in await box.refused("WebFetch", url="https://site.example/")
        (ask,) = box.asked
        assert (ask.kind, ask.title) == (
            "permission",
            "site.example answers with 10.255.255.1. Fetch it?",
        )

    @pytest.mark.parametrize("by", ["the person", "a setting"])
    async def test_an_allowed_private_address_is_used(self, by: str) -> None:
        async def confirm(host: str, address: IpAddress) -> bool:
            return by == "the person"

        hosts = ("site.example",) if by == "a setting" else ()
        fetcher = Fetcher(
            resolver=names(site="10.255.255.1"), private_hosts=hosts, confirm=confirm, env={}
        )
        target = parse("https://site.example/")
        assert str(await fetcher._checked(target)) == "10.255.255.1"  # pyright: ignore

    async def test_the_checked_address_is_the_one_connected_to(self, box: Toolbox) -> None:
        """A name that answers differently a second time gains nothing: it is asked once a hop."""
        async with website({"/": page("inside", "text/plain")}) as site:
            resolver = names(local="127.0.0.1 10.9.9.9")
            box = Toolbox(box.root, WebFetch(resolver=resolver))
            said = await box.said("WebFetch", url=f"http://local.localhost:{site.port}/")
            assert said == "inside"
            assert site.visits[0].headers["host"] == f"local.localhost:{site.port}"

    async def test_a_redirect_resolves_and_checks_again(self, box: Toolbox) -> None:
        async with website({"/": moved("/next"), "/next": page("x")}) as site:
            resolver = names(local="127.0.0.1 169.254.169.254")
            box = Toolbox(box.root, WebFetch(resolver=resolver))
            said = await box.refused("WebFetch", url=f"http://local.localhost:{site.port}/")
        assert "169.254.169.254" in said and len(site.visits) == 1

    async def test_metadata_is_never_fetched(self, box: Toolbox) -> None:
        for url in ("http://169.254.169.254/", "http://metadata.google.internal/"):
            said = await box.refused("WebFetch", url=url)
            assert "never fetched" in said or "not a public address" in said

    def test_kinds(self) -> None:
        kinds = {
            "8.8.8.8": "public",
            "2606:4700::1111": "public",
            "100.64.0.1": "private",
            "2002:0a00:0001::": "private",
            "::": "never",
            "0.1.2.3": "never",
            "fd00:ec2::254": "never",
            "192.0.0.192": "never",
        }
        assert {a: kind_of(ipaddress.ip_address(a)) for a in kinds} == kinds

    async def test_a_proxy_connects_in_our_place(self, box: Toolbox) -> None:
        async with website({}) as site:
            proxy = page("through the proxy", "text/plain")
            site.routes["http://inner.example/x"] = proxy
            fetcher = Fetcher(env={"http_proxy": site.url, "no_proxy": "other.example"})
            assert fetcher._proxied(parse("http://inner.example/"))  # pyright: ignore
            assert not fetcher._proxied(parse("http://a.other.example/"))  # pyright: ignore
            assert not fetcher._proxied(parse("https://inner.example/"))  # pyright: ignore


class TestMemory:
    async def test_a_page_is_kept_for_fifteen_minutes(self, box: Toolbox) -> None:
        now = [0.0]
        box = Toolbox(box.root, WebFetch(clock=lambda: now[0]))
        async with website({"/": page("x", "text/plain")}) as site:
            for now[0] in (0.0, 899.0, 901.0):
                await box.said("WebFetch", url=site.url)
            assert len(site.visits) == 2

    async def test_a_small_model_reads_a_long_page(self, box: Toolbox) -> None:
        prompts: list[str] = []

        async def complete(prompt: str) -> str:
            prompts.append(prompt)
            return "the answer"

        box.set(complete=complete)
        async with website({"/": page("word " * 10_000, "text/plain")}) as site:
            said = await box.said("WebFetch", url=site.url, prompt="which word?")
            assert said == "the answer" and "which word?" in prompts[0]
            assert "word word" in await box.said("WebFetch", url=site.url)


DUCK = """
<div class="result results_links"><h2><a rel="nofollow" class="result__a"
href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fdocs.example%2Fa%3Fb&amp;rut=1">A <b>first</b> &amp;
one</a></h2><a class="result__snippet" href="x">Some <b>words</b></a></div>
<div class="result"><a class="result__a" href="https://duckduckgo.com/y.js?ad=1">Ad</a></div>
<div class="result"><a class="result__a" href="https://other.example/">Second</a></div>
"""
BRAVE = json.dumps(
    {
        "web": {
            "results": [
                {"title": "A <b>one</b>", "url": "https://a.example/", "description": "x &amp; y"},
                {"title": "No address"},
            ]
        }
    }
)
SEARX = json.dumps({"results": [{"title": "S", "url": "https://s.example/", "content": "c"}]})


class TestSearch:
    def test_formats(self) -> None:
        assert duckduckgo_hits(DUCK) == [
            Hit("A first & one", "https://docs.example/a?b", "Some words"),
            Hit("Second", "https://other.example/", ""),
        ]
        assert brave_hits(BRAVE) == [Hit("A one", "https://a.example/", "x & y")]
        assert searxng_hits(SEARX) == [Hit("S", "https://s.example/", "c")]

    async def test_services_ask_as_they_should(self, box: Toolbox) -> None:
        routes = {
            "/res/v1/web/search": page(BRAVE, "application/json"),
            "/search": page(SEARX, "application/json"),
            "/html/": page(DUCK),
        }
        async with website(routes) as site:
            for searcher in (Brave("key", site.url), SearXng(site.url), DuckDuckGo(site.url)):
                assert await searcher.search("two words", 5)
        brave, searx, duck = site.visits
        assert brave.headers["x-subscription-token"] == "key" and "count=5" in brave.path
        assert "format=json" in searx.path and "q=two" in searx.path
        assert duck.path.startswith("/html/?q=two")

    async def test_results_list_their_sources(self, box: Toolbox) -> None:
        async with website({"/html/": page(DUCK)}) as site:
            box.set(searcher=DuckDuckGo(site.url))
            result = await box.call("WebSearch", query="words")
        assert "1. A first & one\nhttps://docs.example/a?b\nSome words" in text(result)
        assert result.summary == "2 results"

    async def test_domains_are_filtered(self, box: Toolbox) -> None:
        async with website({"/html/": page(DUCK)}) as site:
            box.set(searcher=DuckDuckGo(site.url))
            said = await box.said("WebSearch", query="words", allowed_domains=["docs.example"])
            assert "docs.example" in said and "other.example" not in said
            assert "site%3Adocs.example" in site.visits[0].path
            said = await box.said("WebSearch", query="words", blocked_domains=["docs.example"])
            assert "docs.example" not in said and "other.example" in said

    async def test_a_broken_service_is_explained(self, box: Toolbox) -> None:
        async with website({"/search": page("<html>", "text/html")}) as site:
            box.set(searcher=SearXng(site.url))
            assert "did not answer with JSON" in await box.refused("WebSearch", query="words")
            site.routes["/search"] = page("[" * 100_000, "application/json")
            assert "did not answer with JSON" in await box.refused("WebSearch", query="words")
            box.set(searcher=SearXng(f"{site.url}/nowhere"))
            assert "answered 404" in await box.refused("WebSearch", query="words")
        assert "cannot be reached" in await box.refused("WebSearch", query="words")

    def test_settings_say_what_is_missing(self) -> None:
        assert isinstance(service("brave", key="k"), Brave)
        assert isinstance(service("DuckDuckGo"), DuckDuckGo)
        for name in ("brave", "searxng", "altavista"):
            with pytest.raises(ValueError, match=r"\w"):
                service(name)
